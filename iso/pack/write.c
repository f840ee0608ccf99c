/*
 * Codes and tokens as bits.
 */
#include <stdint.h>
#include <stdlib.h>

#include "iso/pack/pack.h"

enum { CODES = LITERAL_CODES + DISTANCE_CODES };

struct writer {
    struct bytes out;
    size_t room;
    unsigned free_bits; /* of the last byte */
};

/* A code's bits, the first one lowest, for each symbol. */
typedef uint16_t code_bits[LITERAL_SYMBOLS];

static void put_bits(struct writer *w, uint32_t value, unsigned n)
{
    for (; n > 0; n--, value >>= 1) {
        if (w->free_bits == 0) {
            if (w->out.n == w->room) {
                w->room = 2 * w->room + 1024;
                w->out.at = more_room(w->out.at, w->room);
            }
            w->out.at[w->out.n++] = 0;
            w->free_bits = 8;
        }
        w->out.at[w->out.n - 1] |= (uint8_t)((value & 1) << (8 - w->free_bits));
        w->free_bits--;
    }
}

static void put_extra(struct writer *w, uint32_t value)
{
    unsigned slot = slot_of(value);
    if (slot > 1) {
        put_bits(w, value - (1u << (slot - 1)), slot - 1);
    }
}

static uint16_t reversed(unsigned code, unsigned n)
{
    unsigned result = 0;
    for (; n > 0; n--, code >>= 1) {
        result = result << 1 | (code & 1);
    }
    return (uint16_t)result;
}

/* Shorter codes first, then lower symbols. */
static void assign(const uint8_t *bits, unsigned n, uint16_t *code)
{
    unsigned next = 0;
    for (unsigned length = 1; length <= MAX_BITS; length++, next <<= 1) {
        for (unsigned i = 0; i < n; i++) {
            if (bits[i] == length) {
                code[i] = reversed(next++, length);
            }
        }
    }
}

/* ---- the lengths of all codes ---- */

struct run {
    unsigned symbol, extra, extra_bits;
};

/* What stands for the next lengths, and how many it stands for. */
static size_t next_run(const uint8_t *lengths, size_t n, struct run *r)
{
    size_t none = 0;
    while (none < n && none < MANY_MIN + (1 << MANY_BITS) - 1 && lengths[none] == 0) {
        none++;
    }
    if (none >= MANY_MIN) {
        *r = (struct run){MANY_NONE, (unsigned)none - MANY_MIN, MANY_BITS};
        return none;
    }
    if (none >= NONE_MIN) {
        *r = (struct run){FEW_NONE, (unsigned)none - NONE_MIN, FEW_BITS};
        return none;
    }
    *r = (struct run){lengths[0], 0, 0};
    return 1;
}

static void put_lengths(struct writer *w, const uint8_t *lengths, size_t n)
{
    uint32_t frequency[LENGTH_SYMBOLS] = {0};
    uint8_t bits[LENGTH_SYMBOLS];
    code_bits code;
    struct run r;
    for (size_t at = 0; at < n;) {
        at += next_run(lengths + at, n - at, &r);
        frequency[r.symbol]++;
    }
    huffman(frequency, LENGTH_SYMBOLS, bits);
    assign(bits, LENGTH_SYMBOLS, code);
    for (unsigned i = 0; i < LENGTH_SYMBOLS; i++) {
        put_bits(w, bits[i], 4);
    }
    for (size_t at = 0; at < n;) {
        at += next_run(lengths + at, n - at, &r);
        put_bits(w, code[r.symbol], bits[r.symbol]);
        put_bits(w, r.extra, r.extra_bits);
    }
}

/* ---- all of it ---- */

static void put_codes(struct writer *w, const struct codes *c)
{
    uint8_t lengths[sizeof c->literal + sizeof c->distance];
    size_t n = 0;
    for (unsigned i = 0; i < LITERAL_CODES; i++) {
        for (unsigned symbol = 0; symbol < LITERAL_SYMBOLS; symbol++) {
            lengths[n++] = c->literal[i][symbol];
        }
    }
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        for (unsigned symbol = 0; symbol < DISTANCE_SYMBOLS; symbol++) {
            lengths[n++] = c->distance[i][symbol];
        }
    }
    put_lengths(w, lengths, n);
    for (unsigned byte = 0; byte < 256; byte++) {
        put_bits(w, c->choice[byte], CHOICE_BITS);
    }
}

static void put_tokens(struct writer *w, const struct codes *c, const uint8_t *image,
                       const struct token *tokens, size_t count)
{
    code_bits code[CODES];
    for (unsigned i = 0; i < LITERAL_CODES; i++) {
        assign(c->literal[i], LITERAL_SYMBOLS, code[i]);
    }
    for (unsigned i = 0; i < DISTANCE_CODES; i++) {
        assign(c->distance[i], DISTANCE_SYMBOLS, code[LITERAL_CODES + i]);
    }
    uint32_t last = 0;
    unsigned choice = c->choice[0];
    for (const struct token *t = tokens; t < tokens + count; image += t->length, t++) {
        unsigned symbol = t->distance == 0 ? *image : copy_symbol(t, last);
        put_bits(w, code[choice][symbol], c->literal[choice][symbol]);
        choice = c->choice[image[t->length - 1]];
        if (t->distance == 0) {
            continue;
        }
        put_extra(w, t->length - COPY_MIN);
        if (t->distance != last) {
            unsigned which = distance_code(t->length), slot = slot_of(t->distance - 1);
            put_bits(w, code[LITERAL_CODES + which][slot], c->distance[which][slot]);
            put_extra(w, t->distance - 1);
            last = t->distance;
        }
    }
}

static uint32_t packed_sum(const uint8_t *at, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
        }
    }
    return ~crc;
}

void sign(struct bytes packed)
{
    uint32_t sum = packed_sum(packed.at + SUM_BYTES, packed.n - SUM_BYTES);
    for (unsigned i = 0; i < SUM_BYTES; i++) {
        packed.at[i] = (uint8_t)(sum >> 8 * i);
    }
}

struct bytes write_packed(const struct codes *c, const uint8_t *image, const struct token *tokens,
                          size_t count)
{
    struct writer w = {0};
    put_bits(&w, 0, 8 * SUM_BYTES);
    put_codes(&w, c);
    put_tokens(&w, c, image, tokens, count);
    put_bits(&w, 0, w.free_bits);
    put_bits(&w, 0, 16);
    while (w.out.n % PACKED_UNIT != 0) {
        put_bits(&w, 0, 8);
    }
    sign(w.out);
    return w.out;
}
