/*
 * The sum of idle time; the main loop is its only writer.
 */
#include "kernel/load.h"

#include "kernel/math64.h"
#include "kernel/timebase.h"

static uint64_t idle_us, busy_counts;

/* What is rounded off may be another microsecond each time: never less than was told before. */
uint64_t load_idle_us(void)
{
    static uint64_t told;
    uint64_t now = idle_us - muldiv64(busy_counts, CLOCK_US_NUM, CLOCK_US_DEN);

    if ((int64_t)(now - told) > 0) {
        told = now;
    }
    return told;
}

void load_add_idle(uint64_t us, uint32_t busy)
{
    idle_us += us;
    busy_counts += busy;
}
