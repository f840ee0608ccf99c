/*
 * The codes for a set of tokens: which bytes share one, and how many bits each symbol gets.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iso/pack/pack.h"

enum { ROUNDS = 10 };

/* How often each symbol came after a byte, and how many did. */
struct counts {
    uint32_t symbol[LITERAL_SYMBOLS];
    uint32_t all;
};

/* ---- Huffman's algorithm ---- */

enum { SYMBOLS_MAX = LITERAL_SYMBOLS };

/* Leaves first, the lightest in front; then what they are joined to, which only gets heavier. */
struct tree {
    uint32_t weight[2 * SYMBOLS_MAX];
    unsigned parent[2 * SYMBOLS_MAX];
    unsigned depth[2 * SYMBOLS_MAX];
    unsigned next_leaf, next_joint, nodes;
};

static unsigned take_lightest(struct tree *t, unsigned leaves)
{
    bool leaf = t->next_leaf < leaves &&
                (t->next_joint == t->nodes || t->weight[t->next_leaf] <= t->weight[t->next_joint]);
    return leaf ? t->next_leaf++ : t->next_joint++;
}

/* Over its leaves, which are at least two; returns the greatest depth. */
static unsigned grow(struct tree *t, unsigned leaves)
{
    unsigned deepest = 0;
    t->next_leaf = 0;
    t->next_joint = leaves;
    for (t->nodes = leaves; t->nodes < 2 * leaves - 1; t->nodes++) {
        unsigned a = take_lightest(t, leaves), b = take_lightest(t, leaves);
        t->parent[a] = t->parent[b] = t->nodes;
        t->weight[t->nodes] = t->weight[a] + t->weight[b];
    }
    t->depth[t->nodes - 1] = 0;
    for (unsigned i = t->nodes - 1; i-- > 0;) {
        t->depth[i] = t->depth[t->parent[i]] + 1;
        deepest = t->depth[i] > deepest ? t->depth[i] : deepest;
    }
    return deepest;
}

/* The symbols that have a code, the rarest first. */
static unsigned sort_symbols(const uint32_t *frequency, unsigned n, unsigned *symbol)
{
    unsigned leaves = 0;
    for (unsigned i = 0; i < n; i++) {
        if (frequency[i] != 0) {
            unsigned at = leaves++;
            for (; at > 0 && frequency[symbol[at - 1]] > frequency[i]; at--) {
                symbol[at] = symbol[at - 1];
            }
            symbol[at] = i;
        }
    }
    for (unsigned i = 0; leaves < 2; i++) { /* a complete code has two */
        if (leaves == 0 || symbol[0] != i) {
            symbol[leaves++] = i;
        }
    }
    return leaves;
}

/* The rarest symbols are taken for more frequent than they are, until no code is too long. */
void huffman(const uint32_t *frequency, unsigned n, uint8_t *bits)
{
    static struct tree t;
    unsigned symbol[SYMBOLS_MAX], leaves = sort_symbols(frequency, n, symbol);
    uint32_t least = 0;
    do {
        least = least + least / 8 + 1;
        for (unsigned i = 0; i < leaves; i++) {
            t.weight[i] = frequency[symbol[i]] > least ? frequency[symbol[i]] : least;
        }
    } while (grow(&t, leaves) > MAX_BITS);
    memset(bits, 0, n);
    for (unsigned i = 0; i < leaves; i++) {
        bits[symbol[i]] = (uint8_t)t.depth[i];
    }
}

/* ---- which bytes share a code ---- */

/* The literals' codes, each for what follows those bytes that chose it. */
static void codes_of_choices(struct codes *c, const struct counts *after)
{
    uint32_t sum[LITERAL_CODES][LITERAL_SYMBOLS] = {{0}};
    for (unsigned byte = 0; byte < 256; byte++) {
        for (unsigned i = 0; i < LITERAL_SYMBOLS && after[byte].all > 0; i++) {
            sum[c->choice[byte]][i] += after[byte].symbol[i];
        }
    }
    for (unsigned code = 0; code < LITERAL_CODES; code++) {
        huffman(sum[code], LITERAL_SYMBOLS, c->literal[code]);
    }
}

static uint32_t cost_in(const uint8_t *code, const uint32_t *frequency)
{
    uint32_t cost = 0;
    for (unsigned i = 0; i < LITERAL_SYMBOLS; i++) {
        cost += frequency[i] * (code[i] != 0 ? code[i] : NO_CODE_BITS);
    }
    return cost;
}

static void choose(struct codes *c, const struct counts *after)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        if (after[byte].all == 0) {
            continue;
        }
        uint32_t best = cost_in(c->literal[c->choice[byte]], after[byte].symbol);
        for (unsigned code = 0; code < LITERAL_CODES; code++) {
            uint32_t cost = cost_in(c->literal[code], after[byte].symbol);
            if (cost < best) {
                best = cost;
                c->choice[byte] = (uint8_t)code;
            }
        }
    }
}

/* The most frequent bytes have one each, the rest the first. */
static void first_choices(struct codes *c, const struct counts *after)
{
    for (unsigned code = 1; code < LITERAL_CODES; code++) {
        unsigned most = 0;
        uint32_t its = 0;
        for (unsigned byte = 0; byte < 256; byte++) {
            if (c->choice[byte] == 0 && after[byte].all > its) {
                most = byte;
                its = after[byte].all;
            }
        }
        c->choice[most] = its > 0 ? (uint8_t)code : c->choice[most];
    }
}

static bool chosen(const struct codes *c)
{
    static const uint8_t none[256];
    return memcmp(c->choice, none, sizeof none) != 0;
}

void fit_codes(struct codes *c, const uint8_t *image, const struct token *tokens, size_t count)
{
    struct counts *after = room_for(256 * sizeof *after);
    uint32_t slots[DISTANCE_CODES][DISTANCE_SYMBOLS] = {{0}};
    uint32_t last = 0;
    unsigned before = 0;
    for (const struct token *t = tokens; t < tokens + count; image += t->length, t++) {
        after[before].all++;
        if (t->distance == 0) {
            after[before].symbol[*image]++;
        } else {
            after[before].symbol[copy_symbol(t, last)]++;
            if (t->distance != last) {
                slots[distance_code(t->length)][slot_of(t->distance - 1)]++;
            }
            last = t->distance;
        }
        before = image[t->length - 1];
    }
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        huffman(slots[i], DISTANCE_SYMBOLS, c->distance[i]);
    }
    if (!chosen(c)) {
        first_choices(c, after);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        codes_of_choices(c, after);
        choose(c, after);
    }
    codes_of_choices(c, after);
    free(after);
}
