/*
 * The FAT12 volume: DOS may have moved any file on it, so each is found by its name and followed
 * along its chain.  Source: ECMA-107 (1995), chapters 7 to 11.
 */
#ifndef BOOT_FLOPPY_VOLUME_H
#define BOOT_FLOPPY_VOLUME_H

#include <stdbool.h>
#include <stdint.h>

#include "boot/floppy/disk.h"

/* A file of the root directory. */
struct file {
    const char *name; /* as one writes it, for messages */
    uint32_t bytes;
    uint16_t first; /* cluster */
};

/* Read the BIOS parameter block of the boot sector in memory, open the disk, read the FAT. */
void volume_open(uint8_t drive, void (*read_a_track)(void));

/* `padded`: 8 + 3 characters as in a directory.  False if there is none. */
bool volume_find(const char *padded, const char *name, struct file *f);

/*
 * The file, in order: `take` is called with the offset in the file, the address of the bytes there
 * and their number, at most a sector.
 */
void volume_read(const struct file *f, void (*take)(uint32_t at, uint32_t from, uint32_t bytes));

#endif
