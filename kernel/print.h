/*
 * Formatting, pure: no device, no state.  The kernel's printf subset.
 *
 * %d %i %u %x %X %c %s %p %%, length l, ll, z; flags '-' and '0', a width, a precision for %s.
 * %I prints an IPv4 address from a uint32_t in network byte order, %M a MAC from a const
 * uint8_t[6].  No floating point: fixed-point helpers are below.
 */
#ifndef KERNEL_PRINT_H
#define KERNEL_PRINT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Like snprintf: at most size - 1 characters and a NUL; returns the length it wanted. */
int format(char *to, size_t size, const char *fmt, ...);
int vformat(char *to, size_t size, const char *fmt, va_list args);

/* value / 10^decimals as text, e.g. (115880, 2) -> "1158.80".  Up to 5 decimals.  Returns `to`;
 * 24 bytes are always enough. */
char *format_fixed(char to[24], uint64_t value, unsigned decimals);

#endif
