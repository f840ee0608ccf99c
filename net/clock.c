/*
 * One clock reading a turn.
 */
#include "net/clock.h"

#include <stddef.h>

#include "kernel/math64.h"
#include "kernel/time.h"

enum { US_PER_MS = 1000 };

static uint64_t now_us;
static uint64_t next_ms_us = US_PER_MS;
static uint32_t now_ms;

void clock_turn(void)
{
    now_us = time_recent_us();
}

uint64_t clock_us(void)
{
    return now_us;
}

/* Worked out when somebody asks, which is not in every turn. */
uint32_t clock_ms(void)
{
    if (now_us >= next_ms_us) {
        uint64_t late = now_us - next_ms_us;
        uint32_t more = late <= UINT32_MAX ? (uint32_t)late / US_PER_MS
                                           : (uint32_t)div64(late, US_PER_MS, NULL);

        now_ms += more + 1;
        next_ms_us += ((uint64_t)more + 1) * US_PER_MS;
    }
    return now_ms;
}

bool clock_due(uint64_t *at_us, uint32_t period_us)
{
    if (now_us < *at_us) {
        return false;
    }
    *at_us += period_us;
    if (*at_us <= now_us) {
        *at_us = now_us + period_us;
    }
    return true;
}
