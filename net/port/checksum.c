/*
 * The Internet checksum (RFC 1071) by 32-bit add-with-carry, 32 bytes a round.
 *
 * On a 386DX-40 this takes 63 us for 1472 bytes where a 16-bit C loop takes 370 (DESIGN 10).  A
 * ones' complement sum may be formed in any word size and byte order, and x86 loads need no
 * alignment, so an odd start needs no special case.
 */
#include "lwip/opt.h"

enum { ROUND = 32 };

static uint32_t sum_rounds(const uint8_t **at, unsigned rounds, uint32_t sum)
{
    const uint8_t *p = *at;

    /* lea and dec leave the carry flag alone, so it lives through the whole loop. */
    __asm__("clc\n"
            "1:\n\t"
            "adcl 0(%1), %0\n\t"
            "adcl 4(%1), %0\n\t"
            "adcl 8(%1), %0\n\t"
            "adcl 12(%1), %0\n\t"
            "adcl 16(%1), %0\n\t"
            "adcl 20(%1), %0\n\t"
            "adcl 24(%1), %0\n\t"
            "adcl 28(%1), %0\n\t"
            "lea 32(%1), %1\n\t"
            "decl %2\n\t"
            "jnz 1b\n\t"
            "adcl $0, %0"
            : "+r"(sum), "+r"(p), "+r"(rounds)
            :
            : "cc", "memory");
    *at = p;
    return sum;
}

static uint32_t fold(uint32_t sum)
{
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (sum & 0xFFFF) + (sum >> 16);
}

/* The 16-bit sum of `length` bytes as little-endian words, not inverted; an odd last byte counts as
 * the low one. */
uint16_t port_checksum(const void *data, int length)
{
    const uint8_t *p = data;
    unsigned left = (unsigned)length;
    uint32_t sum = 0;

    if (left >= ROUND) {
        sum = fold(sum_rounds(&p, left / ROUND, 0));
        left %= ROUND;
    }
    for (; left >= 2; left -= 2, p += 2) {
        sum += (uint32_t)p[0] | (uint32_t)p[1] << 8;
    }
    if (left != 0) {
        sum += p[0];
    }
    return (uint16_t)fold(sum);
}
