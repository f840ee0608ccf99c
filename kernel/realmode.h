/*
 * Back to the BIOS in real mode, never to return (boot/realmode.S).
 */
#ifndef KERNEL_REALMODE_H
#define KERNEL_REALMODE_H

enum realmode_task {
    REALMODE_WAIT = 0,      /* halted; the BIOS serves timer and keyboard, and knows Ctrl-Alt-Del */
    REALMODE_POWER_OFF = 1, /* by APM; without one, wait                                          */
};

/* Interrupt controllers and timer must be as the BIOS wants them (pic_leave(), time_leave()),
 * interrupts disabled, A20 on, and the first KB of memory as the BIOS left it. */
_Noreturn void realmode_leave(enum realmode_task task);

#endif
