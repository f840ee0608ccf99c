/*
 * Stage 2 after start.S.
 */
#ifndef BOOT_FLOPPY_MAIN_H
#define BOOT_FLOPPY_MAIN_H

/* `drive`: the BIOS drive we were started from. */
void loader_main(unsigned drive);

#endif
