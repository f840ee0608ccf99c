/*
 * What is left of the BIOS in the first KB of memory.
 */
#ifndef KERNEL_BIOS_H
#define KERNEL_BIOS_H

#include <stdbool.h>

/*
 * May real mode be entered again?  Only if timer, keyboard and system services still lead into ROM:
 * what DOS has hooked leads to memory that was overwritten since.
 */
bool bios_is_whole(void);

#endif
