/*
 * The kernel's ELF file, put into place as its bytes come from the disk.
 * Source: Tool Interface Standard ELF 1.2, book I chapter 1 (file header) and 2 (program header).
 */
#ifndef BOOT_FLOPPY_IMAGE_H
#define BOOT_FLOPPY_IMAGE_H

#include <stdint.h>

/* `name` for messages; memory from 1 MB up to `memory_end` is the kernel's. */
void image_begin(const char *name, uint32_t memory_end);

/* For volume_read(): the bytes of the file, in order.  The headers must be in the first piece. */
void image_take(uint32_t at, uint32_t from, uint32_t bytes);

/* The same of a whole file that lies at `from`, without putting anything anywhere: returns if
 * image_begin(), image_take() and image_end() will succeed. */
void image_check(const char *name, uint32_t memory_end, uint32_t from, uint32_t bytes);

/* Zero what the file does not fill; the address of the entry. */
uint32_t image_end(uint32_t file_bytes);

#endif
