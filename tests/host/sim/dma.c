/*
 * Simulated memory for bus masters.
 */
#include "tests/host/sim/dma.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/dma.h"
#include "tests/host/sim/bus.h"

enum { BLOCKS = 64, FIRST = 0x00200000, HOLE = 0x1000 };

static struct block {
    uint8_t *cpu;
    uint32_t bus, length;
} blocks[BLOCKS];
static unsigned used;
static uint32_t next = FIRST;
static int limit = -1;

void sim_dma_reset(void)
{
    while (used > 0) {
        free(blocks[--used].cpu);
    }
    next = FIRST;
    limit = -1;
}

void sim_dma_limit(int more)
{
    limit = more;
}

/* Not more aligned than was asked for, and every byte beyond the block is the sanitizer's. */
struct dma dma_alloc(size_t length, size_t align)
{
    if (limit == 0) {
        return (struct dma){0};
    }
    limit -= limit > 0;
    if (used == BLOCKS) {
        sim_bad_test("dma: more than %d blocks", BLOCKS);
    }
    struct block *b = &blocks[used++];
    *b = (struct block){calloc(1, length), (uint32_t)(next + align), (uint32_t)length};
    next = (uint32_t)((b->bus + length + HOLE + 2 * align) & ~(2 * align - 1));
    return (struct dma){b->cpu, b->bus};
}

uint8_t *sim_dma(const char *who, uint32_t bus, uint32_t length)
{
    for (unsigned i = 0; i < used; i++) {
        const struct block *b = &blocks[i];
        if (bus >= b->bus && bus - b->bus <= b->length && length <= b->length - (bus - b->bus)) {
            return b->cpu + (bus - b->bus);
        }
    }
    sim_misuse("%s: bus cycle at %08x, %u bytes: outside of what it was given", who, bus, length);
}
