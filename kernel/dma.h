/*
 * Memory that a bus-mastering card reads and writes by itself.
 *
 * On this machine bus addresses are physical addresses, and physical addresses are ours; the host's
 * shadow hands out 32-bit addresses of simulated memory instead.
 */
#ifndef KERNEL_DMA_H
#define KERNEL_DMA_H

#include <stddef.h>
#include <stdint.h>

struct dma {
    uint8_t *cpu; /* null: no memory      */
    uint32_t bus; /* what the card is told */
};

/* `len` zeroed bytes, physically contiguous, aligned to `align` (a power of two); from the boot
 * arena, never given back. */
struct dma dma_alloc(size_t len, size_t align);

/* Everything written before is in memory before the card is told so.  x86 keeps the order of
 * writes; the compiler must too. */
static inline void dma_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

#endif
