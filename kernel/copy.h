/*
 * Copying in line, for the few places where a call is dear against what is copied: a frame
 * gathered from short pieces.
 *
 * tests/host/shadow/kernel/copy.h does the same where the sanitizer sees it.
 */
#ifndef KERNEL_COPY_H
#define KERNEL_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copy `n` bytes that do not overlap; returns the end of the copy. */
static inline uint8_t *copy_append(uint8_t *to, const void *from, size_t n)
{
    size_t words = n / sizeof(uint32_t), bytes = n % sizeof(uint32_t);

    __asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}

#endif
