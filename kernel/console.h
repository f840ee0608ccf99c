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

/* Text for people wraps at `columns` from now on (boot option text=); 80: it does not.  Records and
 * what is typed never do.  A display in a 40-column mode wraps by itself. */
void console_set_width(unsigned columns);

/*
 * Print like format(), at most 1023 bytes at a time.  Lines for people never begin with '@': should
 * one, a blank is put in front.  If the shell's prompt is on the line, the text gets a line of its
 * own and the shell draws its prompt again below.
 */
void kprintf(const char *fmt, ...);

/* The same in a colour, on displays that have one; the text is never the colour alone. */
void kprintf_colour(enum colour colour, const char *fmt, ...);

/* Write `n` bytes as they are. */
void console_write(const char *text, size_t n);

/* Column of the cursor, 0 at the start of a line; of the first output in use, where they differ
 * because a record came in between. */
unsigned console_column(void);

/* End the current line if it is not empty. */
void console_fresh_line(void);

/*
 * For the shell.  Outputs whose cursor is at the start of a line get `prompt` and the edit line
 * behind it: all of them, or COM1 alone after a record.  console_prompt_missing() says whether
 * there is such an output; console_echo() writes to the edit line.
 */
bool console_prompt_missing(void);
void console_prompt(const char *prompt, const char *edit_line);
void console_echo(const char *text);

/*
 * One record line (without line end), already complete: to port E9h and COM1, never to VGA; whole
 * or not at all. Returns false if the serial queue had no room: the record is lost on COM1 and
 * counted.
 */
bool console_record(const char *line, size_t n);

/* Records, and bytes of text, lost so far for want of room in the serial queue. */
unsigned console_records_lost(void);
unsigned console_text_lost(void);

/*
 * Move queued output to the UART, at most one FIFO; call once a main loop turn.  True if output is
 * still waiting: the UART interrupts when it can take more, so the machine may halt meanwhile.
 */
bool console_drain(void);

/* Attach the interrupts of keyboard and COM1, when irq_init() has run.  Until then no key is seen
 * and output leaves only by console_drain(). */
void console_start_irq(void);

/* Wait until all is out, but at most `us`. */
void console_flush(unsigned us);

/* Next key typed on keyboard or COM1, or -1.  ASCII; Enter is '\n', Backspace '\b', Esc 27,
 * Ctrl-C 3. */
int console_key(void);

/* Must the main loop run before it halts?  A key is waiting, or the UART has asked for more of the
 * queued output.  Call with interrupts disabled, directly before the halt. */
bool console_input_waiting(void);

/* From now on write synchronously, with bounded waits; for the panic screen.  What is queued goes
 * out first, for at most a second.  Interrupts must be disabled. */
void console_panic_mode(void);

#endif
