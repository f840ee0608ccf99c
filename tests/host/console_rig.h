/*
 * A simulated PC for tests of what reads and writes text: UART, display, port E9h, keyboard.
 */
#ifndef TESTS_HOST_CONSOLE_RIG_H
#define TESTS_HOST_CONSOLE_RIG_H

#include <check.h>
#include <stdbool.h>

#include "tests/host/sim/uart.h"

/* Everything plugged in, console_init() done. */
void pc_with(enum sim_uart_kind kind);
void pc(void); /* ... with a 16550A */

/* Main loop turns until nothing is queued; then what COM1 has sent. */
const char *serial_text(void);

/* Everything sent so far is out, and no longer shown. */
void forget(void);

bool record(const char *text);

/* Cases of the console suite in a file of their own. */
TCase *console_display_cases(void);

#endif
