/*
 * Selftest of the 8390: the bus between host and card memory.  Does every cycle arrive, once, and
 * how many a second?
 *
 * An overclocked bus loses cycles of a slow card or makes it see them twice.  The chip's remote DMA
 * counts them: after n accesses its address must be n further (DP8390D data sheet ch. 9, 10).
 */
#include "drivers/8390/bench.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    ROUND = 512, /* bytes moved before the address is looked at   */
    SLACK = 64,  /* ... of a DMA that is longer, so that surplus cycles show as well */
    ROUNDS = 128,
    ROUNDS_A_PART = 4,
    LOOKS = 4, /* the chip moves the last word while we look    */
    DMA_WAIT_US = 20000,

    SPEED_SAMPLES = 16,
    SPEED_BLOCKS = 4, /* a sample is long against the clock's grain   */
};

static struct {
    unsigned lost_in, lost_out, twice_in, twice_out; /* cycles */
    unsigned counted;
    bool hidden;  /* this chip does not show its address */
    bool endless; /* a remote write did not end          */
} found;

/* ---- remote DMA by hand, in the width in use ---- */

static void start(const struct dp8390 *d, enum dp8390_cr direction, unsigned address)
{
    put(d, ISR, ISR_RDC);
    put(d, RBCR0, ROUND + SLACK);
    put(d, RBCR1, (ROUND + SLACK) >> 8);
    put(d, RSAR0, address);
    put(d, RSAR1, address >> 8);
    put(d, CR, CR_PAGE0 | (unsigned)direction | CR_START);
}

static void push(const struct dp8390 *d, unsigned n)
{
    switch (d->nic->width) {
    case 8: io_out8_rep(d->data, 0, bench_out, n); break;
    case 16: io_out16_rep(d->data, 0, bench_out, n / 2); break;
    default: io_out32_rep(d->data, 0, bench_out, n / 4); break;
    }
}

static void pull(const struct dp8390 *d, unsigned n)
{
    switch (d->nic->width) {
    case 8: io_in8_rep(d->data, 0, bench_in, n); break;
    case 16: io_in16_rep(d->data, 0, bench_in, n / 2); break;
    default: io_in32_rep(d->data, 0, bench_in, n / 4); break;
    }
}

/* How far the DMA has come; at least `expected` unless it stays behind. */
static unsigned progress(const struct dp8390 *d, unsigned address, unsigned expected)
{
    unsigned moved = 0;

    for (unsigned i = 0; i < LOOKS && moved < expected; i++) {
        moved = get(d, CRDA0);
        moved |= (unsigned)get(d, CRDA1) << 8;
        moved = (moved - address) & 0xFFFF;
    }
    return moved;
}

/* ---- every cycle, once ---- */

static void count(unsigned moved, unsigned expected, unsigned unit, unsigned *lost, unsigned *twice)
{
    *lost += moved < expected ? (expected - moved + unit - 1) / unit : 0;
    *twice += moved > expected ? (moved - expected + unit - 1) / unit : 0;
    found.counted += ROUND / unit;
}

/* What is left of a DMA, so that it ends as it should; far too much is garbage. */
static unsigned rest(unsigned moved)
{
    return moved < ROUND + SLACK ? ROUND + SLACK - moved : 0;
}

static void end_write(const struct dp8390 *d)
{
    struct deadline limit = deadline_us(DMA_WAIT_US);

    while ((get(d, ISR) & ISR_RDC) == 0 && !found.endless) {
        found.endless = expired(&limit);
    }
    put(d, CR, CR_IDLE);
}

static void write_round(const struct dp8390 *d, unsigned address, unsigned unit)
{
    unsigned moved;

    start(d, CR_DMA_WRITE, address);
    push(d, ROUND);
    moved = progress(d, address, ROUND);
    count(moved, ROUND, unit, &found.lost_out, &found.twice_out);
    push(d, rest(moved));
    end_write(d);
}

/* Some chips fetch the next word before it is asked for: they are ahead by one all the time. */
static void read_round(const struct dp8390 *d, unsigned address, unsigned unit)
{
    unsigned ahead, moved;

    start(d, CR_DMA_READ, address);
    ahead = progress(d, address, 1);
    ahead = ahead <= unit ? ahead : 0;
    pull(d, ROUND);
    moved = progress(d, address, ROUND + ahead);
    count(moved, ROUND + ahead, unit, &found.lost_in, &found.twice_in);
    pull(d, rest(moved - ahead));
    put(d, CR, CR_IDLE);
}

/* Does the address move at all? */
static bool shows_address(const struct dp8390 *d, unsigned address)
{
    unsigned moved;

    start(d, CR_DMA_WRITE, address);
    push(d, ROUND + SLACK);
    end_write(d);
    moved = progress(d, address, ROUND + SLACK);
    return moved != 0 && moved <= 2 * (ROUND + SLACK);
}

bool bench_cycles_faulty(void)
{
    return (found.lost_in | found.lost_out | found.twice_in | found.twice_out) != 0;
}

/* "3 lost reading, 1 doubled writing" */
static void describe(char *to, size_t size)
{
    const struct {
        unsigned n;
        const char *what;
    } kinds[] = {{found.lost_in, "lost reading"},
                 {found.lost_out, "lost writing"},
                 {found.twice_in, "doubled reading"},
                 {found.twice_out, "doubled writing"}};
    size_t used = 0;

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].n != 0 && used < size) {
            used += (size_t)format(to + used, size - used, "%s%u %s", used == 0 ? "" : ", ",
                                   kinds[i].n, kinds[i].what);
        }
    }
}

static void say_cycles(void)
{
    char words[SELFTEST_WORDS];

    if (found.endless) {
        selftest_say(SELFTEST_BAD, "a remote write does not end (no RDC)");
    } else if (found.hidden) {
        selftest_say(SELFTEST_NOTE, "this chip does not show its DMA address: cycles not counted");
    } else if (bench_cycles_faulty()) {
        describe(words, sizeof(words));
        selftest_say(SELFTEST_BAD, "of %u: %s: is the bus too fast?", found.counted, words);
    } else {
        selftest_say(SELFTEST_GOOD, "%u bus cycles, none lost, none doubled", found.counted);
    }
}

bool bench_cycles(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);
    const unsigned unit = t->nic->width / 8;
    const unsigned address = d->tx_page * (unsigned)DP8390_PAGE;

    if (t->part == 0) {
        memset(&found, 0, sizeof(found));
        if (!d->board->remote_dma) {
            return false;
        }
        bench_take(t);
        found.hidden = !shows_address(d, address);
    }
    for (unsigned i = 0; i < ROUNDS_A_PART && !found.hidden && !found.endless; i++) {
        write_round(d, address, unit);
        read_round(d, address, unit);
    }
    if (!found.hidden && !found.endless && t->part + 1 < ROUNDS / ROUNDS_A_PART) {
        return true;
    }
    say_cycles();
    return false;
}

/* ---- how fast ---- */

static struct samples in, out;

/* One sample each way; false if the card does not take what is written. */
static bool measure(struct dp8390 *d)
{
    const unsigned address = d->tx_page * (unsigned)DP8390_PAGE;
    uint64_t began = time_us();

    for (unsigned i = 0; i < SPEED_BLOCKS; i++) {
        if (bench_write(d, address, BENCH_BLOCK) != 0) {
            return false;
        }
    }
    samples_add(&out, selftest_kb_s(SPEED_BLOCKS * BENCH_BLOCK, time_us() - began));
    began = time_us();
    for (unsigned i = 0; i < SPEED_BLOCKS; i++) {
        bench_read(d, address, BENCH_BLOCK);
    }
    samples_add(&in, selftest_kb_s(SPEED_BLOCKS * BENCH_BLOCK, time_us() - began));
    return true;
}

static void say_speed(struct selftest *t, const struct dp8390_way *way)
{
    const char *what = way->board->remote_dma ? "bus" : "mem";
    const uint32_t in_kb_s = samples_percentile(&in, 50);
    const uint32_t out_kb_s = samples_percentile(&out, 50);
    char name[16], from[24], to[24];

    selftest_say(SELFTEST_GOOD, "%u bit: %s KB/s in, %s KB/s out", way->width,
                 format_fixed(from, in_kb_s, 1), format_fixed(to, out_kb_s, 1));
    format(name, sizeof(name), "%s_in_%u", what, way->width);
    samples_record(&in, name, (int)t->nic->index, "KB/s", 1);
    format(name, sizeof(name), "%s_out_%u", what, way->width);
    samples_record(&out, name, (int)t->nic->index, "KB/s", 1);
    if (way->width == t->nic->width) {
        t->in_kb_s = in_kb_s;
        t->out_kb_s = out_kb_s;
    }
}

bool bench_speed(struct selftest *t)
{
    static unsigned way_index;
    struct dp8390 *d = dp8390_of(t->nic);
    const struct dp8390_way *way;
    bool taken;

    if (t->part == 0) {
        way_index = in.n = out.n = 0;
        bench_take(t);
    }
    way = bench_way(d, way_index);
    bench_use(d, way);
    taken = measure(d);
    bench_use_own(d);
    if (taken && in.n < SPEED_SAMPLES) {
        return true;
    }
    if (taken) {
        say_speed(t, way);
    } else {
        selftest_say(SELFTEST_NOTE, "%u bit: not measured, the card does not take it", way->width);
    }
    in.n = out.n = 0;
    return bench_way(d, ++way_index) != NULL;
}
