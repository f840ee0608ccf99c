/*
 * Keys and time, as the BIOS has them.
 */
#ifndef BOOT_FLOPPY_KEYBOARD_H
#define BOOT_FLOPPY_KEYBOARD_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_BACKSPACE = 0x08, KEY_ENTER = 0x0D, KEY_CTRL_U = 0x15, KEY_ESCAPE = 0x1B };

/* Has a key been pressed?  It stays where it is. */
bool keyboard_pressed(void);

/* The character of the next key, 0 for one that has none; waits for it. */
char keyboard_wait(void);

enum { TICKS_A_DAY = 0x1800B0 }; /* then the count begins anew */

/* BIOS ticks since midnight, 1193182/65536 a second. */
uint32_t clock_ticks(void);

/* Ticks since `then`, over midnight as well. */
uint32_t clock_since(uint32_t then);

#endif
