/*
 * INT 16h, and the tick of INT 08h.
 */
#include "boot/floppy/keyboard.h"

#include "boot/floppy/layout.h"
#include "boot/floppy/machine.h"

enum { KEYBOARD = 0x16, READ_KEY = 0x0000, LOOK_FOR_KEY = 0x0100 };

bool keyboard_pressed(void)
{
    struct bios_regs r = {.eax = LOOK_FOR_KEY};

    bios_call(&r, KEYBOARD);
    return (r.flags & FLAG_ZERO) == 0;
}

char keyboard_wait(void)
{
    struct bios_regs r = {.eax = READ_KEY};

    bios_call(&r, KEYBOARD);
    return (char)r.eax;
}

/* Read from memory: INT 1Ah would take the BIOS' note that midnight has passed. */
uint32_t clock_ticks(void)
{
    uint32_t ticks;

    memory_read(&ticks, BIOS_TICK, sizeof ticks);
    return ticks;
}

uint32_t clock_since(uint32_t then)
{
    uint32_t now = clock_ticks();

    return now >= then ? now - then : now + TICKS_A_DAY - then;
}
