/*
 * Finding an RTL8139: what it is called, and how much of the memory it gets.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/rtl8139/rtl8139.h"
#include "kernel/arena.h"
#include "kernel/options.h"
#include "tests/host/host_support.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pci.h"
#include "tests/host/sim/rtl8139.h"

enum { POOL = 16, IO = 0xE000, LINE = 10, SLOT = 9 };

static struct frame pool[POOL];
static struct sim_rtl card;
static const struct sim_rtl_config good = {.name = "rtl8139", .version = 0x74000000, .level = true};

static void machine(void)
{
    sim_reset();
    sim_dma_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, POOL);
    memset(nics, 0, sizeof nics);
    nic_count = 0;
    sim_irq_elcr(1U << LINE);
    sim_pci_plug(SIM_PCI_1);
    rtl8139_ring_kb = 8;
}

static void complain(const char *word, const char *why)
{
    ck_abort_msg("option %s: %s", word, why);
}

START_TEST(unknown_version)
{
    struct sim_rtl_config cfg = good;
    machine();
    cfg.version = 0x7C800000;
    sim_rtl_plug(&card, &cfg, SLOT, IO, LINE);
    nics_init();
    ck_assert_uint_eq(nic_count, 1);
    ck_assert_str_eq(nics[0].model, "RTL8139 (unknown version)");
    nics_close();
    sim_rtl_free(&card);
}
END_TEST

/* Its ring is the larger where there is memory for it. */
START_TEST(ring_by_memory)
{
    static const unsigned ring_kb[] = {16, 32};
    static _Alignas(16) uint8_t memory[3 << 20];
    for (unsigned i = 0; i < 2; i++) {
        machine();
        arena_init(memory, i == 0 ? 1 << 20 : sizeof memory);
        rtl8139_ring_kb = 0;
        sim_rtl_plug(&card, &good, SLOT, IO, LINE);
        nics_init();
        ck_assert_uint_eq(nic_count, 1);
        ck_assert_uint_eq(nics[0].ring_kb, ring_kb[i]);
        ck_assert_uint_eq(card.ring, ring_kb[i] * 1024);
        nics_close();
        sim_rtl_free(&card);
    }
}
END_TEST

/* nic=rtl8139:0x300: there is none on ISA. */
START_TEST(not_on_isa)
{
    machine();
    options_parse(&options, "nic=rtl8139:0x300", complain);
    nics_init();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_ptr_nonnull(strstr(host_text(), "needs a PCI card with an I/O range"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe of the RTL8139");
    TCase *tc = tcase_create("cards");
    tcase_add_test(tc, unknown_version);
    tcase_add_test(tc, ring_by_memory);
    tcase_add_test(tc, not_on_isa);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
