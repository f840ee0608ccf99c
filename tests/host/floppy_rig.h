/*
 * FAT12 floppies and kernels for the loader's tests, in the simulated PC's drive.
 */
#ifndef TESTS_HOST_FLOPPY_RIG_H
#define TESTS_HOST_FLOPPY_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "boot/multiboot.h"

struct format {
    unsigned sectors, per_track, per_cluster, reserved, roots, per_fat;
};
extern const struct format format_1440, format_720;

/* An empty volume in `pc`'s drive. */
void rig_format(const struct format *f);

/* A directory entry and a chain that begins at `first` and goes on every `step`-th cluster (which
 * may be negative); the entry's offset on the disk. */
size_t rig_add(const char *padded, const void *content, size_t bytes, unsigned first, int step);

/* Sector of a cluster; entry of the FAT. */
unsigned rig_sector(unsigned cluster);
void rig_set_fat(unsigned cluster, unsigned value);

/* A kernel: text of `text` bytes at 1 MB, data of 100 bytes behind it with a bss of 5000; in
 * rig_kernel, its length. */
enum { RIG_TEXT_OFFSET = 0x100, RIG_DATA = 100, RIG_BSS = 5000, RIG_ENTRY = 0x100010 };
extern uint8_t rig_kernel[400 * 1024];
size_t rig_build_kernel(unsigned text);

/* The usual floppy: options (null: no file) and a kernel with RIG_TEXT. */
enum { RIG_TEXT = 60000 };
void rig_usual(const char *options);

/* The kernel of the rig runs, and every byte of it is in its place. */
void rig_check_entered(unsigned text);

/* What it was told. */
const struct multiboot_info *rig_info(void);
const char *rig_command_line(void);

#endif
