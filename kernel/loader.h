/*
 * What our own loaders say ahead of the boot options: the time that loading took.
 *
 * Their command line begins with the word `load_ms=N`, N in milliseconds from the loader's first
 * instruction to the kernel's, by the BIOS tick (so to 55 ms).  It is no option: it counts neither
 * towards the 1023 bytes of those, nor may one write it.
 */
#ifndef KERNEL_LOADER_H
#define KERNEL_LOADER_H

#include <stdbool.h>
#include <stdint.h>

/* Take that word off the line; what follows it, or all of a line without it. */
const char *loader_take(const char *line);

/* What unpacking this kernel took, on top of that: boot/unpack writes it before the kernel runs. */
extern volatile uint32_t loader_unpack_ms;

/* Both together.  False if the loader has not said. */
bool loader_load_ms(uint32_t *ms);

#endif
