/*
 * Measuring and telling: what all benches share.
 */
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/samples.h"
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
    struct samples_summary sum;

    samples_sort(values, n);
    sum = (struct samples_summary){.n = n,
                                   .min = value_at(values, n, 0),
                                   .p50 = value_at(values, n, 50),
                                   .mean = n == 0 ? 0 : mean_of(values, n),
                                   .p99 = value_at(values, n, 99),
                                   .max = value_at(values, n, 100)};
    show(name, unit, sum.p50, sum.p99, permille);
    samples_begin_record(&sum, name, nic, unit, 1);
    if (permille < 0) {
        record_null("share_pct");
    } else {
        record_fixed("share_pct", (uint64_t)permille, 1);
    }
    record_end();
}
