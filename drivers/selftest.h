/*
 * Testing a card by itself, without a cable or a peer: what is tested, and who runs it.
 *
 * A driver that can be tested has a table of steps in its nic_ops.  While they run the card belongs
 * to them alone: nic->ops are those of a card that is never busy and takes nothing, so the rest of
 * the machine, other cards included, goes on.  Afterwards the card is opened again as it was.
 */
#ifndef DRIVERS_SELFTEST_H
#define DRIVERS_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/nic.h"
#include "kernel/samples.h"

enum selftest_verdict {
    SELFTEST_GOOD,
    SELFTEST_NOTE, /* worth knowing, no fault: could not be tested, slower than need be */
    SELFTEST_BAD,
};

/* One run on one card, for its steps. */
struct selftest {
    struct nic *nic;
    const struct nic_ops *ops; /* the card's own                                        */
    unsigned part;             /* calls of this step before this one                    */
    uint32_t in_kb_s;          /* set by a step, for what the bus means: card to memory */
    uint32_t out_kb_s;         /* ... and memory to card, both times 10; 0: not known   */
    const char *limit;         /* what is so fast: "bus"                                */
};

/*
 * A step.  It finds the card closed and masked, uses it through t->ops or directly, says what it
 * found with selftest_say(), and leaves it so that t->ops->open() brings it back.
 */
struct selftest_step {
    const char *name; /* at most 10 characters */
    /* A part of the work, at most some 10 ms; true: call again. */
    bool (*run)(struct selftest *t);
};

/* Print one line of the verdict, at most SELFTEST_WORDS - 1 characters. */
enum { SELFTEST_WORDS = 120 };
void selftest_say(enum selftest_verdict verdict, const char *fmt, ...);

/*
 * For steps: the time from pulling the interrupt line to the handler, told and recorded.  raise()
 * pulls the line with its last access to the card, quiet() lets it go; both with the card open.
 */
void selftest_interrupt(void (*raise)(struct nic *), void (*quiet)(struct nic *));

/* For steps: KB/s, times 10, of `bytes` moved in `us`. */
uint32_t selftest_kb_s(uint32_t bytes, uint64_t us);

/* ---- for the command ---- */

/* Take the card from the network and begin.  E_UNSUPPORTED: its driver has no steps; E_BUSY: one
 * is being tested. */
int selftest_begin(struct nic *nic);

/* Do a part.  False when the verdict has been given and the card is back, or none is tested. */
bool selftest_turn(void);

/* Give the card back at once. */
void selftest_abort(void);

/* Faults found by the last run; what could not be tested is none. */
unsigned selftest_faults(void);

#endif
