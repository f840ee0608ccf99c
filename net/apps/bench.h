/*
 * The `bench` command: what one step costs on this machine, and where the time of a packet goes.
 *
 * Nothing of it is in the path of a packet: small benches call the steps themselves, and `split`
 * samples the processor from outside (kernel/profile.h).
 */
#ifndef NET_APPS_BENCH_H
#define NET_APPS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_SAMPLES = 50, BENCH_NO_CARD = -1 };

/* One bench.  Samples are taken one a main loop turn, so the box keeps answering meanwhile. */
struct bench {
    const char *name;
    const char *what; /* one line */
    int nic;          /* the card it uses, or BENCH_NO_CARD */
    /* Get ready; null, or why it cannot be run here.  The card has an address then. */
    const char *(*prepare)(void);
    /* Tenths of a nanosecond for one step; 0: not now, ask again next turn. */
    uint32_t (*sample)(void);
    /* Give back what prepare() took; may be null. */
    void (*finish)(void);
};

/* All of them, but `split` (net/apps/bench_steps.c). */
extern const struct bench bench_steps[];
extern const unsigned bench_step_count;

/* ---- time, finely: the cycle counter where there is one, else the 8254 ---- */

/* A reading, and tenths of a nanosecond between two (at most 400 ms apart). */
uint64_t bench_now(void);
uint32_t bench_between(uint64_t from, uint64_t to);

/* The cost of `step`, called as often as the clock needs to tell it well. */
uint32_t bench_repeated(void (*step)(void));

/* What an interrupt costs: the least of some; 0 if there was none to see. */
uint32_t bench_interrupt_cost(void);

/* ---- results ---- */

/* Sort `values` (tenths of a nanosecond), show a line and emit the `bench` record.  With n = 0 all
 * of them are 0.  `permille` is this part of the whole, negative if it is none. */
void bench_report(const char *name, int nic, const char *unit, uint32_t *values, unsigned n,
                  int permille);

/* ---- split ---- */

/* Begin; null, or why it cannot be run here. */
const char *bench_split_start(void);

/* Once a turn; true when it is over and has been reported. */
bool bench_split_turn(void);

/* End early: reports what there is. */
void bench_split_stop(void);

#endif
