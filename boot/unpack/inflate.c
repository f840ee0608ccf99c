/*
 * A small inflate, quick on a 386: codes of up to FAST_BITS bits are looked up, longer ones, which
 * are rare, are counted out bit by bit.  Sections named below are those of RFC 1951.
 */
#include "boot/unpack/inflate.h"

enum {
    MAX_BITS = 15,
    FAST_BITS = 10,
    LITERALS = 288, /* literal, end of block and length symbols */
    DISTANCES = 32,
    LENGTH_CODES = 19,
    END_OF_BLOCK = 256,
    REFILL = 16, /* bits read at a time, and at hand after refill() */
};

struct stream {
    const uint8_t *in, *in_end;
    uint32_t hold; /* bits read and not used, the next one lowest */
    unsigned held;
    uint8_t *out, *out_start, *out_end;
    uint8_t *step_end; /* working() is due */
    void (*working)(void);
};

/* A Huffman code (3.2.2). */
struct code {
    uint16_t fast[1 << FAST_BITS]; /* next bits -> symbol << 4 | its bits; 0: longer, or none */
    uint16_t count[MAX_BITS + 1];  /* symbols of each length      */
    uint16_t symbol[LITERALS];     /* in the order of their codes */
};

/* The stream lives in registers while a block is read, so nothing in that loop may take its
 * address: these are always part of their caller. */
#define INLINE static inline __attribute__((always_inline))

static struct code literal_code, distance_code;

/* ---- bits ---- */

/* At least REFILL bits at hand.  False at the end of the input: eight bytes follow the last
 * code, so a whole stream never meets it. */
INLINE int refill(struct stream *s)
{
    if (s->held < REFILL) {
        if (s->in_end - s->in < REFILL / 8) {
            return 0;
        }
        s->hold |= ((uint32_t)s->in[0] | (uint32_t)s->in[1] << 8) << s->held;
        s->in += REFILL / 8;
        s->held += REFILL;
    }
    return 1;
}

INLINE unsigned take(struct stream *s, unsigned n)
{
    unsigned value = s->hold & ((1u << n) - 1);
    s->hold >>= n;
    s->held -= n;
    return value;
}

/* n <= 16 bits, or negative. */
INLINE int bits(struct stream *s, unsigned n)
{
    return refill(s) ? (int)take(s, n) : INFLATE_CUT;
}

/* ---- codes ---- */

/* The code after `code`, both with their first bit lowest. */
static unsigned next_code(unsigned code, unsigned length)
{
    unsigned bit = 1u << (length - 1);
    while ((code & bit) != 0) {
        code ^= bit;
        bit >>= 1;
    }
    return code | bit;
}

static void fill_fast(struct code *c)
{
    unsigned code = 0, index = 0;
    for (unsigned i = 0; i < 1 << FAST_BITS; i++) {
        c->fast[i] = 0;
    }
    for (unsigned length = 1; length <= FAST_BITS; length++) {
        for (unsigned i = 0; i < c->count[length]; i++) {
            uint16_t entry = (uint16_t)(c->symbol[index++] << 4 | length);
            for (unsigned at = code; at < 1 << FAST_BITS; at += 1u << length) {
                c->fast[at] = entry;
            }
            code = next_code(code, length);
        }
    }
}

/* From the length of each symbol's code, 0 for none.  A code with gaps is taken: what is in a gap
 * is refused when it turns up. */
static int build(struct code *c, const uint8_t *lengths, unsigned n)
{
    unsigned at[MAX_BITS + 1];
    int left = 1;
    for (unsigned length = 0; length <= MAX_BITS; length++) {
        c->count[length] = 0;
    }
    for (unsigned i = 0; i < n; i++) {
        c->count[lengths[i]]++;
    }
    c->count[0] = 0;
    at[0] = 0;
    for (unsigned length = 1; length <= MAX_BITS; length++) {
        left = left * 2 - c->count[length];
        if (left < 0) {
            return INFLATE_CODE;
        }
        at[length] = at[length - 1] + c->count[length - 1];
    }
    for (unsigned i = 0; i < n; i++) {
        if (lengths[i] != 0) {
            c->symbol[at[lengths[i]]++] = (uint16_t)i;
        }
    }
    fill_fast(c);
    return 0;
}

/* As in `fast`, for a code of any length; 0 if there is none. */
static unsigned slow_entry(uint32_t hold, const struct code *c)
{
    unsigned code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= MAX_BITS; length++) {
        unsigned count = c->count[length];
        code |= hold & 1;
        hold >>= 1;
        if (code - first < count) {
            return (unsigned)c->symbol[index + code - first] << 4 | length;
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return 0;
}

INLINE int symbol(struct stream *s, const struct code *c)
{
    if (!refill(s)) {
        return INFLATE_CUT;
    }
    unsigned entry = c->fast[s->hold & ((1 << FAST_BITS) - 1)];
    if (entry == 0) {
        entry = slow_entry(s->hold, c);
    }
    if (entry == 0) {
        return INFLATE_CODE;
    }
    take(s, entry & 15);
    return (int)(entry >> 4);
}

/* ---- blocks ---- */

/* 3.2.5: what the symbols for lengths (from 257) and distances begin at, and how many bits follow.
 */
static const uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                       67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                       2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
static const uint8_t distance_extra[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                         6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

enum {
    LENGTH_SYMBOLS = sizeof length_extra,
    DISTANCE_SYMBOLS = sizeof distance_extra,
};

/* A piece of what was written before, which the copy may run into. */
INLINE int copy(struct stream *s, unsigned length_symbol)
{
    if (length_symbol >= LENGTH_SYMBOLS) {
        return INFLATE_CODE;
    }
    int more = bits(s, length_extra[length_symbol]);
    int which = more < 0 ? more : symbol(s, &distance_code);
    if (which < 0) {
        return which;
    }
    if (which >= DISTANCE_SYMBOLS) {
        return INFLATE_CODE;
    }
    size_t length = length_base[length_symbol] + (unsigned)more;
    more = bits(s, distance_extra[which]);
    if (more < 0) {
        return more;
    }
    size_t distance = distance_base[which] + (unsigned)more;
    if (distance > (size_t)(s->out - s->out_start)) {
        return INFLATE_CODE;
    }
    if (length > (size_t)(s->out_end - s->out)) {
        return INFLATE_SIZE;
    }
    const uint8_t *from = s->out - distance;
    uint8_t *to = s->out, *end = to + length;
    while (to < end) {
        *to++ = *from++;
    }
    s->out = end;
    return 0;
}

/* Literals and copies to the end of the block. */
static int coded_block(struct stream *whole)
{
    struct stream s = *whole;
    int status = 0;
    while (status == 0) {
        int next = symbol(&s, &literal_code);
        if (s.out >= s.step_end) {
            s.working();
            s.step_end = s.out_end - s.out > INFLATE_STEP ? s.out + INFLATE_STEP : s.out_end;
        }
        if (next < 0) {
            status = next;
        } else if (next > END_OF_BLOCK) {
            status = copy(&s, (unsigned)next - END_OF_BLOCK - 1);
        } else if (next == END_OF_BLOCK) {
            break;
        } else if (s.out == s.out_end) {
            status = INFLATE_SIZE;
        } else {
            *s.out++ = (uint8_t)next;
        }
    }
    *whole = s;
    return status;
}

/* To the next byte of the input; whole bytes read too early are given back. */
static void align(struct stream *s)
{
    s->in -= s->held / 8;
    s->hold = 0;
    s->held = 0;
}

/* 3.2.4 */
static int stored_block(struct stream *s)
{
    align(s);
    if (s->in_end - s->in < 4) {
        return INFLATE_CUT;
    }
    unsigned length = s->in[0] | (unsigned)s->in[1] << 8;
    if (length != (~(s->in[2] | (unsigned)s->in[3] << 8) & 0xFFFF)) {
        return INFLATE_CODE;
    }
    s->in += 4;
    if (length > (size_t)(s->in_end - s->in)) {
        return INFLATE_CUT;
    }
    if (length > (size_t)(s->out_end - s->out)) {
        return INFLATE_SIZE;
    }
    while (length-- > 0) {
        *s->out++ = *s->in++;
    }
    return 0;
}

/* 3.2.6 */
static int fixed_codes(void)
{
    uint8_t lengths[LITERALS];
    unsigned i = 0;
    while (i < 144) {
        lengths[i++] = 8;
    }
    while (i < 256) {
        lengths[i++] = 9;
    }
    while (i < 280) {
        lengths[i++] = 7;
    }
    while (i < LITERALS) {
        lengths[i++] = 8;
    }
    build(&literal_code, lengths, LITERALS); /* neither can fail */
    for (i = 0; i < DISTANCES; i++) {
        lengths[i] = 5;
    }
    return build(&distance_code, lengths, DISTANCES);
}

enum { REPEAT = 16, ZEROS = 17, MANY_ZEROS = 18 }; /* 3.2.7 */

/* The lengths of `n` codes, themselves coded. */
static int read_lengths(struct stream *s, uint8_t *lengths, unsigned n)
{
    static const struct {
        uint8_t bits, least;
    } repeat[] = {{2, 3}, {3, 3}, {7, 11}};
    unsigned i = 0;
    while (i < n) {
        int next = symbol(s, &literal_code);
        if (next < 0) {
            return next;
        }
        if (next < REPEAT) {
            lengths[i++] = (uint8_t)next;
            continue;
        }
        if (next == REPEAT && i == 0) {
            return INFLATE_CODE;
        }
        uint8_t value = next == REPEAT ? lengths[i - 1] : 0;
        int more = bits(s, repeat[next - REPEAT].bits);
        if (more < 0) {
            return more;
        }
        unsigned times = repeat[next - REPEAT].least + (unsigned)more;
        if (times > n - i) {
            return INFLATE_CODE;
        }
        while (times-- > 0) {
            lengths[i++] = value;
        }
    }
    return 0;
}

/* 3.2.7 */
static int dynamic_codes(struct stream *s)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES];
    int head = bits(s, 14);
    if (head < 0) {
        return head;
    }
    unsigned literals = 257 + ((unsigned)head & 31), distances = 1 + ((unsigned)head >> 5 & 31);
    unsigned given = 4 + ((unsigned)head >> 10);
    if (literals > LITERALS) {
        return INFLATE_CODE;
    }
    for (unsigned i = 0; i < LENGTH_CODES; i++) {
        int length = i < given ? bits(s, 3) : 0;
        if (length < 0) {
            return length;
        }
        lengths[order[i]] = (uint8_t)length;
    }
    int status = build(&literal_code, lengths, LENGTH_CODES);
    if (status == 0) {
        status = read_lengths(s, lengths, literals + distances);
    }
    if (status == 0) {
        status = build(&literal_code, lengths, literals);
    }
    return status < 0 ? status : build(&distance_code, lengths + literals, distances);
}

enum block_kind { STORED, FIXED, DYNAMIC };

static int block(struct stream *s, unsigned kind)
{
    int status = kind == STORED    ? stored_block(s)
                 : kind == FIXED   ? fixed_codes()
                 : kind == DYNAMIC ? dynamic_codes(s)
                                   : INFLATE_CODE;
    return status < 0 || kind == STORED ? status : coded_block(s);
}

static int blocks(struct stream *s)
{
    for (;;) {
        int head = bits(s, 3); /* last one, kind (3.2.3) */
        int status = head < 0 ? head : block(s, (unsigned)head >> 1);
        if (status < 0 || (head & 1) != 0) {
            return status;
        }
    }
}

/* ---- the frame: RFC 1952 ---- */

enum {
    MAGIC0 = 0x1F,
    MAGIC1 = 0x8B,
    DEFLATE = 8,       /* method              */
    HEADER_BYTES = 10, /* with no flags set   */
    TRAILER_BYTES = 8, /* CRC, then the size  */
    CRC_POLYNOMIAL = (int)0xEDB88320,
};

static uint32_t little32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Section 8.  (A sum as simple as Adler-32 misses one wrong bit in some 10000.) */
static uint32_t crc32(const uint8_t *at, const uint8_t *end, void (*working)(void))
{
    static uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ (uint32_t)CRC_POLYNOMIAL : crc >> 1;
        }
        table[i] = crc;
    }
    uint32_t crc = UINT32_MAX;
    while (at < end) {
        const uint8_t *stop = end - at > INFLATE_STEP ? at + INFLATE_STEP : end;
        working();
        while (at < stop) {
            crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
        }
    }
    return ~crc;
}

int inflate_stream(const uint8_t *from, size_t packed, uint8_t *to, size_t room,
                   void (*working)(void))
{
    struct stream s = {from, from + packed, 0, 0, to, to, to + room, to, working};
    if (packed < HEADER_BYTES + TRAILER_BYTES) {
        return INFLATE_CUT;
    }
    if (from[0] != MAGIC0 || from[1] != MAGIC1 || from[2] != DEFLATE || from[3] != 0) {
        return INFLATE_HEADER;
    }
    s.in += HEADER_BYTES;
    int status = blocks(&s);
    if (status < 0) {
        return status;
    }
    align(&s);
    if (s.in_end - s.in != TRAILER_BYTES) {
        return INFLATE_CUT;
    }
    if (s.out != s.out_end || little32(s.in + 4) != room) {
        return INFLATE_SIZE;
    }
    return little32(s.in) == crc32(to, s.out_end, working) ? 0 : INFLATE_SUM;
}
