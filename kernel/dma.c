/*
 * Bus-addressable buffers out of the boot arena.
 */
#include "kernel/dma.h"

#include "kernel/arena.h"

struct dma dma_alloc(size_t len, size_t align)
{
    uint8_t *memory = arena_alloc(len, align);

    return (struct dma){.cpu = memory, .bus = (uint32_t)(uintptr_t)memory};
}
