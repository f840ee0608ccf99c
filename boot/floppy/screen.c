/*
 * INT 10h AH=0Eh is all: it works on CGA, EGA, VGA, MDA and Hercules, in 40 and 80 columns.
 */
#include "boot/floppy/screen.h"

#include "boot/floppy/keyboard.h"
#include "boot/floppy/machine.h"

enum { VIDEO = 0x10, TELETYPE = 0x0E00, LIGHT_GREY = 7 };

void screen_put(char c)
{
    struct bios_regs r = {.eax = TELETYPE | (uint8_t)c, .ebx = LIGHT_GREY};

    bios_call(&r, VIDEO);
}

void fail_now(void)
{
    say("\nPress a key to boot again. ");
    keyboard_wait();
    say("\n");
    machine_restart();
}

void fail(const char *why)
{
    say("\n");
    say(why);
    fail_now();
}

void fail_about(const char *name, const char *why)
{
    say("\n");
    say(name);
    say(": ");
    say(why);
    fail_now();
}
