/*
 * The last notable events, for the panic screen: a ring of 16, cheap enough for interrupt context.
 */
#ifndef KERNEL_EVENTS_H
#define KERNEL_EVENTS_H

#include <stdint.h>

enum { EVENTS_KEPT = 16 };

/* `what` must be a string constant. */
void event_note(const char *what, uint32_t a, uint32_t b);

/* Print them, oldest first, one a line, numbered since boot. */
void events_print(void);

#endif
