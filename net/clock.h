/*
 * The time of this turn of the main loop: read once from the hardware, since a reading costs three
 * I/O accesses, and used by everything that need not be finer than a turn.
 */
#ifndef NET_CLOCK_H
#define NET_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A new turn: read the clock. */
void clock_turn(void);

/* time_us() at the beginning of this turn, and whole milliseconds of it (wraps after 49 days). */
uint64_t clock_us(void);
uint32_t clock_ms(void);

/* Has *at_us come?  Then it is moved on by `period_us` (from now, if that too has passed). */
bool clock_due(uint64_t *at_us, uint32_t period_us);

#endif
