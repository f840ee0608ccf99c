/*
 * Which memory is ours, from what the loader said.  Pure.
 */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct memory {
    uint32_t start, end; /* the largest free block above the image; equal if there is none */
    uint32_t top_kb;     /* where free memory ends: the size of the machine's memory       */
};

/* From a multiboot memory map of `length` bytes.  Blocks above 4 GB are not counted. */
struct memory memory_from_map(const void *map, size_t length, uint32_t image_end);

/* From the size of the block at 1 MB alone. */
struct memory memory_from_upper(uint32_t upper_kb, uint32_t image_end);

#endif
