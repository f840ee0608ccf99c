/*
 * How busy the machine is: all time less the time halted and less empty polling turns.
 */
#ifndef KERNEL_LOAD_H
#define KERNEL_LOAD_H

#include <stdint.h>

/* Idle time so far: halted, or turns of the main loop that found nothing to do. */
uint64_t load_idle_us(void);

/* For the main loop: `us` more of it, but for so many counts of the clock (timebase.h), which were
 * busy. */
void load_add_idle(uint64_t us, uint32_t busy_counts);

#endif
