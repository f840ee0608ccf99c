/*
 * Packing an image into the format of boot/unpack/packed.h, for the host.
 *
 * It is done in rounds: from how often each symbol was used, the lengths of all codes; from those,
 * what each literal and copy costs; from that, the cheapest way through the image.  The shortest of
 * all rounds is taken.  Whole numbers only, so each host gives the same bytes.
 */
#ifndef ISO_PACK_PACK_H
#define ISO_PACK_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "boot/unpack/packed.h"

enum { PACK_MAX = 1 << 20 }; /* bytes of an image */

struct bytes {
    uint8_t *at;
    size_t n;
};

/* Packed, in memory of malloc()'s; n <= PACK_MAX. */
struct bytes pack_image(const uint8_t *image, size_t n);

/* ---- the parts of it ---- */

/* A literal, of length 1 and distance 0, or a copy. */
struct token {
    uint32_t length, distance;
};

/* How many bits each symbol has, 0 for none, and which code follows which byte. */
struct codes {
    uint8_t choice[256];
    uint8_t literal[LITERAL_CODES][LITERAL_SYMBOLS];
    uint8_t distance[DISTANCE_CODES][DISTANCE_SYMBOLS];
};

/* What a symbol without a code is taken to cost: somewhat more than the dearest. */
enum { NO_CODE_BITS = MAX_BITS + 2 };

/* All that can be copied to a place: for each length of least[i - 1] + 1 to least[i], how far back
 * is nearest. */
struct match {
    uint16_t length;
    uint32_t distance;
};
struct matches {
    struct match *all;
    uint32_t *first; /* of those of a place; n + 1 of them */
};
struct matches find_matches(const uint8_t *image, size_t n);

/* The size of a number (packed.h). */
unsigned slot_of(uint32_t value);

/* The symbol of a copy. */
unsigned copy_symbol(const struct token *t, uint32_t last_distance);

/* The cheapest tokens for the whole image, at most n; returns how many. */
size_t cheapest(const uint8_t *image, size_t n, const struct matches *m, const struct codes *c,
                struct token *tokens);

/* Codes for these tokens; c->choice is where to begin from, and made better. */
void fit_codes(struct codes *c, const uint8_t *image, const struct token *tokens, size_t count);

/* Bits for each of n symbols that are so frequent, a complete code. */
void huffman(const uint32_t *frequency, unsigned n, uint8_t *bits);

/* Put the sum of all that follows into its first four bytes. */
void sign(struct bytes packed);

/* The bytes that stand for them. */
struct bytes write_packed(const struct codes *c, const uint8_t *image, const struct token *tokens,
                          size_t count);

/* n zeros; old room made larger; or the end of the program. */
void *room_for(size_t n);
void *more_room(void *old, size_t n);

#endif
