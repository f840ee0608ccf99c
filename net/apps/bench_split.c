/*
 * Where the time of a packet goes, on real traffic: samples of the processor (kernel/profile.h) in
 * slices of a quarter second, each divided by the packets that passed in it.
 *
 * Interrupt handlers run with interrupts disabled and so are never sampled; what they take lies in
 * the idle time that they ended, and is taken from there: interrupts counted, times what one was
 * measured to cost.
 */
#include <stddef.h>

#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/irq.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/profile.h"
#include "kernel/string.h"
#include "net/apps/bench.h"
#include "net/clock.h"

enum {
    SLICE_US = 250000,
    SLICES = 20,
    TENTHS_US = 10000,
    PERMILLE = 1000,
};

/* What had passed at a moment. */
struct state {
    uint64_t us;
    uint32_t rx, tx, irqs;
    uint32_t samples[PROFILE_LAYERS];
};

static struct {
    struct state before, first;
    uint64_t next_us;
    uint32_t irq_cost; /* tenths of a nanosecond */
    unsigned slices;   /* in which packets passed */
    uint32_t each[PROFILE_LAYERS][SLICES];
    uint64_t spent[PROFILE_LAYERS]; /* tenths of a nanosecond, all slices */
} split;

static struct state look(void)
{
    struct state s = {.us = clock_us()};

    for (unsigned i = 0; i < nic_count; i++) {
        s.rx += (uint32_t)nics[i].stats.rx_frames;
        s.tx += (uint32_t)nics[i].stats.tx_frames;
    }
    for (int line = 0; line < IRQ_LINES; line++) {
        s.irqs += irq_count(line);
    }
    profile_counts(s.samples);
    return s;
}

/* Packets of the busier direction: an acknowledgement belongs to what it acknowledges. */
static uint32_t packets_between(const struct state *a, const struct state *b)
{
    uint32_t rx = b->rx - a->rx, tx = b->tx - a->tx;

    return rx > tx ? rx : tx;
}

/* Tenths of a nanosecond spent in each layer between two looks. */
static void spent_between(const struct state *a, const struct state *b,
                          uint64_t spent[PROFILE_LAYERS])
{
    uint64_t whole = (b->us - a->us) * TENTHS_US;
    uint64_t irqs = (uint64_t)(b->irqs - a->irqs) * split.irq_cost;
    uint32_t samples = 0;

    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        samples += b->samples[i] - a->samples[i];
    }
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        spent[i] = samples == 0 ? 0 : muldiv64(whole, b->samples[i] - a->samples[i], samples);
    }
    irqs = irqs < spent[PROFILE_IDLE] ? irqs : spent[PROFILE_IDLE];
    spent[PROFILE_IDLE] -= irqs;
    spent[PROFILE_INTERRUPT] += irqs;
}

static void end_slice(void)
{
    struct state now = look();
    uint32_t packets = packets_between(&split.before, &now);
    uint64_t spent[PROFILE_LAYERS];

    spent_between(&split.before, &now, spent);
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        split.spent[i] += spent[i];
        if (packets != 0) {
            split.each[i][split.slices] = (uint32_t)div64(spent[i], packets, NULL);
        }
    }
    split.slices += packets != 0;
    split.before = now;
}

static void report(void)
{
    uint64_t whole = 0;

    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        whole += split.spent[i];
    }
    while (whole > UINT32_MAX) { /* only shares matter from here on */
        whole >>= 1;
        for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
            split.spent[i] >>= 1;
        }
    }
    kprintf("%u packets in, %u out, %u interrupts\n", split.before.rx - split.first.rx,
            split.before.tx - split.first.tx, split.before.irqs - split.first.irqs);
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        char name[24];
        int share = whole == 0 ? 0 : (int)muldiv64(split.spent[i], PERMILLE, (uint32_t)whole);

        format(name, sizeof(name), "split.%s", profile_layer_name((enum profile_layer)i));
        bench_report(name, BENCH_NO_CARD, "ns/packet", split.each[i], split.slices, share);
    }
}

const char *bench_split_start(void)
{
    memset(&split, 0, sizeof(split));
    split.irq_cost = bench_interrupt_cost();
    if (!profile_start()) {
        return "the real-time clock gives no interrupts here";
    }
    kprintf("split: for %u s; let packets come meanwhile\n", SLICES * SLICE_US / 1000000);
    split.before = split.first = look();
    split.next_us = split.before.us + SLICE_US;
    return NULL;
}

bool bench_split_turn(void)
{
    if (!clock_due(&split.next_us, SLICE_US)) {
        return false;
    }
    end_slice();
    if (split.before.us - split.first.us < (uint64_t)(SLICES - 1) * SLICE_US + SLICE_US / 2) {
        return false;
    }
    bench_split_stop();
    return true;
}

void bench_split_stop(void)
{
    profile_stop();
    report();
}
