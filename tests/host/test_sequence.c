/*
 * The accounting of numbered datagrams: sequences made by hand, and random ones against a plain
 * list of what was seen.
 */
#include <math.h>
#include <string.h>

#include "net/sequence.h"
#include "tests/host/quick_check.h"
#include "tests/host/run_suite.h"

static struct sequence s;

static void expect(unsigned distinct, unsigned lost, unsigned dup, unsigned ooo)
{
    ck_assert_uint_eq(s.distinct, distinct);
    ck_assert_uint_eq(sequence_lost(&s), lost);
    ck_assert_uint_eq(s.dup, dup);
    ck_assert_uint_eq(s.ooo, ooo);
}

/* ---- by hand ---- */

static const struct {
    unsigned numbers[12]; /* from 1 on; 0 ends */
    unsigned distinct, lost, dup, ooo;
} cases[] = {
    {{0}, 0, 0, 0, 0},
    {{1, 2, 3, 4}, 4, 0, 0, 0},
    {{1, 2, 5, 6}, 4, 2, 0, 0},                       /* a gap                                */
    {{3, 4}, 2, 2, 0, 0},                             /* at the head                          */
    {{1, 2, 3}, 3, 0, 0, 0},                          /* at the tail nobody can tell          */
    {{1, 3, 2, 4}, 4, 0, 0, 1},                       /* swapped                              */
    {{1, 4, 2, 3, 5}, 5, 0, 0, 2},                    /* one too early is two too late        */
    {{5, 4, 3, 2, 1}, 5, 0, 0, 4},                    /* backwards                            */
    {{1, 1, 2, 2, 2}, 2, 0, 3, 0},                    /* twice, and three times               */
    {{1, 3, 2, 2, 3, 4}, 4, 0, 2, 1},                 /* a late one twice                     */
    {{1, 5, 3, 5, 3, 7}, 4, 3, 2, 1},                 /* 2, 4 and 6 are lost                  */
    {{1, 2, 9, 10, 3, 4, 5, 6, 7, 8, 9}, 10, 0, 1, 6} /* a burst overtaken                    */
};

START_TEST(by_hand)
{
    sequence_start(&s, 1);
    for (unsigned i = 0; cases[_i].numbers[i] != 0; i++) {
        sequence_add(&s, cases[_i].numbers[i]);
    }
    expect(cases[_i].distinct, cases[_i].lost, cases[_i].dup, cases[_i].ooo);
}
END_TEST

/* iperf3's omitted seconds: what was sent before, and comes now, is of neither count. */
START_TEST(counting_begins_in_mid_flow)
{
    sequence_start(&s, 1000);
    ck_assert_int_eq(sequence_add(&s, 999), SEQUENCE_BEFORE);
    ck_assert_int_eq(sequence_add(&s, 1001), SEQUENCE_NEXT);
    ck_assert_int_eq(sequence_add(&s, 1000), SEQUENCE_LATE);
    ck_assert_int_eq(sequence_add(&s, 1), SEQUENCE_BEFORE);
    expect(2, 0, 0, 1);
}
END_TEST

START_TEST(numbers_beyond_32_bits)
{
    uint64_t first = UINT32_MAX - 1ull;

    sequence_start(&s, first);
    ck_assert_int_eq(sequence_add(&s, first + 3), SEQUENCE_NEXT);
    ck_assert_int_eq(sequence_add(&s, first + 1), SEQUENCE_LATE);
    ck_assert_int_eq(sequence_add(&s, first + 3), SEQUENCE_TWICE);
    expect(2, 2, 1, 1);
}
END_TEST

/* Of what is older than the window it is not known any more whether it was there: it is late as
 * long as anything is missing. */
START_TEST(older_than_the_window)
{
    sequence_start(&s, 1);
    sequence_add(&s, 2);
    for (unsigned n = 3; n <= 3 + SEQUENCE_WINDOW; n++) {
        sequence_add(&s, n);
    }
    ck_assert_int_eq(sequence_add(&s, 1), SEQUENCE_LATE);
    ck_assert_uint_eq(sequence_lost(&s), 0);
    ck_assert_int_eq(sequence_add(&s, 1), SEQUENCE_TWICE);
    sequence_add(&s, 1000000); /* a gap wider than all that is remembered */
    ck_assert_int_eq(sequence_add(&s, 1000000), SEQUENCE_TWICE);
    ck_assert_int_eq(sequence_add(&s, 1000000 - SEQUENCE_WINDOW + 1), SEQUENCE_LATE);
}
END_TEST

/* ---- at random ---- */

static unsigned chance(void)
{
    static unsigned state = 1;

    state = state * 1664525 + 1013904223; /* Numerical Recipes' generator */
    return state >> 8;
}

/* Up to 300 numbers, each within 100 of the highest: all are remembered. */
START_TEST(any_order)
{
    for (unsigned round = 0; round < 500; round++) {
        bool seen[512] = {false};
        unsigned highest = 0, distinct = 0, dup = 0, ooo = 0;

        sequence_start(&s, 1);
        for (unsigned i = 0; i < 300; i++) {
            unsigned lowest = highest > 100 ? highest - 100 : 0;
            unsigned n = chance() % 4 != 0 ? highest + 1 : lowest + 1 + chance() % 110;

            n = n < 512 ? n : 511;
            dup += seen[n];
            ooo += !seen[n] && n < highest;
            distinct += !seen[n];
            seen[n] = true;
            highest = n > highest ? n : highest;
            sequence_add(&s, n);
        }
        expect(distinct, highest - distinct, dup, ooo);
    }
}
END_TEST

/* ---- jitter ---- */

/* RFC 3550, 6.4.1: J += (|D| - J) / 16, in floating point. */
START_TEST(jitter_is_that_of_the_rfc)
{
    double jitter = 0, before = 0;

    sequence_start(&s, 1);
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t sent = i * 1000ull + 77, transit = 1000000 + chance() % 3000;

        if (i != 0) {
            jitter += (fabs((double)transit - before) - jitter) / 16;
        }
        before = (double)transit;
        sequence_time(&s, sent, sent + transit);
        ck_assert_double_le(fabs(sequence_jitter_us(&s) - jitter), 2);
    }
    ck_assert_double_ge(jitter, 500);
}
END_TEST

/* A transit time that does not change, whatever the difference of the clocks, in either direction.
 */
START_TEST(no_jitter)
{
    for (int64_t ahead = -1000000000; ahead <= 1000000000; ahead += 500000000) {
        sequence_start(&s, 1);
        for (unsigned i = 0; i < 100; i++) {
            sequence_time(&s, 2000000000 + (uint64_t)ahead + i * 10, 2000000000 + i * 10);
        }
        ck_assert_uint_eq(sequence_jitter_us(&s), 0);
    }
}
END_TEST

/* A sender's clock that is set is no jitter. */
START_TEST(a_clock_that_jumps)
{
    sequence_start(&s, 1);
    sequence_time(&s, 0, 1000);
    sequence_time(&s, 3600000000u, 2000);
    sequence_time(&s, 3600001600u, 2000);
    ck_assert_uint_eq(sequence_jitter_us(&s), 100); /* 1600 / 16 */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sequence");
    TCase *numbers = tcase_create("numbers");
    TCase *jitter = tcase_create("jitter");

    tcase_add_loop_test(numbers, by_hand, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(numbers, counting_begins_in_mid_flow);
    tcase_add_test(numbers, numbers_beyond_32_bits);
    tcase_add_test(numbers, older_than_the_window);
    tcase_add_test(numbers, any_order);
    tcase_add_test(jitter, jitter_is_that_of_the_rfc);
    tcase_add_test(jitter, no_jitter);
    tcase_add_test(jitter, a_clock_that_jumps);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, jitter);
    return run_suite(suite);
}
