/*
 * Selftest of the 8390: card memory, by a march test in each width the board allows.
 *
 * A march test goes through memory upwards and downwards, reading what the pass before has written
 * and writing its opposite: that finds stuck and slow bits, and cells that are one because an
 * address line does not work (van de Goor, "Testing Semiconductor Memories", 1991, March C-).  Data
 * ports want blocks, so it marches by pages; each byte of the first passes tells its own address,
 * so that cells within a page cannot be mistaken for each other either.
 */
#include "drivers/8390/bench.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum fill { NOTHING, ADDRESS, ADDRESS_INVERTED, STRIPES, STRIPES_INVERTED, ZEROS, ONES };

static const struct pass {
    enum fill expected, next;
    bool down;
} passes[] = {
    {NOTHING, ADDRESS, false},
    {ADDRESS, ADDRESS_INVERTED, false},
    {ADDRESS_INVERTED, STRIPES, false},
    {STRIPES, STRIPES_INVERTED, true},
    {STRIPES_INVERTED, ZEROS, true},
    {ZEROS, ONES, false},
    {ONES, ZEROS, true},
    {ZEROS, NOTHING, false},
};
enum { PASSES = sizeof(passes) / sizeof(passes[0]), PAGES_A_PART = 8, ADDRESS_LINES = 16 };

/* Where the march is. */
static unsigned way_index, pass, page;

/* What it has found in this width. */
static struct {
    unsigned wrong;      /* bytes, in all passes                        */
    unsigned address;    /* of the first                                */
    uint8_t wanted, got; /* there                                       */
    uint8_t high, low;   /* bits that were 1 and should be 0; the other */
    unsigned line;       /* address line that does not work, ...        */
    bool aliased;        /* ... if there is one                         */
    bool timeout;        /* the card did not take what was written      */
    bool something;      /* a byte other than FF was read               */
} found;

static uint8_t fill_byte(enum fill fill, unsigned address)
{
    switch (fill) {
    case ADDRESS: return (uint8_t)(address % 2 == 0 ? address : address >> 8);
    case ADDRESS_INVERTED: return (uint8_t)~fill_byte(ADDRESS, address);
    case STRIPES: return address % 2 == 0 ? 0x55 : 0xAA;
    case STRIPES_INVERTED: return address % 2 == 0 ? 0xAA : 0x55;
    case ONES: return 0xFF;
    default: return 0;
    }
}

static bool put_page(struct dp8390 *d, enum fill fill, unsigned address)
{
    for (unsigned i = 0; i < DP8390_PAGE; i++) {
        bench_out[i] = fill_byte(fill, address + i);
    }
    return bench_write(d, address, DP8390_PAGE) == 0;
}

/* ---- reading ---- */

/* The cell at even `address` tells the address of another, one line away: they are the same, or a
 * bit is stuck (then nothing but that bit is ever wrong). */
static void look_for_alias(unsigned address, const uint8_t *cell)
{
    const unsigned told = cell[0] | (unsigned)cell[1] << 8;

    for (unsigned line = 1; line < ADDRESS_LINES; line++) {
        if ((told ^ address) == 1U << line) {
            found.aliased = true;
            found.line = line;
        }
    }
}

static void note_byte(enum fill fill, unsigned address, unsigned i)
{
    const uint8_t wanted = fill_byte(fill, address + i);
    const uint8_t got = bench_in[i];

    found.something = found.something || got != 0xFF;
    if (got == wanted) {
        return;
    }
    if (found.wrong++ == 0) {
        found.address = address + i;
        found.wanted = wanted;
        found.got = got;
        if (fill == ADDRESS) {
            look_for_alias((address + i) & ~1U, &bench_in[i & ~1U]);
        }
    }
    found.high |= (uint8_t)(got & ~wanted);
    found.low |= (uint8_t)(wanted & ~got);
}

static void check_page(struct dp8390 *d, enum fill fill, unsigned address)
{
    bench_read(d, address, DP8390_PAGE);
    for (unsigned i = 0; i < DP8390_PAGE; i++) {
        note_byte(fill, address, i);
    }
}

/* ---- marching ---- */

static unsigned pages(const struct dp8390 *d)
{
    return (unsigned)d->rx_stop - d->tx_page;
}

static void march_page(struct dp8390 *d)
{
    const struct pass *p = &passes[pass];
    const unsigned offset = p->down ? pages(d) - 1 - page : page;
    const unsigned address = (d->tx_page + offset) * DP8390_PAGE;

    if (p->expected != NOTHING) {
        check_page(d, p->expected, address);
    }
    if (p->next != NOTHING && !put_page(d, p->next, address)) {
        found.timeout = true;
        found.address = address;
    }
}

/* A few pages.  False when all is done, or nothing can be. */
static bool march(struct dp8390 *d)
{
    for (unsigned i = 0; i < PAGES_A_PART; i++) {
        march_page(d);
        if (found.timeout) {
            return false;
        }
        if (++page == pages(d)) {
            page = 0;
            if (++pass == PASSES) {
                return false;
            }
        }
    }
    return true;
}

/* ---- verdict ---- */

/* The only bit of a mask, or -1. */
static int only_bit(unsigned mask)
{
    for (int bit = 0; bit < 8; bit++) {
        if (mask == 1U << bit) {
            return bit;
        }
    }
    return -1;
}

/* What is wrong, in words. */
static void explain(char *to, size_t size)
{
    const unsigned cell = found.address & ~1U;
    const int high = found.low == 0 ? only_bit(found.high) : -1;
    const int low = found.high == 0 ? only_bit(found.low) : -1;

    if (found.timeout) {
        format(to, size, "the card did not take what was written at %04xh", found.address);
    } else if (!found.something) {
        format(to, size, "cannot be seen, every byte reads ff");
    } else if (high >= 0 || low >= 0) {
        format(to, size, "bit %d is stuck at %d %s %04xh (%u bytes)", high >= 0 ? high : low,
               high >= 0, found.wrong <= PASSES ? "at" : "from", found.address, found.wrong);
    } else if (found.aliased) {
        format(to, size, "address line A%u does not work: %04xh and %04xh are one", found.line,
               cell, cell ^ 1U << found.line);
    } else {
        format(to, size, "%u bytes wrong, the first at %04xh: wrote %02x, read %02x", found.wrong,
               found.address, found.wanted, found.got);
    }
}

/* The driver does not use the narrower widths, so they are no fault. */
static void say(const struct dp8390 *d, unsigned width)
{
    char words[SELFTEST_WORDS];

    if (found.wrong == 0 && !found.timeout) {
        selftest_say(SELFTEST_GOOD, "%u bit: %u KB from %04xh, march test, %u passes", width,
                     pages(d) * DP8390_PAGE / 1024, d->tx_page * (unsigned)DP8390_PAGE,
                     (unsigned)PASSES);
        return;
    }
    explain(words, sizeof(words));
    selftest_say(way_index == 0 ? SELFTEST_BAD : SELFTEST_NOTE, "%u bit: %s", width, words);
}

/* Boards made for words only need not answer in bytes: no fault, if most of a page is not there. */
static bool answers(struct dp8390 *d)
{
    const unsigned address = d->tx_page * (unsigned)DP8390_PAGE;
    unsigned right = 0;

    if (!put_page(d, ADDRESS, address)) {
        return false;
    }
    bench_read(d, address, DP8390_PAGE);
    for (unsigned i = 0; i < DP8390_PAGE; i++) {
        right += bench_in[i] == fill_byte(ADDRESS, address + i);
    }
    return right > DP8390_PAGE / 2;
}

bool bench_ram(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);
    const struct dp8390_way *way;
    bool more;

    if (t->part == 0) {
        if (bench_cycles_faulty()) {
            selftest_say(SELFTEST_NOTE, "not tested: bus cycles are lost or doubled");
            return false;
        }
        way_index = pass = page = 0;
        memset(&found, 0, sizeof(found));
        bench_take(t);
    }
    way = bench_way(d, way_index);
    bench_use(d, way);
    if (way_index > 0 && pass == 0 && page == 0 && !answers(d)) {
        selftest_say(SELFTEST_NOTE, "%u bit: this board does not answer in this width", way->width);
        more = false;
    } else {
        more = march(d);
        if (!more) {
            say(d, way->width);
        }
    }
    bench_use_own(d);
    if (more) {
        return true;
    }
    pass = page = 0;
    memset(&found, 0, sizeof(found));
    return bench_way(d, ++way_index) != NULL;
}
