/*
 * The rounds: codes, tokens, codes; the shortest result is taken.
 */
#include "iso/pack/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8 };

void *more_room(void *old, size_t n)
{
    void *more = realloc(old, n == 0 ? 1 : n);
    if (more == NULL) {
        fprintf(stderr, "pack: no memory\n");
        exit(1);
    }
    return more;
}

void *room_for(size_t n)
{
    return memset(more_room(NULL, n), 0, n);
}

static uint32_t little32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Where calls lead, in place of how far. */
static void place_calls(uint8_t *image, size_t n)
{
    for (size_t at = 0; at + CALL_BYTES <= n; at++) {
        if (image[at] == CALL) {
            uint32_t behind = (uint32_t)at + CALL_BYTES;
            uint32_t place = call_place(little32(image + at + 1), behind, (uint32_t)n);
            for (unsigned i = 0; i < 4; i++) {
                image[at + 1 + i] = (uint8_t)(place >> 8 * i);
            }
            at += CALL_BYTES - 1;
        }
    }
}

/* Before anything has been counted: all equal, and all bytes take the first code. */
static void first_codes(struct codes *c)
{
    memset(c->choice, 0, sizeof c->choice);
    memset(c->literal, 8, sizeof c->literal);
    memset(c->distance, 5, sizeof c->distance);
}

struct bytes pack_image(const uint8_t *image, size_t n)
{
    uint8_t *plain = memcpy(room_for(n), image, n);
    struct token *tokens = room_for(n * sizeof *tokens);
    struct codes c;
    struct bytes best = {NULL, SIZE_MAX};
    place_calls(plain, n);
    struct matches m = find_matches(plain, n);
    first_codes(&c);
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t count = cheapest(plain, n, &m, &c, tokens);
        fit_codes(&c, plain, tokens, count);
        struct bytes b = write_packed(&c, plain, tokens, count);
        if (b.n < best.n) {
            free(best.at);
            best = b;
        } else {
            free(b.at);
        }
    }
    free(m.all);
    free(m.first);
    free(tokens);
    free(plain);
    return best;
}
