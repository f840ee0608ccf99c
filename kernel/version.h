/*
 * Who we are, in the banner, the `boot` record and on the panic screen.
 */
#ifndef KERNEL_VERSION_H
#define KERNEL_VERSION_H

#include <stdint.h>

/* NICTEST_VERSION, a string, comes from the Makefile. */

enum { BUILD_ID_SHOWN = 4 }; /* bytes; 8 hex digits tell any two builds apart */

/* The ELF note with the linker's SHA-1 of the image (linker.ld): 16 bytes of header, then the id.
 */
extern const uint8_t __build_id_note[];
enum { BUILD_ID_OFFSET = 16 };

#endif
