/*
 * How the product's kernel is packed: written by iso/pack, read by boot/unpack/expand.c.
 *
 * An LZ77 with Huffman codes, made for one thing: some 300 KB of code for the 386, unpacked by a
 * 386, where a bit saved is a bit that no floppy has to turn by.  What deflate (RFC 1951) has not:
 * the window is the whole image, the code of a literal depends on the byte before it, a copy can be
 * as far back as the last one, and calls tell where to, not how far.
 *
 * Bytes 0 to 3: the CRC-32 (RFC 1952, section 8) of all that follows, lowest byte first.
 * Then bits, the lowest of each byte first; a code's first bit comes first:
 *
 * 1. For each symbol of the code of lengths, 4 bits: how long its code is, 0 if it has none.
 * 2. In that code the lengths of all others, symbol after symbol: the literals', the distances'.
 *    Symbols up to MAX_BITS are a length; the other two are so many symbols without a code.
 * 3. For each value of a byte, CHOICE_BITS: which of the literals' codes follows it.
 * 4. Until the image is full: a literal or a copy, in the code that follows the last byte (0 at the
 *    image's beginning).  A symbol from LENGTHS on is a copy of that slot's length; its distance
 *    comes behind it, in the distances' code of that length.  One from AGAIN on is a copy as far
 *    back as the last one.
 * 5. Zeros: at least two bytes of them, for who reads ahead, and to a multiple of PACKED_UNIT
 * bytes.
 *
 * A slot is a number's size: 0 is the number 0; s stands for 1 << (s - 1) and s - 1 bits more.  Of
 * a length COPY_MIN has been taken off, of a distance 1.
 *
 * In what comes out, the four bytes behind each byte E8h (searched from the front, not within such
 * four) are where the call leads, from the beginning of the image (call_operand).
 *
 * Each code is complete: no bits but mean something.
 */
#ifndef BOOT_UNPACK_PACKED_H
#define BOOT_UNPACK_PACKED_H

#include <stdint.h>

enum {
    SUM_BYTES = 4,
    PACKED_UNIT = 4,
    MAX_BITS = 11, /* of a code */

    LENGTH_SYMBOLS = MAX_BITS + 3,
    FEW_NONE = MAX_BITS + 1, /* with FEW_BITS more: NONE_MIN symbols and up   */
    MANY_NONE,               /* with MANY_BITS more: so many more than by few */
    NONE_MIN = 3,
    FEW_BITS = 3,
    MANY_BITS = 7,
    MANY_MIN = NONE_MIN + (1 << FEW_BITS),

    LITERAL_CODES = 16,
    CHOICE_BITS = 4,
    LENGTH_SLOTS = 9, /* up to 255 */
    LENGTHS = 256,
    AGAIN = LENGTHS + LENGTH_SLOTS,
    LITERAL_SYMBOLS = AGAIN + LENGTH_SLOTS,

    COPY_MIN = 2,
    COPY_MAX = COPY_MIN + (1 << (LENGTH_SLOTS - 1)) - 1,

    DISTANCE_CODES = 3,    /* for lengths of 2, of 3, and more */
    DISTANCE_SYMBOLS = 21, /* slots: up to 1 MB                */

    CALL = 0xE8,
    CALL_BYTES = 5, /* with its operand */
};

/* The distances' code for a copy's length. */
static inline unsigned distance_code(unsigned length)
{
    return length < COPY_MIN + DISTANCE_CODES - 1 ? length - COPY_MIN : DISTANCE_CODES - 1;
}

/*
 * From where a call leads, its operand; the call ends at `behind` in an image of n bytes.  One to
 * one: a place in the image, 0 to n, stands for the distance to there; what distances that leaves
 * out, for the places that are so used up.
 */
static inline uint32_t call_operand(uint32_t place, uint32_t behind, uint32_t n)
{
    return place < n ? place - behind : place + behind < behind ? place + n : place;
}

/* The reverse. */
static inline uint32_t call_place(uint32_t operand, uint32_t behind, uint32_t n)
{
    uint32_t place = operand + behind;
    return place < n ? place : operand < n && place >= n ? operand - n : operand;
}

#endif
