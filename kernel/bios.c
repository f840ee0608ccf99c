/*
 * Interrupt vectors of real mode.  Source: IBM AT Technical Reference (1985), "BIOS interrupts".
 */
#include "kernel/bios.h"

#include <stdint.h>

#include "kernel/io.h"

static const struct iowin vectors = {0};

enum {
    VECTOR_BYTES = 4, /* offset, segment */
    ROM_START = 0xC0000,
    ROM_END = 0x100000,
};

static bool leads_into_rom(unsigned vector)
{
    uint16_t far[2];

    mem_read16(vectors, vector * VECTOR_BYTES, far, 2);
    uint32_t address = ((uint32_t)far[1] << 4) + far[0];
    return address >= ROM_START && address < ROM_END;
}

bool bios_is_whole(void)
{
    static const uint8_t used[] = {
        0x08, /* timer                                     */
        0x09, /* keyboard                                  */
        0x15, /* system services: APM, and of the keyboard */
        0x1C, /* called at each tick of the timer          */
    };

    for (unsigned i = 0; i < sizeof used; i++) {
        if (!leads_into_rom(used[i])) {
            return false;
        }
    }
    return true;
}
