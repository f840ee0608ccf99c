/*
 * 3C503: found and named, its memory or its FIFO, its line and its connector; left as found.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/probe.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/3c503.h"

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
    ck_assert(sim_el2_at_rest(&el2));
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

int main(void)
{
    Suite *suite = suite_create("3c503");
    TCase *tc = tcase_create("boards");
    tcase_add_loop_test(tc, every_board, 0, (int)sim_el2_count);
    tcase_add_test(tc, dark_window);
    tcase_add_test(tc, two_memory_jumpers);
    tcase_add_test(tc, nothing_answers);
    tcase_add_loop_test(tc, stranger, 0, 2);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
