/*
 * Runs the steps of a card's selftest, a part each turn of the main loop, and sums up.
 *
 * The card is taken by exchanging nic->ops: nothing on the way of a frame has to ask whether a card
 * is being tested.  Its interrupt handler stays, and tells us when the interrupt came.
 */
#include "drivers/selftest.h"

#include <stdarg.h>

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/math64.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"
#include "kernel/time.h"

enum {
    IRQ_SAMPLES = 32,
    IRQ_WAIT_US = 20000, /* an emulator on a busy host is late */
    CLOCK_SAMPLES = 8,
    ROWS_MAX = 16,

    TCP_PAYLOAD = 1460,
    RX_FRAME = 1518, /* header of the ring and a full frame                     */
    TX_FRAME = 1514,
    ACK_HALF = 30,     /* a frame of 60 bytes for every second segment            */
    WIRE_FRAME = 1538, /* preamble, FCS and gap included (IEEE 802.3 cl. 4.4.2)   */
    KB = 1024,
    US_PER_S = 1000000,
};

static struct selftest t;
static const struct selftest_step *step;
static struct nic_stats kept; /* what the test counts is no traffic */
static unsigned faults;

/* The verdict so far: for the record, and to name what is faulty. */
static struct row {
    const char *step;
    enum selftest_verdict verdict;
    char words[SELFTEST_WORDS];
} rows[ROWS_MAX];
static unsigned row_count;

static const char *const verdict_words[] = {"good", "note", "BAD"};

/* ---- the card is not there ---- */

static volatile unsigned interrupts;
static volatile uint64_t interrupt_us;

static int away_open(struct nic *nic)
{
    (void)nic;
    return 0;
}

/* Quitting in the middle of a test still leaves the card quiet. */
static void away_close(struct nic *nic)
{
    t.ops->close(nic);
}

static unsigned away_poll(struct nic *nic)
{
    (void)nic;
    return 0;
}

static unsigned away_rx_burst(struct nic *nic, struct frame *out[], unsigned max)
{
    (void)nic;
    (void)out;
    (void)max;
    return 0;
}

static unsigned away_tx_burst(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    (void)nic;
    (void)in;
    (void)n;
    return 0; /* what is queued waits for the card to come back */
}

static void away_service(struct nic *nic, unsigned events)
{
    (void)nic;
    (void)events;
}

/* INTERRUPT CONTEXT. */
static unsigned away_irq_ack(struct nic *nic)
{
    const uint64_t now = time_us();
    const unsigned events = t.ops->irq_ack(nic);

    if (events != 0) {
        interrupt_us = now;
        interrupts++;
    }
    return events;
}

static void away_nothing(struct nic *nic)
{
    (void)nic;
}

static bool away_rearm(struct nic *nic)
{
    (void)nic;
    return true;
}

static void away_unmask(struct nic *nic, unsigned events)
{
    (void)nic;
    (void)events;
}

static void away_set_filter(struct nic *nic, const struct nic_filter *filter)
{
    t.ops->set_filter(nic, filter); /* remembered, and in force when the card is opened again */
}

static bool away_tx_idle(struct nic *nic)
{
    (void)nic;
    return false;
}

static const struct nic_ops away = {
    .open = away_open,
    .close = away_close,
    .poll = away_poll,
    .rx_burst = away_rx_burst,
    .tx_burst = away_tx_burst,
    .service = away_service,
    .irq_ack = away_irq_ack,
    .irq_disarm = away_nothing,
    .irq_rearm = away_rearm,
    .irq_unmask = away_unmask,
    .irq_provoke = away_nothing,
    .set_filter = away_set_filter,
    .tx_reclaim = away_nothing,
    .tx_idle = away_tx_idle,
};

/* ---- what is found ---- */

static void print_row(const struct row *row)
{
    static const enum colour colours[] = {COLOUR_GOOD, COLOUR_WARN, COLOUR_BAD};

    kprintf("  %-10s ", row->step);
    kprintf_colour(colours[row->verdict], "%-4s", verdict_words[row->verdict]);
    kprintf(" %s\n", row->words);
}

static void say(const char *name, enum selftest_verdict verdict, const char *fmt, va_list args)
{
    struct row *row = &rows[row_count < ROWS_MAX ? row_count++ : ROWS_MAX - 1];

    row->step = name;
    row->verdict = verdict;
    vformat(row->words, sizeof(row->words), fmt, args);
    faults += verdict == SELFTEST_BAD;
    print_row(row);
}

void selftest_say(enum selftest_verdict verdict, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(step->name, verdict, fmt, args);
    va_end(args);
}

static void conclude(const char *name, enum selftest_verdict verdict, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(name, verdict, fmt, args);
    va_end(args);
}

uint32_t selftest_kb_s(uint32_t bytes, uint64_t us)
{
    return (uint32_t)muldiv64(bytes, 10 * US_PER_S, (uint32_t)(us == 0 ? 1 : us) * KB);
}

/* ---- interrupt latency ---- */

/* What the two readings of the clock around an interval add to it. */
static uint32_t clock_cost(void)
{
    uint64_t least = UINT32_MAX;

    for (unsigned i = 0; i < CLOCK_SAMPLES; i++) {
        const uint64_t began = time_us();
        const uint64_t took = time_us() - began;

        least = took < least ? took : least;
    }
    return (uint32_t)least;
}

/* Microseconds from the call of raise() to the handler; -1 if none came. */
static int64_t one_latency(void (*raise)(struct nic *), void (*quiet)(struct nic *))
{
    const unsigned before = interrupts;
    const uint64_t began = time_us();
    const struct deadline limit = deadline_us(IRQ_WAIT_US);
    bool came;

    raise(t.nic);
    while (interrupts == before && !expired(&limit)) {
    }
    came = interrupts != before;
    quiet(t.nic);
    return came ? (int64_t)(interrupt_us - began) : -1;
}

void selftest_interrupt(void (*raise)(struct nic *), void (*quiet)(struct nic *))
{
    static struct samples samples;
    const struct nic *nic = t.nic;
    const uint32_t cost = clock_cost();
    char middle[24], worst[24];

    if (nic->irq == IRQ_NONE && options.poll) {
        selftest_say(SELFTEST_NOTE, "not tested: irq=poll was asked for");
        return;
    }
    if (nic->irq == IRQ_NONE) {
        selftest_say(SELFTEST_BAD, "reaches no line of this PC, so the card is polled");
        return;
    }
    samples.n = 0;
    for (unsigned i = 0; i < IRQ_SAMPLES; i++) {
        const int64_t us = one_latency(raise, quiet);

        if (us < 0) {
            selftest_say(SELFTEST_BAD, "none on irq %d within %u ms (try %u of %u)", nic->irq,
                         IRQ_WAIT_US / 1000, i + 1, IRQ_SAMPLES);
            return;
        }
        samples_add(&samples, us > cost ? (uint32_t)(us - cost) * 10 : 0);
    }
    selftest_say(SELFTEST_GOOD, "irq %d, %s us to the handler, at worst %s us", nic->irq,
                 format_fixed(middle, samples_percentile(&samples, 50), 1),
                 format_fixed(worst, samples_percentile(&samples, 100), 1));
    samples_record(&samples, "irq_latency", (int)nic->index, "us", 1);
}

/* ---- what the bus speed means ---- */

/* 1/10 KB/s of TCP if every frame of 1460 bytes payload costs `ns` of something. */
static uint32_t tcp_kb_s(uint64_t ns)
{
    return (uint32_t)div64((uint64_t)TCP_PAYLOAD * 10000000000U / KB + ns / 2, (uint32_t)ns, NULL);
}

/* Nanoseconds that `bytes` take at 1/10 KB/s. */
static uint64_t bus_ns(uint32_t bytes, uint32_t kb_s)
{
    return div64((uint64_t)bytes * 10000000000U / KB, kb_s, NULL);
}

static void mean_way(const char *way, const char *bench, uint64_t ns)
{
    const uint64_t wire_ns = div64((uint64_t)WIRE_FRAME * 8 * US_PER_S, t.nic->link_kbit, NULL);
    const uint32_t by_bus = tcp_kb_s(ns), by_wire = tcp_kb_s(wire_ns);
    struct samples one = {.n = 0};
    char bus[24], wire[24];

    samples_add(&one, by_bus < by_wire ? by_bus : by_wire);
    format_fixed(bus, by_bus, 1);
    format_fixed(wire, by_wire, 1);
    if (by_bus < by_wire) {
        conclude("means", SELFTEST_NOTE, "at most %s KB/s of TCP %s: the %s (wire: %s)", bus, way,
                 t.limit, wire);
    } else {
        conclude("means", SELFTEST_GOOD, "at most %s KB/s of TCP %s: the wire (%s %u %% busy)",
                 wire, way, t.limit, (unsigned)div64(ns * 100, (uint32_t)wire_ns, NULL));
    }
    samples_record(&one, bench, (int)t.nic->index, "KB/s", 1);
}

static void tell_meaning(void)
{
    if (t.in_kb_s == 0 || t.out_kb_s == 0) {
        return;
    }
    t.nic->bus_in_kb_s = t.in_kb_s;
    t.nic->bus_out_kb_s = t.out_kb_s;
    mean_way("in", "bus_tcp_rx", bus_ns(RX_FRAME, t.in_kb_s) + bus_ns(ACK_HALF, t.out_kb_s));
    mean_way("out", "bus_tcp_tx", bus_ns(TX_FRAME, t.out_kb_s) + bus_ns(ACK_HALF, t.in_kb_s));
}

/* ---- the verdict ---- */

/* "RAM, interrupt": each faulty step once. */
static void name_faults(char *to, size_t size)
{
    const char *last = NULL;
    size_t used = 0;

    to[0] = '\0';
    for (unsigned i = 0; i < row_count && used < size; i++) {
        if (rows[i].verdict == SELFTEST_BAD && rows[i].step != last) {
            used += (size_t)format(to + used, size - used, "%s%s", last == NULL ? "" : ", ",
                                   rows[i].step);
            last = rows[i].step;
        }
    }
}

static void record_table(const char *verdict)
{
    record_begin("table");
    record_str("name", "selftest");
    record_int("nic", t.nic->index);
    record_open("columns");
    record_item("step");
    record_item("verdict");
    record_item("words");
    record_close();
    record_open("rows");
    for (unsigned i = 0; i < row_count; i++) {
        record_open(NULL);
        record_item(rows[i].step);
        record_item(verdict_words[rows[i].verdict]);
        record_item(rows[i].words);
        record_close();
    }
    record_close();
    record_str("verdict", verdict);
    record_end();
}

static void tell_verdict(void)
{
    char named[SELFTEST_WORDS], verdict[SELFTEST_WORDS + 32];

    name_faults(named, sizeof(named));
    if (faults == 0) {
        format(verdict, sizeof(verdict), "this card works");
    } else {
        format(verdict, sizeof(verdict), "not to be trusted: %s", named);
    }
    kprintf_colour(faults == 0 ? COLOUR_GOOD : COLOUR_BAD, "card %u: %s\n", t.nic->index, verdict);
    record_table(verdict);
}

/* ---- taking the card, and giving it back ---- */

int selftest_begin(struct nic *nic)
{
    bool enabled;

    if (t.nic != NULL) {
        return E_BUSY;
    }
    if (nic->ops->selftest == NULL) {
        return E_UNSUPPORTED;
    }
    t = (struct selftest){.nic = nic, .ops = nic->ops, .limit = "bus"};
    step = nic->ops->selftest;
    row_count = faults = 0;
    enabled = cpu_irq_save();
    nic->ops->irq_disarm(nic);
    nic->unmasked = 0;
    nic->armed = false;
    nic->ops = &away;
    cpu_irq_restore(enabled);
    kept = nic->stats;
    t.ops->close(nic);
    console_fresh_line();
    kprintf("card %u: %s at 0x%x, %s, %u bit, %M\n", nic->index, nic->driver->name,
            nic->place.io.base, nic->model, nic->width, nic->mac);
    return OK;
}

static void give_back(void)
{
    struct nic *nic = t.nic;
    const int error = t.ops->open(nic);
    bool enabled;

    if (error != OK) {
        conclude("afterwards", SELFTEST_BAD, "the card does not come back (%s)", error_name(error));
    }
    enabled = cpu_irq_save();
    nic->stats = kept;
    nic->pending = 0;
    nic->unmasked = 0;
    nic->silent_wakes = 0;
    nic->ops = t.ops;
    cpu_irq_restore(enabled);
}

bool selftest_turn(void)
{
    if (t.nic == NULL) {
        return false;
    }
    if (step->run(&t)) {
        t.part++;
        return true;
    }
    t.part = 0;
    step++;
    if (step->run != NULL) {
        return true;
    }
    tell_meaning();
    give_back();
    tell_verdict();
    t.nic = NULL;
    return false;
}

void selftest_abort(void)
{
    if (t.nic != NULL) {
        give_back();
        t.nic = NULL;
    }
}

unsigned selftest_faults(void)
{
    return faults;
}
