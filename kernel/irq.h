/*
 * Interrupt lines: handlers, counters, and finding out which line a card drives.
 */
#ifndef KERNEL_IRQ_H
#define KERNEL_IRQ_H

#include <stdbool.h>
#include <stdint.h>

enum { IRQ_LINES = 16, IRQ_NONE = -1 };

/* Runs with interrupts disabled; returns true if its device had asked.  Must acknowledge and mask
 * at the device, note what happened, and leave: no copying, no printing, no allocation. */
typedef bool (*irq_handler)(void *arg);

/* Load the 8259A pair and the IDT entries; every line masked. */
void irq_init(void);

/* From the stubs (boot/vectors.S), interrupts disabled: one interrupt on `line`. */
void irq_dispatch(int line);

/* Share `line` with up to three other handlers, and unmask it.  IRQ 2 means 9 on an AT.
 * E_RANGE for an impossible line, E_NO_MEMORY if four handlers are on it already. */
int irq_attach(int line, irq_handler handler, void *arg);

/* Take a handler off again; masks the line when it was the last. */
void irq_detach(int line, irq_handler handler, void *arg);

/* Interrupts taken on `line` since boot; not counting spurious ones. */
unsigned irq_count(int line);

/* Interrupts on `line` that no handler claimed. */
unsigned irq_unclaimed(int line);

/* Spurious IRQ 7 and 15 (in-service bit not set) since boot. */
unsigned irq_spurious(void);

/* Lines with at least one handler, as a bit mask. */
uint16_t irq_lines_in_use(void);

/* A line on which thousands of interrupts in a row had no taker is masked for good.  The next such
 * line not told of yet, or IRQ_NONE. */
int irq_take_storm(void);

/* Unmask a line again that was masked by a storm. */
void irq_trust_again(int line);

/*
 * Which of the `candidates` lines (bit mask) does a device drive?  Calls provoke(arg), waits up
 * to 2 ms, then quiet(arg); a line counts only if it interrupts exactly when provoked, three times
 * out of three, and not while quiet.  Lines that have a handler are never tried.  Returns the
 * line, or IRQ_NONE.  Main context.
 */
int irq_find(uint16_t candidates, void (*provoke)(void *arg), void (*quiet)(void *arg), void *arg);

#endif
