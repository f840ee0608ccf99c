/*
 * A pointer that only moves up.
 */
#include "kernel/arena.h"

#include "kernel/string.h"

uint32_t machine_kb;

static unsigned char *first;
static size_t size, used;

void arena_init(void *start, size_t bytes)
{
    if (bytes > size) {
        first = start;
        size = bytes;
        used = 0;
    }
}

void *arena_alloc(size_t bytes, size_t align)
{
    size_t skip = -((uintptr_t)first + used) & (align - 1);
    if (skip > size - used || bytes > size - used - skip) {
        return NULL;
    }
    void *block = first + used + skip;
    used += skip + bytes;
    return memset(block, 0, bytes);
}

size_t arena_left(void)
{
    return size - used;
}

size_t arena_used(void)
{
    return used;
}
