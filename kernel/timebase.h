/*
 * The arithmetic of the clock, pure: a 16-bit down-counter extended to 64-bit microseconds.
 *
 * The 8254 counts at 14.31818 MHz / 12 = 105/88 MHz, so c counts are c * 88 / 105 us.  The rest of
 * each division is kept for the next: the sum is exact, however it is cut into readings.
 */
#ifndef KERNEL_TIMEBASE_H
#define KERNEL_TIMEBASE_H

#include <stdint.h>

enum {
    CLOCK_PERIOD = 65536, /* counts until the counter repeats itself: 54.925 ms */
    CLOCK_US_NUM = 88,    /* microseconds ...                                   */
    CLOCK_US_DEN = 105,   /* ... a count                                        */
};

struct timebase {
    uint64_t us;
    uint32_t rest;  /* of the division by CLOCK_US_DEN */
    uint16_t count; /* counter at the last reading     */
};

/* Time 0, with the counter at `count`. */
void timebase_start(struct timebase *c, uint16_t count);

/* Counts since the last reading if the counter, counting down, is at `count` now. */
uint32_t timebase_elapsed(const struct timebase *c, uint16_t count);

/* Take a reading: the counter is at `count`, having run through `periods` whole periods besides. */
void timebase_advance(struct timebase *c, uint16_t count, uint32_t periods);

/*
 * How many whole periods went by unseen?  The counter says `elapsed` counts, the cycle counter
 * `cycles`, at `cycles_per_period`.  0 unless the cycle counter agrees with a whole number within
 * an eighth of a period: a cycle counter that changed its rate is not believed.
 */
uint32_t timebase_missed(uint32_t elapsed, uint64_t cycles, uint32_t cycles_per_period);

#endif
