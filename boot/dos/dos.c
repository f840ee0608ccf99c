/*
 * INT 21h, and how the program speaks and gives up under DOS (boot/floppy/screen.h).
 */
#include "boot/dos/dos.h"

#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"

enum { DOS = 0x21 };
enum { PUT_CHARACTER = 0x0200, RESET_DISK = 0x0D00, OPEN_TO_READ = 0x3D00, READ = 0x3F00 };

static uint32_t offset(const void *object)
{
    return (uint32_t)(uintptr_t)object;
}

bool dos_open(const char *path, unsigned *handle)
{
    struct bios_regs r = {.eax = OPEN_TO_READ, .edx = offset(path)};

    bios_call(&r, DOS);
    *handle = (uint16_t)r.eax;
    return (r.flags & FLAG_CARRY) == 0;
}

int dos_read(unsigned handle, void *to, unsigned most)
{
    struct bios_regs r = {.eax = READ, .ebx = handle, .ecx = most, .edx = offset(to)};

    bios_call(&r, DOS);
    return (r.flags & FLAG_CARRY) == 0 ? (uint16_t)r.eax : -1;
}

void dos_flush(void)
{
    struct bios_regs r = {.eax = RESET_DISK};

    bios_call(&r, DOS);
}

uint16_t dos_prefix16(unsigned at)
{
    uint16_t word;

    memory_read(&word, memory_address((const void *)(uintptr_t)at), sizeof word);
    return word;
}

/* ---- speaking ---- */

void screen_put(char c)
{
    struct bios_regs r = {.eax = PUT_CHARACTER, .edx = (uint8_t)c};

    bios_call(&r, DOS);
}

void fail_now(void)
{
    say("\n");
    machine_restart();
}

void fail(const char *why)
{
    fail_about("NicTest86", why);
}

void fail_about(const char *name, const char *why)
{
    say(name);
    say(": ");
    say(why);
    fail_now();
}
