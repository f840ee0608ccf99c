/*
 * The clock on the metal; its arithmetic is in timebase.c.
 *
 * Every reading is one latch of the counter, and where there is a cycle counter one look at that:
 * when the two disagree by whole counter periods, the machine (or the emulator's host) slept
 * through them.
 */
#include "kernel/time.h"

#include <stddef.h>

#include "kernel/timebase.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/math64.h"
#include "kernel/pit_regs.h"

enum {
    CLOCK_MHZ_NUM = CLOCK_US_DEN,
    CLOCK_MHZ_DEN = CLOCK_US_NUM,
    TICK_COUNTS = 1193182 / TICK_HZ,
    LOOKS = 1000, /* at a counter, before it counts as dead: over 0.5 ms on any bus */
    READ_TRIES = 4,
    CHECK_US = 10000,    /* time_calibrate() compares two spans of this length             */
    TRUSTED_PPM = 20000, /* a cycle counter that differs more between them is not used     */
    PROBE_US = 5000,     /* length wanted of the timed loop                                */
    PROBE_TRIES = 4,
    PROBE_LOOPS_MAX = 1 << 26,
    TICK_LINE = 0,
};

_Static_assert(1193182 / TICK_HZ > 0 && 1193182 / TICK_HZ < 65536, "TICK_HZ is out of range");

static struct timebase base;
static bool dead;              /* neither counter counts: no wait would ever end */
static unsigned clock_counter; /* of the 8254: 2, or 0 where 2 does not count */

static uint32_t cycles_per_period; /* of the counter; 0: no cycle counter to trust */
static uint64_t cycles_seen;
static unsigned holes;
static unsigned crosscheck_ppm;
static unsigned mhz;

/* ---- the 8254 ---- */

/* Old chips want some time between accesses; one read on the ISA bus is about a microsecond. */
static void settle(void)
{
    (void)io_in8(system_port, 0);
}

static void counter_program(unsigned counter, unsigned mode, unsigned reload)
{
    io_out8(pit, PIT_CONTROL,
            (uint8_t)(PIT_SELECT(counter) | PIT_LOW_THEN_HIGH | mode | PIT_BINARY));
    settle();
    io_out8(pit, counter, (uint8_t)reload);
    settle();
    io_out8(pit, counter, (uint8_t)(reload >> 8));
    settle();
}

/* Interrupts disabled: latch and reads belong together. */
static uint16_t counter_read(unsigned counter)
{
    io_out8(pit, PIT_CONTROL, (uint8_t)(PIT_SELECT(counter) | PIT_LATCH));
    io_settle();
    unsigned low = io_in8(pit, counter);
    io_settle();
    return (uint16_t)(low | (unsigned)io_in8(pit, counter) << 8);
}

static bool counter_runs(unsigned counter)
{
    uint16_t first = counter_read(counter);
    for (unsigned i = 0; i < LOOKS; i++) {
        settle();
        if (counter_read(counter) != first) {
            return true;
        }
    }
    return false;
}

__attribute__((cold)) void time_init(void)
{
    uint8_t port = io_in8(system_port, 0) & SYSTEM_WRITABLE & (uint8_t)~SYSTEM_SPEAKER;
    io_out8(system_port, 0, port | SYSTEM_GATE_2);
    clock_counter = PIT_COUNTER_2;
    counter_program(PIT_COUNTER_2, PIT_RATE, PIT_RELOAD_65536);
    if (!counter_runs(PIT_COUNTER_2)) {
        clock_counter = PIT_COUNTER_0;
        counter_program(PIT_COUNTER_0, PIT_RATE, PIT_RELOAD_65536);
        dead = !counter_runs(PIT_COUNTER_0);
    }
    timebase_start(&base, counter_read(clock_counter));
}

void time_leave(void)
{
    counter_program(PIT_COUNTER_0, PIT_SQUARE, PIT_RELOAD_65536);
}

__attribute__((cold)) bool time_works(void)
{
    return !dead;
}

bool time_may_halt(void)
{
    return clock_counter == PIT_COUNTER_2;
}

/* ---- reading ---- */

/*
 * Counter and cycle counter at one moment: a host that goes to sleep between the two reads would
 * look like a hole, so the reads are repeated until they are close together.
 */
static uint16_t read_both(uint64_t *cycles)
{
    uint16_t count;
    uint64_t before, after = cpu_tsc();
    unsigned tries = READ_TRIES;
    do {
        before = after;
        count = counter_read(clock_counter);
        after = cpu_tsc();
    } while (--tries != 0 && after - before > cycles_per_period / 32);
    *cycles = after;
    return count;
}

static void advance(void)
{
    if (cycles_per_period == 0) {
        timebase_advance(&base, counter_read(clock_counter), 0);
        return;
    }
    uint64_t cycles;
    uint16_t count = read_both(&cycles);
    uint32_t missed =
        timebase_missed(timebase_elapsed(&base, count), cycles - cycles_seen, cycles_per_period);
    cycles_seen = cycles;
    holes += missed != 0;
    timebase_advance(&base, count, missed);
}

uint64_t time_us(void)
{
    bool enabled = cpu_irq_save();
    advance();
    uint64_t us = base.us;
    cpu_irq_restore(enabled);
    return us;
}

/* The tick may advance the clock between the two halves: then both are read again. */
uint64_t time_recent_us(void)
{
    typedef volatile uint32_t __attribute__((may_alias)) half;
    const half *us = (const half *)&base.us;
    uint32_t low, high;

    do {
        high = us[1];
        low = us[0];
    } while (us[1] != high);
    return (uint64_t)high << 32 | low;
}

uint32_t time_counts_unread(void)
{
    return timebase_elapsed(&base, counter_read(clock_counter));
}

uint32_t time_ms(void)
{
    return (uint32_t)div64(time_us(), 1000, NULL);
}

unsigned time_holes(void)
{
    return holes;
}

struct deadline deadline_us(uint32_t from_now)
{
    return (struct deadline){time_us() + from_now};
}

struct deadline deadline_coarse_us(uint32_t from_now)
{
    return (struct deadline){time_recent_us() + from_now};
}

bool expired(const struct deadline *d)
{
    return time_us() >= d->at_us;
}

void delay_us(uint32_t us)
{
    struct deadline end = deadline_us(us + 1); /* the current microsecond has begun already */
    while (!expired(&end)) {
    }
}

/* ---- the tick ---- */

/* Wakes the main loop, and reads the counter often enough that no period is missed. */
static bool tick(void *arg)
{
    (void)arg;
    advance();
    return true;
}

void time_start_tick(void)
{
    if (time_may_halt()) {
        counter_program(PIT_COUNTER_0, PIT_RATE, TICK_COUNTS);
    } else {
        kprintf_colour(COLOUR_WARN,
                       "clock: 8254 counter 2 does not count: using counter 0, never halting\n");
    }
    irq_attach(TICK_LINE, tick, NULL);
}

/* ---- the CPU's clock ---- */

/* Cycles in one counter period, seen over some 10 ms; the counts come back in *counts. */
static uint64_t measure_cycles(uint64_t *cycles, uint32_t *counts)
{
    uint64_t began, now;
    uint16_t from = read_both(&began);
    uint16_t to;
    do {
        to = read_both(&now);
        *counts = (uint16_t)(from - to);
    } while (*counts < CHECK_US * CLOCK_MHZ_NUM / CLOCK_MHZ_DEN);
    *cycles = now - began;
    return div64(*cycles * CLOCK_PERIOD, *counts, NULL);
}

static void calibrate_cycles(void)
{
    uint64_t cycles;
    uint32_t counts;
    uint64_t first = measure_cycles(&cycles, &counts);
    uint64_t second = measure_cycles(&cycles, &counts);
    mhz = (unsigned)div64(cycles * CLOCK_MHZ_NUM + counts * CLOCK_MHZ_DEN / 2,
                          counts * CLOCK_MHZ_DEN, NULL);
    if (first == 0 || first > UINT32_MAX || second > UINT32_MAX) {
        kprintf_colour(COLOUR_WARN, "clock: the cycle counter is not usable\n");
        return;
    }
    uint64_t difference = first > second ? first - second : second - first;
    crosscheck_ppm = (unsigned)muldiv64(difference, 1000000, (uint32_t)first);
    if (crosscheck_ppm > TRUSTED_PPM) {
        kprintf_colour(COLOUR_WARN, "clock: cycle counter and 8254 differ by %u ppm: not used\n",
                       crosscheck_ppm);
        return;
    }
    advance();
    cycles_per_period = (uint32_t)((first + second) / 2);
    cycles_seen = cpu_tsc();
}

/* A loop of two register instructions whose cost per class is known. */
static void spin(uint32_t loops)
{
    __asm__ volatile(".p2align 4\n1:\tdecl %0\n\tjnz 1b" : "+r"(loops) : : "cc");
}

/*
 * Cycles of `dec; jnz` taken.  Sources: Intel 80386 (1986) and i486 (1990) Programmer's Reference
 * Manuals, instruction timings: 2 + (7 + 1), 1 + 3; Pentium: the pair runs in one.
 */
static unsigned spin_cycles(void)
{
    return cpu.class == CPU_386 ? 10 : cpu.class == CPU_486 ? 4 : 1;
}

static uint32_t spin_us(uint32_t loops)
{
    uint64_t began = time_us();
    spin(loops);
    return (uint32_t)(time_us() - began);
}

/* Long enough is believed only if it is so again: an emulator's host that is busy elsewhere takes
 * as long for nothing. */
static void calibrate_loop(void)
{
    uint32_t loops = 1024;
    uint32_t us;
    do {
        loops *= 2;
        us = spin_us(loops);
        for (unsigned i = 1; i < PROBE_TRIES && us >= PROBE_US; i++) {
            uint32_t again = spin_us(loops);
            us = again < us ? again : us;
        }
    } while (us < PROBE_US && loops < PROBE_LOOPS_MAX);
    mhz = us == 0 ? 0 : (loops * spin_cycles() + us / 2) / us;
}

__attribute__((cold)) void time_calibrate(void)
{
    bool enabled = cpu_irq_save(); /* an interrupt inside would be measured too */
    if (cpu.has_tsc) {
        calibrate_cycles();
    } else {
        calibrate_loop();
    }
    cpu_irq_restore(enabled);
}

unsigned time_cpu_mhz(void)
{
    return mhz;
}

unsigned time_crosscheck_ppm(void)
{
    return crosscheck_ppm;
}
