/*
 * Reading what a multiboot loader says of memory.  It is the loader's word, in turn the BIOS', not
 * to be trusted blindly: entries that overlap each other, the end of the map or of the address
 * space are cut, and the memory itself is asked before it is used.
 */
#include "kernel/memory.h"

#include "boot/multiboot.h"
#include "kernel/string.h"

enum { KB_SHIFT = 10, ONE_MB = 1 << 20, PAGE = 4096 };

struct map {
    const unsigned char *at;
    size_t left;
};

struct block {
    uint32_t start, end;
};

/* ---- the loader's word ---- */

static bool next_region(struct map *map, struct multiboot_region *r)
{
    if (map->left < sizeof *r) {
        return false;
    }
    memcpy(r, map->at, sizeof *r);
    size_t step = (size_t)r->size + sizeof r->size;
    if (step < sizeof *r || step > map->left) {
        step = map->left; /* malformed: it is the last one */
    }
    map->at += step;
    map->left -= step;
    return true;
}

static struct block block_of(const struct multiboot_region *r)
{
    uint32_t room = UINT32_MAX - r->base_low;
    uint32_t size = r->length_high != 0 || r->length_low > room ? room : r->length_low;
    return (struct block){r->base_low, r->base_high == 0 ? r->base_low + size : r->base_low};
}

/* What of `b` lies within the limits; nothing: start and end are equal. */
static struct block within(struct block b, uint32_t from, uint32_t to)
{
    b.start = b.start < from ? from : b.start;
    b.end = b.end > to ? to : b.end;
    b.end = b.end < b.start ? b.start : b.end;
    return b;
}

/* The larger part that is left of `b` without `gone`. */
static struct block without(struct block b, struct block gone)
{
    struct block below = within(b, 0, gone.start);
    struct block above = within(b, gone.end, UINT32_MAX);
    if (gone.end <= gone.start || gone.end <= b.start || gone.start >= b.end) {
        return b;
    }
    return below.end - below.start >= above.end - above.start ? below : above;
}

static void consider(struct memory *m, struct block b)
{
    uint32_t size = b.end - b.start;
    uint32_t best = m->end - m->start;
    bool lower = size >= MEMORY_ENOUGH && best >= MEMORY_ENOUGH && b.start < m->start;
    if (lower || (size > best && best < MEMORY_ENOUGH)) {
        m->start = b.start;
        m->end = b.end;
    }
}

struct memory memory_from_map(const void *map, size_t length, uint32_t image_end)
{
    struct memory m = {image_end, image_end, 0, 0};
    struct map all = {map, length};
    struct multiboot_region r, other;
    while (next_region(&all, &r)) {
        struct block b = block_of(&r);
        if (r.type != MULTIBOOT_REGION_FREE || b.end <= b.start) {
            continue;
        }
        if (b.end >> KB_SHIFT > m.top_kb) {
            m.top_kb = b.end >> KB_SHIFT;
        }
        struct block low = within(b, image_end, MEMORY_HOLE);
        struct block high = within(b, MEMORY_HOLE_END, MEMORY_LIMIT);
        for (struct map again = {map, length}; next_region(&again, &other);) {
            if (other.type != MULTIBOOT_REGION_FREE) {
                low = without(low, block_of(&other));
                high = without(high, block_of(&other));
            }
        }
        consider(&m, low);
        consider(&m, high);
    }
    m.claimed_kb = m.top_kb;
    return m;
}

struct memory memory_from_upper(uint32_t upper_kb, uint32_t image_end)
{
    struct memory m = {image_end, image_end, 0, 0};
    uint32_t most = (UINT32_MAX >> KB_SHIFT) - (ONE_MB >> KB_SHIFT);
    uint32_t kb = upper_kb < most ? upper_kb : most;
    struct block b = {ONE_MB, ONE_MB + (kb << KB_SHIFT)};
    m.top_kb = m.claimed_kb = kb == 0 ? 0 : b.end >> KB_SHIFT;
    consider(&m, within(b, image_end, MEMORY_HOLE));
    return m;
}

/* ---- the memory's own ---- */

/* Two values: equal once may be chance. */
bool memory_same(volatile uint32_t *ours, const volatile uint32_t *other)
{
    static const uint32_t values[] = {0x0DDBA115, 0xC0FFEE86};
    uint32_t kept = *ours;
    bool same = true;
    for (unsigned i = 0; same && i < sizeof values / sizeof values[0]; i++) {
        *ours = values[i];
        same = *other == values[i];
    }
    *ours = kept;
    return same;
}

static volatile uint32_t *word_at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

/* Where an address line is not connected, all begins again from the bottom, our own image too. */
static uint32_t before_mirror(uint32_t end, volatile uint32_t *mark)
{
    for (uint32_t line = 2 * ONE_MB; line < end; line += line) {
        uint32_t again = line + (uint32_t)(uintptr_t)mark;
        if (again < end && memory_same(mark, word_at(again))) {
            return line;
        }
    }
    return end;
}

/*
 * Written from the top, read from the bottom: what is the same memory as something lower is found
 * at its higher address.  Where there is none, the bus has forgotten the value long before.
 */
static uint32_t answers_up_to(uint32_t start, uint32_t end, uint32_t pattern)
{
    for (uint32_t page = end; page > start; page -= PAGE) {
        *word_at(page - PAGE) = (page - PAGE) ^ pattern;
    }
    for (uint32_t page = start; page < end; page += PAGE) {
        if (*word_at(page) != (page ^ pattern)) {
            return page;
        }
    }
    return end;
}

void memory_verify(struct memory *m, volatile uint32_t *mark)
{
    uint32_t claimed = m->end & -(uint32_t)PAGE;
    uint32_t start = (m->start + PAGE - 1) & -(uint32_t)PAGE;
    uint32_t end = before_mirror(m->end, mark) & -(uint32_t)PAGE;
    if (end > start) {
        end = answers_up_to(start, end, 0x5A5A5A5A);
        end = answers_up_to(start, end, ~UINT32_C(0x5A5A5A5A));
    }
    if (end < claimed) {
        m->end = end > m->start ? end : m->start;
        m->top_kb = m->end >> KB_SHIFT;
    }
}
