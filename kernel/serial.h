/*
 * COM1: an 8250, 16450 or 16550 at 3F8h, IRQ 4, 8 data bits, no parity, one stop bit.
 *
 * Output goes into a queue which serial_drain() empties from the main loop, a FIFO or a byte a
 * call.  The interrupt handler only moves received bytes into a ring and notes that the
 * transmitter is empty, so that a halted machine wakes up to drain; a UART whose interrupt does
 * not work is drained all the same whenever the main loop turns.
 */
#ifndef KERNEL_SERIAL_H
#define KERNEL_SERIAL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SERIAL_QUEUE = 16384,     /* a power of two */
    SERIAL_BAUD_MAX = 115200, /* a rate must divide this */
};

/* Look for the UART and program it for SERIAL_BAUD_MAX.  Without one nothing below touches a port.
 */
bool serial_init(void);

/* Another rate.  Lets characters on their way out go first, for at most 20 ms. */
void serial_set_baud(unsigned baud);

/* Not used from now on: the queue is thrown away, the interrupt masked at the chip. */
void serial_stop(void);

/* Attach IRQ 4.  Once, after irq_init(). */
void serial_start_irq(void);

/* Free bytes in the queue. */
size_t serial_room(void);

/* Queue `n` bytes; there must be room. */
void serial_queue(const char *text, size_t n);

/* Throw away what is queued. */
void serial_discard(void);

/* At most one FIFO from the queue to the UART.  True if something is left in the queue. */
bool serial_drain(void);

/* Nothing queued and the last stop bit is out. */
bool serial_idle(void);

/* Next byte received, or -1. */
int serial_key(void);

/* A byte was received, or the UART has asked for more since the last serial_drain(). */
bool serial_waiting(void);

#endif
