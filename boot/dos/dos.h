/*
 * What the program asks of DOS (2.0 and later).  Source: Ralf Brown's Interrupt List, INT 21h.
 */
#ifndef BOOT_DOS_DOS_H
#define BOOT_DOS_DOS_H

#include <stdbool.h>
#include <stdint.h>

/* The path ends with 0. */
bool dos_open(const char *path, unsigned *handle);

/* Bytes read, at most `most`; 0 at the end of the file, negative for an error. */
int dos_read(unsigned handle, void *to, unsigned most);

/* All that DOS and a disk cache still hold is written. */
void dos_flush(void);

/* A word of the program segment prefix. */
uint16_t dos_prefix16(unsigned offset);

enum {
    PREFIX_MEMORY_END = 0x02,  /* first segment that is not ours         */
    PREFIX_ENVIRONMENT = 0x2C, /* segment of variables and our own path  */
    PREFIX_TAIL = 0x80,        /* length, then the rest of command line  */
    TAIL_MAX = 127,
};

#endif
