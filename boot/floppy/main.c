/*
 * Stage 2, the story: find the kernel and its options on the floppy, open memory above 1 MB, read
 * the kernel there while the user may still say what he wants, and enter it.
 */
#include "boot/floppy/main.h"

#include "boot/floppy/a20.h"
#include "boot/floppy/config.h"
#include "boot/floppy/disk.h"
#include "boot/floppy/handover.h"
#include "boot/floppy/image.h"
#include "boot/floppy/layout.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/menu.h"
#include "boot/floppy/screen.h"
#include "boot/floppy/survey.h"
#include "boot/floppy/volume.h"

enum { MB = 1 << 20 };

static struct config options;
static struct survey memory;
static bool counting;

static void read_a_track(void)
{
    say_char('.');
    if (counting) {
        menu_keep_counting();
    }
}

static void take_option_bytes(uint32_t at, uint32_t from, uint32_t bytes)
{
    char piece[64];

    (void)at;
    for (uint32_t done = 0; done < bytes; done += sizeof piece) {
        uint32_t n = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        memory_read(piece, from + done, n);
        for (uint32_t i = 0; i < n; i++) {
            config_take(&options, piece[i]);
        }
    }
}

/* Without the file there are no options, which is fine. */
static void read_options(void)
{
    struct file f;

    config_begin(&options);
    if (volume_find("NICTEST CFG", "NICTEST.CFG", &f)) {
        volume_read(&f, take_option_bytes);
    }
    config_end(&options);
    if (options.cut) {
        say("\nNICTEST.CFG: over 1023 bytes, rest lost");
    }
}

static uint32_t upper_end(void)
{
    uint32_t most = UINT32_MAX / 1024 - MB / 1024;

    return MB + (memory.upper_kb < most ? memory.upper_kb : most) * 1024;
}

void loader_main(unsigned drive)
{
    struct file kernel;

    counting = false;
    say("\nNicTest86 " NICTEST_VERSION " floppy ");
    volume_open((uint8_t)drive, read_a_track);
    read_options();
    if (!volume_find("NICTEST ELF", "NICTEST.ELF", &kernel)) {
        fail("no NICTEST.ELF on this disk");
    }
    if (!a20_open()) {
        fail("A20 cannot be enabled");
    }
    survey_memory(&memory);

    say("\n");
    menu_start_count();
    counting = true;
    image_begin(kernel.name, upper_end());
    volume_read(&kernel, image_take);
    uint32_t entry = image_end(kernel.bytes);
    const char *more = menu_finish(&options);

    disk_motor_off();
    struct loader loader = {.name = "NicTest86 floppy", .drive = (uint8_t)drive};
    memory_read(&loader.began, NOTE_TICK, sizeof loader.began);
    hand_over(entry, &loader, &memory, options.line, more);
}
