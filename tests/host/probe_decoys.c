/*
 * Strangers at the ports we look at: never taken for a card, and never disturbed.
 */
#include "tests/host/probe.h"
#include "kernel/io.h"
#include "tests/host/sim/decoys.h"
#include "tests/host/wrong_step.h"

extern const struct nic_driver __start_nic_drivers[], __stop_nic_drivers[];

enum { PLACES_MAX = 64, PORTS = 32 };

/* Every base any driver looks at by itself, once. */
static unsigned places[PLACES_MAX], place_count;

static void collect_places(void)
{
    place_count = 0;
    for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
        for (const uint16_t *io = d->isa_candidates; io != NULL && *io != 0; io++) {
            bool known = false;
            for (unsigned i = 0; i < place_count; i++) {
                known |= places[i] == *io;
            }
            if (!known) {
                ck_assert_uint_lt(place_count, PLACES_MAX);
                places[place_count++] = *io;
            }
        }
    }
    ck_assert_uint_ge(place_count, 5);
}

static struct sim_card card;

/* ---- devices of a PC ---- */

START_TEST(device)
{
    machine();
    sim_decoy_plug(&sim_decoys[_i]);
    find();
    found_none(NULL);
}
END_TEST

/* The same with a card in the machine, where it does not meet the device. */
START_TEST(device_beside_a_card)
{
    const struct sim_decoy *d = &sim_decoys[_i];
    const unsigned base = d->base >= 0x2E0 && d->base < 0x320 ? 0x340 : 0x300;
    machine();
    sim_decoy_plug(d);
    sim_card_plug(&card, &sim_cards[0], base, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, base);
    nics_close();
}
END_TEST

/* They do notice. */
static void xt_disk_read(void)
{
    machine();
    sim_decoy_plug(&sim_decoys[0]);
    io_in8((struct ioport){sim_decoys[0].base}, 0);
}

static void xt_disk_written(void)
{
    machine();
    sim_decoy_plug(&sim_decoys[0]);
    io_out8((struct ioport){sim_decoys[0].base}, 2, 0);
}

START_TEST(decoys_notice)
{
    static const struct wrong_step read = WRONG_STEP(xt_disk_read, "something is lost");
    static const struct wrong_step written = WRONG_STEP(xt_disk_written, "port 322 written with 0");
    wrong_step_expect(&read);
    wrong_step_expect(&written);
}
END_TEST

/* ---- anything at all ---- */

/* Ports that hold what is written to those of their bits that can be. */
struct latch {
    uint8_t now[PORTS], before[PORTS], writable;
};

static uint32_t latch_in(void *self, unsigned reg, unsigned width)
{
    const struct latch *l = self;
    return width == 8 ? l->now[reg] : l->now[reg] | (uint32_t)l->now[(reg + 1) % PORTS] << 8;
}

static void latch_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct latch *l = self;
    for (unsigned i = 0; i < width / 8; i++, value >>= 8) {
        uint8_t *to = &l->now[(reg + i) % PORTS];
        *to = (uint8_t)((*to & ~l->writable) | (value & l->writable));
    }
}

static struct latch latches[PLACES_MAX];

static void plug_latches(unsigned pattern, unsigned writable)
{
    machine();
    for (unsigned i = 0; i < place_count; i++) {
        for (unsigned k = 0; k < PORTS; k++) {
            latches[i].now[k] =
                (uint8_t)(pattern < 256 ? pattern : (pattern * (k + 3) * 0x9E37U) >> 5);
        }
        memcpy(latches[i].before, latches[i].now, PORTS);
        latches[i].writable = (uint8_t)writable;
    }
}

/* One machine a place: ranges of neighbours overlap. */
static void expect_untouched(unsigned pattern, unsigned writable)
{
    collect_places();
    for (unsigned i = 0; i < place_count; i++) {
        plug_latches(pattern, writable);
        sim_attach(
            &(struct sim_device){"latch", places[i], PORTS, latch_in, latch_out, &latches[i]});
        find();
        found_none(NULL);
        ck_assert_msg(memcmp(latches[i].now, latches[i].before, PORTS) == 0,
                      "decoy %02x at %03x was changed", pattern, places[i]);
    }
}

/* Every constant, and some noise: not claimed, and every byte as it was. */
START_TEST(latch_restored)
{
    for (unsigned pattern = 0; pattern < 260; pattern++) {
        expect_untouched(pattern, 0xFF);
    }
}
END_TEST

/* Of which one bit cannot be written: found out in the middle of a check. */
START_TEST(latch_partly_writable)
{
    for (unsigned pattern = 0; pattern < 256; pattern += 3) {
        expect_untouched(pattern, ~(1U << _i) & 0xFF);
    }
}
END_TEST

/* Read-only memory: what is written is lost. */
START_TEST(constant)
{
    for (unsigned pattern = 0; pattern < 260; pattern++) {
        expect_untouched(pattern, 0);
    }
}
END_TEST

/* Each port counts its reads, or all together; the first looks like a stopped 8390. */
struct counter {
    uint8_t value[PORTS];
    bool common, cr;
};

static uint32_t counter_in(void *self, unsigned reg, unsigned width)
{
    struct counter *c = self;
    (void)width;
    if (reg == 0 && c->cr) {
        return 0x21;
    }
    return c->value[c->common ? 0 : reg]++;
}

static void counter_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)value;
    (void)width;
}

START_TEST(counting)
{
    collect_places();
    for (unsigned i = 0; i < place_count; i++) {
        struct counter c = {.common = (_i & 1) != 0, .cr = (_i & 2) != 0};
        machine();
        memset(c.value, _i * 37, PORTS);
        sim_attach(&(struct sim_device){"counter", places[i], PORTS, counter_in, counter_out, &c});
        find();
        found_none(NULL);
    }
}
END_TEST

/* Nobody there at all, and the bus keeps what was on it. */
START_TEST(floating)
{
    machine();
    sim_bus_float((enum sim_float)_i);
    find();
    found_none(NULL);
}
END_TEST

/* The last value written anywhere among its ports, whatever is read. */
static uint8_t last_written;

static uint32_t last_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return last_written * 0x0101U;
}

static void last_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    last_written = (uint8_t)value;
}

START_TEST(last_value_written)
{
    collect_places();
    for (unsigned n = 0; n < place_count * 256; n++) {
        machine();
        last_written = (uint8_t)n;
        sim_attach(&(struct sim_device){"echo", places[n / 256], PORTS, last_in, last_out, NULL});
        find();
        found_none(NULL);
        ck_assert_uint_eq(last_written, n % 256);
    }
}
END_TEST

/* ---- aliases ---- */

/* A card that decodes ten bits answers at +400h too, where some drivers look. */
START_TEST(ten_bits)
{
    for (unsigned i = 0; i < PROBE_ADDRESSES; i++) {
        machine();
        sim_card_plug(&card, &sim_cards[_i], probe_addresses[i], 10);
        sim_decode_ten_bits();
        find();
        found_one();
        ck_assert_uint_eq(nics[0].place.io.base, probe_addresses[i]);
        nics_close();
    }
}
END_TEST

/* ---- time ---- */

/* At every base of the NE2000 a card that answers and does not work: the slowest machine there is.
 */
START_TEST(broken_everywhere)
{
    static struct sim_card broken[PROBE_ADDRESSES];
    struct sim_card_config cfg = sim_cards[0];
    machine();
    cfg.chip.no_reset_ack = true;
    cfg.no_ram = _i == 1;
    for (unsigned i = 0; i < PROBE_ADDRESSES; i++) {
        sim_card_plug(&broken[i], &cfg, probe_addresses[i], 10);
        broken[i].chip.dma_stuck = _i == 0;
    }
    uint64_t begin = sim_now_ns();
    nics_init();
    ck_assert_msg(sim_now_ns() - begin < 3000000000ULL, "%llu ms",
                  (unsigned long long)(sim_now_ns() - begin) / 1000000);
    ck_assert_uint_eq(nic_count, 0);
    for (unsigned i = 0; i < PROBE_ADDRESSES; i++) {
        ck_assert(broken[i].chip.imr == 0);
    }
}
END_TEST

TCase *probe_decoys(void)
{
    TCase *tc = tcase_create("decoys");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, device, 0, (int)sim_decoy_count);
    tcase_add_test(tc, decoys_notice);
    tcase_add_loop_test(tc, device_beside_a_card, 0, (int)sim_decoy_count);
    tcase_add_test(tc, latch_restored);
    tcase_add_loop_test(tc, latch_partly_writable, 0, 8);
    tcase_add_test(tc, constant);
    tcase_add_loop_test(tc, counting, 0, 4);
    tcase_add_loop_test(tc, floating, 0, 3);
    tcase_add_test(tc, last_value_written);
    tcase_add_loop_test(tc, ten_bits, 0, 4);
    tcase_add_loop_test(tc, broken_everywhere, 0, 2);
    return tc;
}
