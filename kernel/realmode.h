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
 * interrupts disabled, and bios_is_whole(). */
_Noreturn void realmode_leave(enum realmode_task task);

#endif
