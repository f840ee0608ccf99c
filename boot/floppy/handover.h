/*
 * What a multiboot kernel is told.
 */
#ifndef BOOT_FLOPPY_HANDOVER_H
#define BOOT_FLOPPY_HANDOVER_H

#include <stdint.h>

#include "boot/floppy/survey.h"

/* Set down the command line, `options` and `more` behind the milliseconds since the boot sector
 * began (kernel/loader.h), and the memory; then enter the kernel. */
_Noreturn void hand_over(uint32_t entry, uint8_t drive, const struct survey *memory,
                         const char *options, const char *more);

#endif
