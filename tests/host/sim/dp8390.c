/*
 * The host's side of the simulated DP8390D.  Chapter numbers are those of the data sheet.
 */
#include "tests/host/sim/dp8390.h"

#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum {
    STOP_IDLE_NS = 2000,       /* ch. 7: with nothing on its way the reset state comes at once */
    OVERRUN_WAIT_NS = 1600000, /* ch. 7, step 3                                                */
    PAGE_CONFIG = 3,
};

bool sim_chip_online(const struct sim_chip *c)
{
    return !c->stopped && (c->tcr & N_TCR_LB) == 0;
}

bool sim_chip_in_ram(const struct sim_chip *c, unsigned first, unsigned n)
{
    return first >= c->cfg.ram_first && first + n <= c->cfg.ram_first + c->cfg.ram_size;
}

/* ---- interrupt status ---- */

/* Ch. 10: RST is no interrupt.  A tally past 127 keeps CNT up until it is read. */
void sim_chip_update_irq(struct sim_chip *c)
{
    for (unsigned i = 0; i < 3; i++) {
        c->isr |= c->cnt[i] >= SIM_TALLY_ALARM ? N_CNT : 0;
    }
    sim_irq_drive(c->irq, c, !c->irq_gated && (c->isr & c->imr & ~N_RST) != 0);
}

void sim_chip_set_isr(struct sim_chip *c, unsigned bits)
{
    c->isr |= (uint8_t)bits;
    sim_chip_update_irq(c);
}

void sim_chip_count(struct sim_chip *c, enum sim_tally tally)
{
    if (c->cnt[tally] < SIM_TALLY_MAX) {
        c->cnt[tally]++;
    }
    sim_chip_update_irq(c);
}

/* RST: reset state reached (not shown if a transmission was on its way, nor while the remote byte
 * count is not zero), or the ring has overrun and nothing was removed yet. */
static void refresh_rst(struct sim_chip *c)
{
    bool at_rest =
        c->stopped && sim_now_ns() >= c->rest_at_ns && !c->stop_hit_transmit && c->rbcr == 0;
    bool overrun = c->overrun != OVERRUN_NONE && !c->removed && c->cfg.late_stop_us == 0;
    bool silent = (c->cfg.no_reset_ack && c->init == 0) || (c->cfg.never_rst && c->init != 0);
    c->isr &= (uint8_t)~N_RST;
    if ((at_rest && !silent) || overrun) {
        c->isr |= N_RST;
    }
}

/* Writing 1 clears; RST is read only.  Acknowledging OVW is step 9 of the procedure. */
static void write_isr(struct sim_chip *c, uint8_t value)
{
    if ((value & c->isr & N_OVW) != 0) {
        if (c->overrun == OVERRUN_DEAF) {
            sim_misuse("dp8390: OVW acknowledged outside the overrun procedure");
        }
        if (c->overrun == OVERRUN_STOPPED) {
            c->acked_early = true; /* right only if the ring is made anew */
        }
        if (c->overrun == OVERRUN_LOOPBACK && !c->removed) {
            sim_misuse("dp8390: OVW acknowledged before a packet was removed from the ring");
        }
        c->acked = true;
    }
    c->isr &= (uint8_t) ~(value & ~N_RST);
    sim_chip_update_irq(c);
}

static void write_imr(struct sim_chip *c, uint8_t value)
{
    if ((value & N_RST) != 0) {
        sim_misuse("dp8390: IMR <- %02x: bit 7 does not exist", value);
    }
    if (value != 0 && (c->dma == DMA_READING || c->dma == DMA_WRITING)) {
        sim_misuse("dp8390: unmasked in the middle of a remote DMA");
    }
    c->imr = value;
    c->init |= INIT_IMR;
    sim_chip_update_irq(c);
}

/* ---- stop, start, on line: ch. 11 and the overrun procedure of ch. 7 ---- */

static void stop(struct sim_chip *c)
{
    uint64_t now = sim_now_ns();
    bool late = sim_chip_online(c);
    if (c->overrun == OVERRUN_DEAF || c->overrun == OVERRUN_LOOPBACK) {
        c->txp_unread = c->tx != TX_IDLE && !c->cr_read;
        c->overrun = OVERRUN_STOPPED;
        c->acked = c->acked_early = c->isr_read = false;
    }
    c->tx_pending_at_stop = c->tx != TX_IDLE;
    c->curr_written = false;
    c->rbcr_cleared = 0;
    c->stop_ns = now;
    c->stopped = true;
    c->rest_at_ns = now + STOP_IDLE_NS;
    c->stop_hit_transmit = c->tx == TX_ON_WIRE;
    sim_wire_stop(c); /* may put rest_at_ns off */
    c->rest_at_ns += late ? 1000ULL * c->cfg.late_stop_us : 0;
}

/* Steps 3 to 7 must have been done, whether the ring is drained or made anew. */
static void start_after_overrun(struct sim_chip *c)
{
    if (sim_now_ns() - c->stop_ns < OVERRUN_WAIT_NS) {
        sim_misuse("dp8390: overrun, step 3: restarted %llu us after STOP, 1600 are needed",
                   (unsigned long long)(sim_now_ns() - c->stop_ns) / 1000);
    }
    if (c->rbcr_cleared != 3) {
        sim_misuse("dp8390: overrun, step 4: RBCR0 and RBCR1 were not cleared");
    }
    if (c->curr_written) { /* ring made anew: as after a reset */
        c->overrun = OVERRUN_NONE;
        c->isr &= (uint8_t)~N_OVW;
        return;
    }
    if (c->txp_unread) {
        sim_misuse("dp8390: overrun, step 1: STOP without having read TXP");
    }
    if (c->tx_pending_at_stop && !c->isr_read) {
        sim_misuse("dp8390: overrun, step 5: PTX and TXE were not looked at");
    }
    if (c->acked_early) {
        sim_misuse("dp8390: OVW acknowledged before a packet was removed from the ring");
    }
    c->overrun = OVERRUN_LOOPBACK;
}

static void start(struct sim_chip *c)
{
    if (!c->stopped) {
        return;
    }
    if ((c->tcr & N_TCR_LB) == 0 || (c->init & INIT_TCR) == 0) {
        sim_misuse(c->overrun == OVERRUN_STOPPED
                       ? "dp8390: overrun, step 6: started outside loopback"
                       : "dp8390: started outside loopback (ch. 11)");
    }
    if (sim_now_ns() < c->rest_at_ns) {
        sim_misuse("dp8390: started before the stop had taken effect");
    }
    if (c->overrun == OVERRUN_STOPPED) {
        start_after_overrun(c);
    }
    c->stopped = false;
    c->starts++;
    refresh_rst(c);
    sim_chip_update_irq(c);
}

static void go_online(struct sim_chip *c)
{
    if (c->overrun == OVERRUN_LOOPBACK) {
        if (!c->removed) {
            sim_misuse("dp8390: overrun, step 8: loopback left before a packet was removed");
        }
        if (!c->acked) {
            sim_misuse("dp8390: overrun, step 9: loopback left before OVW was acknowledged");
        }
        c->overrun = OVERRUN_NONE;
        c->overruns_cured++;
    }
    if ((c->init & INIT_ALL) != INIT_ALL) {
        sim_misuse("dp8390: on line with registers never written (missing %03x)",
                   INIT_ALL & ~c->init);
    }
    if ((c->dcr & (N_DCR_BOS | N_DCR_LAS | N_DCR_AR)) != 0 || (c->dcr & N_DCR_LS) == 0) {
        sim_misuse("dp8390: on line with DCR %02x", c->dcr);
    }
    if (c->cfg.word_forbidden && (c->dcr & N_DCR_WTS) != 0) {
        sim_misuse("dp8390: on line in word mode in an 8-bit slot");
    }
    if (c->pstart >= c->pstop || c->pstop > c->cfg.max_stop ||
        !sim_chip_in_ram(c, c->pstart * SIM_PAGE, (unsigned)(c->pstop - c->pstart) * SIM_PAGE)) {
        sim_misuse("dp8390: ring %02x..%02x is not in card memory", c->pstart, c->pstop);
    }
    if (c->bnry < c->pstart || c->bnry >= c->pstop || c->curr < c->pstart || c->curr >= c->pstop) {
        sim_misuse("dp8390: BNRY %02x or CURR %02x outside the ring", c->bnry, c->curr);
    }
    if (c->bnry == c->curr) {
        sim_misuse("dp8390: on line with BNRY = CURR: full and empty look the same");
    }
}

/* ---- registers ---- */

static void write_cr(struct sim_chip *c, uint8_t value)
{
    unsigned rd = value & N_RD, page = value >> 6;
    if (((value & N_STP) != 0) == ((value & N_STA) != 0)) {
        sim_misuse("dp8390: CR <- %02x: exactly one of START and STOP", value);
    }
    if (rd == 0 || rd == N_RD_SEND) {
        sim_misuse("dp8390: CR <- %02x: remote DMA field %s", value,
                   rd == 0 ? "000 is not allowed" : "011, send packet, is not supported");
    }
    if (page == PAGE_CONFIG && c->cfg.id[0] == 0) {
        sim_misuse("dp8390: CR <- %02x: there is no page 3", value);
    }
    c->page = (uint8_t)page;
    if (rd >= N_RD_ABORT) {
        sim_dma_abort(c, (value & N_STP) != 0);
    }
    if ((value & N_STP) != 0) {
        if ((value & N_TXP) != 0) {
            sim_misuse("dp8390: CR <- %02x: transmit together with STOP", value);
        }
        if (!c->stopped) {
            stop(c);
        }
    } else {
        start(c);
    }
    if (rd < N_RD_ABORT) {
        sim_dma_start(c, rd == N_RD_READ);
    }
    if ((value & N_TXP) != 0 && sim_loopback_chosen(c)) {
        sim_loopback_send(c);
    } else if ((value & N_TXP) != 0) {
        sim_wire_transmit(c);
    }
}

static uint8_t read_cr(struct sim_chip *c)
{
    c->cr_read = true;
    bool txp = c->tx != TX_IDLE;
    unsigned rd = c->dma == DMA_READING   ? N_RD_READ
                  : c->dma == DMA_WRITING ? N_RD_WRITE
                                          : N_RD_ABORT;
    return (uint8_t)((unsigned)c->page << 6 | rd | (txp ? N_TXP : 0U) |
                     (c->stopped ? N_STP : N_STA));
}

static void write_bnry(struct sim_chip *c, uint8_t value)
{
    bool ring_known = !c->stopped && (c->init & INIT_CURR) != 0;
    if (ring_known) {
        unsigned pages = (unsigned)c->pstop - c->pstart;
        if (value < c->pstart || value >= c->pstop) {
            sim_misuse("dp8390: BNRY <- %02x is outside the ring %02x..%02x", value, c->pstart,
                       c->pstop);
        }
        unsigned used = (c->curr - c->bnry + pages) % pages;
        unsigned moved = (value - c->bnry + pages) % pages;
        if (moved >= (used == 0 ? pages : used)) {
            sim_misuse("dp8390: BNRY <- %02x passes CURR %02x (was %02x)", value, c->curr, c->bnry);
        }
        /* Also before the STOP, by a driver that was reading when the ring ran over: RST shows the
         * overrun only until a packet has been removed (ch. 10, ISR). */
        c->removed |= c->overrun != OVERRUN_NONE && moved > 0;
    }
    c->bnry = value;
    c->init |= INIT_BNRY;
}

/* Registers of page 0 that are set up while the chip is stopped and then left alone. */
static void set_stopped(struct sim_chip *c, const char *name, uint8_t *to, uint8_t value,
                        unsigned init)
{
    if (!c->stopped && (init != INIT_DCR || sim_chip_online(c))) {
        sim_misuse("dp8390: %s written while the chip runs", name);
    }
    *to = value;
    c->init |= init;
}

static void set_tx(struct sim_chip *c, unsigned reg, uint8_t value)
{
    if (c->tx != TX_IDLE) {
        sim_misuse("dp8390: TPSR or TBCR written during a transmission");
    }
    if (reg == 4) {
        c->tpsr = value;
    } else if (reg == 5) {
        c->tbcr = (uint16_t)((c->tbcr & 0xFF00) | value);
    } else {
        c->tbcr = (uint16_t)((c->tbcr & 0x00FF) | value << 8);
    }
}

static void set_dma(struct sim_chip *c, unsigned reg, uint8_t value)
{
    if (c->dma != DMA_IDLE && !c->stopped && !c->rdc_missed && !sim_chip_broken(c)) {
        sim_misuse("dp8390: RSAR or RBCR written during a remote DMA");
    }
    if (c->mcr_open == (int)reg) { /* read a moment ago: this write is for the configuration */
        c->cfg.mcr[reg - 10] = value;
        return;
    }
    uint16_t *to = reg < 10 ? &c->rsar : &c->rbcr;
    *to = (uint16_t)((reg & 1) == 0 ? (*to & 0xFF00) | value : (*to & 0x00FF) | value << 8);
    if (reg >= 10) {
        unsigned bit = reg - 9;
        c->rbcr_cleared = (uint8_t)(value == 0 ? c->rbcr_cleared | bit : c->rbcr_cleared & ~bit);
    }
}

static void write_tcr(struct sim_chip *c, uint8_t value)
{
    if (c->tx != TX_IDLE) {
        sim_misuse("dp8390: TCR written during a transmission");
    }
    if ((value & 0xE0) != 0) {
        sim_misuse("dp8390: TCR <- %02x: reserved bits", value);
    }
    bool was = sim_chip_online(c);
    c->tcr = value;
    c->init |= INIT_TCR;
    if (!was && sim_chip_online(c)) {
        go_online(c);
    }
}

static void write_page0(struct sim_chip *c, unsigned reg, uint8_t value)
{
    switch (reg) {
    case 0x1: set_stopped(c, "PSTART", &c->pstart, value, INIT_PSTART); break;
    case 0x2: set_stopped(c, "PSTOP", &c->pstop, value, INIT_PSTOP); break;
    case 0x3: write_bnry(c, value); break;
    case 0x4:
    case 0x5:
    case 0x6: set_tx(c, reg, value); break;
    case 0x7: write_isr(c, value); break;
    case 0x8:
    case 0x9:
    case 0xA:
    case 0xB: set_dma(c, reg, value); break;
    case 0xC:
        c->rcr = value;
        c->init |= INIT_RCR;
        break;
    case 0xD: write_tcr(c, value); break;
    case 0xE:
        value |= c->cfg.wts_forced ? N_DCR_WTS : 0;
        set_stopped(c, "DCR", &c->dcr, value, INIT_DCR);
        break;
    default: write_imr(c, value); break;
    }
}

static void write_page1(struct sim_chip *c, unsigned reg, uint8_t value)
{
    if (reg == 0x7) {
        set_stopped(c, "CURR", &c->curr, value, INIT_CURR);
        c->curr_written = true;
    } else if (reg < 0x7) {
        set_stopped(c, "PAR", &c->par[reg - 1], value, reg == 6 ? INIT_PAR : 0);
    } else {
        c->mar[reg - 8] = value;
        c->init |= reg == 0xF ? INIT_MAR : 0;
    }
}

/* An interrupt handler may mask, and acknowledge, on page 0; no more (STYLE D). */
static void check_context(struct sim_chip *c, unsigned reg, bool write)
{
    if (c->held_in_reset) {
        sim_misuse("dp8390: register %x used while the reset line is active", reg);
    }
    if (sim_in_irq() && c->page != 0 && reg != 0) {
        sim_misuse("dp8390: interrupt handler met register page %u", c->page);
    }
    if (sim_in_irq() && write && reg != 0x7 && reg != 0xF && !c->used_unmasked) {
        sim_misuse("dp8390: register %x written in interrupt context", reg);
    }
}

void sim_chip_out(struct sim_chip *c, unsigned reg, uint8_t value)
{
    check_context(c, reg, true);
    bool opened = c->page == 0 && c->mcr_open == (int)reg;
    c->mcr_open = opened ? c->mcr_open : -1;
    if (reg == 0) {
        write_cr(c, value);
    } else if (c->page == 0) {
        write_page0(c, reg, value);
    } else if (c->page == 1) {
        write_page1(c, reg, value);
    } else {
        sim_misuse("dp8390: register %x of page %u written", reg, c->page);
    }
    c->mcr_open = -1;
}

static uint8_t read_page0(struct sim_chip *c, unsigned reg)
{
    switch (reg) {
    case 0x1:
    case 0x2: return 0; /* current local DMA address: changes all the time */
    case 0x3: return c->bnry;
    case 0x4: return c->tsr;
    case 0x5: return c->ncr;
    case 0x6: return sim_fifo_read(c);
    case 0x7:
        refresh_rst(c);
        c->isr_read = true;
        return c->isr;
    case 0x8: return (uint8_t)sim_dma_address(c);
    case 0x9: return (uint8_t)(sim_dma_address(c) >> 8);
    case 0xA:
    case 0xB:
        if (c->cfg.lantic) {
            c->mcr_open = (int)reg;
            return c->cfg.mcr[reg - 0xA];
        }
        return c->cfg.id[0] != 0 ? c->cfg.id[reg - 0xA] : 0xFF;
    case 0xC: return c->rsr;
    default: break;
    }
    uint8_t tally = c->cnt[reg - 0xD]; /* ch. 10: cleared when read */
    c->cnt[reg - 0xD] = 0;
    return tally;
}

static uint8_t read_page1(const struct sim_chip *c, unsigned reg)
{
    uint8_t value = reg < 0x7 ? c->par[reg - 1] : reg == 0x7 ? c->curr : c->mar[reg - 8];
    if (reg > 0x7 && (c->fault.hash_unreadable || c->cfg.mar_write_only)) {
        return 0xFF;
    }
    return reg == c->fault.reg ? value & (uint8_t)~c->fault.reg_low : value;
}

uint8_t sim_chip_in(struct sim_chip *c, unsigned reg)
{
    check_context(c, reg, false);
    if (reg == 0) {
        return read_cr(c);
    }
    c->mcr_open = -1;
    if (c->page == 0) {
        return read_page0(c, reg);
    }
    if (c->page == 1 && reg >= 0x8 && c->cfg.wd83c690) {
        sim_misuse("dp8390: multicast register %x of an 83C690 read: they are write-only", reg);
    }
    if (c->page == 1) {
        return read_page1(c, reg);
    }
    if (c->page == 2) {
        const uint8_t page2[16] = {
            [0x1] = c->pstart, [0x2] = c->pstop, [0x4] = c->tpsr, [0xC] = c->rcr,
            [0xD] = c->tcr,    [0xE] = c->dcr,   [0xF] = c->imr};
        return page2[reg];
    }
    return reg >= 3 && reg <= 6 ? c->cfg.config[reg - 3] : 0xFF;
}
