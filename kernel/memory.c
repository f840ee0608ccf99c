/*
 * Reading the multiboot memory map.  It is the loader's word, not to be trusted blindly: entries
 * that overlap the end of the map or of the address space are cut.
 */
#include "kernel/memory.h"

#include "boot/multiboot.h"
#include "kernel/string.h"

enum { KB_SHIFT = 10, MB_SHIFT = 20 };

/* One free block [base, end). */
static void add(struct memory *m, uint32_t base, uint32_t end, uint32_t image_end)
{
    uint32_t start = base > image_end ? base : image_end;
    if (end > start && end - start > m->end - m->start) {
        m->start = start;
        m->end = end;
    }
    if (end >> KB_SHIFT > m->top_kb) {
        m->top_kb = end >> KB_SHIFT;
    }
}

struct memory memory_from_map(const void *map, size_t length, uint32_t image_end)
{
    struct memory m = {image_end, image_end, 0};
    const unsigned char *at = map;
    struct multiboot_region r;
    while (length >= sizeof r) {
        memcpy(&r, at, sizeof r);
        uint32_t room = UINT32_MAX - r.base_low;
        uint32_t size = r.length_high != 0 || r.length_low > room ? room : r.length_low;
        if (r.type == MULTIBOOT_REGION_FREE && r.base_high == 0) {
            add(&m, r.base_low, r.base_low + size, image_end);
        }
        size_t step = (size_t)r.size + sizeof r.size;
        if (step < sizeof r || step > length) {
            break;
        }
        at += step;
        length -= step;
    }
    return m;
}

struct memory memory_from_upper(uint32_t upper_kb, uint32_t image_end)
{
    struct memory m = {image_end, image_end, 0};
    uint32_t most = (UINT32_MAX >> KB_SHIFT) - (1 << (MB_SHIFT - KB_SHIFT));
    uint32_t kb = upper_kb < most ? upper_kb : most;
    add(&m, 1u << MB_SHIFT, (1u << MB_SHIFT) + (kb << KB_SHIFT), image_end);
    return m;
}
