/*
 * Speaking, for the floppy's stage 2 and NICTEST.COM alike; each puts characters its own way.
 */
#include "boot/floppy/screen.h"

#include "boot/floppy/machine.h"

enum { EMULATOR_PORT = 0xE9, EMULATOR_ANSWER = 0xE9 };

void say_char(char c)
{
    if (c == '\n') {
        screen_put('\r');
    }
    screen_put(c);
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
