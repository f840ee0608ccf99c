/*
 * The values of boot options: one parser a kind of value, pure.
 *
 * Each returns null if it has stored the value, else why it cannot be used, in words; then nothing
 * is stored.  The reason is valid until the next call.
 */
#ifndef KERNEL_OPTION_VALUES_H
#define KERNEL_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/options.h"

/* Decimal number within the limits, and nothing else. */
const char *value_number(const char *text, uint32_t min, uint32_t max, uint32_t *to);

/* One of two words: `no` stores false, `yes` true. */
const char *value_choice(const char *text, const char *no, const char *yes, bool *to);

const char *value_ip(const char *text, struct option_ip *to);
const char *value_nic(const char *text, struct option_nic *to);
const char *value_range(const char *text, uint16_t *first, uint16_t *last);
const char *value_console(const char *text, bool *vga, bool *com1, uint32_t *baud);
const char *value_trace(const char *text, bool *io, bool *ring, bool *irq);
const char *value_host_name(const char *text, char *to, unsigned size);

#endif
