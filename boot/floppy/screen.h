/*
 * Text on the screen (BIOS teletype) and, in an emulator, on port E9h; and how the loader gives up.
 */
#ifndef BOOT_FLOPPY_SCREEN_H
#define BOOT_FLOPPY_SCREEN_H

#include <stdint.h>

/* One character as it is, on the screen alone: by the BIOS or by DOS. */
void screen_put(char c);

/* LF begins a new line. */
void say_char(char c);
void say(const char *text);
void say_number(uint32_t n);

/* One clear line, a key, and the BIOS boots again. */
_Noreturn void fail(const char *why);

/* The same for `name: why`. */
_Noreturn void fail_about(const char *name, const char *why);

/* The end of both: call it after having said what is wrong. */
_Noreturn void fail_now(void);

#endif
