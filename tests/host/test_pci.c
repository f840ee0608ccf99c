/*
 * Configuration space: which mechanism, on machines that have one and machines that must not be
 * harmed; what a scan finds; waking a function; and what nic_pci.c makes of a card.
 */
#include <stdlib.h>

#include "drivers/nic_pci.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/pci.h"
#include "tests/host/pci_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/dma.h"

enum {
    VGA = 0x00B81013,
    CLASS_VGA = 0x03000000,
    CLASS_BRIDGE = 0x06040000,
    SOUND = 0x58801274,
    CLASS_SOUND = 0x04010000,
    SUBORDINATE = 0x18
};

/* ---- mechanism ---- */

START_TEST(mechanism_1)
{
    machine(SIM_PCI_1);
    ck_assert_uint_eq(pci_init(), 1);
    ck_assert_uint_eq(pci_read32(0, PCI_ID), 0x12378086);
    ck_assert_uint_eq(pci_read16(0, PCI_ID + 2), 0x1237);
    ck_assert_uint_eq(pci_read8(0, 0x0B), 0x06);
    ck_assert_uint_eq(pci_read32(1 << 3, PCI_ID), 0xFFFFFFFF);
}
END_TEST

START_TEST(mechanism_2)
{
    machine(SIM_PCI_2);
    ck_assert_uint_eq(pci_init(), 2);
    ck_assert_uint_eq(pci_read32(0, PCI_ID), 0x12378086);
    ck_assert_uint_eq(pci_read16(0, PCI_ID + 2), 0x1237);
    sim_pci_add(0, 15, 7, VGA, CLASS_VGA);
    sim_pci_add(3, 2, 1, SOUND, CLASS_SOUND);
    ck_assert_uint_eq(pci_read32(15 << 3 | 7, PCI_ID), VGA);
    ck_assert_uint_eq(pci_read32(3 << 8 | 2 << 3 | 1, PCI_ID), SOUND);
    ck_assert_uint_eq(pci_read32(16 << 3, PCI_ID), 0xFFFFFFFF); /* beyond its 16 devices */
    ck_assert_uint_eq(io_in8((struct ioport){0xCF8}, 0), 0);    /* window closed */
}
END_TEST

/* No PCI: all ports as they were, and nothing at C000h-CFFFh touched. */
START_TEST(no_pci)
{
    static const enum sim_pci_machine kinds[] = {SIM_PCI_NONE, SIM_PCI_ECHO, SIM_PCI_ECHO_8};
    uint8_t before[8];
    machine(kinds[_i]);
    for (unsigned i = 0; i < sizeof before; i++) {
        sim_pci_echo[i] = before[i] = (uint8_t)(0xA0 + i);
    }
    ck_assert_uint_eq(pci_init(), 0);
    ck_assert_mem_eq(sim_pci_echo, before, sizeof before);
    ck_assert_uint_eq(pci_read32(0, PCI_ID), 0xFFFFFFFF);
    uint64_t accesses = sim_accesses();
    pci_write32(0, PCI_BAR0, 0);
    pci_write16(0, PCI_COMMAND, 0);
    ck_assert_uint_eq(sim_accesses(), accesses);
}
END_TEST

/* A display, too, makes it plausible (an old host bridge may hide itself). */
START_TEST(display_only)
{
    machine(SIM_PCI_1);
    struct sim_pci_function *vga = sim_pci_add(0, 20, 0, VGA, CLASS_VGA);
    ck_assert_uint_eq(pci_init(), 1);
    vga->device = 21;
    ck_assert_uint_eq(pci_init(), 1);
}
END_TEST

/* ---- scan ---- */

static pci_address seen[64];
static unsigned seen_count, stop_after;

static bool note(pci_address a, uint32_t id, void *arg)
{
    ck_assert_ptr_eq(arg, &seen_count);
    ck_assert_uint_eq(id, pci_read32(a, PCI_ID));
    seen[seen_count++] = a;
    return seen_count != stop_after;
}

static void scan(unsigned stop)
{
    seen_count = 0;
    stop_after = stop;
    pci_scan(note, &seen_count);
}

START_TEST(scan_functions_and_bridges)
{
    machine(_i == 0 ? SIM_PCI_1 : SIM_PCI_2);
    struct sim_pci_function *multi = sim_pci_add(0, 3, 0, SOUND, CLASS_SOUND);
    sim_pci_set8(multi, PCI_HEADER, 0x80);
    sim_pci_add(0, 3, 5, SOUND + 0x10000, CLASS_SOUND);
    sim_pci_add(0, 4, 0, SOUND, CLASS_SOUND);
    sim_pci_add(0, 4, 1, SOUND, CLASS_SOUND); /* the same one again, seen by a sloppy decoder */
    struct sim_pci_function *bridge = sim_pci_add(0, 5, 0, 0x00211011, CLASS_BRIDGE);
    sim_pci_set32(bridge, SUBORDINATE, 0x00020100);
    struct sim_pci_function *behind = sim_pci_add(1, 2, 0, 0x00211011, CLASS_BRIDGE);
    sim_pci_set32(behind, SUBORDINATE, 0x00020201);
    sim_pci_add(2, 7, 0, VGA, CLASS_VGA);
    sim_pci_add(3, 1, 0, VGA, CLASS_VGA); /* no bridge leads there */
    pci_init();
    scan(0);
    static const pci_address expected[] = {0,      3 << 3,          3 << 3 | 5,     4 << 3,
                                           5 << 3, 1 << 8 | 2 << 3, 2 << 8 | 7 << 3};
    ck_assert_uint_eq(seen_count, sizeof expected / sizeof expected[0]);
    ck_assert_mem_eq(seen, expected, sizeof expected);
    scan(3);
    ck_assert_uint_eq(seen_count, 3);
}
END_TEST

/* A bridge that names bus 255, or one below its own: bounded. */
START_TEST(scan_bad_bridge)
{
    machine(SIM_PCI_1);
    struct sim_pci_function *bridge = sim_pci_add(0, 5, 0, 0x00211011, CLASS_BRIDGE);
    sim_pci_set32(bridge, SUBORDINATE, 0xFFFFFFFF);
    pci_init();
    scan(0);
    ck_assert_uint_eq(seen_count, 2);
    ck_assert_uint_lt(sim_now_ns(), 500000000);
    sim_pci_set32(bridge, SUBORDINATE, 0);
    scan(0);
    ck_assert_uint_eq(seen_count, 2);
}
END_TEST

START_TEST(scan_nothing_without_pci)
{
    machine(SIM_PCI_NONE);
    pci_init();
    uint64_t accesses = sim_accesses();
    scan(0);
    ck_assert_uint_eq(seen_count, 0);
    ck_assert_uint_eq(sim_accesses(), accesses);
}
END_TEST

/* ---- power ---- */

START_TEST(wakes_and_restores)
{
    machine(_i == 0 ? SIM_PCI_1 : SIM_PCI_2);
    struct sim_pci_function *f = sim_pci_add(0, 6, 0, SOUND, CLASS_SOUND);
    sim_pci_bar(f, 0, 0xD000, 0x100);
    sim_pci_bar(f, 2, 0xD400, 0x40);
    sim_pci_set16(f, PCI_COMMAND, 0x0005);
    sim_pci_set8(f, PCI_INTERRUPT, 11);
    sim_pci_set8(f, 0x44, 0x12); /* another capability in front of it */
    sim_pci_set8(f, PCI_CAPABILITIES, 0x44);
    sim_pci_power(f, 0x60, true);
    pci_init();
    uint64_t begin = sim_now_ns();
    ck_assert(pci_power_up(6 << 3));
    ck_assert_uint_ge(sim_now_ns() - begin, 10000000);
    ck_assert_uint_eq(f->wakes, 1);
    ck_assert_uint_eq(pci_read32(6 << 3, PCI_BAR0), 0xD001);
    ck_assert_uint_eq(pci_read32(6 << 3, PCI_BAR0 + 8), 0xD401);
    ck_assert_uint_eq(pci_read16(6 << 3, PCI_COMMAND), 0x0005);
    ck_assert_uint_eq(pci_read8(6 << 3, PCI_INTERRUPT), 11);
    ck_assert(!pci_power_up(6 << 3));
    ck_assert_uint_eq(f->wakes, 1);
}
END_TEST

/* No list, a list in a circle, one that points into the header: false, and bounded. */
START_TEST(bad_capabilities)
{
    machine(SIM_PCI_1);
    struct sim_pci_function *f = sim_pci_add(0, 6, 0, SOUND, CLASS_SOUND);
    pci_init();
    ck_assert(!pci_power_up(6 << 3));
    sim_pci_set16(f, PCI_STATUS, 0x0010);
    sim_pci_set8(f, PCI_CAPABILITIES, 0x04);
    ck_assert(!pci_power_up(6 << 3));
    sim_pci_set8(f, PCI_CAPABILITIES, 0x50);
    sim_pci_set8(f, 0x50, 0x09);
    sim_pci_set8(f, 0x51, 0x60);
    sim_pci_set8(f, 0x60, 0x05);
    sim_pci_set8(f, 0x61, 0x50);
    uint64_t accesses = sim_accesses();
    ck_assert(!pci_power_up(6 << 3));
    ck_assert_uint_lt(sim_accesses() - accesses, 1000);
    ck_assert_uint_eq(f->command_writes, 0);
}
END_TEST

/* ---- a card ---- */

static void works(void)
{
    uint8_t frame[60] = {0};
    struct frame *out[1];
    memcpy(frame, sim_rtl_mac, 6);
    sim_rtl_receive(&card, frame, sizeof frame, 0);
    nics[0].ops->poll(&nics[0]);
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 1), 1);
    frame_free(out[0]);
    nics[0].ops->rx_done(&nics[0]);
    struct slice slice = {frame, sizeof frame};
    struct tx_frame tx = {&slice, 1, sizeof frame};
    ck_assert_uint_eq(nics[0].ops->tx_burst(&nics[0], &tx, 1), 1);
    sim_run_us(1000);
    ck_assert_uint_eq(card.sent_count, 1);
    nics_close();
    sim_rtl_free(&card);
}

static void expect_changes(const char *words)
{
    char text[80];
    nic_pci_changes(&nics[0], text, sizeof text);
    ck_assert_str_eq(text, words);
}

START_TEST(firmware_did_its_work)
{
    plug(&good);
    found(true, "rtl8139 at 0xe000 irq 10: RTL8139C");
    ck_assert_ptr_nonnull(strstr(host_records(), "\"bus\":\"pci\""));
    ck_assert_ptr_nonnull(strstr(host_records(), "\"trigger\":\"level\""));
    ck_assert_uint_eq(nics[0].place.pci, SLOT << 3);
    ck_assert_uint_eq(card.pci->command_writes, 0);
    expect_changes("nothing had to be changed");
    works();
}
END_TEST

/* nic= names another card: this one may not go on writing into memory; and is not touched. */
START_TEST(unused_does_not_master)
{
    plug(&good);
    struct sim_pci_function *sound = sim_pci_add(0, 12, 0, SOUND, CLASS_SOUND);
    sim_pci_set16(sound, PCI_COMMAND, 0x0007);
    sim_pci_set16(card.pci, PCI_COMMAND, 0x0007);
    card.used_unmasked = false;
    card.imr = 1; /* any access but to IMR would abort */
    boot_options("nic=ne2000:0x300");
    nics_init();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert(!sim_pci_masters(card.pci));
    ck_assert(sim_pci_decodes(card.pci));
    ck_assert_uint_eq(card.imr, 1);
    ck_assert(sim_pci_masters(sound));
    options_default(&options);
    card.imr = 0;
    nics_init(); /* now it is wanted */
    ck_assert_uint_eq(nic_count, 1);
    ck_assert(sim_pci_masters(card.pci));
    expect_changes("switched on: bus mastering");
    works();
}
END_TEST

START_TEST(firmware_did_nothing)
{
    static const struct {
        uint16_t command;
        bool asleep;
        const char *words;
    } left[] = {
        {0x0003, false, "switched on: bus mastering"},
        {0x0006, false, "switched on: I/O"},
        {0x0000, false, "switched on: I/O bus mastering"},
        {0x0007, true, "switched on: power"},
        {0x0000, true, "switched on: power I/O bus mastering"},
    };
    plug(&good);
    sim_pci_set16(card.pci, PCI_COMMAND, left[_i].command);
    card.pci->config[card.pci->pm + 4] = left[_i].asleep ? 3 : 0;
    found(true, NULL);
    expect_changes(left[_i].words);
    ck_assert(sim_pci_decodes(card.pci) && sim_pci_masters(card.pci));
    ck_assert_uint_eq(sim_pci_io(card.pci), IO);
    works();
}
END_TEST

/* A BAR of 0, in memory only, or among the mainboard's own ports: one line, no card. */
START_TEST(no_io_range)
{
    static const uint32_t bars[] = {0x00000001, 0xF0000000, 0x00000061, 0x00010001};
    plug(&good);
    sim_pci_set32(card.pci, PCI_BAR0, bars[_i]);
    found(false, "the firmware gave it no I/O range");
    sim_rtl_free(&card);
}
END_TEST

/* What it is like, and how the line ends that says so. */
START_TEST(broken)
{
    static const struct {
        struct sim_rtl_config cfg;
        const char *words;
    } cards[] = {
        {{.all_ones = true}, "all registers read as ones: the card does not answer"},
        {{.stuck_in_reset = true}, "does not come out of reset"},
        {{.no_address = true}, "EEPROM gives no usable address"},
    };
    struct sim_rtl_config cfg = cards[_i].cfg;
    cfg.name = good.name;
    cfg.version = good.version;
    cfg.level = good.level;
    plug(&cfg);
    found(false, cards[_i].words);
    ck_assert_uint_lt(sim_now_ns(), 1000000000);
    sim_rtl_free(&card);
}
END_TEST

/* Mastering cannot be switched on: one line; nothing crashes, and sending is given up in time. */
START_TEST(no_bus_master)
{
    plug(&good);
    sim_pci_set16(card.pci, PCI_COMMAND, 0x0003);
    card.pci->command_mask = 0x0003;
    found(true, "I/O or bus mastering stays off");
    static const uint8_t frame[60];
    struct slice slice = {frame, sizeof frame};
    struct tx_frame tx = {&slice, 1, sizeof frame};
    ck_assert_uint_eq(nics[0].ops->tx_burst(&nics[0], &tx, 1), 1);
    sim_run_us(1000000);
    nics[0].ops->service(&nics[0], 0);
    ck_assert_uint_eq(nics[0].stats.tx_timeout, 1);
    nics_close();
    sim_rtl_free(&card);
}
END_TEST

/* Boot memory is too small for the ring: said, and the card left quiet. */
START_TEST(no_memory)
{
    plug(&good);
    sim_dma_limit(_i);
    found(false, "could not be opened");
    ck_assert(sim_rtl_at_rest(&card));
    sim_rtl_free(&card);
}
END_TEST

/* nic=pci:BB.D.F takes that one, and only that one. */
START_TEST(given_by_address)
{
    static struct sim_rtl other;
    plug(&good);
    sim_rtl_plug(&other, &good, SLOT + 1, IO + 0x100, 11);
    options.nics = 1;
    strcpy(options.nic[0].driver, "pci");
    options.nic[0].pci = (SLOT + 1) << 3;
    nics_init();
    ck_assert_uint_eq(nic_count, 1);
    ck_assert_uint_eq(nics[0].place.io.base, IO + 0x100);
    ck_assert_uint_eq(card.resets, 0);
    nics_close();
    nic_count = 0;
    options.nic[0].pci = 30 << 3;
    nics_init();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_uint_eq(host_count(host_text(), "no card there that can be used"), 1);
    sim_rtl_free(&card);
    sim_rtl_free(&other);
}
END_TEST

/* Same vendor, other device: not ours, not touched. */
START_TEST(other_devices_left_alone)
{
    machine(SIM_PCI_1);
    struct sim_pci_function *f = sim_pci_add(0, 6, 0, 0x816910EC, 0x02000010);
    sim_pci_bar(f, 0, 0xD000, 0x100);
    sim_pci_power(f, 0x50, true);
    found(false, NULL);
    ck_assert_uint_eq(f->command_writes + f->wakes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pci");
    TCase *bus = tcase_create("bus"), *one = tcase_create("card");
    tcase_add_test(bus, mechanism_1);
    tcase_add_test(bus, mechanism_2);
    tcase_add_loop_test(bus, no_pci, 0, 3);
    tcase_add_test(bus, display_only);
    tcase_add_loop_test(bus, scan_functions_and_bridges, 0, 2);
    tcase_add_test(bus, scan_bad_bridge);
    tcase_add_test(bus, scan_nothing_without_pci);
    tcase_add_loop_test(bus, wakes_and_restores, 0, 2);
    tcase_add_test(bus, bad_capabilities);
    tcase_add_test(one, firmware_did_its_work);
    tcase_add_test(one, unused_does_not_master);
    tcase_add_loop_test(one, firmware_did_nothing, 0, 5);
    tcase_add_loop_test(one, no_io_range, 0, 4);
    tcase_add_loop_test(one, broken, 0, 3);
    tcase_add_test(one, no_bus_master);
    tcase_add_loop_test(one, no_memory, 0, 5);
    tcase_add_test(one, given_by_address);
    tcase_add_test(one, other_devices_left_alone);
    suite_add_tcase(suite, bus);
    suite_add_tcase(suite, one);
    return run_suite(suite);
}
