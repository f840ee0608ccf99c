/*
 * What little of the PC the unpacker uses.
 */
#ifndef BOOT_UNPACK_PC_H
#define BOOT_UNPACK_PC_H

/*
 * The BIOS counts time in interrupts, which are off here.  Begin, then a step at least every 27 ms,
 * then the end: the BIOS's count goes on as if they had been on.
 */
void clock_begin(void);
void clock_step(void);
void clock_end(void);

/* A line for people: on the screen's first row, on COM1 and, in an emulator, on port E9h.  Ends
 * with CR LF.  Never waits for long, whether there is such hardware or not. */
void pc_say(const char *line);

_Noreturn void pc_halt(void);

#endif
