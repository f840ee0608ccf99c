/*
 * Sending at a requested rate.  The timer is the 8254 read once a turn, not the tick: while a
 * datagram is due within the next tick the machine polls (counted as idle) instead of halting.
 */
#ifndef NET_PACE_H
#define NET_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    uint64_t interval_ns; /* from one write to the next; 0: as fast as it goes */
    uint64_t due_ns;
    uint64_t waiting_us; /* since when the timer has held data back; 0: it does not */
};

/* Writes of `length` bytes at `bit_s` payload bits a second from now on; 0: unlimited. */
void pace_start(struct pace *p, uint64_t bit_s, uint32_t length);

/*
 * May the next write go now?  Call when all else would let it.  Time that the timer held it back is
 * added to *held_us (struct meter has one).  If true and it went, call pace_sent().
 */
bool pace_due(struct pace *p, uint64_t *held_us);
void pace_sent(struct pace *p);

/* Something is due within a tick: halting now would be late for it.  For the main loop. */
bool pace_near(void);

#endif
