/*
 * The Internet checksum (RFC 1071) of pieces of memory.
 *
 * A sum under way is any 32-bit number congruent to it modulo FFFFh; zero only if all summed bytes
 * are zero.
 */
#ifndef NET_PORT_CHECKSUM_H
#define NET_PORT_CHECKSUM_H

#include <stdint.h>

/* Add `n` bytes as little-endian words; an odd last byte counts as the low half of one.  What
 * follows an odd piece goes in with checksum_swap() around it. */
uint32_t checksum_add(uint32_t sum, const void *data, unsigned n);

/* The same for the 20 bytes of a plain IP or TCP header. */
static inline uint32_t checksum_add20(uint32_t sum, const void *header)
{
    __asm__("addl (%1), %0\n\t"
            "adcl 4(%1), %0\n\t"
            "adcl 8(%1), %0\n\t"
            "adcl 12(%1), %0\n\t"
            "adcl 16(%1), %0\n\t"
            "adcl $0, %0"
            : "+r"(sum)
            : "r"(header)
            : "cc", "memory");
    return sum;
}

/* Add with the carry brought round. */
static inline uint32_t checksum_add32(uint32_t sum, uint32_t value)
{
    __asm__("addl %1, %0\n\tadcl $0, %0" : "+r"(sum) : "g"(value) : "cc");
    return sum;
}

/* The 16-bit sum, not inverted: both halves and the carry out of the lower add up in the upper. */
static inline uint16_t checksum_fold(uint32_t sum)
{
    return (uint16_t)((sum + (sum << 16 | sum >> 16)) >> 16);
}

/* The sum as if every byte had lain one address further. */
static inline uint32_t checksum_swap(uint32_t sum)
{
    return sum << 8 | sum >> 24;
}

#endif
