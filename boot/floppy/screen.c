/*
 * INT 10h AH=0Eh is all: it works on CGA, EGA, VGA, MDA and Hercules, in 40 and 80 columns.
 */
#include "boot/floppy/screen.h"

#include "boot/floppy/keyboard.h"
#include "boot/floppy/machine.h"

enum { VIDEO = 0x10, TELETYPE = 0x0E00, LIGHT_GREY = 7 };
enum { EMULATOR_PORT = 0xE9, EMULATOR_ANSWER = 0xE9 };

static void put(char c)
{
    struct bios_regs r = {.eax = TELETYPE | (uint8_t)c, .ebx = LIGHT_GREY};

    bios_call(&r, VIDEO);
}

void say_char(char c)
{
    if (c == '\n') {
        put('\r');
    }
    put(c);
    if (port_in(EMULATOR_PORT) == EMULATOR_ANSWER) {
        port_out(EMULATOR_PORT, (uint8_t)c);
    }
}

void say(const char *text)
{
    while (*text != '\0') {
        say_char(*text++);
    }
}

void say_number(uint32_t n)
{
    if (n >= 10) {
        say_number(n / 10);
    }
    say_char((char)('0' + n % 10));
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
