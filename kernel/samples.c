/*
 * Order statistics of a few measurements.
 */
#include "kernel/samples.h"

#include <stddef.h>

#include "kernel/math64.h"
#include "kernel/record.h"

void samples_add(struct samples *s, uint32_t value)
{
    if (s->n < SAMPLES_MAX) {
        s->value[s->n++] = value;
    }
}

/* Shell sort: some dozens of values, no recursion. */
void samples_sort(uint32_t *values, unsigned n)
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

/* Nearest rank. */
static uint32_t ranked(const struct samples *s, unsigned percent)
{
    const unsigned rank = (s->n * percent + 99) / 100;

    return s->value[rank == 0 ? 0 : rank - 1];
}

uint32_t samples_percentile(struct samples *s, unsigned percent)
{
    if (s->n == 0) {
        return 0;
    }
    samples_sort(s->value, s->n);
    return ranked(s, percent);
}

void samples_begin_record(const struct samples_summary *sum, const char *name, int nic,
                          const char *unit, unsigned decimals)
{
    record_begin("bench");
    record_str("name", name);
    if (nic < 0) {
        record_null("nic");
    } else {
        record_int("nic", nic);
    }
    record_str("unit", unit);
    record_int("n", sum->n);
    record_fixed("min", sum->min, decimals);
    record_fixed("p50", sum->p50, decimals);
    record_fixed("mean", sum->mean, decimals);
    record_fixed("p99", sum->p99, decimals);
    record_fixed("max", sum->max, decimals);
}

void samples_record(struct samples *s, const char *name, int nic, const char *unit,
                    unsigned decimals)
{
    uint64_t sum = 0;
    struct samples_summary told;

    if (s->n == 0) {
        return;
    }
    samples_sort(s->value, s->n);
    for (unsigned i = 0; i < s->n; i++) {
        sum += s->value[i];
    }
    told = (struct samples_summary){.n = s->n,
                                    .min = s->value[0],
                                    .p50 = ranked(s, 50),
                                    .mean = (uint32_t)div64(sum + s->n / 2, s->n, NULL),
                                    .p99 = ranked(s, 99),
                                    .max = s->value[s->n - 1]};
    samples_begin_record(&told, name, nic, unit, decimals);
    record_end();
}
