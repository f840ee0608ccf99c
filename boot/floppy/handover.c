/*
 * Multiboot Specification 0.6.96, section 3.3.
 */
#include "boot/floppy/handover.h"

#include "boot/floppy/config.h"
#include "boot/floppy/keyboard.h"
#include "boot/floppy/machine.h"

/* Ten digits at most; the longest words of the menu are far shorter than the rest of it. */
enum { PREFIX_AND_ENTRY = 64 };
enum { WHOLE_DISK = 0xFFFFFF }; /* boot_device: no partition */

static struct multiboot_info info;
static char command_line[CONFIG_MAX + PREFIX_AND_ENTRY];

static char *put(char *at, const char *text)
{
    while (*text != '\0') {
        *at++ = *text++;
    }
    *at = '\0';
    return at;
}

static char *put_number(char *at, uint32_t n)
{
    if (n >= 10) {
        at = put_number(at, n / 10);
    }
    *at++ = (char)('0' + n % 10);
    return at;
}

/* A tick is 54.9254 ms; a day of them, times 549, is below 2^32. */
static uint32_t milliseconds_since(uint32_t tick)
{
    return clock_since(tick) * 549 / 10;
}

_Noreturn void hand_over(uint32_t entry, const struct loader *loader, const struct survey *memory,
                         const char *options, const char *more)
{
    char *at = put(command_line, "load_ms=");

    at = put_number(at, milliseconds_since(loader->began));
    at = put(at, " ");
    at = put(at, options);
    put(at, more);
    info.flags = MULTIBOOT_MEMORY | MULTIBOOT_CMDLINE | MULTIBOOT_LOADER_NAME |
                 (loader->drive != NO_DRIVE ? MULTIBOOT_BOOT_DEVICE : 0) |
                 (memory->regions != 0 ? MULTIBOOT_MMAP : 0);
    info.mem_lower = memory->lower_kb;
    info.mem_upper = memory->upper_kb;
    info.boot_device = (uint32_t)loader->drive << 24 | WHOLE_DISK;
    info.cmdline = memory_address(command_line);
    info.mmap_length = memory->regions * sizeof memory->region[0];
    info.mmap_addr = memory_address(memory->region);
    info.boot_loader_name = memory_address(loader->name);
    machine_enter(entry, memory_address(&info));
}
