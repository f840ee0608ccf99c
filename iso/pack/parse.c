/*
 * The cheapest way through an image: for each place, by which token it is reached with the fewest
 * bits, place after place.
 */
#include <stdint.h>
#include <stdlib.h>

#include "iso/pack/pack.h"

struct way {
    uint32_t cost;        /* bits to here                               */
    uint32_t last;        /* distance of the last copy on the way, or 0 */
    struct token arrival; /* the token that ends here                   */
};

/* How many bits what a symbol stands for takes, with its further ones. */
struct price {
    uint32_t literal[LITERAL_CODES][256];
    uint32_t length[LITERAL_CODES][2][COPY_MAX + 1]; /* with a distance, or again */
    uint32_t slot[DISTANCE_CODES][DISTANCE_SYMBOLS];
};

unsigned slot_of(uint32_t value)
{
    unsigned slot = 0;
    while (value >> slot != 0) {
        slot++;
    }
    return slot;
}

unsigned copy_symbol(const struct token *t, uint32_t last_distance)
{
    return (t->distance == last_distance ? AGAIN : LENGTHS) + slot_of(t->length - COPY_MIN);
}

static uint32_t extra_bits(unsigned slot)
{
    return slot == 0 ? 0 : slot - 1;
}

static uint32_t bits_of(const uint8_t *code, unsigned symbol)
{
    return code[symbol] != 0 ? code[symbol] : NO_CODE_BITS;
}

static struct price *prices(const struct codes *c)
{
    struct price *p = room_for(sizeof *p);
    for (unsigned which = 0; which < LITERAL_CODES; which++) {
        const uint8_t *code = c->literal[which];
        for (unsigned byte = 0; byte < 256; byte++) {
            p->literal[which][byte] = bits_of(code, byte);
        }
        for (unsigned length = COPY_MIN; length <= COPY_MAX; length++) {
            unsigned slot = slot_of(length - COPY_MIN);
            p->length[which][0][length] = bits_of(code, LENGTHS + slot) + extra_bits(slot);
            p->length[which][1][length] = bits_of(code, AGAIN + slot) + extra_bits(slot);
        }
    }
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        for (unsigned slot = 0; slot < DISTANCE_SYMBOLS; slot++) {
            p->slot[i][slot] = bits_of(c->distance[i], slot) + extra_bits(slot);
        }
    }
    return p;
}

static void arrive(struct way *to, uint32_t cost, struct token t, uint32_t last)
{
    if (cost < to->cost) {
        *to = (struct way){cost, last, t};
    }
}

/* As far back as the last one. */
static void copy_again(const uint8_t *image, size_t n, size_t at, struct way *ways,
                       const uint32_t *price)
{
    uint32_t distance = ways[at].last;
    if (distance == 0) {
        return;
    }
    for (unsigned length = 1; length <= COPY_MAX && at + length <= n; length++) {
        if (image[at + length - 1] != image[at + length - 1 - distance]) {
            return;
        }
        if (length >= COPY_MIN) {
            arrive(&ways[at + length], ways[at].cost + price[length],
                   (struct token){length, distance}, distance);
        }
    }
}

static void copy_matches(const struct match *m, const struct match *end, size_t at,
                         struct way *ways, const uint32_t *price, const struct price *p)
{
    unsigned length = COPY_MIN;
    for (; m < end; m++) {
        unsigned slot = slot_of(m->distance - 1);
        for (; length <= m->length; length++) {
            uint32_t cost = price[length] + p->slot[distance_code(length)][slot];
            arrive(&ways[at + length], ways[at].cost + cost, (struct token){length, m->distance},
                   m->distance);
        }
    }
}

/* From the end to the beginning, then the other way round. */
static size_t walk_back(const struct way *ways, size_t n, struct token *tokens)
{
    size_t count = 0;
    for (size_t at = n; at > 0; at -= ways[at].arrival.length) {
        tokens[count++] = ways[at].arrival;
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct token other = tokens[i];
        tokens[i] = tokens[count - 1 - i];
        tokens[count - 1 - i] = other;
    }
    return count;
}

size_t cheapest(const uint8_t *image, size_t n, const struct matches *m, const struct codes *c,
                struct token *tokens)
{
    struct way *ways = room_for((n + 1) * sizeof *ways);
    struct price *p = prices(c);
    for (size_t at = 1; at <= n; at++) {
        ways[at].cost = UINT32_MAX;
    }
    for (size_t at = 0; at < n; at++) {
        unsigned which = c->choice[at == 0 ? 0 : image[at - 1]];
        arrive(&ways[at + 1], ways[at].cost + p->literal[which][image[at]], (struct token){1, 0},
               ways[at].last);
        copy_again(image, n, at, ways, p->length[which][1]);
        copy_matches(m->all + m->first[at], m->all + m->first[at + 1], at, ways,
                     p->length[which][0], p);
    }
    size_t count = walk_back(ways, n, tokens);
    free(p);
    free(ways);
    return count;
}
