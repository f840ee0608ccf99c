/*
 * The host's side of the simulated RTL8139.  Chapter 6 of the data sheet is meant where nothing
 * else is said.
 */
#include "tests/host/sim/rtl8139.h"

#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum {
    RESET_NS = 10000,
    NEVER_NS = 1000000000,
    PCI_CLOCK_PS = 30303,
    VERSION_BITS = 0x7CC00000,
    SLEEPERS_BELOW = 0x74000000, /* CONFIG1 bits 0, 1 stop only chips before the 8139C */
    CONFIG1_SLEEP = 3,
    UNLOCKED = 0xC0,
    MODE = 0xC0, /* of CR9346 */
    PROGRAMMING = 0x80,
};

enum {
    IDR = 0x00,
    MAR = 0x08,
    TSD = 0x10,
    TSAD = 0x20,
    RBSTART = 0x30,
    CR = 0x37,
    CAPR = 0x38,
    CBR = 0x3A,
    IMR = 0x3C,
    ISR = 0x3E,
    TCR = 0x40,
    RCR = 0x44,
    TCTR = 0x48,
    MPC = 0x4C,
    CR9346 = 0x50,
    CONFIG0 = 0x51,
    CONFIG1 = 0x52,
    TIMER_INT = 0x54,
    MSR = 0x58,
    CONFIG3 = 0x59,
    CONFIG4 = 0x5A,
    HLTCLK = 0x5B,
    MULINT = 0x5C,
    TSAD_ALL = 0x60,
    BMCR = 0x62,
    BMSR = 0x64
};

/* ---- interrupt ---- */

void sim_rtl_update_irq(struct sim_rtl *c)
{
    sim_irq_drive(c->irq, c, (c->isr & c->imr) != 0);
}

void sim_rtl_set_isr(struct sim_rtl *c, unsigned bits)
{
    c->isr |= (uint16_t)bits;
    sim_rtl_update_irq(c);
}

/*
 * Writing 1 clears.  Overflow may only be cleared together with ROK, and once the host has made
 * room: else the receiver stays deaf (programming guide; QUIRKS).
 */
static void write_isr(struct sim_rtl *c, uint16_t value)
{
    unsigned overflow = value & c->isr & (L_RXOVW | L_FOVW);
    bool receiving = (c->cr & L_RE) != 0;
    if (overflow != 0 && receiving && (value & L_ROK) == 0) {
        sim_misuse("%s: overflow acknowledged without ROK (%04x)", c->name, value);
    }
    if ((overflow & L_RXOVW) != 0 && receiving && c->overflow_unread) {
        sim_misuse("%s: overflow acknowledged before CAPR made room", c->name);
    }
    c->isr &= (uint16_t)~value;
    sim_rtl_update_irq(c);
}

/* ---- timer ---- */

static uint64_t clocks_ns(uint32_t clocks)
{
    return (uint64_t)clocks * PCI_CLOCK_PS / 1000;
}

static void timer_reached(void *self)
{
    struct sim_rtl *c = self;
    c->timer_event = 0;
    sim_rtl_set_isr(c, L_TIMEOUT);
}

static void set_timer(struct sim_rtl *c)
{
    uint64_t at = c->timer_ns + clocks_ns(c->timer_int);
    sim_cancel(c->timer_event);
    c->timer_event = c->timer_int != 0 && at > sim_now_ns() ? sim_at(at, timer_reached, c) : 0;
}

/* ---- reset, start ---- */

/* All but IDR, MAR, and what the EEPROM loaded. */
static void reset(struct sim_rtl *c)
{
    c->resets++;
    c->epoch++;
    c->cr = 0;
    sim_rtl_transmitter_stop(c);
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        c->slot[i].tsd = L_OWN;
        c->slot[i].tsad = 0;
    }
    c->isr = c->imr = 0;
    c->capr = 0xFFF0;
    c->cbr = c->read_at = 0;
    c->tcr = c->rcr = c->timer_int = c->mpc = 0;
    c->cr9346 = 0;
    c->rbstart_written = false;
    c->overflow_unread = false;
    c->timer_ns = sim_now_ns();
    set_timer(c);
    c->reset_until_ns = sim_now_ns() + (c->cfg.stuck_in_reset ? 1000ULL * NEVER_NS : RESET_NS);
    sim_rtl_update_irq(c);
}

static bool sleeps(const struct sim_rtl *c)
{
    return c->cfg.version < SLEEPERS_BELOW &&
           ((c->config1 & CONFIG1_SLEEP) != 0 || c->clock_stopped);
}

static void write_cr(struct sim_rtl *c, uint8_t value)
{
    if ((value & ~(L_TE | L_RE | L_RST)) != 0) {
        sim_misuse("%s: reserved bits written to CR (%02x)", c->name, value);
    }
    if ((value & L_RST) != 0) {
        reset(c);
        return;
    }
    if ((value & (L_TE | L_RE)) != 0 && sleeps(c)) {
        sim_misuse("%s: started while asleep (CONFIG1 %02x)", c->name, c->config1);
    }
    bool receiver_starts = (value & ~c->cr & L_RE) != 0;
    bool receiver_stops = (c->cr & ~value & L_RE) != 0;
    bool transmitter_changes = ((c->cr ^ value) & L_TE) != 0;
    c->cr = value;
    c->epoch += receiver_stops;
    if (transmitter_changes) {
        sim_rtl_transmitter_stop(c);
    }
    if (receiver_starts) {
        if (!c->rbstart_written) {
            sim_misuse("%s: RE set before RBSTART was written", c->name);
        }
        sim_rtl_receiver_start(c);
    }
}

static void write_rcr(struct sim_rtl *c, uint32_t value)
{
    uint32_t ring = 8192U << (value >> 11 & 3);
    if ((c->cr & L_RE) == 0) {
        sim_misuse("%s: RCR written before RE was set", c->name);
    }
    if (ring == 65536 && (value & L_WRAP) != 0) {
        sim_misuse("%s: WRAP has no meaning with 64 KB", c->name);
    }
    if (ring != c->ring && c->cbr != c->read_at) {
        sim_misuse("%s: ring size changed with frames in the ring", c->name);
    }
    if ((value & (L_AR | L_AER)) != 0) {
        sim_misuse("%s: runts and damaged frames asked for", c->name);
    }
    c->rcr = value;
    c->ring = ring;
    if (c->cfg.rcr_empties_ring) {
        sim_rtl_receiver_start(c);
    }
}

static void write_tcr(struct sim_rtl *c, uint32_t value)
{
    if ((c->cr & L_TE) == 0) {
        sim_misuse("%s: TCR written before TE was set", c->name);
    }
    if ((value >> 8 & 7) == 7) {
        sim_misuse("%s: transmit bursts of 2048 bytes fail on many boards", c->name);
    }
    if ((value >> 24 & 3) != 3) {
        sim_misuse("%s: interframe gap not that of 802.3", c->name);
    }
    if ((value & 1) != 0) {
        sim_rtl_clear_abort(c);
    }
    c->tcr = value & ~1U;
}

/* ---- access ---- */

/* The registers that exist: offset, width, and whether they may be written. */
static bool right_width(unsigned reg, unsigned width, bool write)
{
    if (reg < IDR + 6 && !write) {
        return width == 8;
    }
    if ((reg >= MAR && reg < RBSTART) || reg == TCTR || reg == MPC || reg == TIMER_INT ||
        reg == RBSTART || reg == TCR || reg == RCR) {
        return width == 32 && reg % 4 == 0;
    }
    switch (reg) {
    case CR:
    case CR9346:
    case CONFIG1:
    case CONFIG4:
    case CONFIG3: return width == 8;
    case CONFIG0:
    case MSR: return width == 8 && !write;
    case HLTCLK: return width == 8 && write;
    case CAPR:
    case IMR:
    case ISR:
    case MULINT:
    case BMCR: return width == 16;
    case CBR:
    case TSAD_ALL:
    case BMSR: return width == 16 && !write;
    default: return false;
    }
}

/*
 * Interrupts: armed only for the halt.  So the main loop, meeting an unmasked card, may only mask
 * it, or read the status while no handler can come between; and the handler may only read the
 * status and mask.
 */
static void check_context(const struct sim_rtl *c, unsigned reg, bool write)
{
    if (c->used_unmasked) {
        return;
    }
    if (sim_in_irq()) {
        if (!(write ? reg == IMR : reg == ISR)) {
            sim_misuse("%s: register %02x %s in interrupt context", c->name, reg,
                       write ? "written" : "read");
        }
    } else if (c->imr != 0 && !(write && reg == IMR) &&
               !(!write && reg == ISR && !sim_irq_enabled())) {
        sim_misuse("%s: register %02x %s by the main loop with the card unmasked (%04x)", c->name,
                   reg, write ? "written" : "read", c->imr);
    }
}

/* False: nobody answers. */
static bool enter(const struct sim_rtl *c, unsigned reg, unsigned width, bool write)
{
    if (c->cfg.all_ones || !sim_pci_decodes(c->pci)) {
        return false;
    }
    if (!right_width(reg, width, write)) {
        sim_misuse("%s: %u-bit %s of register %02x", c->name, width, write ? "write" : "read", reg);
    }
    if (sim_now_ns() < c->reset_until_ns && reg != CR && !sim_leaving) {
        sim_misuse("%s: register %02x touched during reset", c->name, reg);
    }
    check_context(c, reg, write);
    return true;
}

static void look_at(struct sim_rtl *c, unsigned n)
{
    c->slot[n].looked_at |= c->slot[n].state == SLOT_DONE || c->slot[n].state == SLOT_ABORTED;
}

static uint16_t all_descriptors(struct sim_rtl *c)
{
    unsigned all = 0;
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        uint32_t tsd = c->slot[i].tsd;
        look_at(c, i);
        all |= ((tsd & L_OWN) != 0 ? 1U : 0) << i | ((tsd & L_TABT) != 0 ? 1U : 0) << (4 + i) |
               ((tsd & L_TUN) != 0 ? 1U : 0) << (8 + i) |
               ((tsd & L_TSD_TOK) != 0 ? 1U : 0) << (12 + i);
    }
    return (uint16_t)all;
}

/* The EEPROM's pins are the host's in programming mode only. */
static void write_cr9346(struct sim_rtl *c, uint8_t value)
{
    c->cr9346 = value;
    if ((value & MODE) == PROGRAMMING) {
        if ((c->cr & (L_TE | L_RE)) != 0) {
            sim_misuse("%s: EEPROM read while the chip runs", c->name);
        }
        sim_eeprom_pins(&c->eeprom, (value & 8) != 0, (value & 4) != 0, (value & 2) != 0);
    }
}

static uint32_t read_cr9346(const struct sim_rtl *c)
{
    return (c->cr9346 & ~1U) | ((c->cr9346 & MODE) == PROGRAMMING && sim_eeprom_out(&c->eeprom));
}

uint32_t sim_rtl_in(void *self, unsigned reg, unsigned width)
{
    struct sim_rtl *c = self;
    if (!enter(c, reg, width, false)) {
        return 0xFFFFFFFF;
    }
    if (reg < IDR + 6) {
        return c->idr[reg];
    }
    if (reg >= TSD && reg < TSD + 16) {
        look_at(c, (reg - TSD) / 4);
        return c->slot[(reg - TSD) / 4].tsd;
    }
    if (reg >= TSAD && reg < TSAD + 16) {
        return c->slot[(reg - TSAD) / 4].tsad;
    }
    switch (reg) {
    case MAR:
    case MAR + 4: return c->mar[(reg - MAR) / 4] & ~c->fault.mar_low;
    case RBSTART: return c->rbstart;
    case CR:
        return c->cr | (c->cbr == c->read_at ? L_BUFE : 0U) |
               (sim_now_ns() < c->reset_until_ns ? L_RST : 0U);
    case CAPR: return c->capr;
    case CBR: return c->cbr;
    case IMR: return c->imr;
    case ISR: return c->isr;
    case TCR: return (c->tcr & ~(uint32_t)VERSION_BITS) | c->cfg.version;
    case RCR: return c->rcr;
    case TCTR: return (uint32_t)((sim_now_ns() - c->timer_ns) * 1000 / PCI_CLOCK_PS);
    case MPC: return c->mpc;
    case CR9346: return read_cr9346(c);
    case CONFIG1: return c->config1;
    case TIMER_INT: return c->timer_int;
    case MSR: return (c->link ? 0U : 4U) | (c->cfg.ten ? 8U : 0U);
    case MULINT: return c->mulint;
    case TSAD_ALL: return all_descriptors(c);
    case BMCR: return 0x1000U | (c->cfg.ten ? 0 : 0x2000U) | (c->cfg.half ? 0 : 0x0100U);
    default: return 0;
    }
}

static void write_protected(struct sim_rtl *c, unsigned reg, uint8_t value)
{
    if (c->cr9346 != UNLOCKED) {
        sim_misuse("%s: configuration register %02x written while locked", c->name, reg);
    }
    if (reg == CONFIG1) {
        c->config1 = value;
    }
}

static void write_imr(struct sim_rtl *c, uint16_t value)
{
    if ((value & ~L_ISR_ALL) != 0) {
        sim_misuse("%s: reserved bits written to IMR (%04x)", c->name, value);
    }
    c->imr = value;
    sim_rtl_update_irq(c);
}

static void write_tsad(struct sim_rtl *c, unsigned n, uint32_t value)
{
    if (value % 4 != 0) {
        sim_misuse("%s: descriptor buffer at %08x is not dword-aligned", c->name, value);
    }
    if (c->slot[n].state == SLOT_WAITING || c->slot[n].state == SLOT_FETCHED ||
        c->slot[n].state == SLOT_ABORTED) {
        sim_misuse("%s: TSAD%u written while the descriptor is in use", c->name, n);
    }
    c->slot[n].tsad = value;
}

static void write_rbstart(struct sim_rtl *c, uint32_t value)
{
    if ((c->cr & L_RE) != 0) {
        sim_misuse("%s: RBSTART written while receiving", c->name);
    }
    if (value % 4 != 0) {
        sim_misuse("%s: receive ring at %08x is not dword-aligned", c->name, value);
    }
    c->rbstart = value;
    c->rbstart_written = true;
}

void sim_rtl_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct sim_rtl *c = self;
    if (!enter(c, reg, width, true)) {
        return;
    }
    if (reg >= TSD && reg < TSD + 16) {
        sim_rtl_doorbell(c, (reg - TSD) / 4, value);
        return;
    }
    if (reg >= TSAD && reg < TSAD + 16) {
        write_tsad(c, (reg - TSAD) / 4, value);
        return;
    }
    switch (reg) {
    case MAR:
    case MAR + 4: c->mar[(reg - MAR) / 4] = value; break;
    case RBSTART: write_rbstart(c, value); break;
    case CR: write_cr(c, (uint8_t)value); break;
    case CAPR: sim_rtl_write_capr(c, (uint16_t)value); break;
    case IMR: write_imr(c, (uint16_t)value); break;
    case ISR: write_isr(c, (uint16_t)value); break;
    case TCR: write_tcr(c, value); break;
    case RCR: write_rcr(c, value); break;
    case TCTR:
        c->timer_ns = sim_now_ns();
        set_timer(c);
        break;
    case MPC: c->mpc = 0; break;
    case CR9346: write_cr9346(c, (uint8_t)value); break;
    case CONFIG1:
    case CONFIG3:
    case CONFIG4:
    case BMCR: write_protected(c, reg, (uint8_t)value); break;
    case TIMER_INT:
        c->timer_int = value;
        set_timer(c);
        break;
    case HLTCLK: c->clock_stopped = value != 'R'; break;
    case MULINT: c->mulint = (uint16_t)value; break;
    default: break;
    }
}
