/*
 * Finding cards: what is one is found and named, what is not is left as it was.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/nic.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "tests/host/host_support.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/wire.h"

enum { POOL = 16, PROBE_LIMIT_US = 1500000 };

static const unsigned candidates[] = {0x300, 0x280, 0x320, 0x340, 0x360};

static struct frame pool[POOL];
static struct sim_card card;

static void machine(void)
{
    sim_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, POOL);
}

/* nics_init() with the clock watched. */
static void find(void)
{
    uint64_t begin = sim_now_ns();
    nics_init();
    ck_assert_msg(sim_now_ns() - begin < PROBE_LIMIT_US * 1000ULL, "probing took %llu us",
                  (unsigned long long)(sim_now_ns() - begin) / 1000);
}

static void found_one(void)
{
    ck_assert_msg(nic_count == 1, "not found: %s", host_text());
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"nic\""), 1);
}

static void found_none(const char *why)
{
    ck_assert_msg(nic_count == 0, "claimed: %s", host_text());
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"nic\""), 0);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"nic_missing\""), 1);
    ck_assert_msg(why == NULL || strstr(host_text(), why) != NULL, "no word of '%s' in: %s", why,
                  host_text());
}

static void no_report(const char *word, const char *why)
{
    ck_abort_msg("option %s: %s", word, why);
}

/* ---- cards ---- */

START_TEST(every_card)
{
    const struct sim_card_config *cfg = &sim_cards[_i];
    machine();
    sim_card_plug(&card, cfg, 0x300, 10);
    find();
    found_one();
    const struct nic *n = &nics[0];
    ck_assert_mem_eq(n->mac, sim_card_mac, 6);
    ck_assert_uint_eq(n->width, cfg->slot8 ? 8 : 16);
    ck_assert_uint_eq(n->place.io.base, 0x300);
    ck_assert_uint_eq(n->link_kbit, 10000);
    ck_assert_uint_eq(n->ring_kb, (card.chip.pstop - card.chip.pstart) / 4U);
    ck_assert_uint_eq(card.chip.pstop, cfg->chip.max_stop);
    ck_assert(n->irq == 10 && n->irq_proven && n->mode == NIC_MODE_IRQ);
    ck_assert_msg((strstr(n->model, "8019") != NULL) == cfg->chip.realtek, "model %s", n->model);
    if (cfg->signature != 'W' && cfg->signature != 'B') {
        ck_assert_msg(strstr(n->model, "no signature") != NULL, "model %s", n->model);
    }
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    ck_assert_ptr_nonnull(strstr(host_text(), "ne2000 at 0x300"));
    ck_assert_ptr_nonnull(strstr(host_text(), "00:00:e8:12:34:56"));
    ck_assert_mem_eq(card.chip.par, sim_card_mac, 6);
    nics_close();
    sim_card_free(&card);
}
END_TEST

START_TEST(every_address)
{
    machine();
    sim_card_plug(&card, &sim_cards[0], candidates[_i], 5);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, candidates[_i]);
    ck_assert_int_eq(nics[0].irq, 5);
    nics_close();
}
END_TEST

START_TEST(every_line)
{
    static const int lines[] = {3, 4, 5, 7, 9, 10, 11, 12, 15};
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        memset(nics, 0, sizeof nics);
        nic_count = 0;
        machine();
        sim_card_plug(&card, &sim_cards[0], 0x300, lines[i]);
        find();
        found_one();
        ck_assert_int_eq(nics[0].irq, lines[i]);
        nics_close();
    }
}
END_TEST

/* No line reaches the machine: we poll, and say so. */
START_TEST(no_interrupt)
{
    machine();
    sim_card_plug(&card, &sim_cards[0], 0x300, 0); /* the tick's: nobody may claim it */
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL && !nics[0].irq_proven);
    ck_assert_ptr_nonnull(strstr(host_text(), "no interrupts seen"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    ck_assert(!nics_may_halt());
    nics_close();
}
END_TEST

START_TEST(two_cards)
{
    static struct sim_card second;
    machine();
    sim_card_plug(&second, &sim_cards[1], 0x360, 3);
    sim_card_plug(&card, &sim_cards[0], 0x280, 11);
    find();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert(nics[0].place.io.base == 0x280 && nics[1].place.io.base == 0x360);
    ck_assert(nics[0].irq == 11 && nics[1].irq == 3);
    ck_assert(nics[0].index == 0 && nics[1].index == 1);
    nics_close();
}
END_TEST

/* Warm reboot: the last system left it receiving, unmasked and on register page 1. */
START_TEST(left_running)
{
    uint8_t frame[60];
    machine();
    sim_card_plug(&card, &sim_cards[_i], 0x300, 10);
    sim_card_left_running(&card);
    memset(frame, 0xFF, sizeof frame);
    sim_receive(&card.chip, frame, sizeof frame);
    ck_assert(sim_irq_line(10));
    find();
    found_one();
    ck_assert_int_eq(nics[0].irq, 10);
    nics_close();
    ck_assert(!sim_irq_line(10));
}
END_TEST

/* Some clones ignore the reset port: bounded, and a word about it, whether we take it or not. */
START_TEST(no_reset_acknowledge)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.chip.no_reset_ack = true;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    ck_assert_msg(strstr(host_text(), "reset") != NULL, "not a word: %s", host_text());
    nics_close();
}
END_TEST

START_TEST(no_memory)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.no_ram = true;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_none("0x300");
    ck_assert(!sim_irq_line(10) && card.chip.imr == 0);
}
END_TEST

/* Contents that cannot be a station address. */
static const enum sim_prom bad_proms[] = {PROM_ONES, PROM_ZEROS, PROM_GROUP};

START_TEST(garbage_prom)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.prom = bad_proms[_i];
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_none("0x300");
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"prom\""), 1);
    ck_assert(card.chip.stopped && card.chip.imr == 0);
    ck_assert(!sim_irq_line(10));
}
END_TEST

/* Who names the place wants the card used: with an address of our own, locally administered. */
START_TEST(garbage_prom_given)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.prom = bad_proms[_i];
    machine();
    options_parse(&options, "nic=ne2000:0x300", no_report);
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].mac[0] & 3, 2);
    ck_assert_mem_eq(card.chip.par, nics[0].mac, 6);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"prom\""), 1);
    nics_close();
}
END_TEST

/* A 16-bit board with its 16-bit signature, plugged into an 8-bit slot: words are garbage. */
START_TEST(word_board_in_8bit_slot)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.slot8 = cfg.chip.word_forbidden = true;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].width, 8);
    ck_assert_mem_eq(nics[0].mac, sim_card_mac, 6);
    nics_close();
}
END_TEST

/* Remote DMA that never completes, from the start. */
START_TEST(dead_dma)
{
    machine();
    sim_card_plug(&card, &sim_cards[_i], 0x300, 10);
    card.chip.dma_stuck = true;
    find();
    found_none("0x300");
    ck_assert(!sim_irq_line(10) && card.chip.imr == 0);
}
END_TEST

/* Noise: refused, or taken as a card without signature if address and memory are possible; never
 * half of each. */
START_TEST(random_prom)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.prom = PROM_RANDOM;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    if (nic_count == 1) {
        ck_assert_uint_eq(nics[0].mac[0] & 1, 0);
        ck_assert_ptr_nonnull(strstr(nics[0].model, "no signature"));
    } else {
        found_none("0x300");
    }
    nics_close();
}
END_TEST

/* ---- what is no card ---- */

START_TEST(empty_bus)
{
    machine();
    find();
    found_none(NULL);
    ck_assert_uint_lt(sim_now_ns(), 50000000);
}
END_TEST

/* Ports that hold what is written to them. */
struct latch {
    uint8_t now[32], before[32];
    unsigned writes;
};

static uint32_t latch_in(void *self, unsigned reg, unsigned width)
{
    const struct latch *l = self;
    return width == 8 ? l->now[reg] : l->now[reg] | (uint32_t)l->now[(reg + 1) % 32] << 8;
}

static void latch_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct latch *l = self;
    l->writes++;
    l->now[reg] = (uint8_t)value;
    if (width == 16) {
        l->now[(reg + 1) % 32] = (uint8_t)(value >> 8);
    }
}

static struct latch latches[5];

static void plug_latches(unsigned pattern)
{
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned k = 0; k < 32; k++) {
            latches[i].now[k] = (uint8_t)(pattern < 256 ? pattern : (pattern * (k + 3) * 0x9E37U) >> 5);
        }
        memcpy(latches[i].before, latches[i].now, 32);
        latches[i].writes = 0;
        sim_attach(&(struct sim_device){"latch", candidates[i], 32, latch_in, latch_out, &latches[i]});
    }
}

/* Decoys at every candidate: not claimed, and every byte as it was. */
START_TEST(decoy_restored)
{
    machine();
    plug_latches((unsigned)_i);
    find();
    found_none(NULL);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_msg(memcmp(latches[i].now, latches[i].before, 32) == 0,
                      "decoy %02x at %03x was changed", (unsigned)_i, candidates[i]);
    }
}
END_TEST

/* A device that answers with what looks like a stopped 8390 but is none. */
static uint8_t mimic_value;
static unsigned mimic_writes;

static uint32_t mimic_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    return reg == 0 ? 0x21 : mimic_value++;
}

static void mimic_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)value;
    (void)width;
    mimic_writes++;
}

START_TEST(decoy_counting)
{
    machine();
    sim_attach(&(struct sim_device){"mimic", 0x300, 32, mimic_in, mimic_out, NULL});
    find();
    found_none(NULL);
}
END_TEST

/* noprobe= keeps hands off completely: not even a read. */
static uint32_t forbidden_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("noprobe: port %x read", 0x300 + reg);
}

static void forbidden_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("noprobe: port %x written with %x", 0x300 + reg, value);
}

START_TEST(noprobe)
{
    static const char *const ranges[] = {"noprobe=0x300-0x31f", "noprobe=0x31f-0x31f",
                                         "noprobe=0x200-0x300", "noprobe=0x308-0x309"};
    machine();
    options_parse(&options, ranges[_i], no_report);
    sim_attach(&(struct sim_device){"private", 0x300, 32, forbidden_in, forbidden_out, NULL});
    sim_card_plug(&card, &sim_cards[0], 0x320, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x320);
    nics_close();
}
END_TEST

/* nic=: only there, also where we never look by ourselves. */
START_TEST(given_place)
{
    machine();
    options_parse(&options, "nic=ne2000:0x240,10", no_report);
    sim_attach(&(struct sim_device){"private", 0x300, 32, forbidden_in, forbidden_out, NULL});
    sim_card_plug(&card, &sim_cards[0], 0x240, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x240);
    ck_assert(nics[0].irq == 10 && nics[0].mode == NIC_MODE_IRQ);
    nics_close();
}
END_TEST

START_TEST(given_place_empty)
{
    machine();
    options_parse(&options, "nic=ne2000:0x240", no_report);
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_none("0x240");
}
END_TEST

/* A wrong line in nic=: said, and the card usable all the same. */
START_TEST(given_line_wrong)
{
    machine();
    options_parse(&options, "nic=ne2000:0x300,5", no_report);
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_one();
    ck_assert(!(nics[0].mode == NIC_MODE_IRQ && nics[0].irq == 5));
    ck_assert_uint_ge(host_count(host_text(), "5"), 1);
    ck_assert_msg(nics[0].mode == NIC_MODE_POLL || nics[0].irq == 10, "irq %d", nics[0].irq);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    nics_close();
}
END_TEST

START_TEST(unknown_driver)
{
    machine();
    options_parse(&options, "nic=ne2000:0x300", no_report);
    strcpy(options.nic[0].driver, "ne9999");
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_ptr_nonnull(strstr(host_text(), "ne9999"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"option\""), 1);
}
END_TEST

START_TEST(irq_poll_option)
{
    machine();
    options_parse(&options, "irq=poll", no_report);
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL);
    ck_assert_uint_eq(card.chip.imr, 0);
    nics_close();
}
END_TEST

static TCase *cards_case(void)
{
    TCase *tc = tcase_create("cards");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_card, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, every_address, 0, 5);
    tcase_add_test(tc, every_line);
    tcase_add_test(tc, no_interrupt);
    tcase_add_test(tc, two_cards);
    tcase_add_loop_test(tc, left_running, 0, (int)sim_card_count);
    tcase_add_test(tc, no_reset_acknowledge);
    tcase_add_loop_test(tc, no_memory, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, garbage_prom, 0, 3);
    tcase_add_loop_test(tc, garbage_prom_given, 0, 3);
    tcase_add_loop_test(tc, word_board_in_8bit_slot, 0, 1);
    tcase_add_loop_test(tc, dead_dma, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, random_prom, 0, (int)sim_card_count);
    return tc;
}

static TCase *strangers_case(void)
{
    TCase *tc = tcase_create("strangers and options");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, empty_bus);
    tcase_add_loop_test(tc, decoy_restored, 0, 260);
    tcase_add_test(tc, decoy_counting);
    tcase_add_loop_test(tc, noprobe, 0, 4);
    tcase_add_test(tc, given_place);
    tcase_add_test(tc, given_place_empty);
    tcase_add_test(tc, given_line_wrong);
    tcase_add_test(tc, unknown_driver);
    tcase_add_test(tc, irq_poll_option);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("probe");
    suite_add_tcase(suite, cards_case());
    suite_add_tcase(suite, strangers_case());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
