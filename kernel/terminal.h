/*
 * What a terminal at COM1 sends, as keys.
 */
#ifndef KERNEL_TERMINAL_H
#define KERNEL_TERMINAL_H

#include <stdbool.h>

/* Forget half a sequence. */
void terminal_init(void);

/*
 * Next key, or -1: '\n' for CR, LF or both, '\b' for DEL, 27 for Esc.  Esc is told from the start
 * of a cursor or function key by what follows within 20 ms; such keys give nothing.
 */
int terminal_key(void);

/* A byte is here that terminal_key() has put aside, or it waits for what comes after an Esc. */
bool terminal_waiting(void);

#endif
