/*
 * The start screen: counts down by itself while the kernel is read, and any key opens the menu.
 */
#ifndef BOOT_FLOPPY_MENU_H
#define BOOT_FLOPPY_MENU_H

#include "boot/floppy/config.h"

/* Begin to count, and say so. */
void menu_start_count(void);

/* Between two tracks: the next number if it is due. */
void menu_keep_counting(void);

/*
 * Count to the end, or, once a key has been pressed, let the user choose; `line` is what he may
 * have changed.  The words that the chosen entry adds to it.
 */
const char *menu_finish(struct config *options);

#endif
