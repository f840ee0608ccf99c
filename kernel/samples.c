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

/* By insertion: there are few. */
static void sort(struct samples *s)
{
    for (unsigned i = 1; i < s->n; i++) {
        const uint32_t value = s->value[i];
        unsigned at = i;

        for (; at > 0 && s->value[at - 1] > value; at--) {
            s->value[at] = s->value[at - 1];
        }
        s->value[at] = value;
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
    sort(s);
    return ranked(s, percent);
}

void samples_record(struct samples *s, const char *name, int nic, const char *unit,
                    unsigned decimals)
{
    uint64_t sum = 0;

    if (s->n == 0) {
        return;
    }
    sort(s);
    for (unsigned i = 0; i < s->n; i++) {
        sum += s->value[i];
    }
    record_begin("bench");
    record_str("name", name);
    if (nic < 0) {
        record_null("nic");
    } else {
        record_int("nic", nic);
    }
    record_str("unit", unit);
    record_int("n", s->n);
    record_fixed("min", s->value[0], decimals);
    record_fixed("p50", ranked(s, 50), decimals);
    record_fixed("mean", div64(sum + s->n / 2, s->n, NULL), decimals);
    record_fixed("p99", ranked(s, 99), decimals);
    record_fixed("max", s->value[s->n - 1], decimals);
    record_end();
}
