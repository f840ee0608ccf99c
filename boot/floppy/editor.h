/*
 * One line of text on the screen.
 */
#ifndef BOOT_FLOPPY_EDITOR_H
#define BOOT_FLOPPY_EDITOR_H

#include <stdbool.h>

#include "boot/floppy/config.h"

/*
 * Let the user change the options, with `more` already typed behind them.  False if he gave up
 * with Esc: nothing has changed.
 */
bool editor_run(struct config *options, const char *more);

#endif
