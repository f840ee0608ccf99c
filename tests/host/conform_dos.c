/*
 * Conformance: a warm boot into another system.  Its driver looks for the card in its own way, by
 * the steps packet drivers for DOS take (the Crynwr collection, read for facts), and finds it as it
 * was before we came.
 */
#include <string.h>

#include "kernel/io.h"
#include "kernel/time.h"
#include "tests/host/conform.h"

enum { CR, ISR = 7, RSAR0, RSAR1, RBCR0, RBCR1, RCR, TCR, DCR, IMR, DATA, RESET = 0x1F };
enum { STOP = 0x21, READ = 0x0A, PROM_BYTES = 32, SETTLE_US = 10000 };

static struct rig r;

/* ---- data-port boards: reset, set up, read the PROM ---- */

static void look_ne2000(uint8_t mac[6])
{
    static const uint8_t steps[][2] = {{CR, STOP},  {RBCR0, 0},         {RBCR1, 0}, {RCR, 0x20},
                                       {TCR, 0x02}, {ISR, 0xFF},        {IMR, 0},   {RSAR0, 0},
                                       {RSAR1, 0},  {RBCR0, PROM_BYTES}};
    const struct sim_card_config *cfg = r.cfg.ne2000;
    struct ioport p = {cfg->pci != 0 ? RIG_PCI_BASE : RIG_BASE};
    bool dwords = cfg->chip.dwords == DWORDS_ONLY, doubled = true;
    uint8_t prom[PROM_BYTES];
    io_out8(p, RESET, io_in8(p, RESET));
    delay_us(SETTLE_US);
    io_out8(p, DCR, dwords ? 0x49 : 0x48);
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        io_out8(p, steps[i][0], steps[i][1]);
    }
    io_out8(p, CR, READ);
    if (dwords) {
        io_in32_rep(p, DATA, prom, PROM_BYTES / 4);
    } else {
        io_in8_rep(p, DATA, prom, PROM_BYTES);
    }
    for (unsigned i = 0; i < 6; i++) {
        doubled = doubled && prom[2 * i] == prom[2 * i + 1];
    }
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = prom[doubled ? 2 * i : i];
    }
    io_out8(p, CR, STOP);
}

/* ---- WD and SMC: the sum of the address PROM; the memory off the bus, where it was set up ---- */

static void look_wd80x3(uint8_t mac[6])
{
    const struct sim_wd_config *cfg = r.cfg.wd80x3;
    struct ioport p = {RIG_BASE};
    struct iowin window = {sim_wd_window(&r.wd)};
    uint8_t lan[8], seen[4], sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        lan[i] = io_in8(p, 8 + i);
        sum = (uint8_t)(sum + lan[i]);
    }
    ck_assert_uint_eq(sum, 0xFF);
    memcpy(mac, lan, 6);
    ck_assert(cfg->eeprom_mem == 0 || cfg->pipe || window.base == cfg->eeprom_mem);
    mem_read8(window, 0, seen, sizeof seen);
    ck_assert_mem_eq(seen, "\xFF\xFF\xFF\xFF", sizeof seen);
}

/* ---- 3C503: jumpers, the boot ROM in the window, the PROM in the chip's place ---- */

static void look_3c503(uint8_t mac[6])
{
    struct ioport p = {RIG_BASE}, gate = {RIG_BASE + 0x400};
    uint8_t shown;
    ck_assert_uint_eq(io_in8(gate, 3), 0x80);
    ck_assert_uint_eq(io_in8(gate, 4), r.cfg.el2->memory);
    if (r.cfg.el2->memory != 0) {
        mem_read8((struct iowin){sim_el2_window(&r.el2)}, 0x1FFE, &shown, 1);
        ck_assert_uint_eq(shown, 0x80);
    }
    io_out8(gate, 6, 0x03);
    io_out8(gate, 6, 0x02);
    io_out8(gate, 6, 0x06);
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = io_in8(p, i);
    }
    io_out8(gate, 6, 0x02);
}

/* ---- RTL8139: reset, the address the EEPROM gave ---- */

static void look_rtl8139(uint8_t mac[6])
{
    struct ioport p = {RIG_PCI_BASE};
    io_out8(p, 0x37, 0x10);
    delay_us(SETTLE_US);
    ck_assert_uint_eq(io_in8(p, 0x37) & 0x10, 0);
    for (unsigned i = 0; i < 6; i++) {
        mac[i] = io_in8(p, i);
    }
}

CASE(warm_boot_into_dos)
{
    uint8_t mac[6];
    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    rig_pump(&r);
    ck_assert(rig_send(&r, 100, 2));
    nics_close(); /* in the middle of sending */
    ck_assert(r.side->at_rest(&r));
    rig_reboot(&r);
    (cfg->ne2000 != NULL   ? look_ne2000
     : cfg->wd80x3 != NULL ? look_wd80x3
     : cfg->el2 != NULL    ? look_3c503
                           : look_rtl8139)(mac);
    ck_assert_mem_eq(mac, sim_card_mac, 6);
    ck_assert(!sim_irq_line(RIG_IRQ));
    rig_find(&r); /* and back again */
    ck_assert_uint_eq(nic_count, 1);
    rig_down(&r);
}

TCase *conform_dos(void)
{
    TCase *tc = tcase_create("other systems");
    ADD_CASE(tc, warm_boot_into_dos);
    return tc;
}
