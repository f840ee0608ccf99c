/*
 * What people read: one stream, fanned out to VGA, COM1 (queued) and the emulators' port E9h.
 *
 * Nothing here waits, except after console_panic_mode().  Not for interrupt context.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

enum colour { COLOUR_NORMAL, COLOUR_GOOD, COLOUR_WARN, COLOUR_BAD, COLOUR_DIM };

/* Find the outputs that exist.  Until console_select() all of them are used. */
void console_init(void);

/* Use VGA and/or COM1 at `baud` from now on (boot option console=).  Port E9h is always used. */
void console_select(bool vga, bool serial, unsigned baud);

/* Print like format().  Lines for people never begin with '@'. */
void kprintf(const char *fmt, ...);

/* The same in a colour, on displays that have one; the text is never the colour alone. */
void kprintf_colour(enum colour colour, const char *fmt, ...);

/* Write `n` bytes as they are. */
void console_write(const char *text, size_t n);

/* Column of the cursor, 0 at the start of a line. */
unsigned console_column(void);

/* End the current line if it is not empty. */
void console_fresh_line(void);

/*
 * One record line (without line end), already complete: to port E9h and COM1, never to VGA; whole or not at all.
 * Returns false if the serial queue had no room: the record is lost on COM1 and counted.
 */
bool console_record(const char *line, size_t n);

/* Records lost so far for want of room in the serial queue. */
unsigned console_records_lost(void);

/* Move queued output to the UART, at most one FIFO; call once a main loop turn.  True if output is still
 * waiting. */
bool console_drain(void);

/* Wait until all is out, but at most `us`. */
void console_flush(unsigned us);

/* Next key typed on keyboard or COM1, or -1.  ASCII; Enter is '\n', Backspace '\b', Esc 27,
 * Ctrl-C 3. */
int console_key(void);

/* From now on write synchronously, with bounded waits; for the panic screen. */
void console_panic_mode(void);

#endif
