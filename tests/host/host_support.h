/*
 * What stands for the console on the host: everything printed and recorded is kept as text.
 */
#ifndef TESTS_HOST_SUPPORT_H
#define TESTS_HOST_SUPPORT_H

#include <stdbool.h>

/* Forget what was captured. */
void host_capture_clear(void);

/* All text printed since then, and all records, one a line, without '@'s taken off. */
const char *host_text(void);
const char *host_records(void);

/* How often `part` occurs in `text`. */
unsigned host_count(const char *text, const char *part);

#endif
