/*
 * The data port of NE1000 and NE2000 boards: card memory by remote DMA, in bytes, words or double
 * words, and the reset port.
 *
 * The chip counts the bytes as we do.  In words and double words a transfer is rounded up to whole
 * ones: a few bytes more are read behind a frame (its FCS; a page's end is a whole one, so nothing
 * beyond the ring) or written behind it (its slot has room).
 * Source: DP8390D data sheet ch. 9 (remote DMA).
 */
#include "drivers/8390/ne2000.h"
#include "kernel/error.h"

static const uint8_t zeros[FRAME_MIN + 4];

static unsigned round_up(unsigned n, unsigned unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

static void start_dma(const struct dp8390 *d, enum dp8390_cr direction, unsigned address,
                      unsigned n)
{
    const struct ioport reg = d->reg; /* not to be loaded for each of five accesses */

    io_out8(reg, RBCR0, (uint8_t)n);
    io_out8(reg, RBCR1, (uint8_t)(n >> 8));
    io_out8(reg, RSAR0, (uint8_t)address);
    io_out8(reg, RSAR1, (uint8_t)(address >> 8));
    io_out8(reg, CR, (uint8_t)(CR_PAGE0 | (unsigned)direction | CR_START));
}

/* ---- reading: some chips never set RDC after it, so it is not asked for ---- */

static void read_bytes(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    start_dma(d, CR_DMA_READ, address, n);
    io_in8_rep(d->data, 0, to, n);
}

static void read_words(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    n = round_up(n, 2);
    start_dma(d, CR_DMA_READ, address, n);
    io_in16_rep(d->data, 0, to, n / 2);
}

static void read_dwords(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    n = round_up(n, 4);
    start_dma(d, CR_DMA_READ, address, n);
    io_in32_rep(d->data, 0, to, n / 4);
}

/* ---- writing ---- */

static void begin_write(struct dp8390 *d, unsigned address, unsigned n)
{
    if (d->read_first) {
        uint8_t nothing[4];

        d->board->read(d, 0, nothing, sizeof(nothing));
        dp8390_put(d, CR, CR_PAGE0 | CR_DMA_ABORT | CR_START);
    }
    dp8390_put(d, ISR, ISR_RDC);
    start_dma(d, CR_DMA_WRITE, address, n);
}

static int end_write(const struct dp8390 *d)
{
    struct deadline limit;

    if ((dp8390_get(d, ISR) & ISR_RDC) != 0) {
        return 0; /* nearly always: no clock is read */
    }
    limit = deadline_us(NE2000_WAIT_US);
    while ((dp8390_get(d, ISR) & ISR_RDC) == 0) {
        if (expired(&limit)) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

static int write_bytes(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                       unsigned padded)
{
    begin_write(d, address, padded);
    for (unsigned i = 0; i < frame->n; i++) {
        io_out8_rep(d->data, 0, frame->v[i].at, frame->v[i].length);
    }
    io_out8_rep(d->data, 0, zeros, padded - frame->total);
    return end_write(d);
}

/* Slices may have any length and address; the odd byte at the end of one is the low half of a
 * word whose high half comes from the next. */
static int write_words(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                       unsigned padded)
{
    unsigned missing = round_up(padded, 2) - frame->total; /* zeros behind the frame */
    unsigned carry = 0;
    bool odd = false;

    begin_write(d, address, round_up(padded, 2));
    for (unsigned i = 0; i < frame->n; i++) {
        const uint8_t *at = frame->v[i].at;
        unsigned n = frame->v[i].length;

        if (odd && n > 0) {
            io_out16(d->data, 0, (uint16_t)(carry | (unsigned)*at << 8));
            at++;
            n--;
            odd = false;
        }
        io_out16_rep(d->data, 0, at, n / 2);
        if (n % 2 != 0) {
            carry = at[n - 1];
            odd = true;
        }
    }
    if (odd) {
        io_out16(d->data, 0, (uint16_t)carry);
        missing--;
    }
    if (missing != 0) {
        io_out16_rep(d->data, 0, zeros, missing / 2);
    }
    return end_write(d);
}

/* What is left of one slice, to go out together with the beginning of the next. */
struct leftover {
    uint32_t bytes; /* in memory's order from the lowest bits on */
    unsigned n;     /* 0 to 3 */
};

static void push_few(const struct dp8390 *d, struct leftover *left, const uint8_t *at, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        left->bytes |= (uint32_t)at[i] << 8 * left->n;
        if (++left->n == 4) {
            io_out32(d->data, 0, left->bytes);
            *left = (struct leftover){0, 0};
        }
    }
}

static uint32_t load(const uint8_t *at)
{
    uint32_t value;

    __builtin_memcpy(&value, at, sizeof(value)); /* freestanding: the plain name would be a call */
    return value;
}

/* A slice of at least four bytes: first and last double words are loaded whole and shifted. */
static void push_many(const struct dp8390 *d, struct leftover *left, const uint8_t *at, unsigned n)
{
    if (left->n != 0) {
        io_out32(d->data, 0, left->bytes | load(at) << 8 * left->n);
        at += 4 - left->n;
        n -= 4 - left->n;
    }
    io_out32_rep(d->data, 0, at, n / 4);
    left->n = n % 4;
    left->bytes = left->n == 0 ? 0 : load(at + n - 4) >> 8 * (4 - left->n);
}

static int write_dwords(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                        unsigned padded)
{
    unsigned missing = round_up(padded, 4) - frame->total; /* zeros behind the frame */
    struct leftover left = {0, 0};

    begin_write(d, address, round_up(padded, 4));
    for (unsigned i = 0; i < frame->n; i++) {
        if (frame->v[i].length >= 4) {
            push_many(d, &left, frame->v[i].at, frame->v[i].length);
        } else {
            push_few(d, &left, frame->v[i].at, frame->v[i].length);
        }
    }
    if (left.n != 0) {
        io_out32(d->data, 0, left.bytes);
        missing -= 4 - left.n;
    }
    if (missing != 0) {
        io_out32_rep(d->data, 0, zeros, missing / 4);
    }
    return end_write(d);
}

/* ---- are all bus cycles seen, once? ---- */

enum { COUNTED = 256, READ_AHEAD = 4 };

static void some_cycles(const struct dp8390 *d, bool in)
{
    static uint8_t bytes[COUNTED];

    if (d->board == &ne2000_in_bytes) {
        in ? io_in8_rep(d->data, 0, bytes, COUNTED) : io_out8_rep(d->data, 0, bytes, COUNTED);
    } else if (d->board == &ne2000_in_words) {
        in ? io_in16_rep(d->data, 0, bytes, COUNTED / 2)
           : io_out16_rep(d->data, 0, bytes, COUNTED / 2);
    } else {
        in ? io_in32_rep(d->data, 0, bytes, COUNTED / 4)
           : io_out32_rep(d->data, 0, bytes, COUNTED / 4);
    }
}

static unsigned address_now(const struct dp8390 *d)
{
    const unsigned low = dp8390_get(d, CRDA0);

    return low | (unsigned)dp8390_get(d, CRDA1) << 8;
}

/* The remote DMA is set up for twice as many bytes, or its end would hide cycles too many.  A read
 * may be ahead of us. */
__attribute__((cold)) bool ne2000_counts_right(struct dp8390 *d, unsigned *seen, unsigned *wanted)
{
    const unsigned from = (unsigned)d->tx_page * DP8390_PAGE;
    const unsigned before = address_now(d);
    bool right = true;

    *wanted = from + COUNTED;
    for (unsigned in = 0; right && in < 2; in++) {
        start_dma(d, in != 0 ? CR_DMA_READ : CR_DMA_WRITE, from, 2 * COUNTED);
        some_cycles(d, in != 0);
        *seen = address_now(d);
        dp8390_stop(d);
        right = *seen == before || *seen - *wanted <= (in != 0 ? READ_AHEAD : 0U);
    }
    return right;
}

/* ---- reset ---- */

/* Read and write back to back: with the usual pause between port accesses, some clones do not
 * reset. */
static __attribute__((cold)) int reset(struct dp8390 *d)
{
    struct deadline limit;

    io_out8(d->pulse, 0, io_in8(d->pulse, 0));
    limit = deadline_us(NE2000_WAIT_US);
    while ((dp8390_get(d, ISR) & ISR_RST) == 0) {
        if (expired(&limit)) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

const struct dp8390_board ne2000_in_bytes = {
    .reset = reset,
    .read = read_bytes,
    .write = write_bytes,
    .remote_dma = true,
    .prom = ne2000_prom,
};

const struct dp8390_board ne2000_in_words = {
    .reset = reset,
    .read = read_words,
    .write = write_words,
    .remote_dma = true,
    .narrower = ne2000_below_words,
    .prom = ne2000_prom,
};

const struct dp8390_board ne2000_in_dwords = {
    .reset = reset,
    .read = read_dwords,
    .write = write_dwords,
    .remote_dma = true,
    .narrower = ne2000_below_dwords,
    .prom = ne2000_prom,
};
