/*
 * INT 15h, the newest call first: E820h (a list), E801h (below and above 16 MB, so a hole there is
 * known), 88h (KB above 1 MB); INT 12h for the memory below.
 * Sources: ACPI Specification 5.0 section 15.1 (E820h), Ralf Brown's Interrupt List (E801h, 88h).
 */
#include "boot/floppy/survey.h"

#include <stdbool.h>
#include <stddef.h>

#include "boot/floppy/machine.h"

enum { LOWER_MEMORY = 0x12, SYSTEM_SERVICES = 0x15 };
enum { QUERY_MAP = 0xE820, QUERY_TWO = 0xE801, QUERY_UPPER = 0x8800, SMAP = 0x534D4150 };
enum { UNKNOWN_PC = 0x80, UNKNOWN_XT = 0x86 }; /* in AH: there is no such service */
enum { KB = 1 << 10, MB = 1 << 20, BELOW_16_MB = 15 * KB /* KB */, FREE = MULTIBOOT_REGION_FREE };
enum { REGION_SIZE = sizeof(struct multiboot_region) - sizeof(uint32_t) };

static void add(struct survey *s, uint32_t base, uint32_t kb)
{
    if (kb != 0 && s->regions < SURVEY_REGIONS) {
        s->region[s->regions++] = (struct multiboot_region){
            .size = REGION_SIZE,
            .base_low = base,
            .length_low = kb << 10,
            .length_high = kb >> 22,
            .type = FREE,
        };
    }
}

/* The BIOS writes straight into the list.  It ends with ebx = 0, or with carry. */
static bool by_map(struct survey *s)
{
    struct bios_regs r = {.ebx = 0};

    do {
        struct multiboot_region *next = &s->region[s->regions];
        *next = (struct multiboot_region){.size = REGION_SIZE};
        r.eax = QUERY_MAP;
        r.ecx = REGION_SIZE;
        r.edx = SMAP;
        r.es = 0;
        r.edi = memory_address(&next->base_low);
        bios_call(&r, SYSTEM_SERVICES);
        if ((r.flags & FLAG_CARRY) != 0 || r.eax != SMAP || r.ecx < REGION_SIZE) {
            break;
        }
        s->regions += (next->length_low | next->length_high) != 0;
    } while (r.ebx != 0 && s->regions < SURVEY_REGIONS);
    return s->regions != 0;
}

/* KB up to 16 MB, and 64 KB blocks above.  Some BIOSes leave one pair of registers alone. */
static bool by_two(struct survey *s)
{
    struct bios_regs r = {.eax = QUERY_TWO};

    bios_call(&r, SYSTEM_SERVICES);
    uint32_t below = (uint16_t)r.eax, above = (uint16_t)r.ebx;
    if ((uint16_t)r.ecx != 0) {
        below = (uint16_t)r.ecx;
        above = (uint16_t)r.edx;
    }
    if ((r.flags & FLAG_CARRY) != 0 || below == 0 || below > BELOW_16_MB) {
        return false;
    }
    add(s, 0, s->lower_kb);
    if (below == BELOW_16_MB) {
        add(s, MB, below + above * 64);
    } else {
        add(s, MB, below);
        add(s, 16 * MB, above * 64);
    }
    return true;
}

/* Carry alone is no refusal: some BIOSes leave it as the caller had it (Ralf Brown's list). */
static uint32_t by_upper(void)
{
    struct bios_regs r = {.eax = QUERY_UPPER};

    bios_call(&r, SYSTEM_SERVICES);
    uint8_t status = (uint8_t)(r.eax >> 8);
    bool refused = (r.flags & FLAG_CARRY) != 0 && (status == UNKNOWN_PC || status == UNKNOWN_XT);
    return refused ? 0 : (uint16_t)r.eax;
}

/* From the list: what is free from 1 MB on, in one piece or in several that touch. */
static uint32_t upper_from_list(const struct survey *s)
{
    uint32_t end = MB;
    bool grown;

    do {
        grown = false;
        for (unsigned i = 0; i < s->regions; i++) {
            const struct multiboot_region *r = &s->region[i];
            if (r->type != FREE || r->base_high != 0 || r->base_low > end) {
                continue;
            }
            uint32_t to = r->base_low + r->length_low;
            if (r->length_high != 0 || to < r->base_low) {
                to = UINT32_MAX; /* beyond 4 GB */
            }
            grown |= to > end;
            end = to > end ? to : end;
        }
    } while (grown);
    return (end - MB) / KB;
}

void survey_memory(struct survey *s)
{
    struct bios_regs r = {.eax = 0};

    bios_call(&r, LOWER_MEMORY);
    s->lower_kb = (uint16_t)r.eax;
    s->regions = 0;
    s->upper_kb = by_map(s) || by_two(s) ? upper_from_list(s) : by_upper();
}
