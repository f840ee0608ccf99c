/*
 * kernel/timebase.c: the extension of a 16-bit down-counter to 64-bit microseconds.
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/timebase.h"
#include "tests/host/run_suite.h"

enum { CYCLES_PER_PERIOD = 5492500 }; /* a CPU of 100 MHz */

/* ck_assert() writes to a pipe even when it holds: too slow for what runs a million times. */
static void check_us(const struct timebase *c, uint64_t expected)
{
    if (c->us != expected) {
        ck_assert_uint_eq(c->us, expected);
    }
}

static uint64_t exact_us(uint64_t counts)
{
    return counts * CLOCK_US_NUM / CLOCK_US_DEN;
}

/* The counter after `counts` counts from 0, where it begins. */
static uint16_t counter(uint64_t counts)
{
    return (uint16_t)-counts;
}

START_TEST(one_period_is_54925_us)
{
    struct timebase c;
    timebase_start(&c, 7);
    timebase_advance(&c, 7 - 65535 + 65536, 0);
    ck_assert_uint_eq(c.us, exact_us(65535));
    timebase_advance(&c, 7, 0);
    ck_assert_uint_eq(c.us, 54925);
}
END_TEST

START_TEST(same_reading_same_time)
{
    struct timebase c;
    timebase_start(&c, 12345);
    timebase_advance(&c, 12345, 0);
    ck_assert_uint_eq(c.us, 0);
    ck_assert_uint_eq(timebase_elapsed(&c, 12345), 0);
    ck_assert_uint_eq(timebase_elapsed(&c, 12344), 1);
    ck_assert_uint_eq(timebase_elapsed(&c, 12346), 65535);
}
END_TEST

START_TEST(every_count_from_every_start)
{
    for (unsigned start = 0; start < CLOCK_PERIOD; start += 257) {
        struct timebase c;
        timebase_start(&c, (uint16_t)start);
        for (unsigned counts = 1; counts < 1000; counts++) {
            timebase_advance(&c, (uint16_t)(start - counts), 0);
            check_us(&c, exact_us(counts));
        }
    }
}
END_TEST

START_TEST(no_drift_however_it_is_cut)
{
    struct timebase c;
    uint64_t counts = 0;
    srandom(2);
    timebase_start(&c, 0);
    for (unsigned i = 0; i < 3000000; i++) { /* some 10 hours */
        counts += (unsigned)random() % CLOCK_PERIOD >> random() % 12;
        timebase_advance(&c, counter(counts), 0);
        check_us(&c, exact_us(counts));
    }
    ck_assert_uint_gt(c.us, (uint64_t)UINT32_MAX);
}
END_TEST

START_TEST(missed_periods_are_exact_too)
{
    struct timebase c;
    timebase_start(&c, 0);
    uint64_t counts = 0;
    for (uint32_t periods = 1; periods < 100000; periods += 997) {
        counts += 40000 + (uint64_t)periods * CLOCK_PERIOD;
        timebase_advance(&c, counter(counts), periods);
        check_us(&c, exact_us(counts));
    }
}
END_TEST

/* Cycles in `counts` counts on the test's CPU, running `ppm` fast. */
static uint64_t cycles(uint64_t counts, int ppm)
{
    return (uint64_t)((double)counts * CYCLES_PER_PERIOD / CLOCK_PERIOD * (1 + ppm * 1e-6));
}

START_TEST(holes_are_found)
{
    for (unsigned elapsed = 0; elapsed < CLOCK_PERIOD; elapsed += 331) {
        for (uint32_t periods = 0; periods < 500; periods += 1 + periods / 4) {
            uint64_t counts = elapsed + (uint64_t)periods * CLOCK_PERIOD;
            for (int ppm = -150; ppm <= 150; ppm += 150) {
                uint32_t missed = timebase_missed(elapsed, cycles(counts, ppm), CYCLES_PER_PERIOD);
                if (missed != periods) {
                    ck_assert_uint_eq(missed, periods);
                }
            }
        }
    }
}
END_TEST

START_TEST(a_liar_is_not_believed)
{
    uint64_t half = CYCLES_PER_PERIOD / 2;
    ck_assert_uint_eq(timebase_missed(0, half, CYCLES_PER_PERIOD), 0);
    ck_assert_uint_eq(timebase_missed(0, 3 * half, CYCLES_PER_PERIOD), 0);
    ck_assert_uint_eq(timebase_missed(0, 7 * half, CYCLES_PER_PERIOD), 0);
    ck_assert_uint_eq(timebase_missed(CLOCK_PERIOD - 1, CYCLES_PER_PERIOD, CYCLES_PER_PERIOD), 0);
    ck_assert_uint_eq(timebase_missed(100, (uint64_t)-5, CYCLES_PER_PERIOD), 0); /* ran backwards */
    ck_assert_uint_eq(timebase_missed(0, UINT64_MAX / 2, CYCLES_PER_PERIOD), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timebase");
    TCase *tests = tcase_create("timebase");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, one_period_is_54925_us);
    tcase_add_test(tests, same_reading_same_time);
    tcase_add_test(tests, every_count_from_every_start);
    tcase_add_test(tests, no_drift_however_it_is_cut);
    tcase_add_test(tests, missed_periods_are_exact_too);
    tcase_add_test(tests, holes_are_found);
    tcase_add_test(tests, a_liar_is_not_believed);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
