/*
 * Which memory is ours: what the loader said of it, less what cannot be true, and only as far as
 * it answers.
 */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MEMORY_HOLE = 15 << 20, /* from here to 16 MB an ISA card, or nothing, may answer */
    MEMORY_HOLE_END = 16 << 20,
    MEMORY_LIMIT = 64 << 20, /* nothing above is used                                  */
    MEMORY_ENOUGH = 4 << 20, /* more than the pools can take                           */
};

struct memory {
    uint32_t start, end; /* the block to use, above the image; equal if there is none      */
    uint32_t top_kb;     /* where free memory ends: the size of the machine's memory       */
    uint32_t claimed_kb; /* the same before memory_verify()                                */
};

/*
 * From a multiboot memory map of `length` bytes.  The lowest block that is MEMORY_ENOUGH, else the
 * largest; none reaches into the hole, past the limit, or into what another entry reserves.
 */
struct memory memory_from_map(const void *map, size_t length, uint32_t image_end);

/* From the size of the block at 1 MB alone (BIOS calls 88h and E801h): at most up to the hole. */
struct memory memory_from_upper(uint32_t upper_kb, uint32_t image_end);

/*
 * Do two addresses lead to the same memory?  Writes to `ours`, which keeps its value, and only
 * reads `other`.  With `other` one MB away: address line A20 is off.
 */
bool memory_same(volatile uint32_t *ours, const volatile uint32_t *other);

/*
 * Write and read back a word in each 4 KB of the block, and cut the block where memory ends, or
 * begins again from below.  `mark` is a word of the image that may be written to meanwhile.
 * Some 2 us a page on a 386.
 */
void memory_verify(struct memory *m, volatile uint32_t *mark);

#endif
