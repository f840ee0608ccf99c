/*
 * Simulated EtherLink II boards around the simulated chip.
 */
#include "tests/host/sim/3c503.h"

#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/wire.h"

enum { PORTS = 0x10, GATE_ARRAY = 0x400, RESET_US = 100, BANK = 0x2000, FIFO = 8 };
enum { RSEL = 0x08, MBS = 0x07, TCM = 0x40, NIM = 0x80, CFR_REST = 0x30 };
enum { RST = 0x01, XSEL = 0x02, EALO = 0x04, EAHI = 0x08, DDIR = 0x40, START = 0x80 };
enum { CR_AFTER_RESET = 0x0B, DPRDY = 0x80, REVISION = 0x01, LINES = 0xF0 };

const struct sim_el2_config sim_el2s[] = {
    {.name = "3c503", .memory = 0x10},
    {.name = "3c503-16", .memory = 0x80, .wide = true},
    {.name = "3c503-fifo"},
};
const unsigned sim_el2_count = sizeof sim_el2s / sizeof sim_el2s[0];

/* ---- what the registers mean ---- */

uint32_t sim_el2_window(const struct sim_el2 *el2)
{
    switch (el2->cfg.memory) {
    case 0x10: return 0xC8000;
    case 0x20: return 0xCC000;
    case 0x40: return 0xD8000;
    case 0x80: return 0xDC000;
    default: return 0;
    }
}

static void route(struct sim_el2 *el2)
{
    static const int lines[] = {9, 3, 4, 5};
    int line = el2->chip.irq;
    bool off = (el2->gacfr & NIM) != 0 || (el2->idcfr & LINES) == 0;
    for (unsigned i = 0; i < 4; i++) {
        if ((el2->idcfr >> (4 + i) & 1) != 0) {
            line = lines[i];
        }
    }
    sim_chip_route(&el2->chip, line, off || (el2->wired != 0 && line != el2->wired));
}

void sim_el2_wire(struct sim_el2 *el2, int line)
{
    el2->wired = line;
    route(el2);
}

/* The cable is at the other connector: collisions without end, or no carrier. */
static void plug_cable(struct sim_el2 *el2)
{
    bool thin = (el2->gacr & XSEL) != 0;
    if (el2->cfg.cable == CABLE_THIN && !thin) {
        sim_tx_fate(&el2->chip, FATE_CARRIER, 0);
    } else if (el2->cfg.cable == CABLE_AUI && thin) {
        sim_tx_fate(&el2->chip, FATE_ABORT, 0);
    }
}

static bool online(const struct sim_el2 *el2)
{
    return sim_chip_online(&el2->chip);
}

/* What must hold on line, and while the FIFO runs: the gate array wraps where the chip does. */
static void check_copies(const struct sim_el2 *el2)
{
    if (el2->pstr != el2->chip.pstart || el2->pspr != el2->chip.pstop) {
        sim_misuse("%s: PSTR %02x, PSPR %02x are not the chip's %02x, %02x", el2->cfg.name,
                   el2->pstr, el2->pspr, el2->chip.pstart, el2->chip.pstop);
    }
}

static void check_online(const struct sim_el2 *el2)
{
    if (!online(el2)) {
        return;
    }
    check_copies(el2);
    if (el2->cfg.memory != 0 && (el2->vptr[0] | el2->vptr[1] | el2->vptr[2]) == 0) {
        sim_misuse("%s: on line with VPTR 0: a read of address 0 takes the memory away",
                   el2->cfg.name);
    }
}

/* ---- the gate array's registers ---- */

static void hold_in_reset(struct sim_el2 *el2)
{
    if ((el2->gacr & XSEL) == 0) {
        sim_misuse("%s: reset with the transceiver off locks up without an AUI cable",
                   el2->cfg.name);
    }
    sim_chip_reset_on(&el2->chip);
    el2->pstr = el2->pspr = el2->dqtr = el2->gacfr = el2->idcfr = 0;
    memset(el2->vptr, 0, sizeof el2->vptr);
    el2->address = 0;
    el2->fifo = 0;
    el2->gacr = CR_AFTER_RESET;
}

static void start_fifo(struct sim_el2 *el2)
{
    if ((el2->gacfr & RSEL) != 0) {
        sim_misuse("%s: FIFO started while the memory is in the window", el2->cfg.name);
    }
    if (el2->chip.init != 0 && el2->chip.init == INIT_ALL) {
        check_copies(el2);
    }
    el2->fifo_at = el2->address;
    el2->fifo = FIFO;
    el2->looked = false;
}

static void stop_fifo(struct sim_el2 *el2)
{
    if ((el2->gacr & DDIR) != 0 && !el2->looked && !el2->chip.dma_stuck && !el2->cfg.fifo_dead) {
        sim_misuse("%s: FIFO stopped before what was in it had arrived", el2->cfg.name);
    }
}

static void write_cr(struct sim_el2 *el2, uint8_t value)
{
    uint8_t was = el2->gacr;
    el2->gacr = value;
    if ((value & RST) != 0) {
        hold_in_reset(el2);
        return;
    }
    if ((was & RST) != 0) {
        sim_chip_reset_off(&el2->chip);
    }
    if ((value & (EALO | EAHI)) == (EALO | EAHI)) {
        sim_misuse("%s: both halves of the PROM at once", el2->cfg.name);
    }
    if ((was & START) == 0 && (value & START) != 0) {
        start_fifo(el2);
    } else if ((was & START) != 0 && (value & START) == 0) {
        el2->gacr = was;
        stop_fifo(el2);
        el2->gacr = value;
    }
    plug_cable(el2);
}

static void write_cfr(struct sim_el2 *el2, uint8_t value)
{
    unsigned bank = value & MBS;
    if ((value & CFR_REST) != 0 || (value & TCM) == 0) {
        sim_misuse("%s: GACFR <- %02x: test mode, wait states, or its own interrupt", el2->cfg.name,
                   value);
    }
    if ((value & RSEL) != 0 && bank != 1 && !(bank == 0 && el2->cfg.wide)) {
        sim_misuse("%s: bank %u is not there", el2->cfg.name, bank);
    }
    el2->opened += (value & RSEL) != 0 && (el2->gacfr & RSEL) == 0;
    el2->gacfr = value;
}

static void write_idcfr(struct sim_el2 *el2, uint8_t value)
{
    unsigned lines = value & LINES;
    if ((value & 0x0F) != 0 || (lines & (lines - 1)) != 0) {
        sim_misuse("%s: IDCFR <- %02x: one line, and no DMA channel", el2->cfg.name, value);
    }
    el2->idcfr = value;
}

static void write_address(struct sim_el2 *el2, unsigned reg, uint8_t value)
{
    if ((el2->gacr & START) != 0) {
        sim_misuse("%s: address written while the FIFO runs", el2->cfg.name);
    }
    el2->address = (uint16_t)(reg == 9 ? (el2->address & 0x00FF) | value << 8
                                       : (el2->address & 0xFF00) | value);
}

static void ga_out(struct sim_el2 *el2, unsigned reg, uint8_t value)
{
    switch (reg) {
    case 0x0: el2->pstr = value; break;
    case 0x1: el2->pspr = value; break;
    case 0x2: el2->dqtr = value; break;
    case 0x5: write_cfr(el2, value); break;
    case 0x6: write_cr(el2, value); break;
    case 0x8: write_idcfr(el2, value); break;
    case 0x9:
    case 0xA: write_address(el2, reg, value); break;
    case 0xB:
    case 0xC:
    case 0xD: el2->vptr[reg - 0xB] = value; break;
    default: sim_misuse("%s: gate array register %x written", el2->cfg.name, reg);
    }
    route(el2);
}

static uint8_t read_status(struct sim_el2 *el2)
{
    bool ready = (el2->gacr & START) != 0 && !el2->chip.dma_stuck && !el2->cfg.fifo_dead;
    if (ready) {
        el2->fifo = FIFO;
        el2->looked = true;
    }
    return (uint8_t)(REVISION | (ready ? DPRDY : 0));
}

static uint8_t ports_jumper(const struct sim_el2 *el2)
{
    static const uint16_t places[8] = {0x2E0, 0x2A0, 0x280, 0x250, 0x350, 0x330, 0x310, 0x300};
    uint8_t bit = el2->cfg.ports;
    for (unsigned i = 0; i < 8 && el2->cfg.ports == 0; i++) {
        bit |= (uint8_t)((places[i] == el2->base) << i);
    }
    return bit;
}

static uint8_t ga_in(struct sim_el2 *el2, unsigned reg)
{
    const uint8_t plain[16] = {[0x0] = el2->pstr,
                               [0x1] = el2->pspr,
                               [0x2] = el2->dqtr,
                               [0x4] = el2->cfg.memory,
                               [0x5] = el2->gacfr,
                               [0x6] = el2->gacr,
                               [0x8] = el2->idcfr,
                               [0x9] = (uint8_t)(el2->address >> 8),
                               [0xA] = (uint8_t)el2->address};
    if (reg == 7) {
        return read_status(el2);
    }
    if (reg != 3) {
        return plain[reg];
    }
    return ports_jumper(el2);
}

/* One byte through the FIFO; the chip's memory, by the chip's addresses. */
static uint8_t *fifo_byte(struct sim_el2 *el2, bool out)
{
    static uint8_t nowhere;
    unsigned at = el2->fifo_at++;
    if ((el2->gacr & START) == 0 || ((el2->gacr & DDIR) != 0) != out) {
        sim_misuse("%s: FIFO %s without having been started for it", el2->cfg.name,
                   out ? "written" : "read");
    }
    if (!el2->looked && el2->fifo == FIFO) {
        sim_misuse("%s: FIFO used without DPRDY", el2->cfg.name);
    }
    if (el2->fifo-- == 0) {
        sim_misuse("%s: more than %u bytes without a look at DPRDY", el2->cfg.name, FIFO);
    }
    el2->looked = el2->looked && !out;
    if (at % 2 == 0) { /* the last word may hold but one byte of the frame */
        sim_chip_host_access(&el2->chip, at, 1, !out);
    }
    nowhere = 0xFF;
    return sim_chip_in_ram(&el2->chip, at, 1) ? &el2->chip.mem[at] : &nowhere;
}

/* ---- bus side ---- */

static void need_byte(const struct sim_el2 *el2, unsigned reg, unsigned width)
{
    if (width != 8) {
        sim_misuse("%s: %u-bit access to register %03x", el2->cfg.name, width, reg);
    }
}

static uint32_t gate_in(void *self, unsigned reg, unsigned width)
{
    struct sim_el2 *el2 = self;
    if (reg == 0xE && width == 16) {
        uint32_t low = *fifo_byte(el2, false);
        return low | (uint32_t)*fifo_byte(el2, false) << 8;
    }
    need_byte(el2, GATE_ARRAY + reg, width);
    return ga_in(el2, reg);
}

static void gate_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct sim_el2 *el2 = self;
    if (reg == 0xE && width == 16) {
        *fifo_byte(el2, true) = (uint8_t)value;
        *fifo_byte(el2, true) = (uint8_t)(value >> 8);
        return;
    }
    need_byte(el2, GATE_ARRAY + reg, width);
    ga_out(el2, reg, (uint8_t)value);
}

/* Nothing but copying may be done while the window is open or the FIFO runs. */
static void check_chip_access(const struct sim_el2 *el2)
{
    if ((el2->gacfr & RSEL) != 0 || (el2->gacr & START) != 0) {
        sim_misuse("%s: chip used while the %s", el2->cfg.name,
                   (el2->gacr & START) != 0 ? "FIFO runs" : "memory is in the window");
    }
}

static uint32_t low_in(void *self, unsigned reg, unsigned width)
{
    struct sim_el2 *el2 = self;
    need_byte(el2, reg, width);
    if ((el2->gacr & (EALO | EAHI)) != 0) {
        return (el2->gacr & EALO) != 0 ? el2->prom[reg] : 0;
    }
    check_chip_access(el2);
    return sim_chip_in(&el2->chip, reg);
}

static void low_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct sim_el2 *el2 = self;
    need_byte(el2, reg, width);
    if ((el2->gacr & (EALO | EAHI)) != 0) {
        sim_misuse("%s: register %x written under the PROM", el2->cfg.name, reg);
    }
    check_chip_access(el2);
    plug_cable(el2);
    sim_chip_out(&el2->chip, reg, (uint8_t)value);
    check_online(el2);
}

/* 8 KB of memory, or the boot ROM: an empty socket, but for its last bytes, which are the jumpers.
 */
static bool el2_memory(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    struct sim_el2 *el2 = self;
    uint32_t base = sim_el2_window(el2), at = address - base;
    if (base == 0 || address < base || at >= BANK) {
        return false;
    }
    if ((el2->gacfr & RSEL) == 0) {
        if (write) {
            sim_misuse("%s: memory written while it is not in the window", el2->cfg.name);
        }
        *value = ports_jumper(el2);
        return at == BANK - 2;
    }
    if (width == 16 && !el2->cfg.wide) {
        sim_misuse("%s: 16-bit access to an 8-bit board", el2->cfg.name);
    }
    if (el2->cfg.dark) {
        return false;
    }
    at += (el2->gacfr & MBS) * BANK;
    sim_chip_host_access(&el2->chip, at, width / 8, !write);
    sim_chip_cycle(&el2->chip, at, width, write, value);
    return true;
}

/* ---- test side ---- */

void sim_el2_plug(struct sim_el2 *el2, const struct sim_el2_config *cfg, unsigned base, int irq)
{
    struct sim_chip_config chip = {.reset_us = RESET_US, .shared = true, .max_stop = 0x40};
    chip.ram_first = cfg->wide ? 0 : BANK;
    chip.ram_size = cfg->wide ? 2 * BANK : BANK;
    chip.wts_forced = cfg->wide;
    chip.word_forbidden = !cfg->wide;
    memset(el2, 0, sizeof *el2);
    el2->cfg = *cfg;
    el2->base = base;
    el2->wired = irq;
    el2->gacr = CR_AFTER_RESET & ~RST;
    sim_chip_init(&el2->chip, cfg->name, irq, &chip);
    memcpy(el2->prom, sim_card_mac, 6);
    if (cfg->oui[0] + cfg->oui[1] + cfg->oui[2] != 0) {
        memcpy(el2->prom, cfg->oui, 3);
    }
    route(el2);
    sim_attach(&(struct sim_device){cfg->name, base, PORTS, low_in, low_out, el2});
    sim_attach(&(struct sim_device){cfg->name, base + GATE_ARRAY, PORTS, gate_in, gate_out, el2});
    sim_attach_memory(&(struct sim_memory){cfg->name, el2_memory, el2});
}

bool sim_el2_at_rest(const struct sim_el2 *el2)
{
    return el2->chip.stopped && el2->chip.imr == 0 && (el2->gacfr & RSEL) == 0 &&
           (el2->gacfr & NIM) != 0 && el2->idcfr == 0 &&
           (el2->gacr & (EALO | EAHI | START | RST)) == 0 && (el2->gacr & XSEL) != 0;
}

void sim_el2_free(struct sim_el2 *el2)
{
    sim_chip_free(&el2->chip);
}
