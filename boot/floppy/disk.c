/*
 * INT 13h AH=02h.  A read never goes beyond the end of a track, so never to another head, which
 * not every BIOS can; the buffer has a 64 KB page to itself, so DMA never crosses into the next.
 */
#include "boot/floppy/disk.h"

#include "boot/floppy/layout.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"

enum { DISK = 0x13, RESET = 0x0000, READ = 0x0200 };
/* A cold motor, a seek not quite there, dust: the first failures mean little. */
enum { RETRIES = 4 };
enum { FDC_OUTPUT = 0x3F2, FDC_NO_RESET = 1 << 2, FDC_DMA_IRQ = 1 << 3 };

static struct disk disk;

/* What is in the buffer. */
static uint32_t track_held;
static enum { NOTHING, WHOLE_TRACK, SINGLE_SECTORS } held;
static uint8_t is_held[DISK_MAX_SECTORS]; /* with SINGLE_SECTORS: which */

void disk_open(const struct disk *d)
{
    disk = *d;
    held = NOTHING;
}

static void reset(void)
{
    struct bios_regs r = {.eax = RESET, .edx = disk.drive};

    bios_call(&r, DISK);
}

/* `n` sectors of the track from `first` (counted from 0) on, into their place in the buffer. */
static bool read(uint32_t track, unsigned first, unsigned n)
{
    unsigned cylinder = track / disk.heads, head = track % disk.heads;

    for (unsigned tries = 0; tries <= RETRIES; tries++) {
        struct bios_regs r = {
            .eax = READ | n,
            .ebx = first * SECTOR_BYTES,
            .ecx = (cylinder & 0xFF) << 8 | (cylinder >> 8 & 3) << 6 | (first + 1),
            .edx = head << 8 | disk.drive,
            .es = TRACK_BUFFER >> 4,
        };
        bios_call(&r, DISK);
        if ((r.flags & FLAG_CARRY) == 0) {
            return true;
        }
        reset();
    }
    return false;
}

static void hold_track(uint32_t track)
{
    disk.read_a_track();
    track_held = track;
    if (read(track, 0, disk.sectors_per_track)) {
        held = WHOLE_TRACK;
        return;
    }
    /* Perhaps the bad sector is none of ours. */
    held = SINGLE_SECTORS;
    for (unsigned i = 0; i < DISK_MAX_SECTORS; i++) {
        is_held[i] = false;
    }
}

static _Noreturn void unreadable(uint32_t track, unsigned sector)
{
    say("\ndisk read error at track ");
    say_number(track / disk.heads);
    say(", head ");
    say_number(track % disk.heads);
    say(", sector ");
    say_number(sector + 1);
    fail_now();
}

bool disk_readable(uint32_t lba)
{
    uint32_t track = lba / disk.sectors_per_track;
    unsigned sector = lba % disk.sectors_per_track;

    if (held == NOTHING || track != track_held) {
        hold_track(track);
    }
    if (held == SINGLE_SECTORS && !is_held[sector]) {
        is_held[sector] = read(track, sector, 1);
    }
    return held == WHOLE_TRACK || is_held[sector];
}

uint32_t disk_sector(uint32_t lba)
{
    unsigned sector = lba % disk.sectors_per_track;

    if (!disk_readable(lba)) {
        unreadable(lba / disk.sectors_per_track, sector);
    }
    return TRACK_BUFFER + sector * SECTOR_BYTES;
}

void disk_motor_off(void)
{
    port_out(FDC_OUTPUT, FDC_NO_RESET | FDC_DMA_IRQ);
}
