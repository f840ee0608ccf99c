/*
 * The pair of 8259A interrupt controllers of an AT.  Source: Intel 8259A data sheet (1988).
 */
#ifndef KERNEL_PIC_H
#define KERNEL_PIC_H

#include <stdbool.h>
#include <stdint.h>

enum { PIC_VECTOR_BASE = 0x20 }; /* IRQ 0 arrives at this vector, IRQ 15 at base + 15 */

/* Initialise both, every line masked.  What the BIOS had masked is remembered. */
void pic_init(void);

/* The way back: the BIOS' vectors and masks.  Interrupts disabled. */
void pic_leave(void);

void pic_mask(int line);
void pic_unmask(int line);

/* Is the interrupt being handled on line 7 or 15 real?  Reads the in-service register. */
bool pic_in_service(int line);

/* End a real interrupt. */
void pic_eoi(int line);

/* A spurious 15 was still a real IRQ 2 to the master: end only that one. */
void pic_eoi_cascade(void);

/* True if `line` is level-triggered by the edge/level control register (ports 4D0h, 4D1h).
 * False where there is no such register: reads 0xFF, or its always-zero bits are set. */
bool pic_is_level(int line);

/* Set the trigger mode of `line` there; false where there is no such register or the line is
 * always edge. */
bool pic_set_level(int line, bool level);

#endif
