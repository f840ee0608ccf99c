/*
 * lwIP's heap: blocks of four sizes, each size a free list.
 *
 * A search through a heap for every header costs more than the header (RESULTS.md); with lists,
 * taking and giving back are a few instructions each, and nothing fragments.  What finds its list
 * empty takes a block of the next size.
 */
#ifndef NET_PORT_HEAP_H
#define NET_PORT_HEAP_H

#include <stddef.h>

enum {
    HEAP_MIN = 96 * 1024, /* less than that does not carry a few connections both ways */
    HEAP_MAX = 256 * 1024,
};

/* Divide `bytes` (at least HEAP_MIN) at `memory` (aligned 16), which stays ours.  Before
 * lwip_init(). */
void heap_init(void *memory, size_t bytes);

/* A block of at least `bytes`, or null.  Main context only. */
void *heap_take(size_t bytes);

/* The same, zeroed. */
void *heap_take_zeroed(size_t count, size_t bytes);

/* Give a block back; null is no block. */
void heap_give(void *block);

#endif
