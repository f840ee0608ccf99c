/*
 * 64-bit division on a CPU that divides 64 by 32 bits: two div instructions, no libgcc.
 */
#ifndef KERNEL_MATH64_H
#define KERNEL_MATH64_H

#include <stdint.h>

/* value / by, and the remainder if `rest` is not null.  `by` must not be 0. */
uint64_t div64(uint64_t value, uint32_t by, uint32_t *rest);

/* value * num / den without overflow in between (96-bit product); UINT64_MAX if the result does
 * not fit.  `den` must not be 0. */
uint64_t muldiv64(uint64_t value, uint32_t num, uint32_t den);

#endif
