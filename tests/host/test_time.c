/*
 * kernel/time.c, unchanged, on a simulated 8254 that is strict about its protocol: a count is read
 * only after a latch, low half first, with interrupts disabled and nothing else in between.
 *
 * Every access costs a microsecond of the ISA bus; a cycle counter runs beside it at 33 MHz.
 */
#include <check.h>
#include <stdarg.h>
#include <stdlib.h>

#include "kernel/timebase.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"
#include "tests/host/run_suite.h"

enum {
    PORT_COUNTER_0 = 0x40,
    PORT_CONTROL = 0x43,
    PORT_SYSTEM = 0x61,
    GATE = 1,
    SPEAKER = 2,
    PARITY_BITS = 0x0C,
    COUNTS_PER_ACCESS = 1, /* 0.84 us */
    CYCLES_PER_COUNT = 28, /* 33.4 MHz */
    MODE_RATE = 2,
    MODE_SQUARE = 3,
    HICCUP_COUNTS = 23864, /* 20 ms */
    LOW_THEN_HIGH = 3,
};

struct counter {
    bool dead; /* never counts                            */
    unsigned mode;
    unsigned reload; /* 1 to 65536; 0: not programmed           */
    uint64_t loaded; /* time when it was                        */
    unsigned writes; /* halves of the reload value written      */
    uint16_t latch;
    unsigned to_read; /* halves of the latch still to be read    */
};

static struct counter counters[3];
static uint64_t now; /* in counts, never wraps          */
static uint64_t cycles;
static unsigned cycles_per_count = CYCLES_PER_COUNT;
static uint8_t system_latch;
static bool interrupts = true;
static irq_handler tick_handler;
static unsigned warnings;
static unsigned hiccups; /* readings that still take 20 ms  */
static bool recovering;  /* the 8254, from its last access   */

struct cpu_info cpu;

/* ck_assert() writes to a pipe even when it holds: too slow for what runs a million times. */
#define REQUIRE(condition, what)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg("%s: %s", what, #condition);                                              \
        }                                                                                          \
    } while (0)

/* ---- the machine ---- */

static void pass(uint64_t counts)
{
    now += counts;
    cycles += counts * cycles_per_count;
}

static uint16_t value(const struct counter *c)
{
    bool gated = c == &counters[2] && (system_latch & GATE) == 0;
    uint64_t counts = c->dead || gated ? 0 : (now - c->loaded) % c->reload;
    return (uint16_t)(c->reload - counts);
}

static void control(uint8_t word)
{
    struct counter *c = &counters[word >> 6];
    REQUIRE(word >> 6 < 3, "read-back is not on an 8253");
    if ((word >> 4 & 3) == 0) {
        REQUIRE(!interrupts, "latched");
        if (hiccups > 0) {
            hiccups--;
            pass(HICCUP_COUNTS);
        }
        REQUIRE(c->to_read == 0, "latched again");
        c->latch = value(c);
        c->to_read = 2;
        return;
    }
    REQUIRE((word >> 4 & 3) == LOW_THEN_HIGH, "access mode");
    REQUIRE((word & 1) == 0, "BCD");
    c->mode = word >> 1 & 7;
    c->writes = 0;
    c->reload = 0;
}

static void write_counter(struct counter *c, uint8_t half)
{
    REQUIRE(c->writes < 2, "third half of a count");
    c->reload |= (unsigned)half << 8 * c->writes++;
    if (c->writes == 2) {
        c->reload = c->reload == 0 ? 65536 : c->reload;
        c->loaded = now;
    }
}

void sim_bus_settle(void)
{
    recovering = false;
}

uint32_t sim_bus_in(unsigned port, unsigned width)
{
    REQUIRE(width == 8, "8254 access");
    pass(COUNTS_PER_ACCESS);
    if (port == PORT_SYSTEM) {
        recovering = false;                   /* that took longer */
        return system_latch | (now & 1) << 4; /* bit 4: refresh, toggles */
    }
    REQUIRE(port >= PORT_COUNTER_0 && port < PORT_CONTROL, "foreign port");
    struct counter *c = &counters[port - PORT_COUNTER_0];
    REQUIRE(!recovering, "read too soon for an old chip");
    recovering = true;
    REQUIRE(c->to_read != 0, "read without a latch");
    REQUIRE(!interrupts, "read");
    return c->to_read-- == 2 ? c->latch & 0xFF : c->latch >> 8;
}

void sim_bus_out(unsigned port, uint32_t byte, unsigned width)
{
    REQUIRE(width == 8, "8254 access");
    pass(COUNTS_PER_ACCESS);
    if (port == PORT_CONTROL) { /* a call away from the last access */
        recovering = true;
        control((uint8_t)byte);
    } else if (port == PORT_SYSTEM) {
        system_latch = (uint8_t)byte;
    } else {
        REQUIRE(port >= PORT_COUNTER_0 && port < PORT_CONTROL, "foreign port");
        REQUIRE(!recovering, "written too soon for an old chip");
        recovering = true;
        write_counter(&counters[port - PORT_COUNTER_0], (uint8_t)byte);
    }
}

bool cpu_irq_save(void)
{
    bool before = interrupts;
    interrupts = false;
    return before;
}

void cpu_irq_restore(bool enabled)
{
    interrupts = interrupts || enabled;
}

uint64_t cpu_tsc(void)
{
    REQUIRE(cpu.has_tsc, "rdtsc");
    return cycles;
}

int irq_attach(int line, irq_handler handler, void *arg)
{
    ck_assert_int_eq(line, 0);
    ck_assert_ptr_null(arg);
    tick_handler = handler;
    return OK;
}

void kprintf_colour(enum colour colour, const char *fmt, ...)
{
    (void)fmt;
    ck_assert_int_eq(colour, COLOUR_WARN);
    warnings++;
}

static void boot(bool has_tsc)
{
    system_latch = SPEAKER | PARITY_BITS; /* a BIOS that left the speaker on */
    interrupts = false;
    time_init();
    cpu.has_tsc = has_tsc;
    if (has_tsc) {
        time_calibrate();
    }
    time_start_tick();
    interrupts = true;
}

/* Time since counter `n` was loaded. */
static uint64_t true_us(unsigned n)
{
    return (now - counters[n].loaded) * CLOCK_US_NUM / CLOCK_US_DEN;
}

static void check_right(unsigned n)
{
    uint64_t before = true_us(n);
    uint64_t us = time_us();
    REQUIRE(before <= us + 50, "slow"); /* t = 0 is some accesses after the load */
    REQUIRE(us <= true_us(n), "fast");
}

/* ---- tests ---- */

START_TEST(programs_counter_2_and_silences_the_speaker)
{
    boot(false);
    ck_assert_uint_eq(counters[2].mode, MODE_RATE);
    ck_assert_uint_eq(counters[2].reload, 65536);
    ck_assert_uint_eq(system_latch, GATE | PARITY_BITS);
    ck_assert(time_may_halt());
    ck_assert_uint_eq(warnings, 0);
}
END_TEST

START_TEST(tick_has_the_rate_asked_for)
{
    boot(false);
    ck_assert_uint_eq(counters[0].mode, MODE_RATE);
    ck_assert_uint_eq(counters[0].reload, 1193182 / TICK_HZ);
    ck_assert_ptr_nonnull(tick_handler);
    interrupts = false; /* as in an interrupt */
    ck_assert(tick_handler(NULL));
}
END_TEST

/* 18.2 ticks a second for the BIOS; the clock still runs. */
START_TEST(leaves_the_tick_to_the_bios)
{
    boot(false);
    time_leave();
    ck_assert_uint_eq(counters[0].mode, MODE_SQUARE);
    ck_assert_uint_eq(counters[0].reload, 65536);
    pass(30000);
    check_right(2);
}
END_TEST

START_TEST(an_hour_without_drift)
{
    boot(_i != 0);
    uint64_t last = 0;
    srandom(3);
    while (true_us(2) < 3600000000u) {
        pass((unsigned)random() % 60000);
        uint64_t us = time_us();
        REQUIRE(us >= last, "jumped back");
        last = us;
    }
    check_right(2);
    ck_assert_uint_eq(time_ms(), (uint32_t)(time_us() / 1000));
    ck_assert_uint_eq(time_holes(), 0);
}
END_TEST

START_TEST(reading_leaves_interrupts_as_they_were)
{
    boot(false);
    interrupts = true;
    time_us();
    ck_assert(interrupts);
    interrupts = false;
    time_us();
    ck_assert(!interrupts);
}
END_TEST

START_TEST(holes_are_repaired)
{
    boot(true);
    ck_assert_uint_eq(warnings, 0);
    for (unsigned i = 1; i <= 20; i++) {
        pass(i * 100000);
        check_right(2);
    }
    ck_assert_uint_eq(time_holes(), 20);
}
END_TEST

START_TEST(a_changed_cycle_rate_changes_nothing)
{
    boot(true);
    cycles_per_count = CYCLES_PER_COUNT * 3 / 2; /* someone pressed the turbo switch */
    for (unsigned i = 0; i < 1000; i++) {
        pass(1193182 / TICK_HZ);
        check_right(2);
    }
    ck_assert_uint_eq(time_holes(), 0);
}
END_TEST

START_TEST(learns_the_cpu_clock)
{
    boot(true);
    ck_assert_uint_eq(time_cpu_mhz(), 33);
    ck_assert_uint_le(time_crosscheck_ppm(), 100);
}
END_TEST

/* Without a cycle counter the time of a loop tells.  Loops take no simulated time, so this
 * processor is infinitely fast; the host is away during the first readings. */
START_TEST(a_busy_host_makes_no_slow_cpu)
{
    boot(false);
    cpu.class = CPU_486;
    interrupts = false;
    hiccups = 2 + (unsigned)_i;
    time_calibrate();
    ck_assert_uint_gt(time_cpu_mhz(), 100000);
}
END_TEST

START_TEST(dead_counter_2_is_replaced)
{
    counters[2].dead = true;
    boot(false);
    ck_assert_uint_eq(counters[0].mode, MODE_RATE);
    ck_assert_uint_eq(counters[0].reload, 65536);
    ck_assert_uint_eq(warnings, 1);
    ck_assert(!time_may_halt());
    for (unsigned i = 0; i < 1000; i++) {
        pass(50000);
        check_right(0);
    }
    ck_assert(time_works());
}
END_TEST

START_TEST(both_dead_still_returns)
{
    counters[0].dead = counters[2].dead = true;
    boot(false);
    ck_assert_uint_eq(time_us(), 0);
    ck_assert(!time_works());
}
END_TEST

START_TEST(waits_are_at_least_as_long_as_asked)
{
    boot(false);
    for (unsigned us = 0; us < 3000; us = us * 2 + 1) {
        pass(us * 7 % 13);
        uint64_t from = now;
        delay_us(us);
        ck_assert_uint_ge((now - from) * CLOCK_US_NUM, (uint64_t)us * CLOCK_US_DEN);
    }
}
END_TEST

START_TEST(deadline_expires_once_and_for_all)
{
    boot(false);
    struct deadline d = deadline_us(1000);
    ck_assert(!expired(&d));
    pass(1100);
    ck_assert(!expired(&d)); /* 1100 counts are 922 us */
    pass(200);
    ck_assert(expired(&d));
    pass(50000);
    ck_assert(expired(&d));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("time");
    TCase *tests = tcase_create("time");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, programs_counter_2_and_silences_the_speaker);
    tcase_add_test(tests, tick_has_the_rate_asked_for);
    tcase_add_test(tests, leaves_the_tick_to_the_bios);
    tcase_add_loop_test(tests, an_hour_without_drift, 0, 2);
    tcase_add_test(tests, reading_leaves_interrupts_as_they_were);
    tcase_add_test(tests, holes_are_repaired);
    tcase_add_test(tests, a_changed_cycle_rate_changes_nothing);
    tcase_add_test(tests, learns_the_cpu_clock);
    tcase_add_loop_test(tests, a_busy_host_makes_no_slow_cpu, 0, 3);
    tcase_add_test(tests, dead_counter_2_is_replaced);
    tcase_add_test(tests, both_dead_still_returns);
    tcase_add_test(tests, waits_are_at_least_as_long_as_asked);
    tcase_add_test(tests, deadline_expires_once_and_for_all);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
