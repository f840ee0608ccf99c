/*
 * Measuring and telling: what all benches share.
 */
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/time.h"
#include "net/apps/bench.h"

enum {
    TENTHS_US = 10000,    /* tenths of a nanosecond in a microsecond */
    LONG_ENOUGH_US = 400, /* of repetitions: then a microsecond of the clock is 0.25 % */
    REPEAT_MAX = 1 << 12,
};

uint64_t bench_now(void)
{
    return cpu.has_tsc ? cpu_tsc() : time_us();
}

uint32_t bench_between(uint64_t from, uint64_t to)
{
    uint64_t passed = to - from;
    uint64_t tenths =
        cpu.has_tsc ? muldiv64(passed, TENTHS_US, time_cpu_mhz()) : passed * TENTHS_US;

    return tenths > UINT32_MAX ? UINT32_MAX : (uint32_t)tenths;
}

uint32_t bench_repeated(void (*step)(void))
{
    uint32_t took = 0;
    unsigned n = 1;

    for (;; n *= 2) {
        uint64_t began = bench_now();

        for (unsigned i = 0; i < n; i++) {
            step();
        }
        took = bench_between(began, bench_now());
        if (took >= LONG_ENOUGH_US * TENTHS_US || n >= REPEAT_MAX) {
            return took / n;
        }
    }
}

/* Shell sort: some dozens of values, no recursion. */
static void sort(uint32_t *values, unsigned n)
{
    for (unsigned gap = n / 2; gap != 0; gap /= 2) {
        for (unsigned i = gap; i < n; i++) {
            uint32_t value = values[i];
            unsigned at = i;

            for (; at >= gap && values[at - gap] > value; at -= gap) {
                values[at] = values[at - gap];
            }
            values[at] = value;
        }
    }
}

static uint32_t mean_of(const uint32_t *values, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++) {
        sum += values[i];
    }
    return (uint32_t)div64(sum, n, NULL);
}

/* The value that `percent` of the sorted ones do not exceed; 0 of none. */
static uint32_t value_at(const uint32_t *values, unsigned n, unsigned percent)
{
    return n == 0 ? 0 : values[(n - 1) * percent / 100];
}

/* One line for people; cycles where the machine's clock is known. */
static void show(const char *name, const char *unit, uint32_t p50, uint32_t p99, int permille)
{
    char middle[24], late[24];

    kprintf("%-16s %12s %-9s", name, format_fixed(middle, p50, 1), unit);
    if (permille >= 0) {
        kprintf(" %3d.%d %%", permille / 10, permille % 10);
    } else {
        kprintf(" 99 %%: %s", format_fixed(late, p99, 1));
    }
    kprintf("  %u cycles\n", (uint32_t)div64((uint64_t)p50 * time_cpu_mhz(), TENTHS_US, NULL));
}

void bench_report(const char *name, int nic, const char *unit, uint32_t *values, unsigned n,
                  int permille)
{
    uint32_t p50, p99;

    sort(values, n);
    p50 = value_at(values, n, 50);
    p99 = value_at(values, n, 99);
    show(name, unit, p50, p99, permille);
    record_begin("bench");
    record_str("name", name);
    if (nic < 0) {
        record_null("nic");
    } else {
        record_int("nic", nic);
    }
    record_str("unit", unit);
    record_int("n", n);
    record_fixed("min", value_at(values, n, 0), 1);
    record_fixed("p50", p50, 1);
    record_fixed("mean", n == 0 ? 0 : mean_of(values, n), 1);
    record_fixed("p99", p99, 1);
    record_fixed("max", value_at(values, n, 100), 1);
    if (permille < 0) {
        record_null("share_pct");
    } else {
        record_fixed("share_pct", (uint64_t)permille, 1);
    }
    record_end();
}
