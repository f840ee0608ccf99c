/*
 * 3Com EtherLink II (3C503, 3C503/16): an 8390 and a gate array between it, its memory and the bus.
 *
 * The host sees the memory in a window that a jumper places, 8 KB at a time; with the jumper off
 * it goes through a FIFO.  Interrupt line and connector are the driver's choice.
 */
#include "drivers/8390/3c503_regs.h"
#include "drivers/8390/board.h"
#include "drivers/8390/shmem.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    RESET_US = 50, /* seen in FreeBSD's driver */
    FIFO_BYTES = 8,
    BOOT = 0xFF,   /* VPTR for FFFF0h, which a warm boot reads */
    BANK = 0x2000, /* what the window shows: 1 of an 8-bit board, 0 or 1 of one of 16 */
    RING = BANK / DP8390_PAGE,
    DCR_BYTES = DCR_FIFO_8 | DCR_LOOPBACK_OFF,
    CONNECTOR = 0, /* in board_state: GACR_THIN, or 0 for AUI; ... */
    LINE = 1,      /* ... and what IDCFR gets */
};

static void ga_put(const struct dp8390 *d, enum ga_reg reg, unsigned value)
{
    io_out8(d->reg, reg, (uint8_t)value);
}

/* ---- the memory: on the bus, or with the jumper off through the FIFO ---- */

static void start_fifo(struct dp8390 *d, unsigned address, unsigned direction)
{
    ga_put(d, GA_DAMSB, address >> 8);
    ga_put(d, GA_DALSB, address);
    ga_put(d, GA_GACR, d->board_state[CONNECTOR] | direction | GACR_FIFO);
}

/* A card that does not answer gives zeros: no ring header is like that. */
static void fifo_read(struct dp8390 *d, unsigned address, uint8_t *to, unsigned n)
{
    start_fifo(d, address, 0);
    for (unsigned left = n; left > 0; left -= left < FIFO_BYTES ? left : FIFO_BYTES) {
        uint8_t *at = to + (n - left);

        if (!dp8390_await(d->reg, GA_STREG, STREG_READY)) {
            memset(at, 0, left);
            break;
        }
        io_in16_rep(d->reg, GA_RF, at, (left < FIFO_BYTES ? left + 1 : FIFO_BYTES) / 2);
    }
    ga_put(d, GA_GACR, d->board_state[CONNECTOR]);
}

/* Ready again after the last piece: all of it has arrived. */
static int fifo_write(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                      unsigned padded)
{
    struct gather walk = {.frame = frame};
    uint8_t piece[FIFO_BYTES];
    bool ready;

    start_fifo(d, address, GACR_OUT);
    ready = dp8390_await(d->reg, GA_STREG, STREG_READY);
    for (unsigned done = 0; done < padded && ready; done += FIFO_BYTES) {
        gather_next(&walk, piece, FIFO_BYTES);
        io_out16_rep(d->reg, GA_RF, piece, FIFO_BYTES / 2);
        ready = dp8390_await(d->reg, GA_STREG, STREG_READY);
    }
    ga_put(d, GA_GACR, d->board_state[CONNECTOR]);
    return ready ? 0 : E_TIMEOUT;
}

static void el2_read(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    if (d->window.base == 0) {
        fifo_read(d, address, to, n);
        return;
    }
    ga_put(d, GA_GACFR, GACFR_TCM | GACFR_RSEL | address / BANK);
    shmem_read(d->window, d->word, address % BANK, to, n);
    ga_put(d, GA_GACFR, GACFR_TCM);
}

static int el2_write(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                     unsigned padded)
{
    if (d->window.base == 0) {
        return fifo_write(d, address, frame, padded);
    }
    ga_put(d, GA_GACFR, GACFR_TCM | GACFR_RSEL | address / BANK);
    shmem_write(d->window, d->word, address % BANK, frame, padded);
    ga_put(d, GA_GACFR, GACFR_TCM);
    return 0;
}

/* ---- line, on, off, reset, connector ---- */

static void el2_route(struct dp8390 *d, int line)
{
    d->board_state[LINE] =
        (uint8_t)(line == IRQ_NONE ? 0 : IDCFR_LINE_2 << (line == 9 ? 0 : line - 2));
    ga_put(d, GA_IDCFR, d->board_state[LINE]);
}

static void el2_enable(struct dp8390 *d, bool on)
{
    ga_put(d, GA_GACR, on ? d->board_state[CONNECTOR] : GACR_THIN);
    ga_put(d, GA_PSTR, d->rx_start);
    ga_put(d, GA_PSPR, d->rx_stop);
    ga_put(d, GA_DQTR, FIFO_BYTES);
    ga_put(d, GA_VPTR2, BOOT);
    ga_put(d, GA_VPTR1, BOOT);
    ga_put(d, GA_VPTR0, 0);
    ga_put(d, GA_IDCFR, on ? d->board_state[LINE] : 0);
    ga_put(d, GA_GACFR, on ? GACFR_TCM : GACFR_TCM | GACFR_NIM);
}

/* On thin cable meanwhile: FreeBSD's driver saw cards lock up otherwise with no cable there. */
static int el2_reset(struct dp8390 *d)
{
    ga_put(d, GA_GACR, GACR_RST | GACR_THIN);
    delay_us(RESET_US);
    ga_put(d, GA_GACR, GACR_THIN);
    el2_enable(d, true);
    return dp8390_await_reset(d);
}

/* No FIFO, no window.  What is in the FIFO arrives first: stopped before, it would stay there. */
static void el2_let_go(struct dp8390 *d)
{
    if ((io_in8(d->reg, GA_GACR) & GACR_FIFO) != 0) {
        dp8390_await(d->reg, GA_STREG, STREG_READY);
    }
    ga_put(d, GA_GACR, d->board_state[CONNECTOR]); /* nor the PROM, as after power-on */
    ga_put(d, GA_GACFR, GACFR_TCM | (io_in8(d->reg, GA_GACFR) & GACFR_NIM));
}

static void el2_other_media(struct dp8390 *d)
{
    const unsigned connector = d->board_state[CONNECTOR] ^= GACR_THIN;

    ga_put(d, GA_GACR, connector);
    nic_log(d->nic, "nothing gets out: trying the %s connector", connector != 0 ? "BNC" : "AUI");
}

/* The PROM takes the chip's place for a moment. */
static bool el2_prom(struct dp8390 *d, struct dp8390_prom *prom)
{
    const uint8_t was = io_in8(d->reg, GA_GACR);
    const uint8_t *mac = prom->raw;
    bool known;

    ga_put(d, GA_GACR, GACR_THIN | GACR_EALO);
    prom->n = sizeof(prom->mac);
    for (unsigned i = 0; i < prom->n; i++) {
        prom->raw[i] = prom->mac[i] = io_in8(d->reg, i);
    }
    ga_put(d, GA_GACR, was);
    known = (mac[0] == 0x02 && mac[1] == 0x60 && mac[2] == 0x8C) ||
            (mac[0] == 0x00 && mac[1] == 0x20 && mac[2] == 0xAF);
    prom->words = known ? "3Com's prefix" : "not a prefix of 3Com's";
    return known;
}

static const struct dp8390_board board = {.reset = el2_reset,
                                          .read = el2_read,
                                          .write = el2_write,
                                          .enable = el2_enable,
                                          .let_go = el2_let_go,
                                          .other_media = el2_other_media,
                                          .prom = el2_prom};

/* ---- probe ---- */

static const uint16_t places[] = {0x300, 0x310, 0x330, 0x350, 0x250, 0x280, 0x2A0, 0x2E0, 0};
static const uint8_t lines[] = {5, 9, 3, 4, 0};

/*
 * What the jumper of the ports says at this place; 0 where nobody may look.  An NE2000 that decodes
 * ten bits answers at the gate array's ports, too, and would have its data port read at x10h: there
 * the jumper must show before, at the end of the boot ROM.
 */
static unsigned jumper_at(const struct nic_place *place)
{
    static const struct iowin ends[] = {{0xC9FFE}, {0xCDFFE}, {0xD9FFE}, {0xDDFFE}};
    unsigned bit = 0x80;
    uint8_t shown = 0;

    for (const uint16_t *p = places; *p != 0 && *p != place->io.base; p++) {
        bit >>= 1;
    }
    for (unsigned i = 0; i < 4 && shown != bit; i++) {
        mem_read8(ends[i], 0, &shown, 1);
    }
    return place->given || (place->io.base & 0x10) == 0 || shown == bit ? bit : 0;
}

static int el2_probe(const struct nic_place *place, struct nic *nic, char *why, size_t why_size)
{
    struct dp8390 *d = dp8390_of(nic);
    const unsigned jumper = jumper_at(place);
    const unsigned pcfr = jumper != 0 ? io_in8(place->io, GA_PCFR) : PCFR_NONE;
    struct dp8390_prom prom;
    char model[24];

    *d = (struct dp8390){.reg = place->io, .board = &board, .nic = nic, .dcr = DCR_BYTES};
    if ((pcfr & PCFR_NONE) != 0 || io_in8(d->reg, GA_BCFR) != jumper || !el2_prom(d, &prom)) {
        format(why, why_size, "no 3C503 there");
        return E_NOT_FOUND;
    }
    if ((pcfr & (pcfr - 1)) != 0) {
        format(why, why_size, "two memory jumpers are set (%02x): leave one, or none", pcfr);
        return E_HARDWARE;
    }
    d->board_state[CONNECTOR] = io_in8(d->reg, GA_GACR) & GACR_THIN;
    nic->ops = &dp8390_ops;
    el2_reset(d);
    dp8390_stop(d);
    dp8390_put(d, CR, CR_PAGE2 | CR_DMA_ABORT | CR_STOP);
    d->word = (dp8390_get(d, DCR) & DCR_WTS) != 0; /* an EtherLink II/16 cannot do without */
    d->dcr |= d->word ? DCR_WTS : 0;
    d->tx_page = d->word ? 0 : RING;
    d->rx_start = RING + (d->word ? 0 : DP8390_TX_SLOTS * DP8390_TX_PAGES);
    d->rx_stop = 2 * RING;
    dp8390_stop(d);
    el2_enable(d, true);
    d->window.base = pcfr == 0 ? 0 : (pcfr & PCFR_UPPER) != 0 ? 0xD8000 : 0xC8000;
    d->window.base += (pcfr & PCFR_ODD) != 0 ? 0x4000 : 0;
    if (!shmem_settle(d, d->tx_page * DP8390_PAGE,
                      (unsigned)(d->rx_stop - d->tx_page) * DP8390_PAGE, "FIFO", why, why_size)) {
        el2_enable(d, false);
        return E_HARDWARE;
    }
    dp8390_choose_line(d, lines, el2_route);
    el2_enable(d, false);
    format(model, sizeof(model), "3C503%s%s", d->word ? "/16" : "", d->window.base ? "" : ", FIFO");
    dp8390_describe(d, model, prom.mac);
    return 0;
}

NIC_DRIVER(el2_driver) = {
    .name = "3c503",
    .isa_candidates = places,
    .isa_ports = 16,
    .order = NIC_ORDER_3C503,
    .probe = el2_probe,
};
