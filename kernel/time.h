/*
 * The one clock.  Source: Intel 8254 data sheet (1993), counters 0 and 2; input 105/88 MHz.
 *
 * Counter 2 (the speaker's, speaker off) runs free through all 65536 counts and is extended to 64
 * bits in software; counter 0 only makes the tick interrupt that wakes the main loop.  Measuring
 * and ticking are apart, so no result depends on the tick, and a tick up to 54 ms late loses no
 * time.  Where there is a cycle counter, each reading is checked against it: a longer hole (an
 * emulator's host asleep) is repaired in whole counter periods, so the clock neither drifts nor
 * jumps back.
 *
 * tests/host/shadow/kernel/time.h has the same interface on simulated time.
 */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Program the 8254: t = 0 from here.  Needs interrupts disabled; call first of all. */
void time_init(void);

/* Attach the tick interrupt (IRQ 0).  Call once irq_init() has run. */
void time_start_tick(void);

/* Give counter 0 back to the BIOS: 18.2 ticks a second.  The clock goes on (twice as fast if it has
 * to live on that counter: waits stay bounded). */
void time_leave(void);

/* False if the 8254 does not count at all: then no bounded wait would end, and nothing can run. */
bool time_works(void);

/* Halting is safe for the clock.  Not where counter 2 is dead and counter 0 stands in for it: its
 * tick comes but once a period, too late to tell one period from two. */
bool time_may_halt(void);

/* Learn the CPU clock, and compare the rates of the two clocks over two spans of 10 ms.  Call after
 * cpu_probe(); interrupts may be on or off and are off meanwhile. */
void time_calibrate(void);

/* Microseconds since time_init().  Any context.  Costs three I/O accesses (some 3 us on ISA). */
uint64_t time_us(void);

/* The last reading of the clock, by whomever: the time at most a turn of the main loop ago, without
 * an I/O access.  Any context. */
uint64_t time_recent_us(void);

/* Counts of the clock (kernel/timebase.h) since that reading: for sums of short spans, at a third
 * of the price of time_us().  Interrupts disabled. */
uint32_t time_counts_unread(void);

/* Milliseconds since time_init(), wraps after 49 days.  Any context. */
uint32_t time_ms(void);

/* CPU clock in MHz: measured with the cycle counter, else estimated from a timed loop. */
unsigned time_cpu_mhz(void);

/* Difference of 8254 and cycle counter seen by time_calibrate(), in parts per million (0 without
 * a cycle counter), and the number of holes repaired since. */
unsigned time_crosscheck_ppm(void);
unsigned time_holes(void);

/* A point in time that a bounded wait may not pass. */
struct deadline {
    uint64_t at_us;
};

struct deadline deadline_us(uint32_t from_now);

/* The same, counted from time_recent_us(): for watchdogs, set more often than a clock is worth. */
struct deadline deadline_coarse_us(uint32_t from_now);
bool expired(const struct deadline *d);

/* Busy-wait for at least `us` microseconds.  Interrupts stay as they are. */
void delay_us(uint32_t us);

#endif
