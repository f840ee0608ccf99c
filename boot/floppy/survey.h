/*
 * Which memory the machine has, in the words of the Multiboot Specification.
 */
#ifndef BOOT_FLOPPY_SURVEY_H
#define BOOT_FLOPPY_SURVEY_H

#include <stdint.h>

#include "boot/multiboot.h"

enum { SURVEY_REGIONS = 32 };

struct survey {
    uint32_t lower_kb; /* from 0 */
    uint32_t upper_kb; /* from 1 MB up to the first hole */
    unsigned regions;  /* 0: the BIOS told upper_kb alone */
    struct multiboot_region region[SURVEY_REGIONS];
};

void survey_memory(struct survey *s);

#endif
