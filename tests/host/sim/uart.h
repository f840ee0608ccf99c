/*
 * A simulated UART of the 8250 family at COM1, with a terminal at its other end.
 *
 * Characters take their time on the line.  Stricter than a real one: writing to a transmitter that
 * has no room is misuse, for there the character is lost without a word.
 */
#ifndef TESTS_SIM_UART_H
#define TESTS_SIM_UART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_uart_kind {
    SIM_8250, /* no scratch register                       */
    SIM_16450,
    SIM_16550, /* shows only bit 7 of the two FIFO bits     */
    SIM_16550A,
    SIM_CLONE, /* a 16450 without loopback                  */
};

enum { SIM_UART_SENT_MAX = 65536 };

void sim_uart_plug(enum sim_uart_kind kind);

/* What has left on the line so far; NUL-terminated. */
const char *sim_uart_sent(void);
void sim_uart_forget_sent(void);

/* The terminal sends these bytes, one after the other. */
void sim_uart_type(const char *text);

/* As an emulator does it: the next byte is there the moment one is read, however fast that is. */
void sim_uart_paste(const char *text);

/* The interrupt does not reach the bus / is stuck on one cause, as IIR shows it, not "modem" / the
 * transmitter never gets empty. */
void sim_uart_cut_irq(void);
void sim_uart_stick_irq(uint8_t iir);
void sim_uart_stall(void);

/* Rate programmed, line control and interrupt enable registers; reads of the line status. */
unsigned sim_uart_baud(void);
unsigned sim_uart_line_control(void);
unsigned sim_uart_enabled(void);
unsigned sim_uart_status_reads(void);

/* Received bytes lost because nobody fetched them. */
unsigned sim_uart_overruns(void);

#endif
