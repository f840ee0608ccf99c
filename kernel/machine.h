/*
 * Leaving: reboot, power off, and telling an emulator the result.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include <stdbool.h>

/* Called before every way out, newest first: cards are stopped here.  At most 4. */
void machine_at_exit(void (*quiet)(void));

/* `exit` record, drain, port F4h, "Shutdown" to 8900h, APM power-off, else halt.  DESIGN 3. */
_Noreturn void machine_quit(int status);

/* Keyboard controller, then triple fault. */
_Noreturn void machine_reboot(void);

/* Port E9h reads back E9h: Bochs, or QEMU with its debug console. */
bool machine_is_emulator(void);

#endif
