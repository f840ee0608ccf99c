/*
 * See timebase.h.
 */
#include "kernel/timebase.h"

#include "kernel/math64.h"

enum {
    TOLERANCE = CLOCK_PERIOD / 8,
    MISSED_MAX = 1 << 20, /* some 16 hours: a longer hole is a broken cycle counter */
};

void timebase_start(struct timebase *c, uint16_t count)
{
    *c = (struct timebase){.count = count};
}

uint32_t timebase_elapsed(const struct timebase *c, uint16_t count)
{
    return (uint16_t)(c->count - count);
}

void timebase_advance(struct timebase *c, uint16_t count, uint32_t periods)
{
    uint32_t elapsed = timebase_elapsed(c, count);
    c->count = count;
    if (periods == 0) { /* nearly always: one division of 32 bits */
        uint32_t scaled = elapsed * CLOCK_US_NUM + c->rest;
        c->us += scaled / CLOCK_US_DEN;
        c->rest = scaled % CLOCK_US_DEN;
        return;
    }
    uint64_t counts = (uint64_t)periods * CLOCK_PERIOD + elapsed;
    c->us += div64(counts * CLOCK_US_NUM + c->rest, CLOCK_US_DEN, &c->rest);
}

uint32_t timebase_missed(uint32_t elapsed, uint64_t cycles, uint32_t cycles_per_period)
{
    if (cycles < cycles_per_period - cycles_per_period / 8) {
        return 0;
    }
    uint64_t counts = muldiv64(cycles, CLOCK_PERIOD, cycles_per_period);
    if (counts < elapsed || counts > (uint64_t)MISSED_MAX * CLOCK_PERIOD) {
        return 0;
    }
    uint64_t missing = counts - elapsed + TOLERANCE;
    return missing % CLOCK_PERIOD <= 2 * TOLERANCE ? (uint32_t)(missing / CLOCK_PERIOD) : 0;
}
