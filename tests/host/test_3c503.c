/*
 * 3C503: found and named, its memory or its FIFO, its line and its connector; left as found.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/probe.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/3c503.h"

TCase *misuse_3c503(void);

static struct sim_el2 el2;

static void plug(const struct sim_el2_config *cfg, const char *words)
{
    machine();
    sim_el2_plug(&el2, cfg, 0x300, 0);
    boot_options(words);
    find();
}

static void close_and_check(void)
{
    nics_close();
    ck_assert(sim_el2_at_rest(&el2));
    sim_el2_free(&el2);
}

START_TEST(every_board)
{
    static const char *const models[] = {"3C503", "3C503/16", "3C503, FIFO"};
    plug(&sim_el2s[_i], "nic=3c503");
    found_one();
    ck_assert_str_eq(nics[0].driver->name, "3c503");
    ck_assert_ptr_nonnull(strstr(nics[0].model, models[_i]));
    ck_assert_uint_eq(nics[0].place.mem, sim_el2_window(&el2));
    ck_assert_mem_eq(nics[0].mac, sim_card_mac, 6);
    ck_assert(nics[0].irq_proven && nics[0].mode == NIC_MODE_IRQ);
    close_and_check();
}
END_TEST

/* A window that never shows: said in one line, and the FIFO does it. */
START_TEST(dark_window)
{
    struct sim_el2_config cfg = sim_el2s[0];
    cfg.dark = true;
    plug(&cfg, "nic=3c503:0x300");
    found_one();
    ck_assert_uint_eq(nics[0].place.mem, 0);
    ck_assert_ptr_nonnull(strstr(host_text(), "using its FIFO"));
    close_and_check();
}
END_TEST

START_TEST(two_memory_jumpers)
{
    struct sim_el2_config cfg = sim_el2s[2];
    cfg.memory = 0x30;
    plug(&cfg, "nic=3c503:0x300");
    found_none("two memory jumpers are set (30)");
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    ck_assert_uint_eq(el2.chip.starts + el2.chip.hardware_resets, 0);
}
END_TEST

START_TEST(nothing_answers)
{
    struct sim_el2_config cfg = sim_el2s[2];
    cfg.fifo_dead = true;
    plug(&cfg, "nic=3c503:0x300");
    found_none("does not answer through the FIFO either");
    ck_assert(sim_el2_at_rest(&el2));
}
END_TEST

/* The PROM is another maker's, or the jumper tells another place. */
START_TEST(stranger)
{
    struct sim_el2_config cfg = sim_el2s[0];
    if (_i == 0) {
        memcpy(cfg.oui, "\x00\x00\xC0", 3);
    } else {
        cfg.ports = 0x01;
    }
    plug(&cfg, "nic=3c503:0x300");
    found_none("no 3C503 there");
}
END_TEST

/* Another maker's card: what was touched for the look is as it was. */
START_TEST(stranger_is_put_back)
{
    struct sim_el2_config cfg = sim_el2s[0];
    memcpy(cfg.oui, "\x00\x00\xC0", 3);
    machine();
    sim_el2_plug(&el2, &cfg, 0x300, 0);
    uint8_t was = el2.gacr;
    boot_options("nic=3c503:0x300");
    find();
    found_none("no 3C503 there");
    ck_assert_uint_eq(el2.gacr, was);
    ck_assert(el2.gacfr == 0 && el2.idcfr == 0 && el2.opened == 0);
    ck_assert_uint_eq(el2.chip.starts + el2.chip.hardware_resets, 0);
}
END_TEST

/* Registers of the jumpers that no 3C503 shows. */
START_TEST(impossible_jumpers)
{
    struct sim_el2_config cfg = sim_el2s[0];
    if (_i == 0) {
        cfg.memory = 0x11;
    } else {
        cfg.ports = 0xC0; /* 0x300 and 0x310 */
    }
    plug(&cfg, "nic=3c503:0x300");
    found_none("no 3C503 there");
    ck_assert_uint_eq(el2.chip.starts + el2.chip.hardware_resets, 0);
}
END_TEST

/* 3Com had two prefixes on these boards. */
START_TEST(both_prefixes)
{
    static const uint8_t prefixes[][3] = {{0x02, 0x60, 0x8C}, {0x00, 0x20, 0xAF}};
    struct sim_el2_config cfg = sim_el2s[0];
    memcpy(cfg.oui, prefixes[_i], 3);
    plug(&cfg, "");
    found_one();
    ck_assert_mem_eq(nics[0].mac, prefixes[_i], 3);
    ck_assert_mem_eq(nics[0].mac + 3, sim_card_mac + 3, 3);
    close_and_check();
}
END_TEST

/* ---- places ---- */

static const uint16_t bases[] = {0x300, 0x310, 0x330, 0x350, 0x250, 0x280, 0x2A0, 0x2E0};
enum { BASES = sizeof bases / sizeof bases[0] };

/* Found by itself at each of them: at x10h because the end of its boot ROM shows the jumper. */
START_TEST(every_place)
{
    machine();
    sim_el2_plug(&el2, &sim_el2s[0], bases[_i], 0);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, bases[_i]);
    close_and_check();
}
END_TEST

/* No memory jumper, no boot ROM: at x10h, which may be an NE2000's data port, nobody is asked who
 * did not say so. */
START_TEST(place_without_rom)
{
    bool ends_with_10 = (bases[_i] & 0x10) != 0;
    char option[24];
    machine();
    sim_el2_plug(&el2, &sim_el2s[2], bases[_i], 0);
    uint8_t was = el2.gacr;
    find();
    if (ends_with_10) {
        found_none(NULL);
        ck_assert_uint_eq(el2.gacr, was);
    } else {
        found_one();
        nics_close();
    }
    sim_el2_free(&el2);
    machine();
    sim_el2_plug(&el2, &sim_el2s[2], bases[_i], 0);
    format(option, sizeof option, "nic=3c503:0x%x", bases[_i]);
    boot_options(option);
    find();
    found_one();
    close_and_check();
}
END_TEST

/* Each jumper of the memory; with the other 8 KB of the 16 behind it. */
START_TEST(every_window)
{
    static const uint32_t windows[] = {0xC8000, 0xCC000, 0xD8000, 0xDC000};
    for (unsigned board = 0; board < 2; board++) {
        struct sim_el2_config cfg = sim_el2s[board];
        cfg.memory = (uint8_t)(0x10 << _i);
        plug(&cfg, "");
        found_one();
        ck_assert_uint_eq(nics[0].place.mem, windows[_i]);
        ck_assert_uint_eq(nics[0].ring_kb, board == 0 ? 5 : 8);
        close_and_check();
    }
}
END_TEST

/* ---- lines ---- */

/* The one that reaches the machine is found; no other is left driven. */
START_TEST(every_line)
{
    static const int lines[] = {9, 3, 4, 5};
    machine();
    sim_el2_plug(&el2, &sim_el2s[0], 0x300, lines[_i]);
    find();
    found_one();
    ck_assert(nics[0].irq == lines[_i] && nics[0].irq_proven);
    ck_assert_uint_eq(el2.idcfr, 0x10U << _i);
    close_and_check();
}
END_TEST

/* The user's is taken first, 2 being 9; one the board cannot drive is said. */
START_TEST(line_given)
{
    static const struct {
        const char *option, *words;
        int irq;
    } given[] = {{"nic=3c503:0x300,4", "", 4},
                 {"nic=3c503:0x300,2", "", 9},
                 {"nic=3c503:0x300,10", "irq 10", 5}};
    plug(&sim_el2s[0], given[_i].option);
    found_one();
    ck_assert(nics[0].irq == given[_i].irq && nics[0].irq_proven);
    ck_assert_ptr_nonnull(strstr(host_text(), given[_i].words));
    close_and_check();
}
END_TEST

/* A second board takes the next line it can drive, not the first one's. */
START_TEST(lines_of_two)
{
    static struct sim_el2 second;
    struct sim_el2_config fifo = sim_el2s[2]; /* their memories could be at one place */
    machine();
    sim_el2_plug(&el2, &sim_el2s[0], 0x300, 0);
    sim_el2_plug(&second, &fifo, 0x2E0, 0);
    find();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert(nics[0].irq == 5 && nics[0].irq_proven);
    ck_assert(nics[1].irq == 9 && nics[1].irq_proven);
    nics_close();
    ck_assert(sim_el2_at_rest(&el2) && sim_el2_at_rest(&second));
}
END_TEST

/* No line gets through, or nobody wants one: polled, and none is driven. */
START_TEST(polled)
{
    machine();
    sim_el2_plug(&el2, &sim_el2s[0], 0x300, _i == 0 ? 11 : 0);
    boot_options(_i == 0 ? "" : "irq=poll");
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL);
    ck_assert_uint_eq(el2.idcfr, 0);
    close_and_check();
}
END_TEST

/* ---- at work ---- */

static bool send(unsigned number)
{
    uint8_t frame[60] = {0};
    const struct slice slice = {frame, sizeof frame};
    const struct tx_frame tx = {&slice, 1, sizeof frame};
    frame[14] = (uint8_t)number;
    return nics[0].ops->tx_burst(&nics[0], &tx, 1) == 1;
}

/* Thin cable or AUI: the connector where frames get out is found, said, and kept. */
START_TEST(connector)
{
    struct sim_el2_config cfg = sim_el2s[_i % 3];
    cfg.cable = _i < 3 ? CABLE_AUI : CABLE_THIN;
    plug(&cfg, "nic=3c503:0x300");
    found_one();
    for (unsigned i = 0; i < 100; i++) {
        ck_assert(send(i));
        sim_run_us(20000);
        nics[0].ops->service(&nics[0], 0);
    }
    unsigned lost = 100 - el2.chip.sent_count;
    ck_assert_uint_eq(host_count(host_text(), "nothing gets out"), _i < 3);
    ck_assert_uint_eq(host_count(host_text(), "trying the AUI connector"), _i < 3);
    ck_assert_msg(_i < 3 ? lost > 0 && lost < 20 : lost == 0, "%u lost", lost);
    ck_assert_uint_eq(nics[0].stats.tx_abort, lost);
    ck_assert_uint_eq(nics[0].stats.tx_frames, 100 - lost);
    ck_assert_uint_eq(sim_sent(&el2.chip, el2.chip.sent_count - 1)->data[14], 99);
    close_and_check();
}
END_TEST

/* The cable is moved: back again. */
START_TEST(back_to_thin)
{
    struct sim_el2_config cfg = sim_el2s[0];
    cfg.cable = CABLE_AUI;
    plug(&cfg, "");
    found_one();
    for (unsigned i = 0; i < 200; i++) {
        if (i == 100) {
            el2.cfg.cable = CABLE_THIN; /* somebody moved it */
        }
        ck_assert(send(i));
        sim_run_us(20000);
        nics[0].ops->service(&nics[0], 0);
    }
    ck_assert_uint_eq(host_count(host_text(), "trying the AUI connector"), 1);
    ck_assert_uint_eq(host_count(host_text(), "trying the BNC connector"), 1);
    ck_assert_uint_eq(sim_sent(&el2.chip, el2.chip.sent_count - 1)->data[14], 199);
    close_and_check();
}
END_TEST

/* The FIFO stops answering: bounded, counted, and with it back the card works again. */
START_TEST(fifo_stuck)
{
    uint8_t frame[60] = {0};
    struct frame *out[4];
    plug(&sim_el2s[2], "nic=3c503:0x300");
    found_one();
    memcpy(frame, sim_card_mac, 6);
    sim_receive(&el2.chip, frame, sizeof frame);
    el2.cfg.fifo_dead = true;
    uint64_t begin = sim_now_ns();
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 4), 0);
    ck_assert_uint_eq(nics[0].stats.rx_resync, 1);
    send(1);
    ck_assert_uint_eq(nics[0].stats.dma_timeout, 1);
    ck_assert_uint_lt(sim_now_ns() - begin, 200000000);
    el2.cfg.fifo_dead = false;
    nics[0].ops->service(&nics[0], EV_FAULT);
    sim_receive(&el2.chip, frame, sizeof frame);
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 4), 1);
    ck_assert_mem_eq(out[0]->data, frame, sizeof frame);
    frame_free(out[0]);
    ck_assert(send(2));
    sim_run_us(1000);
    ck_assert_uint_eq(el2.chip.sent_count, 1);
    close_and_check();
}
END_TEST

/* The window is open for each copy, and shut again. */
START_TEST(window_is_shut)
{
    uint8_t frame[300] = {0};
    struct frame *out[4];
    plug(&sim_el2s[_i], "");
    found_one();
    unsigned before = el2.opened;
    memcpy(frame, sim_card_mac, 6);
    for (unsigned i = 0; i < 3; i++) {
        sim_receive(&el2.chip, frame, sizeof frame);
    }
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 4), 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_mem_eq(out[i]->data, frame, sizeof frame);
        frame_free(out[i]);
    }
    ck_assert_uint_eq(el2.opened - before, 6);
    ck_assert_uint_eq(el2.gacfr & 0x08, 0);
    close_and_check();
}
END_TEST

static TCase *work(void)
{
    TCase *tc = tcase_create("work");
    tcase_add_loop_test(tc, connector, 0, 6);
    tcase_add_test(tc, back_to_thin);
    tcase_add_test(tc, fifo_stuck);
    tcase_add_loop_test(tc, window_is_shut, 0, 2);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("3c503");
    TCase *tc = tcase_create("boards");
    tcase_add_loop_test(tc, every_board, 0, (int)sim_el2_count);
    tcase_add_test(tc, dark_window);
    tcase_add_test(tc, two_memory_jumpers);
    tcase_add_test(tc, nothing_answers);
    tcase_add_loop_test(tc, stranger, 0, 2);
    tcase_add_test(tc, stranger_is_put_back);
    tcase_add_loop_test(tc, impossible_jumpers, 0, 2);
    tcase_add_loop_test(tc, both_prefixes, 0, 2);
    tcase_add_loop_test(tc, every_place, 0, BASES);
    tcase_add_loop_test(tc, place_without_rom, 0, BASES);
    tcase_add_loop_test(tc, every_window, 0, 4);
    tcase_add_loop_test(tc, every_line, 0, 4);
    tcase_add_loop_test(tc, line_given, 0, 3);
    tcase_add_test(tc, lines_of_two);
    tcase_add_loop_test(tc, polled, 0, 2);
    suite_add_tcase(suite, tc);
    tc = work();
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, misuse_3c503());
    return run_suite(suite);
}
