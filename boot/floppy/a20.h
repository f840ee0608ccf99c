/*
 * The 21st address line, which a PC holds down until told otherwise.
 */
#ifndef BOOT_FLOPPY_A20_H
#define BOOT_FLOPPY_A20_H

#include <stdbool.h>

/* Let it through by one of the known ways, each verified; false if none does. */
bool a20_open(void);

#endif
