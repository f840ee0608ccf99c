/*
 * A pair of 8259A and a processor's interrupt flag, for tests of irq.c and pic.c; strict about what
 * a driver may do: initialisation in order, an end of interrupt only for a line in service, no
 * mask written with interrupts enabled.  Implements the shadows of kernel/io.h, cpu.h and time.h.
 *
 * Model, from the Intel 8259A data sheet (1988): an edge is latched, also while masked; the
 * request must still be high at the acknowledge, else the chip answers with its input 7 and sets
 * nothing in service.
 */
#ifndef TESTS_SIM_PIC8259_H
#define TESTS_SIM_PIC8259_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIM8259_CASCADE = 2 };

/* ck_assert() writes to a pipe even when it holds: too slow for what runs a million times. */
#define REQUIRE(condition, what)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg("%s: %s", what, #condition);                                              \
        }                                                                                          \
    } while (0)

struct sim8259 {
    unsigned icw; /* next initialisation word expected, 0: initialised, 1: never touched */
    uint8_t vector, icw3, icw4;
    uint8_t mask, in_service, latched, high;
    uint8_t level; /* inputs that are level-triggered */
    bool read_isr;
};

/* Master and slave. */
extern struct sim8259 sim8259[2];

/* What the edge/level control register reads. */
extern uint16_t sim8259_elcr;

/* The processor's flag; the time in microseconds; called each of them: a device with a mind of its
 * own, or null. */
extern bool sim8259_interrupts;
extern uint64_t sim8259_us;
extern void (*sim8259_every_us)(void);

/* A device drives `line`. */
void sim8259_drive(int line, bool high);

/* Deliver what asks and may, to irq_dispatch(); and let the slave's output follow its inputs. */
void sim8259_deliver(void);
void sim8259_cascade(void);

#endif
