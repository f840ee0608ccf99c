/*
 * kernel/math64.c against the compiler's own 64- and 128-bit arithmetic.
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/math64.h"
#include "tests/host/run_suite.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t values[] = {
    0,
    1,
    2,
    104,
    105,
    65535,
    65536,
    UINT32_MAX - 1ull,
    UINT32_MAX,
    UINT32_MAX + 1ull,
    (uint64_t)UINT32_MAX << 32,
    0x123456789ABCDEFull,
    INT64_MAX,
    UINT64_MAX - 1,
    UINT64_MAX,
};
static const uint32_t divisors[] = {1, 2, 3, 88, 105, 1000, 65536, 0x80000000u, UINT32_MAX};

enum { VALUES = sizeof values / sizeof values[0], DIVISORS = sizeof divisors / sizeof divisors[0] };

/* ck_assert() writes to a pipe even when it holds: too slow for what runs a million times. */
static void check_eq(uint64_t got, uint64_t expected)
{
    if (got != expected) {
        ck_assert_uint_eq(got, expected);
    }
}

static void check_div(uint64_t value, uint32_t by)
{
    uint32_t rest;
    check_eq(div64(value, by, &rest), value / by);
    check_eq(rest, value % by);
    check_eq(div64(value, by, NULL), value / by);
}

static void check_muldiv(uint64_t value, uint32_t num, uint32_t den)
{
    wide exact = (wide)value * num / den;
    uint64_t expected = exact > UINT64_MAX ? UINT64_MAX : (uint64_t)exact;
    check_eq(muldiv64(value, num, den), expected);
}

START_TEST(edges)
{
    for (unsigned v = 0; v < VALUES; v++) {
        for (unsigned d = 0; d < DIVISORS; d++) {
            check_div(values[v], divisors[d]);
            for (unsigned m = 0; m < DIVISORS; m++) {
                check_muldiv(values[v], divisors[m], divisors[d]);
            }
            check_muldiv(values[v], 0, divisors[d]);
        }
    }
}
END_TEST

static uint64_t random64(void)
{
    uint64_t value = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
    return value >> random() % 64;
}

START_TEST(random_numbers)
{
    srandom(1);
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t by = (uint32_t)random64() | 1;
        check_div(random64(), by);
        check_muldiv(random64(), (uint32_t)random64(), by);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("math64");
    TCase *tests = tcase_create("math64");
    tcase_add_test(tests, edges);
    tcase_add_test(tests, random_numbers);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
