/*
 * Unpacking what gzip packed.  Source: RFC 1951 (deflate), RFC 1952 (frame, CRC-32).
 *
 * Pure: no I/O, nothing allocated, and for any input neither a byte read beyond it nor one written
 * beyond the room given; it always ends.  Not reentrant (its tables are static).
 */
#ifndef BOOT_UNPACK_INFLATE_H
#define BOOT_UNPACK_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflate_error {
    INFLATE_HEADER = -1, /* not gzip, or with a name or comment                */
    INFLATE_CODE = -2,   /* a block, code or distance that cannot be           */
    INFLATE_CUT = -3,    /* the input ends too early, or goes on behind its end */
    INFLATE_SIZE = -4,   /* what it holds is longer or shorter than was wanted */
    INFLATE_SUM = -5,    /* the check sum is wrong                             */
};

/* `working` is called at least this often, in bytes unpacked or checked (a stored block counts as
 * none). */
enum { INFLATE_STEP = 1024 };

/*
 * Unpack `packed` bytes at `from` into exactly `room` bytes at `to`; they must not overlap.
 * 0, or a negative enum inflate_error; then the room holds anything.
 */
int inflate_stream(const uint8_t *from, size_t packed, uint8_t *to, size_t room,
                   void (*working)(void));

#endif
