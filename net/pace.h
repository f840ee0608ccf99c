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
    uint32_t length;     /* of a write ...                                          */
    uint32_t allowed;    /* ... and what has not gone of one that was due           */
};

/* Writes of `length` bytes at `bit_s` payload bits a second from now on; 0: unlimited. */
void pace_start(struct pace *p, uint64_t bit_s, uint32_t length);

/*
 * May the next write go now?  Call when all else would let it.  Time that the timer held it back is
 * added to *held_us (struct meter has one).  If true and it went, call pace_sent().
 */
bool pace_due(struct pace *p, uint64_t *held_us);
void pace_sent(struct pace *p);

/* The same for writes that go in pieces: how many bytes may go now?  So many went. */
uint32_t pace_room(struct pace *p, uint64_t *held_us);
void pace_went(struct pace *p, uint32_t bytes);

/* A write of `length` bytes over TCP, which may be megabytes, is to go in equal parts of at most a
 * segment: their length. */
uint32_t pace_part(uint32_t length);

/* Something is due within a tick: halting now would be late for it.  For the main loop. */
bool pace_near(void);

#endif
