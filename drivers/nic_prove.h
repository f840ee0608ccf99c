/*
 * Between nic_irq.c and nic_prove.c only.
 */
#ifndef DRIVERS_NIC_PROVE_H
#define DRIVERS_NIC_PROVE_H

#include <stdbool.h>

/* INTERRUPT CONTEXT.  The handler of a card at work; `arg` is its struct nic. */
bool nic_on_interrupt(void *arg);

#endif
