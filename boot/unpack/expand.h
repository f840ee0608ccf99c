/*
 * Unpacking the kernel (boot/unpack/packed.h).
 *
 * Pure: no I/O, nothing allocated, and for any input neither a byte read beyond it nor one written
 * beyond the room given; it always ends.  Not reentrant (its tables are static).
 */
#ifndef BOOT_UNPACK_EXPAND_H
#define BOOT_UNPACK_EXPAND_H

#include <stddef.h>
#include <stdint.h>

enum expand_error {
    EXPAND_SUM = -1,  /* the check sum is wrong                          */
    EXPAND_CODE = -2, /* a code or distance that cannot be               */
    EXPAND_CUT = -3,  /* the input ends too early                        */
    EXPAND_SIZE = -4, /* it holds more or less than was wanted           */
};

/* `working` is called at least this often, in bytes checked, unpacked or looked at; and after each
 * of the 19 codes, and for each 256 of their lengths: a few milliseconds of a 386, at the most. */
enum { EXPAND_STEP = 1024 };

/*
 * Unpack `packed` bytes at `from` into exactly `room` bytes at `to`; they must not overlap.
 * 0, or a negative enum expand_error; then the room holds anything.
 */
int expand(const uint8_t *from, size_t packed, uint8_t *to, size_t room, void (*working)(void));

#endif
