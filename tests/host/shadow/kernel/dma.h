/*
 * Memory for bus masters on the host: the interface of kernel/dma.h, with 32-bit bus addresses of
 * simulated memory (tests/host/sim/dma.c).
 */
#ifndef KERNEL_DMA_H
#define KERNEL_DMA_H

#include <stddef.h>
#include <stdint.h>

struct dma {
    uint8_t *cpu;
    uint32_t bus;
};

struct dma dma_alloc(size_t len, size_t align);

static inline void dma_barrier(void)
{
    __asm__ volatile("" : : : "memory");
}

#endif
