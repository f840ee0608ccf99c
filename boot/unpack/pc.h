/*
 * What little of the PC the unpacker uses.
 */
#ifndef BOOT_UNPACK_PC_H
#define BOOT_UNPACK_PC_H

#include <stdint.h>

/* How long this takes: begin, a step at least every 27 ms, then the end, which gives milliseconds.
 * (Interrupts are off, so the BIOS's clock stands still.) */
void clock_begin(void);
void clock_step(void);
uint32_t clock_end_ms(void);

/* A line for people: on the screen's first row, on COM1 and, in an emulator, on port E9h.  Ends
 * with CR LF.  Never waits for long, whether there is such hardware or not. */
void pc_say(const char *line);

_Noreturn void pc_halt(void);

#endif
