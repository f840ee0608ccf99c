/*
 * Registers of the 8254 interval timer of an AT, and the gate of its counter 2.
 * Sources: Intel 8254 data sheet (1993), "Programming the 8254"; IBM AT Technical Reference (1985),
 * system board I/O port 61h.
 */
#ifndef KERNEL_PIT_REGS_H
#define KERNEL_PIT_REGS_H

#include "kernel/io.h"

/* The tick that wakes the main loop.  A build variable: results may not depend on it. */
#ifndef TICK_HZ
#define TICK_HZ 100
#endif

static const struct ioport pit = {0x40};

enum pit_reg {
    PIT_COUNTER_0 = 0, /* rw  interrupts on IRQ 0            */
    PIT_COUNTER_2 = 2, /* rw  speaker; gate at port 61h      */
    PIT_CONTROL = 3,   /* w                                  */
};

enum pit_control {
    PIT_BINARY = 0 << 0,
    PIT_RATE = 2 << 1,          /* mode 2: counts down from N to 1, again and again   */
    PIT_SQUARE = 3 << 1,        /* mode 3: by two, twice; what the BIOS uses          */
    PIT_LATCH = 0 << 4,         /* hold the count until both halves are read          */
    PIT_LOW_THEN_HIGH = 3 << 4, /* the count is written and read low half first       */
};

/* The field of the control word that selects a counter. */
#define PIT_SELECT(counter) ((counter) << 6)

enum { PIT_RELOAD_65536 = 0 }; /* the longest count is written as 0 */

static const struct ioport system_port = {0x61};

enum system_bit {
    SYSTEM_GATE_2 = 1 << 0,       /* rw  counter 2 counts                             */
    SYSTEM_SPEAKER = 1 << 1,      /* rw  its output reaches the speaker               */
    SYSTEM_WRITABLE = 0x0F,       /* bits 2 and 3: parity and channel check, kept     */
};

#endif
