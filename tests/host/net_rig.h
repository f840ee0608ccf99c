/*
 * A whole box in one process: simulated NE2000 cards, the unchanged driver, lwIP and net/, turning
 * as kernel/kmain.c does, on simulated time.  What it says is kept, and keys can be typed.
 *
 * The tests run every case in a process of its own (Check forks), so a box is brought up from
 * nothing each time; the fuzzer keeps one for all its inputs.  Nothing may be left of a test:
 * rig_settle() waits for the last connection to die and compares every pool with the start.
 */
#ifndef TESTS_HOST_NET_RIG_H
#define TESTS_HOST_NET_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/nic.h"
#include "tests/host/sim/ne2000.h"

enum { RIG_CARDS = 2, RIG_MEMORY_KB = 1024, RIG_SMALL_KB = 192 /* the smallest frame pool */ };

#define RIG_IP4(a, b, c, d)                                                                        \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* Addresses of the usual set-up, host byte order. */
#define BOX_IP RIG_IP4(10, 0, 0, 1)
#define BOX_IP2 RIG_IP4(10, 0, 0, 11)
#define PEER_IP RIG_IP4(10, 0, 0, 2)

#define RIG_STATIC "ip=10.0.0.1/24,10.0.0.254"

extern struct sim_card rig_cards[RIG_CARDS];

/* ---- up, turning, down ---- */

/* One card, a static address and a name, 1 MB; or as said.  Cards sit at 300h irq 10 and 320h
 * irq 11. */
extern unsigned rig_start_us; /* the clock, then; random numbers depend on it */
extern unsigned rig_specimen; /* which of sim_cards the cards are */
extern bool rig_lends;        /* the drivers lend what they receive */
extern bool rig_unnamed;      /* does not wait until the box has its name */
void rig_up(void);
void rig_up_with(const char *words, unsigned cards, unsigned memory_kb);

/* One turn of the main loop, with the halt; then what was sent reaches the peers. */
void rig_turn(void);

void rig_run_ms(unsigned ms);

/* Turn until done(arg) or so many simulated milliseconds have passed; returns done(arg). */
bool rig_until(bool (*done)(void *arg), void *arg, unsigned ms);

/* Let everything end by itself, at most 90 simulated seconds; null, or what is still held. */
const char *rig_settle(void);

/* rig_settle() must succeed; the cards are stopped. */
void rig_down(void);

/* ---- what the box said ---- */

/* Text for people since the start or the last rig_forget(), and a part of it. */
const char *rig_text(void);
bool rig_said(const char *part);
unsigned rig_said_times(const char *part);
void rig_forget(void);

/* The `index`-th record with this `ev` since then, as JSON; null if there are not so many. */
const char *rig_record(const char *ev, unsigned index);
unsigned rig_record_count(const char *ev);

/* The value of a key, as it is written; "" if the key is missing.  Strings with their quotes. */
const char *rig_value(const char *record, const char *key);
int64_t rig_number(const char *record, const char *key);
bool rig_is(const char *record, const char *key, const char *written);

/* ---- the keyboard ---- */

void rig_type(const char *keys);

/* Type a command and turn until it is done; its status.  At most `ms`, then -1. */
int rig_command(const char *line, unsigned ms);

#endif
