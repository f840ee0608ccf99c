/*
 * kernel/copy.h on the host.
 */
#ifndef KERNEL_COPY_H
#define KERNEL_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t *copy_append(uint8_t *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

#endif
