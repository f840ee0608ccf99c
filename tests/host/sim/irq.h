/*
 * The interrupt side of the simulated machine: a processor's interrupt flag and 8259A inputs, edge-
 * or level-triggered; it implements kernel/irq.h and the shadow of kernel/cpu.h.
 *
 * An edge is latched, also on a masked line; an interrupt is delivered only if the line is still
 * high then (Intel 8259A data sheet: the request must stay until the acknowledge), otherwise it is
 * spurious.  A line that stays high after its handler gives no second interrupt.  So an edge lost
 * by a driver is lost here too.  A level-triggered line interrupts as long as it is high.
 */
#ifndef TESTS_SIM_IRQ_H
#define TESTS_SIM_IRQ_H

#include <stdbool.h>
#include <stdint.h>

void sim_irq_reset(void);

/* The machine was started again: no handlers, interrupts enabled; lines as they are. */
void sim_irq_forget_handlers(void);

/* One of the sources on `line` goes to `high`; remembered per source (any distinct pointer). */
void sim_irq_drive(int line, const void *source, bool high);

bool sim_irq_line(int line);

/* The machine has an edge/level control register (ports 4D0h, 4D1h), set to this: bit set = level.
 * Without it every line is edge-triggered. */
void sim_irq_elcr(uint16_t levels);

/* The next `n` edges on `line` are not latched (a bus with ringing, a bridge that swallows them).
 */
void sim_irq_lose_edges(int line, unsigned n);
unsigned sim_irq_edges_lost(void);

/* Deliver what is latched, if interrupts are enabled and none is being handled. */
void sim_irq_deliver(void);

/* Is a handler running? */
bool sim_in_irq(void);

/* Are interrupts enabled at the (simulated) processor? */
bool sim_irq_enabled(void);

/* From now on a tick every `us` on line 0, as the kernel's; 0 stops it. */
void sim_tick(unsigned us);

/* One tick more at this time, so that no halt goes beyond it; for sim_cancel(). */
unsigned sim_tick_once(uint64_t at_ns);

/* Interrupts of any kind delivered so far; halts so far. */
unsigned sim_irqs_delivered(void);
unsigned sim_halts(void);

#endif
