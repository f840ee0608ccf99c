/*
 * What a multiboot kernel is told.
 */
#ifndef BOOT_FLOPPY_HANDOVER_H
#define BOOT_FLOPPY_HANDOVER_H

#include <stdint.h>

#include "boot/floppy/survey.h"

/* Who loads the kernel. */
struct loader {
    const char *name; /* as the kernel is told */
    uint32_t began;   /* BIOS tick (keyboard.h) */
    int drive;        /* the BIOS's number, or NO_DRIVE */
};
enum { NO_DRIVE = -1 };

/* Set down the command line, `options` and `more` behind the milliseconds since the loader began
 * (kernel/loader.h), and the memory; then enter the kernel. */
_Noreturn void hand_over(uint32_t entry, const struct loader *loader, const struct survey *memory,
                         const char *options, const char *more);

#endif
