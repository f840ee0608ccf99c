/*
 * Selftest of the 8390: its steps, and of them registers, PROM, loopback and interrupt.
 *
 * Sources: DS (core.h) ch. 10 (registers), 12 (loopback diagnostics); application note AN-937
 * "Loopback Diagnostics Using the DP8390/901/902/905" (National, 1994), "AN" below.
 */
#include "drivers/8390/bench.h"
#include "kernel/error.h"
#include "kernel/print.h"
#include "kernel/string.h"

uint8_t bench_out[BENCH_BLOCK], bench_in[BENCH_BLOCK];

/* ---- the bench ---- */

static struct dp8390_way own;
static struct dp8390_way in_bytes; /* the same, one byte of the window at a time */

void bench_take(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);

    (void)t->ops->open(t->nic); /* says itself what is wrong, and so will what follows */
    own = (struct dp8390_way){.board = d->board, .dcr = d->dcr, .width = t->nic->width};
    dp8390_halt(d); /* it is on line, and a frame may have come */
    dp8390_stop(d);
    d->open = false; /* a new filter must not start the chip */
    put(d, PSTART, d->rx_start);
    put(d, PSTOP, d->rx_stop);
    put(d, BNRY, d->rx_start + 1U);
    put(d, CR, CR_HALT_PAGE1);
    put(d, CURR, d->rx_start);
    put(d, CR, CR_HALT);
}

const struct dp8390_way *bench_way(struct dp8390 *d, unsigned index)
{
    const struct dp8390_way *narrower = d->board->narrower;

    if (index == 0) {
        return &own;
    }
    if (narrower == NULL) {
        in_bytes = (struct dp8390_way){.board = own.board, .dcr = own.dcr, .width = 8};
        return index == 1 && d->window.base != 0 && own.width > 8 ? &in_bytes : NULL;
    }
    for (unsigned i = 0; i + 1 < index && narrower->board != NULL; i++) {
        narrower++;
    }
    return narrower->board == NULL ? NULL : narrower;
}

void bench_use(struct dp8390 *d, const struct dp8390_way *way)
{
    if (d->window.base != 0) {
        d->word = way->width > 8;
    }
    if (d->board != way->board) {
        d->board = way->board;
        d->dcr = way->dcr;
        dp8390_halt(d); /* a frame on the wire delays the stop */
        dp8390_stop(d);
    }
}

void bench_use_own(struct dp8390 *d)
{
    bench_use(d, &own);
}

int bench_write(struct dp8390 *d, unsigned address, unsigned n)
{
    const struct slice slice = {bench_out, (uint16_t)n};
    const struct tx_frame block = {&slice, 1, (uint16_t)n};
    const int error = d->board->write(d, address, &block, n);

    if (error != 0) {
        put(d, CR, CR_IDLE); /* give it up: the next one may begin */
    }
    return error;
}

void bench_read(struct dp8390 *d, unsigned address, unsigned n)
{
    d->board->read(d, address, bench_in, n);
}

/* ---- registers ---- */

/* What can be read back where it was written: page 1, and BNRY of page 0. */
enum { FIRST = PAR0, MULTICAST = MAR0, LAST = MAR0 + 7, BOUNDARY = LAST + 1, REGISTERS };

/* CURR and BNRY get pages of the ring only: some chips keep no others. */
static uint8_t pattern(const struct dp8390 *d, unsigned reg, unsigned round)
{
    static const uint8_t patterns[] = {0x00, 0xFF, 0x55, 0xAA, 0x0F, 0xF0};
    const unsigned pages = (unsigned)d->rx_stop - d->rx_start;
    const unsigned value = round < sizeof(patterns)
                               ? patterns[round]
                               : reg * 0x11 + 1; /* each its own: they are not one register */

    return (uint8_t)(reg == CURR || reg == BOUNDARY ? d->rx_start + value % pages : value);
}
enum { ROUNDS = 7 };

/* The 83C690 and its successors, which have no remote DMA, do not show the multicast hash. */
static unsigned last_readable(const struct dp8390 *d)
{
    return d->no_rdc ? MULTICAST - 1 : LAST;
}

static void write_all(const struct dp8390 *d, unsigned round)
{
    put(d, CR, CR_HALT_PAGE1);
    for (unsigned reg = FIRST; reg <= last_readable(d); reg++) {
        put(d, (enum dp8390_reg)reg, pattern(d, reg, round));
    }
    put(d, CR, CR_HALT);
    put(d, BNRY, pattern(d, BOUNDARY, round));
}

/* Bits that did not read as written, for each register. */
static void compare_all(const struct dp8390 *d, unsigned round, uint8_t wrong[REGISTERS])
{
    wrong[BOUNDARY] |= (uint8_t)(get(d, BNRY) ^ pattern(d, BOUNDARY, round));
    put(d, CR, CR_HALT_PAGE1);
    for (unsigned reg = FIRST; reg <= last_readable(d); reg++) {
        wrong[reg] |= (uint8_t)(get(d, (enum dp8390_reg)reg) ^ pattern(d, reg, round));
    }
    put(d, CR, CR_HALT);
}

static void name_register(char name[8], unsigned reg)
{
    if (reg == BOUNDARY) {
        format(name, 8, "BNRY");
    } else if (reg == CURR) {
        format(name, 8, "CURR");
    } else if (reg < CURR) {
        format(name, 8, "PAR%u", reg - PAR0);
    } else {
        format(name, 8, "MAR%u", reg - MAR0);
    }
}

static void say_registers(const uint8_t wrong[REGISTERS], unsigned tested)
{
    unsigned faulty = 0, multicast = 0, first = 0;
    char name[8];

    for (unsigned reg = FIRST; reg < REGISTERS; reg++) {
        if (wrong[reg] != 0 && faulty++ == 0) {
            first = reg;
        }
        multicast += wrong[reg] != 0 && reg >= MULTICAST && reg <= LAST;
    }
    if (faulty == 0) {
        selftest_say(SELFTEST_GOOD, "%u registers hold what is written", tested);
    } else if (faulty == multicast && multicast == LAST - MULTICAST + 1) {
        selftest_say(SELFTEST_NOTE, "good, but the multicast hash cannot be read (83C690)");
    } else {
        name_register(name, first);
        selftest_say(SELFTEST_BAD, "%u of %u do not hold what is written, first %s (bits %02x)",
                     faulty, tested, name, wrong[first]);
    }
}

static bool test_registers(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);
    uint8_t wrong[REGISTERS] = {0};

    if (d->board->reset(d) != 0) {
        selftest_say(SELFTEST_NOTE, "no reset acknowledge (ISR %02x)", get(d, ISR));
    }
    bench_take(t);
    for (unsigned round = 0; round < ROUNDS; round++) {
        write_all(d, round);
        compare_all(d, round, wrong);
    }
    say_registers(wrong, last_readable(d) - FIRST + 2);
    return false;
}

/* ---- PROM ---- */

static bool test_prom(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);
    static struct dp8390_prom prom;
    char bytes[3 * DP8390_PROM_BYTES + 1] = "";
    bool usable;

    if (d->board->prom == NULL) {
        return false;
    }
    if (bench_cycles_faulty()) {
        selftest_say(SELFTEST_NOTE, "not tested: bus cycles are lost or doubled");
        return false;
    }
    bench_take(t);
    memset(&prom, 0, sizeof(prom));
    usable = d->board->prom(d, &prom);
    bench_use_own(d);
    for (unsigned i = 0; i < prom.n; i++) {
        format(bytes + 3 * i, 4, i + 1 < prom.n ? "%02x " : "%02x", prom.raw[i]);
    }
    selftest_say(SELFTEST_GOOD, "%s", bytes);
    if (!usable) {
        selftest_say(SELFTEST_BAD, "garbage: %s; it uses %M", prom.words, t->nic->mac);
    } else if (memcmp(prom.mac, t->nic->mac, sizeof(prom.mac)) != 0) {
        selftest_say(SELFTEST_BAD, "says %M now, at boot it was %M", prom.mac, t->nic->mac);
    } else {
        selftest_say(SELFTEST_GOOD, "%M, %s", prom.mac, prom.words);
    }
    return false;
}

/* ---- loopback, mode 1: within the chip; AN 3 to 6 ---- */

/*
 * With its FCS the frame has 8 n + 5 bytes: then the FIFO, which keeps the last 8 bytes that came
 * in, begins with the last byte of data (AN 5).
 */
enum {
    LOOP_DATA = 65,
    LOOP_TOTAL = LOOP_DATA + DP8390_FCS,
    LOOP_WAIT_US = 20000, /* it takes 70 us */
    FIFO_BYTES = 8,
    FIFO_FCS = 1,
    FIFO_COUNT = 5,
};

/* IEEE 802.3 clause 3.2.9, bit by bit: it is for 65 bytes. */
static uint32_t fcs(const uint8_t *data, unsigned n)
{
    const uint32_t polynomial = 0xEDB88320;
    uint32_t crc = UINT32_MAX;

    for (unsigned i = 0; i < n; i++) {
        crc ^= data[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? polynomial : 0);
        }
    }
    return ~crc;
}

static void loop_frame(const struct nic *nic, uint8_t frame[LOOP_DATA])
{
    memcpy(frame, nic->mac, 6);
    memcpy(frame + 6, nic->mac, 6);
    for (unsigned i = 12; i < LOOP_DATA; i++) {
        frame[i] = (uint8_t)(i * 0x35);
    }
}

/* In loopback the chip takes one byte of each word, which one depends on the board (AN 4): both are
 * the same.  Returns how many bytes of card memory there are to send. */
static unsigned spread(const struct dp8390 *d, const uint8_t *frame)
{
    const unsigned copies = (d->dcr & DCR_WTS) != 0 ? 2 : 1;

    for (unsigned i = 0; i < LOOP_DATA * copies; i++) {
        bench_out[i] = frame[i / copies];
    }
    return LOOP_DATA * copies;
}

/* QEMU's chip has no loopback: it would send the frame.  There page 2 does not show TCR either. */
static bool has_loopback(const struct dp8390 *d)
{
    unsigned tcr;

    put(d, CR, CR_PAGE2 | CR_DMA_ABORT | CR_STOP);
    tcr = get(d, TCR);
    put(d, CR, CR_HALT);
    return (tcr & TCR_LOOPBACK_INTERNAL) != 0;
}

/* Send it round; what the interrupt status says of it. */
static unsigned go_round(struct dp8390 *d, unsigned bytes)
{
    struct deadline limit = deadline_us(LOOP_WAIT_US);
    unsigned isr;

    put(d, CR, CR_HALT_PAGE1);
    for (unsigned i = 0; i < sizeof(d->nic->mac); i++) {
        put(d, (enum dp8390_reg)(PAR0 + i), d->nic->mac[i]);
    }
    put(d, CR, CR_HALT);
    put(d, DCR, d->dcr & ~(unsigned)DCR_LOOPBACK_OFF);
    put(d, RCR, RCR_PROMISCUOUS);
    put(d, ISR, ISR_ALL);
    put(d, TPSR, d->tx_page);
    put(d, TBCR0, bytes);
    put(d, TBCR1, bytes >> 8);
    put(d, CR, CR_SEND);
    do {
        isr = get(d, ISR);
    } while ((isr & ISR_TX) == 0 && !expired(&limit));
    return isr;
}

/* The FIFO gives its bytes one at a time, and the last count twice (AN 5). */
static void judge_fifo(const struct dp8390 *d, const uint8_t *frame)
{
    const uint32_t crc = fcs(frame, LOOP_DATA);
    uint8_t got[FIFO_BYTES];
    bool same = true;

    for (unsigned i = 0; i < FIFO_BYTES; i++) {
        got[i] = get(d, FIFO);
    }
    if (got[FIFO_COUNT] != LOOP_TOTAL || got[FIFO_COUNT + 1] != 0) {
        selftest_say(SELFTEST_NOTE, "sent within the chip; its FIFO does not tell what came (%02x)",
                     got[FIFO_COUNT]);
        return;
    }
    for (unsigned i = 0; i < DP8390_FCS; i++) {
        same = same && got[FIFO_FCS + i] == (uint8_t)(crc >> 8 * i);
    }
    if (got[0] == frame[LOOP_DATA - 1] && same) {
        selftest_say(SELFTEST_GOOD, "within the chip: %u bytes and their CRC came back", LOOP_DATA);
    } else {
        selftest_say(SELFTEST_BAD, "within the chip: came back damaged (%02x %02x%02x%02x%02x)",
                     got[0], got[1], got[2], got[3], got[4]);
    }
}

static bool test_loopback(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);
    uint8_t frame[LOOP_DATA];
    unsigned bytes, isr;

    bench_take(t);
    if (!has_loopback(d)) {
        selftest_say(SELFTEST_NOTE, "not tested: this chip has none (QEMU)");
        return false;
    }
    loop_frame(t->nic, frame);
    bytes = spread(d, frame);
    if (bench_write(d, d->tx_page * (unsigned)DP8390_PAGE, bytes) != 0) {
        selftest_say(SELFTEST_NOTE, "not tested: the card does not take the frame");
        return false;
    }
    dp8390_halt(d);
    dp8390_stop(d);
    isr = go_round(d, bytes);
    if ((isr & ISR_TX) == 0 && (get(d, CR) & CR_TXP) == 0) {
        selftest_say(SELFTEST_NOTE, "not tested: this chip sends nothing in loopback (Bochs)");
    } else if ((isr & ISR_TX) == 0) {
        selftest_say(SELFTEST_BAD, "within the chip: a frame was not sent in %u ms (ISR %02x)",
                     LOOP_WAIT_US / 1000, isr);
        (void)d->board->reset(d); /* nothing less ends it */
    } else if ((isr & ISR_TXE) != 0) {
        selftest_say(SELFTEST_BAD, "within the chip: sending failed (TSR %02x)", get(d, TSR));
    } else {
        judge_fifo(d, frame);
    }
    dp8390_stop(d);
    return false;
}

/* ---- interrupt ---- */

/* What unmasking pulls the line. */
static uint8_t pending;

/* A remote read of no bytes sets RDC at once; a chip without remote DMA sends a frame to itself. */
static void make_pending(struct dp8390 *d)
{
    pending = 0;
    if (!d->no_rdc) {
        put(d, ISR, ISR_RDC);
        put(d, RBCR0, 0);
        put(d, RBCR1, 0);
        put(d, CR, CR_ZERO_READ);
        pending = get(d, ISR) & ISR_RDC;
        put(d, CR, CR_IDLE);
    }
    if (pending == 0) {
        dp8390_halt(d);
        dp8390_stop(d);
        pending =
            (uint8_t)(go_round(d, (d->dcr & DCR_WTS) != 0 ? 2 * LOOP_DATA : LOOP_DATA) & ISR_TX);
    }
}

static void raise_line(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);

    d->imr = pending;
    put(d, IMR, pending);
}

static void quiet_line(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);

    put(d, IMR, 0);
    d->imr = 0;
}

static bool test_interrupt(struct selftest *t)
{
    struct dp8390 *d = dp8390_of(t->nic);

    (void)t->ops->open(t->nic); /* a board may cut the line while it is closed */
    make_pending(d);
    selftest_interrupt(raise_line, quiet_line);
    t->ops->close(t->nic);
    return false;
}

const struct selftest_step dp8390_selftest[] = {
    {"registers", test_registers}, {"cycles", bench_cycles},
    {"PROM", test_prom},           {"RAM", bench_ram},
    {"loopback", test_loopback},   {"interrupt", test_interrupt},
    {"speed", bench_speed},        {NULL, NULL},
};
