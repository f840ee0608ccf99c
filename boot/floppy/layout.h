/*
 * Where things lie below 1 MB while the loader runs; for assembler and C.
 *
 *   00500          BIOS data ends
 *   00600..07BE0   stack of stage 2
 *   07BE0..07BFF   what the boot sector notes: its disk parameter table, the old vector, the tick
 *   07C00          boot sector with the BIOS parameter block
 *   08000..0EFFF   stage 2 as it is on the disk, then its variables
 *   10000..1FFFF   one track, in a 64 KB page of its own: a DMA transfer cannot cross its end
 */
#ifndef BOOT_FLOPPY_LAYOUT_H
#define BOOT_FLOPPY_LAYOUT_H

#define NOTES 0x7BE0       /* the boot sector's copy of the disk parameter table, 11 bytes */
#define NOTE_VECTOR 0x7BF8 /* INT 1Eh as the BIOS left it: far pointer */
#define NOTE_TICK 0x7BFC   /* BIOS tick when the boot sector began: 32 bits */

#define BOOT_SECTOR 0x7C00
#define BPB_SECTORS_PER_TRACK 0x18 /* offsets in the boot sector */
#define BPB_HEADS 0x1A
#define BPB_DRIVE 0x24
#define BPB_END 0x3E
#define STAGE2_FIRST 0x1FA  /* sectors of the disk, as iso/fat12.py has laid it out: the first */
#define STAGE2_BEHIND 0x1FC /* and the one behind the last */

#define STAGE2 0x8000
#define TRACK_BUFFER 0x10000

/* Of the BIOS: the vector of the disk parameter table, and the tick (18.2 a second). */
#define DISK_TABLE_VECTOR 0x78
#define DISK_TABLE_BYTES 11
#define DISK_TABLE_LAST_SECTOR 4 /* offset in it: sectors per track */
#define BIOS_TICK 0x46C

#endif
