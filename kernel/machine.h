/*
 * Leaving: reboot, power off, and telling an emulator the result.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include <stdbool.h>

/* Called before every way out, newest first: cards are stopped here.  At most 4. */
void machine_at_exit(void (*quiet)(void));

/* Call them now, each once. */
void machine_run_exit_hooks(void);

/* `exit` record, drain, port F4h, "Shutdown" to 8900h, APM power-off, else halt in the BIOS, where
 * Ctrl-Alt-Del works; with a BIOS that DOS has hooked, machine_halt().  DESIGN 3. */
_Noreturn void machine_quit(int status);

/* Only the ports, then machine_halt().  Touches nothing that a panic may have broken. */
_Noreturn void machine_stop(int status);

/* Stand still, interrupts off, until Ctrl-Alt-Del restarts the machine. */
_Noreturn void machine_halt(void);

/*
 * Restart, with the BIOS told to skip its memory test: by keyboard controller, port 92h, the PCI
 * chipset's reset register, a triple fault, whichever works first.
 */
_Noreturn void machine_reboot(void);

/* Port E9h reads back E9h: Bochs, or QEMU with its debug console. */
bool machine_is_emulator(void);

#endif
