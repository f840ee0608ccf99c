/*
 * The floppy, a whole track at a time: at five revolutions a second, every sector asked for by
 * itself may cost one of them.
 */
#ifndef BOOT_FLOPPY_DISK_H
#define BOOT_FLOPPY_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum { SECTOR_BYTES = 512 };

struct disk {
    uint8_t drive;              /* as the BIOS numbers it */
    uint16_t sectors_per_track; /* 1 to DISK_MAX_SECTORS  */
    uint16_t heads;             /* 1 or 2                 */
    void (*read_a_track)(void); /* called for each, before it is read */
};
enum { DISK_MAX_SECTORS = 63 };

void disk_open(const struct disk *d);

/* Whether disk_sector() can give it; tried as often as it would. */
bool disk_readable(uint32_t lba);

/*
 * The address of a sector's 512 bytes, good until another track is asked for.  `lba` counts from
 * the boot sector.  What cannot be read ends the loader with a line that tells where.
 */
uint32_t disk_sector(uint32_t lba);

/* All motors off, as the BIOS will not be there to do it. */
void disk_motor_off(void);

#endif
