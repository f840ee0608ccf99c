/*
 * PC keyboard, US layout, scan code set 1 as the BIOS leaves it.  Never needed and never waited
 * for: a missing or broken keyboard only means that no key comes.
 */
#ifndef KERNEL_KEYBOARD_H
#define KERNEL_KEYBOARD_H

#include <stdbool.h>
#include <stdint.h>

/* Throw away what the controller still holds, and attach IRQ 1.  Once, after irq_init(). */
void keyboard_start_irq(void);

/* Next character typed, or -1: ASCII, '\n', '\b', 27 for Esc, 1-26 for Ctrl and a letter. */
int keyboard_key(void);

/* Look once, without interrupts, at what the controller holds: for Ctrl-Alt-Del. */
void keyboard_poll(void);

/* Ctrl-Alt-Del was among the keys that keyboard_key() or keyboard_poll() has seen. */
bool keyboard_reset_asked(void);

/* Scan codes are waiting. */
bool keyboard_waiting(void);

/* The decoder behind keyboard_key(), for tests: one scan code; a character, or -1 for none. */
int keyboard_decode(uint8_t code);

#endif
