/*
 * Between the files of the 8390's selftest only: dp8390_selftest.c (registers, PROM, loopback,
 * interrupt), dp8390_ram.c (memory) and dp8390_bus.c (bus cycles and their speed).
 */
#ifndef DRIVERS_8390_BENCH_H
#define DRIVERS_8390_BENCH_H

#include "drivers/8390/core.h"

enum { BENCH_BLOCK = 1504 /* a multiple of 4 that any board's write() takes */ };

/* Two blocks to compare. */
extern uint8_t bench_out[BENCH_BLOCK], bench_in[BENCH_BLOCK];

/*
 * The card on the bench: board ready, chip at rest in loopback, all of its memory ours.  The ring
 * looks full, since emulators receive in loopback, too, and would write into it (QUIRKS).
 */
void bench_take(struct selftest *t);

/* The ways to run this board that can be tried on this card, its own first; null after the last. */
const struct dp8390_way *bench_way(struct dp8390 *d, unsigned index);

/* Run the board that way, and as the driver does. */
void bench_use(struct dp8390 *d, const struct dp8390_way *way);
void bench_use_own(struct dp8390 *d);

/* `n` bytes of bench_out[] to card memory: 0 or E_TIMEOUT; and from there into bench_in[]. */
int bench_write(struct dp8390 *d, unsigned address, unsigned n);
void bench_read(struct dp8390 *d, unsigned address, unsigned n);

bool bench_ram(struct selftest *t);
bool bench_cycles(struct selftest *t);

/* Did bench_cycles() find the bus at fault?  Then nothing that comes through it proves anything. */
bool bench_cycles_faulty(void);

bool bench_speed(struct selftest *t);

#endif
