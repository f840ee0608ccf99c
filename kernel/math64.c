/*
 * 64-bit division by pairs of 32-bit div instructions, as in long division by hand with digits
 * of 32 bits: the rest of one digit is the upper half of the next dividend.
 */
#include <stddef.h>

#include "kernel/math64.h"

/* One digit: (*rest : low) / by.  *rest < by, so the quotient fits and div cannot trap. */
static uint32_t div_digit(uint32_t *rest, uint32_t low, uint32_t by)
{
    uint32_t quotient;
    __asm__("divl %4" : "=a"(quotient), "=d"(*rest) : "0"(low), "1"(*rest), "rm"(by) : "cc");
    return quotient;
}

uint64_t div64(uint64_t value, uint32_t by, uint32_t *rest)
{
    uint32_t carry = 0;
    uint64_t high = div_digit(&carry, (uint32_t)(value >> 32), by);
    uint64_t quotient = high << 32 | div_digit(&carry, (uint32_t)value, by);
    if (rest != NULL) {
        *rest = carry;
    }
    return quotient;
}

uint64_t muldiv64(uint64_t value, uint32_t num, uint32_t den)
{
    uint64_t low = (value & UINT32_MAX) * num;
    uint64_t high = (value >> 32) * num + (low >> 32); /* cannot overflow: (2^32-1)^2 + 2^32-1 */
    uint32_t rest;
    uint64_t upper = div64(high, den, &rest);
    if (upper > UINT32_MAX) {
        return UINT64_MAX;
    }
    return upper << 32 | div_digit(&rest, (uint32_t)low, den);
}
