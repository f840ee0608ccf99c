/*
 * Quick on a 386: one look into a table a code, copies by the processor's own instruction.
 */
#include "boot/unpack/expand.h"

#include "boot/unpack/packed.h"

enum {
    REFILL = 16, /* bits read at a time, and at hand after refill() */
    ENTRIES = 1 << MAX_BITS,
    CODES = LITERAL_CODES + DISTANCE_CODES,
    LENGTHS_A_STEP = 256,
    LENGTHS_TOLD = LITERAL_CODES * LITERAL_SYMBOLS + DISTANCE_CODES * DISTANCE_SYMBOLS,
};

/* A Huffman code: what the next bits begin with, symbol << 4 | its bits. */
typedef uint16_t code_table[ENTRIES];

struct stream {
    const uint8_t *in, *in_end;
    uint32_t hold; /* bits read and not used, the next one lowest */
    unsigned held;
    int cut; /* read beyond the end, where there are only zeros */
    uint8_t *out, *out_start, *out_end;
    size_t distance; /* of the last copy */
};

static code_table literals[LITERAL_CODES], distances[DISTANCE_CODES];
static const uint16_t *after[256]; /* the literals' code that follows this byte */

/* The stream lives in registers while it is unpacked, so nothing in that loop may take its
 * address: these are always part of their caller. */
#define INLINE static inline __attribute__((always_inline))

/* ---- bits ---- */

INLINE void refill(struct stream *s)
{
    while (s->held < REFILL) {
        if (s->in != s->in_end) {
            s->hold |= ((uint32_t)s->in[0] | (uint32_t)s->in[1] << 8) << s->held;
            s->in += REFILL / 8;
        } else {
            s->cut = 1;
        }
        s->held += REFILL;
    }
}

INLINE uint32_t take(struct stream *s, unsigned n)
{
    uint32_t value = s->hold & ((1u << n) - 1);
    s->hold >>= n;
    s->held -= n;
    return value;
}

/* n <= REFILL of them. */
INLINE uint32_t bits(struct stream *s, unsigned n)
{
    refill(s);
    return take(s, n);
}

INLINE uint32_t number(struct stream *s, unsigned slot)
{
    if (slot < 2) {
        return slot;
    }
    unsigned n = slot - 1;
    if (n > REFILL) {
        uint32_t low = bits(s, REFILL);
        return 1u << n | bits(s, n - REFILL) << REFILL | low;
    }
    return 1u << n | bits(s, n);
}

INLINE unsigned symbol(struct stream *s, const uint16_t *table)
{
    refill(s);
    unsigned entry = table[s->hold & (ENTRIES - 1)];
    take(s, entry & 15);
    return entry >> 4;
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

/* From the length of each symbol's code, 0 for none: shorter codes first, then lower symbols. */
static int build(uint16_t *table, const uint8_t *lengths, unsigned n)
{
    unsigned code = 0, filled = 0;
    for (unsigned length = 1; length <= MAX_BITS; length++) {
        for (unsigned i = 0; i < n; i++) {
            if (lengths[i] != length) {
                continue;
            }
            filled += ENTRIES >> length;
            if (filled > ENTRIES) {
                return EXPAND_CODE;
            }
            for (unsigned at = code; at < ENTRIES; at += 1u << length) {
                table[at] = (uint16_t)(i << 4 | length);
            }
            code = next_code(code, length);
        }
    }
    return filled == ENTRIES ? 0 : EXPAND_CODE;
}

/* The lengths of all codes, themselves coded. */
static int read_lengths(struct stream *s, const uint16_t *table, uint8_t *lengths,
                        void (*working)(void))
{
    for (unsigned i = 0, stop = 0; i < LENGTHS_TOLD;) {
        if (i >= stop) {
            stop += LENGTHS_A_STEP;
            working();
        }
        unsigned next = symbol(s, table);
        if (next <= MAX_BITS) {
            lengths[i++] = (uint8_t)next;
            continue;
        }
        unsigned none =
            next == FEW_NONE ? NONE_MIN + bits(s, FEW_BITS) : MANY_MIN + bits(s, MANY_BITS);
        if (none > LENGTHS_TOLD - i) {
            return EXPAND_CODE;
        }
        while (none-- > 0) {
            lengths[i++] = 0;
        }
    }
    return 0;
}

static int read_codes(struct stream *s, void (*working)(void))
{
    static uint8_t lengths[LENGTHS_TOLD];
    for (unsigned i = 0; i < LENGTH_SYMBOLS; i++) {
        lengths[i] = (uint8_t)bits(s, 4);
    }
    int status = build(literals[0], lengths, LENGTH_SYMBOLS);
    if (status == 0) {
        status = read_lengths(s, literals[0], lengths, working);
    }
    const uint8_t *next = lengths;
    for (unsigned i = 0; i < CODES && status == 0; i++) {
        unsigned n = i < LITERAL_CODES ? LITERAL_SYMBOLS : DISTANCE_SYMBOLS;
        status = build(i < LITERAL_CODES ? literals[i] : distances[i - LITERAL_CODES], next, n);
        next += n;
        working();
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        after[byte] = literals[bits(s, CHOICE_BITS)];
    }
    return status;
}

/* ---- literals and copies ---- */

/* A copy may run into what it writes. */
INLINE void move(uint8_t *to, const uint8_t *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

INLINE int copy(struct stream *s, unsigned slot)
{
    int again = slot >= LENGTH_SLOTS;
    unsigned length = COPY_MIN + number(s, again ? slot - LENGTH_SLOTS : slot);
    if (!again) {
        s->distance = 1 + number(s, symbol(s, distances[distance_code(length)]));
    }
    if (s->distance - 1 >= (size_t)(s->out - s->out_start)) {
        return EXPAND_CODE;
    }
    if (length > (size_t)(s->out_end - s->out)) {
        return EXPAND_SIZE;
    }
    move(s->out, s->out - s->distance, length);
    s->out += length;
    return 0;
}

/* To `stop` or somewhat beyond it. */
static int piece(struct stream *whole, const uint8_t *stop)
{
    struct stream s = *whole;
    const uint16_t *table = after[s.out == s.out_start ? 0 : s.out[-1]];
    int status = 0;
    while (s.out < stop) {
        unsigned next = symbol(&s, table);
        if (next < LENGTHS) {
            *s.out++ = (uint8_t)next;
            table = after[next];
            continue;
        }
        status = copy(&s, next - LENGTHS);
        if (status < 0) {
            break;
        }
        table = after[s.out[-1]];
    }
    *whole = s;
    return status < 0 ? status : s.cut ? EXPAND_CUT : 0;
}

static const uint8_t *step_end(const uint8_t *at, const uint8_t *end)
{
    return end - at > EXPAND_STEP ? at + EXPAND_STEP : end;
}

static int pieces(struct stream *s, void (*working)(void))
{
    int status = 0;
    while (status == 0 && s->out < s->out_end) {
        status = piece(s, step_end(s->out, s->out_end));
        working();
    }
    return status;
}

/* ---- calls ---- */

static uint32_t little32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_little32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Behind the next byte that begins one, or behind all n > 0. */
INLINE uint8_t *behind_call(uint8_t *at, size_t n)
{
    __asm__ volatile("repne scasb" : "+D"(at), "+c"(n) : "a"(CALL) : "cc", "memory");
    return at;
}

/* Back to how the processor has them. */
static void restore_calls(uint8_t *image, size_t n, void (*working)(void))
{
    uint8_t *at = image, *end = n < CALL_BYTES ? image : image + n - CALL_BYTES + 1;
    while (at < end) {
        const uint8_t *stop = step_end(at, end);
        working();
        while (at < stop) {
            at = behind_call(at, (size_t)(stop - at));
            if (at[-1] == CALL) {
                uint32_t behind = (uint32_t)(at - image) + CALL_BYTES - 1;
                put_little32(at, call_operand(little32(at), behind, (uint32_t)n));
                at += CALL_BYTES - 1;
            }
        }
    }
}

/* ---- all of it ---- */

enum { CRC_POLYNOMIAL = (int)0xEDB88320 };

/* RFC 1952, section 8, four bytes at a time: a table for each says what it does to the sum by the
 * time that all four are in.  (A sum as simple as Adler-32 misses one wrong bit in some 10000.) */
static uint32_t crc32(const uint8_t *at, const uint8_t *end, void (*working)(void))
{
    static uint32_t first[256], second[256], third[256], fourth[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ (uint32_t)CRC_POLYNOMIAL : crc >> 1;
        }
        fourth[i] = crc;
    }
    for (unsigned i = 0; i < 256; i++) {
        third[i] = fourth[i] >> 8 ^ fourth[fourth[i] & 0xFF];
        second[i] = third[i] >> 8 ^ fourth[third[i] & 0xFF];
        first[i] = second[i] >> 8 ^ fourth[second[i] & 0xFF];
    }
    uint32_t crc = UINT32_MAX;
    while (at < end) {
        const uint8_t *stop = step_end(at, end);
        working();
        for (; at < stop; at += 4) {
            crc ^= little32(at);
            crc = first[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^
                  fourth[crc >> 24];
        }
    }
    return ~crc;
}

int expand(const uint8_t *from, size_t packed, uint8_t *to, size_t room, void (*working)(void))
{
    if (packed < SUM_BYTES || packed % PACKED_UNIT != 0) {
        return EXPAND_CUT;
    }
    struct stream s = {.in = from + SUM_BYTES,
                       .in_end = from + packed,
                       .out = to,
                       .out_start = to,
                       .out_end = to + room};
    if (little32(from) != crc32(s.in, s.in_end, working)) {
        return EXPAND_SUM;
    }
    int status = read_codes(&s, working);
    if (status == 0) {
        status = pieces(&s, working);
    }
    if (status == 0 && (size_t)(s.in_end - s.in) * 8 + s.held >= REFILL + 8 * PACKED_UNIT) {
        status = EXPAND_SIZE;
    }
    if (status == 0) {
        restore_calls(to, room, working);
    }
    return status;
}
