/*
 * Simulated WD80x3 boards around the simulated chip.
 */
#include "tests/host/sim/wd80x3.h"

#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"

enum { PORTS = 0x20, CHIP_PORT = 0x10, PROM_PORT = 8, RESET_US = 100 };

enum { MENB = 0x40, RST = 0x80, MSR_A = 0x3F };
enum { BIT16 = 0x01, IR2 = 0x04, MSZ = 0x08, ICR_EEPROM = 0xF0 };
enum { IR10 = 0x60, IEN = 0x80 };
enum { LA = 0x1F, L16EN = 0x40, M16EN = 0x80 };
enum { SWH = 0x80, EIL = 0x01, IOPEN = 0x10, REV = 0x21, RAR_HIGH = 0x80, RAR_SIZE = 0x30 };

const struct sim_wd_config sim_wds[] = {
    {.name = "wd8003e", .board = WD_BOARD_8003, .id = 0x03, .dp8390 = true},
    {.name = "wd8003eb", .board = WD_BOARD_584, .id = 0x25, .eeprom_mem = 0xD0000},
    {.name = "wd8013ebt", .board = WD_BOARD_8013J, .id = 0x05, .slot16 = true, .dp8390 = true},
    {.name = "wd8013epc", .board = WD_BOARD_584, .id = 0x29, .slot16 = true, .eeprom_mem = 0xCC000},
    {.name = "wd8013epc-8bit", .board = WD_BOARD_584, .id = 0x29, .eeprom_mem = 0xD8000},
    {.name = "smc8216",
     .board = WD_BOARD_790,
     .id = 0x2B,
     .slot16 = true,
     .eeprom_mem = 0xD0000,
     .ram_size = 0x4000},
    {.name = "smc8416-pipe",
     .board = WD_BOARD_790,
     .id = 0x2B,
     .slot16 = true,
     .pipe = true,
     .eeprom_mem = 0xD0000,
     .ram_size = 0x2000},
};
const unsigned sim_wd_count = sizeof sim_wds / sizeof sim_wds[0];

/* ---- what the registers mean ---- */

static bool is_790(const struct sim_wd *wd)
{
    return wd->cfg.board == WD_BOARD_790;
}

static bool wide_lan(const struct sim_wd *wd)
{
    return is_790(wd) || (wd->laar & L16EN) != 0;
}

/* 16-bit cycles are answered as such. */
static bool wide_host(const struct sim_wd *wd)
{
    return ((is_790(wd) ? wd->bpr : wd->laar) & M16EN) != 0;
}

static bool gate_open(const struct sim_wd *wd)
{
    return (wd->msr & MENB) != 0 && (is_790(wd) || !wide_lan(wd) || wide_host(wd));
}

uint32_t sim_wd_window(const struct sim_wd *wd)
{
    if (is_790(wd)) {
        return 0xC0000U + ((wd->rar & 0x0FU) << 13) + ((wd->rar & 0x40U) << 11);
    }
    uint32_t upper = wide_lan(wd) ? wd->laar & LA : 1;
    return (uint32_t)(wd->msr & MSR_A) << 13 | upper << 19;
}

unsigned sim_wd_window_size(const struct sim_wd *wd)
{
    unsigned chip = wd->cfg.large ? 0x8000 : 0x2000;
    return is_790(wd) ? 0x2000U << ((wd->rar & RAR_SIZE) >> 4) : chip << wide_lan(wd);
}

static void route(struct sim_wd *wd)
{
    static const uint8_t on_584[] = {9, 3, 5, 7, 10, 11, 15, 4};
    static const uint8_t on_790[] = {0, 9, 3, 5, 7, 10, 11, 15};
    int line = wd->jumper;
    bool off = false;
    if (wd->cfg.board == WD_BOARD_584) {
        line = on_584[(wd->irr & IR10) >> 5 | (wd->icr & IR2)];
        off = (wd->irr & IEN) == 0;
    } else if (is_790(wd)) {
        line = on_790[(wd->gcr & 0x0C) >> 2 | (wd->gcr & 0x40) >> 4];
        off = (wd->icr790 & EIL) == 0;
    }
    sim_chip_route(&wd->chip, wd->broken != 0 ? wd->broken : line, off);
}

/* ---- the board's registers ---- */

static void write_msr(struct sim_wd *wd, uint8_t value)
{
    bool open = gate_open(wd);
    if ((wd->msr & MENB) != 0 && (value & MENB) != 0 && ((wd->msr ^ value) & MSR_A) != 0) {
        sim_misuse("%s: memory moved while it is on the bus", wd->cfg.name);
    }
    if ((value & RST) != 0 && (wd->msr & RST) == 0) {
        sim_chip_reset_on(&wd->chip);
    } else if ((value & RST) == 0 && (wd->msr & RST) != 0) {
        sim_chip_reset_off(&wd->chip);
    }
    wd->msr = value;
    wd->opened += !open && gate_open(wd);
}

static void write_laar(struct sim_wd *wd, uint8_t value)
{
    bool open = gate_open(wd);
    if (((value & (L16EN | M16EN)) != 0) && !wd->cfg.slot16) {
        sim_misuse("%s: 16-bit switches set in an 8-bit slot", wd->cfg.name);
    }
    if ((value & M16EN) != 0 && (value & L16EN) == 0) {
        sim_misuse("%s: M16EN without L16EN", wd->cfg.name);
    }
    if ((wd->msr & MENB) != 0 && ((wd->laar ^ value) & LA) != 0 && wide_lan(wd)) {
        sim_misuse("%s: memory moved while it is on the bus", wd->cfg.name);
    }
    wd->laar = value;
    wd->opened += !open && gate_open(wd);
}

static void out_584(struct sim_wd *wd, unsigned reg, uint8_t value)
{
    switch (reg) {
    case 0: write_msr(wd, value); break;
    case 1:
        if ((value & ICR_EEPROM) != 0) {
            sim_misuse("%s: ICR <- %02x recalls from, or stores into, the EEPROM", wd->cfg.name,
                       value);
        }
        wd->icr = (uint8_t)(wd->cfg.slot16 ? value | BIT16 : value);
        break;
    case 4: wd->irr = value; break;
    case 5: write_laar(wd, value); break;
    default: sim_misuse("%s: register %x written", wd->cfg.name, reg);
    }
    route(wd);
}

static void out_jumpered(struct sim_wd *wd, unsigned reg, uint8_t value)
{
    if (reg == 0) {
        write_msr(wd, value);
    } else if (reg == 5 && wd->cfg.board == WD_BOARD_8013J) {
        write_laar(wd, value);
    } else {
        sim_misuse("%s: register %x written: there is none", wd->cfg.name, reg);
    }
}

static uint8_t in_584(const struct sim_wd *wd, unsigned reg)
{
    switch (reg) {
    case 0: return wd->msr;
    case 1: return wd->icr;
    case 4: return wd->irr;
    case 5: return wd->laar;
    default: return 0;
    }
}

static uint8_t in_jumpered(const struct sim_wd *wd, unsigned reg)
{
    if (reg >= 6) {
        sim_misuse("%s: register %x read: the board hangs the bus", wd->cfg.name, reg);
    }
    if (reg == 1 && wd->cfg.board == WD_BOARD_8013J) {
        return wd->cfg.slot16;
    }
    return wd->prom[reg];
}

/* ---- 83C790 ---- */

static void write_pipe_address(struct sim_wd *wd, uint8_t value)
{
    if (wd->pipe_bytes % 2 == 0) {
        wd->pipe_at = value;
    } else {
        wd->pipe_at |= (unsigned)value << 8;
    }
    wd->pipe_bytes++;
    wd->pipe_way = 0;
}

static void out_790(struct sim_wd *wd, unsigned reg, uint8_t value)
{
    uint8_t *hidden = reg == 0xB ? &wd->rar : reg == 0xD ? &wd->gcr : NULL;
    if (reg >= 8) {
        if ((wd->hwr & SWH) == 0 || hidden == NULL) {
            sim_misuse("%s: register %x written%s", wd->cfg.name, reg,
                       (wd->hwr & SWH) == 0 ? " without SWH" : "");
        }
        if ((wd->msr & MENB) != 0) {
            sim_misuse("%s: memory moved while it is on the bus", wd->cfg.name);
        }
        *hidden = value;
        return;
    }
    switch (reg) {
    case 0: write_msr(wd, value); break;
    case 4: wd->hwr = value; break;
    case 5: wd->bpr = value; break;
    case 6: wd->icr790 = value; break;
    case 7: write_pipe_address(wd, value); break;
    default: sim_misuse("%s: register %x written", wd->cfg.name, reg);
    }
    route(wd);
}

static uint8_t in_790(const struct sim_wd *wd, unsigned reg)
{
    if (reg >= 8) {
        const uint8_t hidden[8] = {[0] = wd->gcr2, [2] = 0x28, [3] = wd->rar, [5] = wd->gcr};
        return (wd->hwr & SWH) != 0 ? hidden[reg - 8] : wd->prom[reg - 8];
    }
    const uint8_t seen[8] = {
        [0] = wd->msr, [4] = wd->hwr, [5] = wd->bpr, [6] = wd->icr790, [7] = REV};
    return seen[reg];
}

/* The pipe counts its address up with each word; it is one register for both ways. */
static unsigned step_pipe(struct sim_wd *wd, unsigned width, unsigned way)
{
    if (width != 16) {
        sim_misuse("%s: %u-bit access to the I/O pipe", wd->cfg.name, width);
    }
    if ((wd->icr790 & IOPEN) == 0 || wd->pipe_bytes % 2 != 0) {
        sim_misuse("%s: I/O pipe used %s", wd->cfg.name,
                   wd->pipe_bytes % 2 != 0 ? "with half an address" : "without IOPEN");
    }
    if (wd->pipe_way != 0 && wd->pipe_way != way) {
        sim_misuse("%s: I/O pipe turned round without an address", wd->cfg.name);
    }
    wd->pipe_way = way;
    unsigned at = wd->pipe_at & 0xFFFF;
    wd->pipe_at += 2;
    sim_chip_host_access(&wd->chip, at, 2, way == 1);
    return at;
}

static bool has(const struct sim_wd *wd, unsigned at)
{
    return sim_chip_in_ram(&wd->chip, at, 1) && !wd->cfg.dark;
}

static uint32_t pipe_in(struct sim_wd *wd, unsigned width)
{
    unsigned at = step_pipe(wd, width, 1);
    return has(wd, at) ? wd->chip.mem[at] | (uint32_t)wd->chip.mem[at + 1] << 8 : 0xFFFF;
}

static void pipe_out(struct sim_wd *wd, uint32_t value, unsigned width)
{
    unsigned at = step_pipe(wd, width, 2);
    if (has(wd, at)) {
        wd->chip.mem[at] = (uint8_t)value;
        wd->chip.mem[at + 1] = (uint8_t)(value >> 8);
    }
}

/* ---- bus side ---- */

/* The gate is open for copying only, and nothing else is to be done meanwhile. */
static void check_chip_access(struct sim_wd *wd)
{
    if (is_790(wd) ? (wd->msr & MENB) != 0 : wide_host(wd)) {
        sim_misuse("%s: chip used with the memory's gate left open", wd->cfg.name);
    }
    if ((wd->hwr & SWH) != 0) {
        sim_misuse("%s: chip used with SWH left on", wd->cfg.name);
    }
}

static void check_online(const struct sim_wd *wd)
{
    if (sim_chip_online(&wd->chip) && ((wd->chip.dcr & N_DCR_WTS) != 0) != wide_lan(wd)) {
        sim_misuse("%s: on line with DCR.WTS %u and a memory of %u bits", wd->cfg.name,
                   wd->chip.dcr & N_DCR_WTS, wide_lan(wd) ? 16 : 8);
    }
}

static uint32_t wd_in(void *self, unsigned reg, unsigned width)
{
    struct sim_wd *wd = self;
    if (reg == 2 && is_790(wd)) {
        return pipe_in(wd, width);
    }
    if (width != 8) {
        sim_misuse("%s: %u-bit access to register %02x", wd->cfg.name, width, reg);
    }
    wd->pipe_bytes += wd->pipe_bytes % 2; /* anything in between, and it is anew */
    if (reg >= CHIP_PORT) {
        check_chip_access(wd);
        return sim_chip_in(&wd->chip, reg - CHIP_PORT);
    }
    if (is_790(wd)) {
        return in_790(wd, reg);
    }
    if (reg >= PROM_PORT) {
        return wd->prom[reg - PROM_PORT];
    }
    return wd->cfg.board == WD_BOARD_584 ? in_584(wd, reg) : in_jumpered(wd, reg);
}

static void wd_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct sim_wd *wd = self;
    if (reg == 2 && is_790(wd)) {
        pipe_out(wd, value, width);
        return;
    }
    if (width != 8) {
        sim_misuse("%s: %u-bit access to register %02x", wd->cfg.name, width, reg);
    }
    if (reg != 7) {
        wd->pipe_bytes += wd->pipe_bytes % 2;
    }
    if (reg >= CHIP_PORT) {
        check_chip_access(wd);
        sim_chip_out(&wd->chip, reg - CHIP_PORT, (uint8_t)value);
        check_online(wd);
    } else if (is_790(wd)) {
        out_790(wd, reg, (uint8_t)value);
    } else if (wd->cfg.board == WD_BOARD_584) {
        out_584(wd, reg, (uint8_t)value);
    } else {
        out_jumpered(wd, reg, (uint8_t)value);
    }
}

/* One cycle on the bus.  Reads find nobody while the memory is off it; nothing else may be tried.
 */
static bool wd_memory(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    struct sim_wd *wd = self;
    uint32_t base = sim_wd_window(wd), at = address - base;
    unsigned size = sim_wd_window_size(wd);
    if (address < base || at >= size) {
        return false;
    }
    if ((wd->msr & MENB) == 0) {
        if (write) {
            sim_memory_off(wd->cfg.name);
        }
        return false;
    }
    if (wd->cfg.dark) {
        return write; /* and keeps nothing */
    }
    if ((wd->icr790 & IOPEN) != 0) {
        sim_misuse("%s: memory used while the I/O pipe is on", wd->cfg.name);
    }
    if (!gate_open(wd) && width == 8 && !write) {
        *value = wd->chip.mem[at % wd->chip.cfg.ram_size]; /* somebody looks around: no harm */
        return true;
    }
    if (!gate_open(wd)) {
        sim_misuse("%s: memory used with its gate shut", wd->cfg.name);
    }
    if (width == 16 && !wide_host(wd)) {
        sim_misuse("%s: 16-bit access while the window is 8-bit", wd->cfg.name);
    }
    if (width == 16 && at % 2 != 0) {
        sim_misuse("%s: word at odd address %05x", wd->cfg.name, address);
    }
    sim_chip_host_access(&wd->chip, at, width / 8, !write);
    at %= wd->chip.cfg.ram_size; /* a smaller memory repeats itself */
    sim_chip_cycle(&wd->chip, at, width, write, value);
    *value ^= width == 16 && wd->cfg.no_words ? 0x5A00 : 0;
    return true;
}

/* ---- test side ---- */

static void power_on(struct sim_wd *wd)
{
    static const uint8_t on_584[] = {9, 3, 5, 7, 10, 11, 15, 4};
    static const uint8_t on_790[] = {0, 9, 3, 5, 7, 10, 11, 15};
    uint32_t at = wd->cfg.eeprom_mem;
    unsigned code = 0, size = 0;
    wd->icr = (uint8_t)((wd->cfg.large ? MSZ : 0) | wd->cfg.slot16);
    for (unsigned i = 0; i < 8; i++) {
        code = (is_790(wd) ? on_790 : on_584)[i] == wd->jumper ? i : code;
    }
    if (is_790(wd)) {
        while (0x2000U << size < wd->cfg.ram_size) {
            size++;
        }
        wd->rar = (uint8_t)((at >> 13 & 0x0F) | (at >> 11 & 0x40) | size << 4);
        wd->gcr = (uint8_t)((code & 3) << 2 | (code & 4) << 4);
        wd->gcr2 = wd->cfg.pipe;
        wd->hwr = wd->cfg.left_switched ? SWH : 0;
    } else if (wd->cfg.board == WD_BOARD_584) {
        wd->msr = at >> 13 & MSR_A;
        wd->laar = wd->cfg.slot16 ? at >> 19 & LA : 0;
        wd->irr = (uint8_t)((code & 3) << 5);
        wd->icr |= (uint8_t)(code & IR2);
    }
    wd->icr_found = wd->icr;
    route(wd);
}

static void burn_prom(struct sim_wd *wd)
{
    uint8_t sum = 0;
    memcpy(wd->prom, sim_card_mac, 6);
    wd->prom[6] = (uint8_t)(wd->cfg.id | (wd->cfg.large ? 0x40 : 0));
    for (unsigned i = 0; i < 7; i++) {
        sum = (uint8_t)(sum + wd->prom[i]);
    }
    wd->prom[7] = (uint8_t)(wd->cfg.bad_sum ? 0 : 0xFF - sum);
}

void sim_wd_plug(struct sim_wd *wd, const struct sim_wd_config *cfg, unsigned base, int irq)
{
    struct sim_chip_config chip = {.reset_us = RESET_US, .shared = true};
    unsigned window = (cfg->large ? 0x8000U : 0x2000U) << cfg->slot16;
    chip.ram_size = cfg->ram_size != 0 ? cfg->ram_size : window;
    chip.max_stop = chip.ram_size / SIM_PAGE;
    chip.word_forbidden = !cfg->slot16;
    chip.wd83c690 = chip.exact_fit = !cfg->dp8390;
    memset(wd, 0, sizeof *wd);
    wd->cfg = *cfg;
    wd->base = base;
    wd->jumper = irq;
    sim_chip_init(&wd->chip, cfg->name, irq, &chip);
    burn_prom(wd);
    power_on(wd);
    sim_attach(&(struct sim_device){
        .name = cfg->name, .base = base, .ports = PORTS, .in = wd_in, .out = wd_out, .self = wd});
    sim_attach_memory(&(struct sim_memory){cfg->name, wd_memory, wd});
}

bool sim_wd_at_rest(const struct sim_wd *wd)
{
    bool line = wd->cfg.board == WD_BOARD_584   ? (wd->irr & IEN) != 0
                : wd->cfg.board == WD_BOARD_790 ? wd->icr790 != 0
                                                : false;
    return wd->chip.stopped && wd->chip.imr == 0 && (wd->msr & MENB) == 0 && !wide_host(wd) &&
           (wd->laar & L16EN) == 0 && wd->icr == wd->icr_found && (wd->hwr & SWH) == 0 && !line;
}

void sim_wd_free(struct sim_wd *wd)
{
    sim_chip_free(&wd->chip);
}
