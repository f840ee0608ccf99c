/*
 * Finding an RTL8139: what it is called, and how much of the memory it gets.
 */
#include <stdlib.h>

#include "drivers/rtl8139/rtl8139.h"
#include "kernel/arena.h"
#include "tests/host/pci_rig.h"
#include "tests/host/run_suite.h"

START_TEST(unknown_version)
{
    struct sim_rtl_config cfg = good;
    cfg.version = 0x7C800000;
    plug(&cfg);
    found(true, NULL);
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
        plug(&good);
        arena_init(memory, i == 0 ? 1 << 20 : sizeof memory);
        rtl8139_ring_kb = 0;
        found(true, NULL);
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
    machine(SIM_PCI_1);
    boot_options("nic=rtl8139:0x300");
    found(false, "needs a PCI card with an I/O range");
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
