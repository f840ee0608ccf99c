/*
 * A handful of measurements of the same thing, and the `bench` record that tells of them.
 */
#ifndef KERNEL_SAMPLES_H
#define KERNEL_SAMPLES_H

#include <stdint.h>

enum { SAMPLES_MAX = 64 };

/* Begin with n = 0.  Values are fixed-point: the true value times 10^decimals. */
struct samples {
    uint32_t value[SAMPLES_MAX];
    unsigned n;
};

/* Add one; the first SAMPLES_MAX are kept. */
void samples_add(struct samples *s, uint32_t value);

/* The smallest value that at least `percent` % of them do not exceed; 0 without any.  Sorts. */
uint32_t samples_percentile(struct samples *s, unsigned percent);

/* Sort ascending, in place. */
void samples_sort(uint32_t *values, unsigned n);

/* What every `bench` record says; fixed-point like the samples. */
struct samples_summary {
    unsigned n;
    uint32_t min, p50, mean, p99, max;
};

/* Begin the `bench` record `name` of card `nic` (< 0: null); `decimals` is 1 to 3.  The caller may
 * add keys, and ends it. */
void samples_begin_record(const struct samples_summary *sum, const char *name, int nic,
                          const char *unit, unsigned decimals);

/* Emit the `bench` record `name` of card `nic` (< 0: null); `decimals` is 1 to 3.  Without a
 * measurement there is none to tell of.  Sorts. */
void samples_record(struct samples *s, const char *name, int nic, const char *unit,
                    unsigned decimals);

#endif
