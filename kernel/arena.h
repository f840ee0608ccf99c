/*
 * Boot-time memory: handed out upwards, never freed.  After boot nothing allocates here.
 */
#ifndef KERNEL_ARENA_H
#define KERNEL_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Give the arena the block [start, start + size); the largest one given is used. */
void arena_init(void *start, size_t size);

/* `size` zeroed bytes aligned to `align` (a power of two); null if there is no room. */
void *arena_alloc(size_t size, size_t align);

size_t arena_left(void);
size_t arena_used(void);

#endif
