/*
 * Pacing.
 */
#include "net/pace.h"

#include <stddef.h>

#include "kernel/math64.h"
#include "lwip/opt.h"
#include "net/clock.h"

enum {
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    BITS = 8,
    TICK_US = 1000000 / TICK_HZ,
    NEAR_US = TICK_US + 1000,
    CATCH_UP_NS = 100000000, /* what was missed longer ago is not made up for in a burst */
};

static uint64_t near_turn_us; /* the turn in which something near was seen */

static uint64_t now_ns(void)
{
    return clock_us() * NS_PER_US;
}

void pace_start(struct pace *p, uint64_t bit_s, uint32_t length)
{
    bool limited = bit_s != 0 && bit_s <= UINT32_MAX; /* above that no card comes near it */

    p->interval_ns = limited ? div64((uint64_t)length * BITS * NS_PER_S, (uint32_t)bit_s, NULL) : 0;
    p->due_ns = now_ns();
    p->waiting_us = 0;
    p->length = length;
    p->allowed = 0;
}

bool pace_due(struct pace *p, uint64_t *held_us)
{
    if (p->interval_ns == 0) {
        return true;
    }
    if (now_ns() < p->due_ns) {
        if (p->waiting_us == 0) {
            p->waiting_us = clock_us();
        }
        if (p->due_ns - now_ns() < (uint64_t)NEAR_US * NS_PER_US) {
            near_turn_us = clock_us();
        }
        return false;
    }
    if (p->waiting_us != 0) {
        *held_us += clock_us() - p->waiting_us;
        p->waiting_us = 0;
    }
    return true;
}

void pace_sent(struct pace *p)
{
    p->due_ns += p->interval_ns;
    if (p->due_ns + CATCH_UP_NS < now_ns()) {
        p->due_ns = now_ns() - CATCH_UP_NS;
    }
}

uint32_t pace_room(struct pace *p, uint64_t *held_us)
{
    if (p->interval_ns == 0) {
        return UINT32_MAX;
    }
    if (p->allowed == 0 && pace_due(p, held_us)) {
        pace_sent(p);
        p->allowed = p->length;
    }
    return p->allowed;
}

void pace_went(struct pace *p, uint32_t bytes)
{
    p->allowed -= bytes < p->allowed ? bytes : p->allowed;
}

uint32_t pace_part(uint32_t length)
{
    uint32_t parts = (length + TCP_MSS - 1) / TCP_MSS;

    return (length + parts - 1) / parts;
}

bool pace_near(void)
{
    return near_turn_us != 0 && near_turn_us == clock_us();
}
