/*
 * The memory that bus masters reach: what dma_alloc() gave out, and nothing else.  A bus address
 * is no host address, so neither can pass for the other; blocks have holes between them.
 */
#ifndef TESTS_SIM_DMA_H
#define TESTS_SIM_DMA_H

#include <stdint.h>

/* Forget, and free, every block. */
void sim_dma_reset(void);

/* From now on dma_alloc() fails after `blocks` more; negative: never. */
void sim_dma_limit(int blocks);

/* The memory of a bus cycle of `who`: inside one block or the test ends. */
uint8_t *sim_dma(const char *who, uint32_t bus, uint32_t length);

#endif
