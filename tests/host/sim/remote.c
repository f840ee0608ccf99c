/*
 * Remote DMA of the simulated DP8390D: the host's window into card memory (ch. 9).
 */
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dp8390.h"
#include "tests/host/sim/irq.h"

enum {
    INIT_PROM = INIT_DCR | INIT_RCR | INIT_TCR | INIT_IMR, /* without these it reads as garbage */
    WRITE_SETTLE_NS = 1500,                                /* from the last data word to RDC */
    PROM_SIZE = 32,
};

/* On the bench: in loopback, storing nothing; all of its memory is the host's. */
static bool on_bench(const struct sim_chip *c)
{
    return !sim_chip_online(c) && (c->rcr & N_RCR_MON) != 0;
}

/* Being looked at or tested: what does not work may be tried. */
static bool probing(const struct sim_chip *c)
{
    return c->init != INIT_ALL || on_bench(c);
}

/* Broken on purpose: the driver cannot but do what a sound card would not like. */
bool sim_chip_broken(const struct sim_chip *c)
{
    const struct sim_faults *f = &c->fault;
    return (f->lose_in | f->lose_out | f->twice_in | f->twice_out) != 0 || f->deaf_memory;
}

static void end_write(void *arg)
{
    struct sim_chip *c = arg;
    if (c->dma == DMA_ENDING) {
        c->dma = DMA_IDLE;
        sim_chip_set_isr(c, N_RDC);
    }
}

static void dma_done(struct sim_chip *c)
{
    bool read = c->dma == DMA_READING;
    c->rbcr = 0;
    c->just_read = read;
    bool hangs = c->cfg.word_hangs && (c->dcr & N_DCR_WTS) != 0;
    if (c->dma_stuck || hangs || (c->fault.deaf_memory && !read)) {
        c->rdc_missed = true;
        c->dma = read ? DMA_IDLE : DMA_ENDING;
    } else if (read) {
        c->dma = DMA_IDLE;
        if (!c->cfg.no_rdc_after_read) {
            sim_chip_set_isr(c, N_RDC);
        }
    } else {
        c->dma = DMA_ENDING;
        sim_at(sim_now_ns() + WRITE_SETTLE_NS, end_write, c);
    }
}

static bool overlaps(unsigned a, unsigned a_size, unsigned b, unsigned b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Of the ring, only pages with received frames may be read, and never across its end. */
static void check_ring_read(struct sim_chip *c, unsigned first, unsigned n)
{
    unsigned pages = (unsigned)c->pstop - c->pstart;
    unsigned released = (unsigned)(c->bnry - c->pstart);
    unsigned filled = (c->curr - c->bnry + pages - 1) % pages;
    unsigned page = first / SIM_PAGE, last = (first + n - 1) / SIM_PAGE;
    if (last >= c->pstop) {
        sim_misuse("dp8390: read of %u at %04x runs past PSTOP %02x", n, first, c->pstop);
    }
    for (; page <= last; page++) {
        unsigned ahead = (page - c->pstart + pages - released + pages - 1) % pages;
        if (ahead >= filled) {
            sim_misuse("dp8390: read of page %02x, which holds no received frame "
                       "(BNRY %02x CURR %02x)",
                       page, c->bnry, c->curr);
        }
    }
}

void sim_chip_check_range(struct sim_chip *c, unsigned first, unsigned n, bool read)
{
    unsigned ring = c->pstart * SIM_PAGE, ring_size = (unsigned)(c->pstop - c->pstart) * SIM_PAGE;
    bool configured = !probing(c) && c->overrun != OVERRUN_STOPPED;
    if (!configured) {
        return; /* probing: whatever is there answers */
    }
    if (!sim_chip_in_ram(c, first, n) && !(read && first + n <= PROM_SIZE)) {
        sim_misuse("dp8390: transfer of %u at %04x is outside card memory", n, first);
    }
    if (read && overlaps(first, n, ring, ring_size)) {
        check_ring_read(c, first, n);
    }
    if (!read && overlaps(first, n, ring, ring_size)) {
        sim_misuse("dp8390: write of %u at %04x into the receive ring", n, first);
    }
    if (!read && c->tx != TX_IDLE && overlaps(first, n, c->tpsr * SIM_PAGE, c->tbcr)) {
        sim_misuse("dp8390: write of %u at %04x into the frame being sent", n, first);
    }
}

void sim_dma_start(struct sim_chip *c, bool read)
{
    if (c->cfg.shared && c->rbcr != 0) {
        sim_misuse("dp8390: remote DMA on a board that has not wired it");
    }
    if (c->cfg.wd83c690) {
        return; /* these bits of CR are not used */
    }
    if (c->dma != DMA_IDLE && !sim_chip_broken(c)) {
        sim_misuse("dp8390: remote DMA started while one is active (%u bytes left)", c->dma_left);
    }
    if (c->stopped) {
        sim_misuse("dp8390: remote DMA started together with STOP");
    }
    if ((c->init & INIT_DCR) == 0) {
        sim_misuse("dp8390: remote DMA before DCR was written");
    }
    if (!read && (c->isr & N_RDC) != 0) {
        sim_misuse("dp8390: remote write started with RDC still set: its end could not be seen");
    }
    c->dma_commands++;
    if (c->rbcr == 0) { /* completes at once; used to provoke an interrupt */
        sim_chip_set_isr(c, c->dma_stuck ? 0 : N_RDC);
        return;
    }
    if (c->imr != 0 && (!c->used_unmasked || sim_irq_enabled())) {
        sim_misuse("dp8390: remote DMA with interrupts unmasked (IMR %02x)", c->imr);
    }
    if ((c->dcr & N_DCR_WTS) != 0 && ((c->rsar | c->rbcr) & 1) != 0) {
        sim_misuse("dp8390: odd address or count in word mode (%04x, %u)", c->rsar, c->rbcr);
    }
    sim_chip_check_range(c, c->rsar, c->rbcr, read);
    c->dma = read ? DMA_READING : DMA_WRITING;
    c->dma_at = c->rsar;
    c->dma_left = c->dma_whole = c->rbcr;
}

void sim_dma_abort(struct sim_chip *c, bool stopping)
{
    bool excused = sim_leaving || sim_chip_broken(c) || c->dma_stuck || c->cfg.word_forbidden ||
                   c->rdc_missed || (probing(c) && (stopping || c->cfg.dwords >= DWORDS_HALF));
    if (c->dma == DMA_ENDING && !excused) {
        sim_misuse("dp8390: remote write aborted before RDC");
    }
    if (c->dma != DMA_IDLE && c->dma_left > 0 && !excused) {
        sim_misuse("dp8390: remote DMA aborted with %u bytes to go", c->dma_left);
    }
    c->dma = DMA_IDLE;
}

/* Is an access of this width one that the data port can make, and how many bytes does it move?  0:
 * it does nothing. */
static unsigned bytes_moved(const struct sim_chip *c, unsigned width)
{
    bool word = (c->dcr & N_DCR_WTS) != 0;
    enum sim_dwords dwords = c->cfg.dwords;
    if (width == 32 && word && (dwords == DWORDS_TOO || dwords == DWORDS_ONLY)) {
        return 4;
    }
    if (width == 32 && word && dwords == DWORDS_HALF && probing(c)) {
        return 2;
    }
    if (width < 32 && dwords == DWORDS_ONLY && probing(c)) {
        return 0;
    }
    if (width == (word ? 16 : 8) && dwords != DWORDS_ONLY) {
        return width / 8;
    }
    if (c->cfg.word_forbidden && word) {
        return 2;
    }
    sim_misuse("dp8390: %u-bit data port access in %s mode", width, word ? "word" : "byte");
}

/* Common checks of a data port access; 0: ignore it (garbage, while probing). */
static unsigned data_access(struct sim_chip *c, unsigned width, enum sim_dma direction)
{
    bool word = (c->dcr & N_DCR_WTS) != 0;
    if (sim_in_irq()) {
        sim_misuse("dp8390: remote DMA in interrupt context");
    }
    if (c->held_in_reset) {
        sim_misuse("dp8390: data port used while the reset line is active");
    }
    if (c->cfg.word_forbidden && word && c->dma_left == 0 && probing(c)) {
        return 0;
    }
    if (c->dma != direction && sim_chip_broken(c)) {
        return 0;
    }
    if (c->dma != direction) {
        sim_misuse(c->dma_left == 0 && c->dma_commands > 0
                       ? "dp8390: data port %s beyond the byte count"
                       : "dp8390: data port %s with no such remote DMA active",
                   direction == DMA_READING ? "read" : "written");
    }
    if (c->imr != 0 && (!c->used_unmasked || sim_irq_enabled())) {
        sim_misuse("dp8390: data port access with interrupts unmasked (IMR %02x)", c->imr);
    }
    unsigned bytes = bytes_moved(c, width);
    if (bytes == 4 && c->dma_left < 4) {
        sim_misuse("dp8390: 32-bit data port access with %u bytes to go", c->dma_left);
    }
    return bytes;
}

static void data_advance(struct sim_chip *c, unsigned bytes)
{
    c->dma_at += bytes;
    c->dma_left -= bytes < c->dma_left ? bytes : c->dma_left;
    c->rbcr = (uint16_t)c->dma_left;
    if (c->dma_left == 0) {
        dma_done(c);
    }
}

unsigned sim_dma_address(const struct sim_chip *c)
{
    unsigned unit = (c->dcr & N_DCR_WTS) != 0 ? 2 : 1;
    bool ahead = c->cfg.prefetches && c->dma == DMA_READING && c->dma_left > 0;
    unsigned off = c->dma_at > 0 ? c->cfg.crda_error : 0;
    return c->fault.address_hidden || c->cfg.no_crda ? 0 : c->dma_at + off + (ahead ? unit : 0);
}

/* How often the chip sees this cycle: once, unless the bus is bad. */
static unsigned times_seen(struct sim_chip *c, unsigned lose, unsigned twice)
{
    unsigned n = ++c->fault.cycles; /* over both directions */
    if (lose != 0 && n % lose == 0) {
        return 0;
    }
    return twice != 0 && n % twice == 0 ? 2 : 1;
}

/* The cell that an address line which does not work makes of this one. */
static unsigned wired(const struct sim_chip *c, unsigned at)
{
    return at < PROM_SIZE ? at : at & ~c->fault.dead_lines;
}

static uint8_t cell(const struct sim_chip *c, unsigned at)
{
    bool set_up = (c->init & INIT_PROM) == INIT_PROM;
    bool there = (at < PROM_SIZE && set_up && !c->cfg.shared) ||
                 (sim_chip_in_ram(c, at, 1) && !c->fault.no_memory);
    uint8_t value = there ? c->mem[wired(c, at)] : 0xFF;
    return at == c->fault.cell && at != 0
               ? (uint8_t)((value | c->fault.cell_high) & ~c->fault.cell_low)
               : value;
}

void sim_chip_cycle(struct sim_chip *c, unsigned at, unsigned width, bool write, uint32_t *value)
{
    for (unsigned i = 0; i < width / 8; i++) {
        if (write) {
            c->mem[wired(c, at + i)] = (uint8_t)(*value >> 8 * i);
        } else {
            *value = (i == 0 ? 0 : *value) | (uint32_t)cell(c, at + i) << 8 * i;
        }
    }
}

uint32_t sim_chip_data_in(struct sim_chip *c, unsigned width)
{
    unsigned bytes = data_access(c, width, DMA_READING);
    uint32_t value = 0xFFFFFFFF;
    for (unsigned i = 0; i < bytes; i++) {
        value &= ~(0xFFU << 8 * i);
        value |= (uint32_t)cell(c, (c->dma_at + i) & 0xFFFF) << (8 * i);
    }
    for (unsigned n = times_seen(c, c->fault.lose_in, c->fault.twice_in);
         bytes > 0 && n > 0 && c->dma == DMA_READING; n--) {
        data_advance(c, bytes);
    }
    return value;
}

void sim_chip_data_out(struct sim_chip *c, uint32_t value, unsigned width)
{
    unsigned bytes = data_access(c, width, DMA_WRITING);
    for (unsigned n = times_seen(c, c->fault.lose_out, c->fault.twice_out);
         bytes > 0 && n > 0 && c->dma == DMA_WRITING; n--) {
        for (unsigned i = 0; i < bytes; i++) {
            unsigned at = (c->dma_at + i) & 0xFFFF;
            bool first = i == 0 && c->dma_left == c->dma_whole;
            bool spoilt = first && c->cfg.read_first && !c->just_read;
            if (!spoilt && sim_chip_in_ram(c, at, 1)) {
                c->mem[wired(c, at)] = (uint8_t)(value >> (8 * i));
            }
        }
        data_advance(c, bytes);
    }
}
