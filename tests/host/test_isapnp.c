/*
 * ISA Plug and Play: key, isolation and configuration on strict simulated cards.  Each rule
 * the model enforces is broken once in test_misuse_isapnp.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/isapnp.h"
#include "kernel/time.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/isapnp.h"

enum {
    FOUND_MAX = 32,
    SOUND_LINES = 1 << 5 | 1 << 7,
    NET_LINES = 1 << 3 | 1 << 5 | 1 << 10 | 1 << 11
};

static const struct sim_pnp_card_config net_card = {
    .name = "PnP NE2000",
    .id = "RTL8019",
    .serial = 0x12345678,
    .device = {{.id = "RTL8019",
                .compatible = "PNP80D6",
                .first = 0x240,
                .last = 0x3E0,
                .irqs = NET_LINES}},
};
static const struct sim_pnp_card_config sound_card = {
    .name = "Some sound card with a name longer than we keep",
    .id = "CTL0031",
    .serial = 0xFFFFFFFF,
    .device = {{.id = "CTL0031", .first = 0x220, .last = 0x280, .irqs = SOUND_LINES},
               {.id = "CTL7001", .compatible = "PNPB02F", .first = 0x200, .last = 0x200}},
    .byte_us = 300,
};

static struct sim_pnp_card cards[SIM_PNP_CARDS];
static struct isapnp_device found[FOUND_MAX];
static unsigned found_count, stop_after;
static uint16_t forbidden;

static void machine(void)
{
    sim_reset();
    sim_pnp_reset();
    found_count = 0;
    stop_after = FOUND_MAX;
    forbidden = 0;
}

static bool is_free(uint16_t port)
{
    return port != forbidden;
}

static bool note(const struct isapnp_device *device, void *arg)
{
    ck_assert_ptr_eq(arg, &found_count);
    ck_assert_uint_lt(found_count, FOUND_MAX);
    ck_assert_msg(sim_pnp_all_wait(), "told of a device with its card open");
    found[found_count++] = *device;
    return found_count < stop_after;
}

static unsigned scan(void)
{
    unsigned n = isapnp_scan(is_free, note, &found_count);
    ck_assert_msg(sim_pnp_all_wait(), "a card does not wait for the key");
    return n;
}

/* ---- pure ---- */

/* The key as the specification prints it (chapter 4.1). */
START_TEST(key_bytes)
{
    static const uint8_t key[] = {0x6A, 0xB5, 0xDA, 0xED, 0xF6, 0xFB, 0x7D, 0xBE, 0xDF, 0x6F, 0x37,
                                  0x1B, 0x0D, 0x86, 0xC3, 0x61, 0xB0, 0x58, 0x2C, 0x16, 0x8B, 0x45,
                                  0xA2, 0xD1, 0xE8, 0x74, 0x3A, 0x9D, 0xCE, 0xE7, 0x73, 0x39};
    uint8_t state = ISAPNP_LFSR_SEED;
    for (unsigned i = 0; i < sizeof key; i++) {
        ck_assert_uint_eq(state, key[i]);
        state = isapnp_lfsr(state, 0);
    }
}
END_TEST

START_TEST(identifiers)
{
    char text[ISAPNP_ID_BYTES];
    isapnp_id((const uint8_t[]){0x41, 0xD0, 0x80, 0xD6}, text);
    ck_assert_str_eq(text, "PNP80D6");
    isapnp_id((const uint8_t[]){0x4A, 0x8C, 0x80, 0x19}, text);
    ck_assert_str_eq(text, "RTL8019");
}
END_TEST

struct bytes {
    const uint8_t *at;
    unsigned left;
};

static int next_of(void *arg)
{
    struct bytes *b = arg;
    if (b->left == 0) {
        return -1;
    }
    b->left--;
    return *b->at++;
}

static int endless_zero(void *arg)
{
    (*(unsigned *)arg)++;
    return 0;
}

/* Noise, cut off anywhere: bounded, and whatever is described fits its fields. */
START_TEST(noise)
{
    static uint8_t data[600];
    unsigned state = (unsigned)_i * 7919 + 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct isapnp_device d;
        for (unsigned i = 0; i < sizeof data; i++) {
            state = state * 1664525U + 1013904223U;
            data[i] = (uint8_t)(state >> 24);
            if (state % 4 == 0) { /* plausible tags, often */
                data[i] =
                    (uint8_t[]){0x16, 0x1C, 0x22, 0x30, 0x38, 0x47, 0x4B, 0x82}[state >> 8 & 7];
            }
        }
        memset(&d, 0xFF, sizeof d);
        struct bytes b = {data, state % sizeof data};
        isapnp_describe(next_of, &b, round % 3, &d);
        ck_assert_uint_le(d.ranges, ISAPNP_RANGES);
        ck_assert_ptr_nonnull(memchr(d.name, 0, sizeof d.name));
        ck_assert_ptr_nonnull(memchr(d.id, 0, sizeof d.id));
        for (unsigned i = 0; i < ISAPNP_COMPATIBLE; i++) {
            ck_assert_ptr_nonnull(memchr(d.compatible[i], 0, ISAPNP_ID_BYTES));
        }
        unsigned asked = 0;
        isapnp_describe(endless_zero, &asked, 0, &d);
        ck_assert_uint_lt(asked, 10000);
    }
}
END_TEST

/* Items of all kinds in one card, the second device asked for. */
START_TEST(items)
{
    static const uint8_t data[] = {
        0x0A, 0x10, 0x10,                               /* version            */
        0x82, 3,    0,    'B',  'o',  'x',              /* the card's name    */
        0x15, 0x41, 0xD0, 0xB0, 0x2F, 0x00,             /* device 0           */
        0x47, 0x01, 0x00, 0x02, 0x00, 0x02, 0x08, 0x08, /* its ports          */
        0x16, 0x4A, 0x8C, 0x80, 0x19, 0x02, 0x00,       /* device 1           */
        0x82, 5,    0,    'N',  'I',  0x01, 'C',  '!',  /* its own name       */
        0x1C, 0x41, 0xD0, 0x80, 0xD6,                   /* compatible with    */
        0x1C, 0x41, 0xD0, 0x80, 0xD4, 0x1C, 0x41, 0xD0, 0x80, 0xD5, 0x1C, 0x41,
        0xD0, 0x80, 0xD7,                               /* one too many       */
        0x23, 0x20, 0x0C, 0x01,                         /* irq 5, 10, 11      */
        0x2A, 0x00, 0x00,                               /* DMA                */
        0x31, 0x00,                                     /* dependent, best    */
        0x47, 0x00, 0x00, 0x03, 0x00, 0x03, 0x20, 0x20, /* 300h               */
        0x47, 0x00, 0x30, 0x03, 0x30, 0x03, 0x10, 0x10, /* second descriptor  */
        0x31, 0x01,                                     /* dependent          */
        0x4B, 0x40, 0xFF, 0x20,                         /* fixed, ten bits    */
        0x38,                                           /* end of dependent   */
        0x81, 0x09, 0x00, 0,    0,    0,    0,    0,    0,    0,    0,    0, /* memory */
        0x79, 0x00};
    struct isapnp_device d = {.csn = 3};
    struct bytes b = {data, sizeof data};
    ck_assert(isapnp_describe(next_of, &b, 1, &d));
    ck_assert_uint_eq(d.csn, 3);
    ck_assert_uint_eq(d.number, 1);
    ck_assert_str_eq(d.id, "RTL8019");
    ck_assert_str_eq(d.name, "NIC!");
    ck_assert_str_eq(d.compatible[0], "PNP80D6");
    ck_assert_str_eq(d.compatible[2], "PNP80D5");
    ck_assert_uint_eq(d.irqs, 0x0C20);
    ck_assert_uint_eq(d.commands, 2);
    ck_assert_uint_eq(d.ranges, 2);
    ck_assert(d.range[0].first == 0x300 && d.range[0].ports == 0x20 && d.range[0].step == 0x20);
    ck_assert(d.range[1].first == 0x340 && d.range[1].last == 0x340 && d.range[1].ports == 0x20);
    b = (struct bytes){data, sizeof data};
    ck_assert(isapnp_describe(next_of, &b, 0, &d));
    ck_assert_str_eq(d.id, "PNPB02F");
    ck_assert_str_eq(d.name, "Box");
    ck_assert_uint_eq(d.ranges, 1);
    b = (struct bytes){data, sizeof data};
    ck_assert(!isapnp_describe(next_of, &b, 2, &d));
    b = (struct bytes){data, 9};
    ck_assert(isapnp_describe(next_of, &b, 0, &d)); /* no device named: the card is one */
    ck_assert_str_eq(d.id, "");
}
END_TEST

/* ---- isolation ---- */

START_TEST(no_cards)
{
    machine();
    ck_assert_uint_eq(scan(), 0);
    ck_assert_uint_eq(found_count, 0);
    ck_assert_uint_lt(sim_now_ns(), 40000000);
}
END_TEST

/* What is read is what the card has; a device off and one on. */
START_TEST(one_card)
{
    machine();
    sim_pnp_plug(&cards[0], &sound_card);
    if (_i == 1) {
        sim_pnp_set_active(&cards[0], 0, 5, 0x220, 7);
    }
    ck_assert_uint_eq(scan(), 1);
    ck_assert_uint_eq(found_count, 2);
    ck_assert_str_eq(found[0].id, "CTL0031");
    ck_assert_str_eq(found[0].name, "Some sound card with a name lon");
    ck_assert_str_eq(found[1].compatible[0], "PNPB02F");
    ck_assert(found[0].csn == 1 && found[0].number == 0 && found[1].number == 1);
    ck_assert_uint_eq(found[0].irqs, SOUND_LINES);
    ck_assert_uint_eq(found[0].active, (unsigned)_i);
    ck_assert_uint_eq(found[0].io, _i == 1 ? 0x220 : 0);
    ck_assert_int_eq(found[0].irq, _i == 1 ? 7 : IRQ_NONE);
    ck_assert(!found[1].active);
    ck_assert_uint_eq(cards[0].activations + cards[0].deactivations, 0);
}
END_TEST

/* Many at once, of which some differ in one bit of the serial number only; numbered or not. */
START_TEST(many_cards)
{
    machine();
    unsigned n = (unsigned)_i;
    for (unsigned i = 0; i < n; i++) {
        struct sim_pnp_card_config cfg = i % 3 == 0 ? sound_card : net_card;
        cfg.serial = i % 2 == 0 ? i : 0x80000000U | i;
        cfg.byte_us = 0;
        sim_pnp_plug(&cards[i], &cfg);
        if (i % 4 == 1) {
            sim_pnp_set_active(&cards[i], 0, i + 1, cfg.device[0].first, 5);
        }
    }
    unsigned expected = n < ISAPNP_CARDS ? n : ISAPNP_CARDS;
    ck_assert_uint_eq(scan(), expected);
    uint32_t numbers = 0;
    for (unsigned i = 0; i < n; i++) {
        if (cards[i].csn >= 1 && cards[i].csn <= expected) {
            numbers |= 1U << cards[i].csn;
        }
    }
    ck_assert_uint_eq(numbers, ((2U << expected) - 1) & ~1U);
}
END_TEST

START_TEST(stops_when_told)
{
    machine();
    sim_pnp_plug(&cards[0], &sound_card);
    sim_pnp_plug(&cards[1], &net_card);
    stop_after = 1;
    ck_assert_uint_eq(scan(), 2);
    ck_assert_uint_eq(found_count, 1);
}
END_TEST

/* A card whose identifier is damaged: left alone, and all wait for the key. */
START_TEST(bad_checksum)
{
    struct sim_pnp_card_config cfg = net_card;
    machine();
    cfg.bad_checksum = true;
    sim_pnp_plug(&cards[0], &cfg);
    ck_assert_uint_eq(scan(), 0);
}
END_TEST

/* ---- the read port ---- */

static unsigned stranger_reads;
static uint32_t stranger_value;

static uint32_t stranger_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return stranger_reads++ == 0 ? 0xFF : stranger_value;
}

static uint32_t busy_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    ck_assert_msg(stranger_reads++ == 0, "read again though somebody is there");
    return 0x12;
}

static void stranger_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("stranger: port %x written with %x", reg, value);
}

START_TEST(read_port_taken)
{
    machine();
    stranger_reads = 0;
    sim_attach(&(struct sim_device){"stranger", 0x270, 8, busy_in, stranger_out, NULL});
    sim_pnp_plug(&cards[0], &net_card);
    ck_assert_uint_eq(scan(), 1);
    ck_assert_uint_eq(stranger_reads, 1);
}
END_TEST

static uint32_t never_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    sim_misuse("stranger: a port that is not free was read");
}

START_TEST(read_port_forbidden)
{
    machine();
    forbidden = 0x273;
    sim_attach(&(struct sim_device){"stranger", 0x270, 8, never_in, stranger_out, NULL});
    sim_pnp_plug(&cards[0], &net_card);
    ck_assert_uint_eq(scan(), 1);
}
END_TEST

/* Somebody there who seemed to be nobody: the identifier is garbled, and another port is used. */
START_TEST(read_port_garbled)
{
    static const uint8_t values[] = {0x00, 0x54, 0xAA, 0x55, 0x80};
    for (unsigned i = 0; i < sizeof values; i++) {
        machine();
        stranger_reads = 0;
        stranger_value = values[i];
        sim_attach(&(struct sim_device){"stranger", 0x270, 8, stranger_in, stranger_out, NULL});
        sim_pnp_plug(&cards[0], &net_card);
        ck_assert_msg(scan() == 1, "not found beside a stranger reading %02x", values[i]);
    }
}
END_TEST

/* A bus that keeps the last byte reads as nobody's nowhere: nothing is done. */
START_TEST(floating_bus)
{
    machine();
    sim_bus_float(_i == 0 ? SIM_FLOAT_LAST : SIM_FLOAT_ZEROS);
    ck_assert_uint_eq(scan(), 0);
    ck_assert_uint_lt(sim_now_ns(), 40000000);
}
END_TEST

/* ---- switching on and off ---- */

static struct {
    unsigned io;
    int irq;
} appeared;

static void on(void *self, unsigned io, int irq)
{
    (void)self;
    appeared.io = io;
    appeared.irq = irq;
}

static void off(void *self)
{
    (void)self;
    appeared.io = 0;
}

static void one_net_card(bool no_check)
{
    struct sim_pnp_card_config cfg = net_card;
    cfg.device[0].no_range_check = no_check;
    machine();
    sim_pnp_plug(&cards[0], &cfg);
    sim_pnp_connect(&cards[0], 0, on, off, NULL);
    appeared.io = 0;
    ck_assert_uint_eq(scan(), 1);
}

START_TEST(switches_on_and_off)
{
    one_net_card(_i == 1);
    ck_assert_int_eq(isapnp_activate(&found[0], 0x340, 0x20, 11), OK);
    ck_assert(sim_pnp_all_wait());
    ck_assert(appeared.io == 0x340 && appeared.irq == 11);
    ck_assert_uint_eq(cards[0].device[0].irq_type, 2);
    isapnp_deactivate(&found[0]);
    ck_assert(sim_pnp_all_wait());
    ck_assert_uint_eq(appeared.io, 0);
    ck_assert(cards[0].device[0].io == 0 && cards[0].device[0].irq == 0);
}
END_TEST

START_TEST(without_line)
{
    one_net_card(false);
    ck_assert_int_eq(isapnp_activate(&found[0], 0x300, 0x20, IRQ_NONE), OK);
    ck_assert(appeared.io == 0x300 && appeared.irq == 0);
}
END_TEST

static uint32_t half_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    return reg == 7 ? 0x7F : 0xFF;
}

/* Somebody decodes one port of the range. */
START_TEST(range_taken)
{
    one_net_card(_i == 1);
    sim_attach(&(struct sim_device){"stranger", 0x350, 8, half_in, stranger_out, NULL});
    ck_assert_int_eq(isapnp_activate(&found[0], 0x340, 0x20, 11), E_BUSY);
    ck_assert(sim_pnp_all_wait());
    ck_assert(!cards[0].device[0].active && cards[0].device[0].io == 0);
    ck_assert_int_eq(isapnp_activate(&found[0], 0x360, 0x20, 11), OK);
}
END_TEST

/* Ports of the protocol itself are nobody's. */
START_TEST(range_of_the_protocol)
{
    one_net_card(false);
    ck_assert_int_eq(isapnp_activate(&found[0], 0x260, 0x20, 11), E_BUSY);
    ck_assert(!cards[0].device[0].active && cards[0].device[0].io == 0);
}
END_TEST

START_TEST(takes_no_setting)
{
    struct sim_pnp_card_config cfg = net_card;
    cfg.ignores_io = _i == 0;
    cfg.stays_off = _i == 1;
    machine();
    sim_pnp_plug(&cards[0], &cfg);
    scan();
    ck_assert_int_eq(isapnp_activate(&found[0], 0x340, 0x20, 11), E_HARDWARE);
    ck_assert(sim_pnp_all_wait());
    ck_assert(cards[0].device[0].io == 0 && cards[0].device[0].irq == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isapnp");
    TCase *tc = tcase_create("isapnp");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, key_bytes);
    tcase_add_test(tc, identifiers);
    tcase_add_loop_test(tc, noise, 0, 8);
    tcase_add_test(tc, items);
    tcase_add_test(tc, no_cards);
    tcase_add_loop_test(tc, one_card, 0, 2);
    tcase_add_loop_test(tc, many_cards, 2, 20);
    tcase_add_test(tc, stops_when_told);
    tcase_add_test(tc, bad_checksum);
    tcase_add_test(tc, read_port_taken);
    tcase_add_test(tc, read_port_forbidden);
    tcase_add_test(tc, read_port_garbled);
    tcase_add_loop_test(tc, floating_bus, 0, 2);
    tcase_add_loop_test(tc, switches_on_and_off, 0, 2);
    tcase_add_test(tc, without_line);
    tcase_add_loop_test(tc, range_taken, 0, 2);
    tcase_add_test(tc, range_of_the_protocol);
    tcase_add_loop_test(tc, takes_no_setting, 0, 2);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
