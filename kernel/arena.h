/*
 * Boot-time memory: handed out upwards, never freed.  After boot nothing allocates here.
 */
#ifndef KERNEL_ARENA_H
#define KERNEL_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Size of the machine's memory in KB, for whoever shows it; 0 until kmain.c knows. */
extern uint32_t machine_kb;

/* Give the arena the block [start, start + size); the largest one given is used. */
void arena_init(void *start, size_t size);

/* `size` zeroed bytes aligned to `align` (a power of two); null if there is no room. */
void *arena_alloc(size_t size, size_t align);

size_t arena_left(void);
size_t arena_used(void);

#endif
