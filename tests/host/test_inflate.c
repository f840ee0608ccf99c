/*
 * boot/unpack/inflate.c against zlib, and what damage does to it.  Input and room are exact
 * allocations, so AddressSanitizer sees each byte read or written too far.
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "boot/unpack/inflate.h"
#include "tests/host/run_suite.h"

enum { BIG = 150000, SHORT = 300, GZIP_WINDOW = 16 + 15 };

struct bytes {
    uint8_t *at;
    size_t n;
};

static struct bytes get(size_t n)
{
    struct bytes b = {malloc(n == 0 ? 1 : n), n};
    ck_assert_ptr_nonnull(b.at);
    return b;
}

static unsigned dice(void)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 16;
}

/* ---- what is packed ---- */

enum kind { EMPTY, ZEROS, NOISE, TEXT, DISTANT, SKEWED, KINDS };

/* Few symbols often, many seldom: codes of every length. */
static uint8_t skewed(void)
{
    unsigned value = 0;
    while (value < 255 && dice() % 3 != 0) {
        value += 1 + dice() % 3;
    }
    return (uint8_t)value;
}

static struct bytes make(enum kind kind, size_t n)
{
    struct bytes b = get(kind == EMPTY ? 0 : n);
    for (size_t i = 0; i < b.n; i++) {
        b.at[i] = kind == ZEROS   ? 0
                  : kind == NOISE ? (uint8_t)dice()
                  : kind == TEXT  ? "the wire, the card and "[i % 23 ^ dice() % 7 / 6]
                  : kind == DISTANT && i >= 32700 ? b.at[i - 32700 + dice() % 40 / 39]
                  : kind == DISTANT               ? (uint8_t)dice()
                                                  : skewed();
    }
    return b;
}

static struct bytes pack(struct bytes plain, int level, int strategy, int memory)
{
    struct bytes packed = get(plain.n * 2 + 1000);
    z_stream z = {.next_in = plain.at,
                  .avail_in = (uInt)plain.n,
                  .next_out = packed.at,
                  .avail_out = (uInt)packed.n};
    ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW, memory, strategy), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    struct bytes exact = get(z.total_out);
    memcpy(exact.at, packed.at, exact.n);
    deflateEnd(&z);
    free(packed.at);
    return exact;
}

/* ---- unpacking ---- */

static unsigned steps;

static void step(void)
{
    steps++;
}

/* Status; what was unpacked is compared if it says that it worked. */
static int unpack(struct bytes packed, struct bytes expected, size_t room)
{
    struct bytes out = get(room);
    int status = inflate_stream(packed.at, packed.n, out.at, room, step);
    if (status == 0) {
        ck_assert_uint_eq(room, expected.n);
        ck_assert(memcmp(out.at, expected.at, room) == 0);
    }
    free(out.at);
    return status;
}

static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };

START_TEST(whatever_zlib_packs)
{
    struct bytes plain = make((enum kind)_i, BIG);
    for (int level = 0; level <= 9; level += 3) {
        for (unsigned strategy = 0; strategy < STRATEGIES; strategy++) {
            for (int memory = 1; memory <= 9; memory += 4) {
                struct bytes packed = pack(plain, level, strategies[strategy], memory);
                ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
                free(packed.at);
            }
        }
    }
    free(plain.at);
}
END_TEST

START_TEST(every_short_length)
{
    for (size_t n = 1; n < SHORT; n++) {
        struct bytes plain = make((enum kind)(n % KINDS), n);
        struct bytes packed = pack(plain, 9, Z_DEFAULT_STRATEGY, 8);
        ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
        free(packed.at);
        free(plain.at);
    }
}
END_TEST

/* The clock before the kernel relies on it (boot/unpack/pc.h). */
START_TEST(steps_come_often_enough)
{
    static const enum kind coded[] = {ZEROS, TEXT, SKEWED}; /* not stored */
    struct bytes plain = make(coded[_i], BIG);
    struct bytes packed = pack(plain, 9, Z_DEFAULT_STRATEGY, 8);
    steps = 0;
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    unsigned least = BIG / (INFLATE_STEP + 258) + BIG / INFLATE_STEP; /* 258: the longest copy */
    ck_assert_uint_ge(steps, least);
    ck_assert_uint_le(steps, 2 * (BIG / INFLATE_STEP + 2));
    free(packed.at);
    free(plain.at);
}
END_TEST

/* ---- damage ---- */

static struct bytes sample(int i, struct bytes *plain)
{
    *plain = make(i % 3 == 0 ? TEXT : i % 3 == 1 ? SKEWED : NOISE, 700);
    return pack(*plain, i == 2 ? 0 : 9, i == 3 ? Z_FIXED : Z_DEFAULT_STRATEGY, 8);
}
enum { SAMPLES = 5 };

/* Unless it says nothing: bits that fill up a byte; of the header, time, hints and system. */
START_TEST(every_wrong_bit_is_noticed)
{
    struct bytes plain, packed = sample(_i, &plain);
    unsigned harmless = 0;
    for (size_t bit = 0; bit < packed.n * 8; bit++) {
        packed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        harmless += unpack(packed, plain, plain.n) == 0;
        packed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_uint_le(harmless, 7 + 6 * 8);
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* A sector of a floppy that reads as what was there before. */
START_TEST(a_lost_sector_is_noticed)
{
    struct bytes plain = make(SKEWED, BIG), packed = pack(plain, 9, Z_DEFAULT_STRATEGY, 8);
    static const uint8_t fill[] = {0x00, 0xF6, 0xFF};
    for (size_t at = 0; at + 512 <= packed.n; at += 512) {
        uint8_t sector[512];
        memcpy(sector, packed.at + at, sizeof sector);
        memset(packed.at + at, fill[at / 512 % sizeof fill], sizeof sector);
        ck_assert_int_lt(unpack(packed, plain, plain.n), 0);
        memcpy(packed.at + at, sector, sizeof sector);
    }
    free(packed.at);
    free(plain.at);
}
END_TEST

START_TEST(every_cut_is_noticed)
{
    struct bytes plain, packed = sample(_i, &plain);
    for (size_t n = 0; n < packed.n; n++) {
        struct bytes part = get(n);
        memcpy(part.at, packed.at, n);
        ck_assert_int_eq(unpack(part, plain, plain.n), INFLATE_CUT);
        free(part.at);
    }
    struct bytes more = get(packed.n + 1);
    memcpy(more.at, packed.at, packed.n);
    more.at[packed.n] = 0;
    ck_assert_int_eq(unpack(more, plain, plain.n), INFLATE_CUT);
    free(more.at);
    free(packed.at);
    free(plain.at);
}
END_TEST

START_TEST(room_must_be_exact)
{
    struct bytes plain, packed = sample(_i, &plain);
    for (size_t room = 0; room < plain.n; room++) {
        ck_assert_int_eq(unpack(packed, plain, room), INFLATE_SIZE);
    }
    ck_assert_int_eq(unpack(packed, plain, plain.n + 1), INFLATE_SIZE);
    free(packed.at);
    free(plain.at);
}
END_TEST

#define HEADER "\x1F\x8B\x08\0\0\0\0\0\0\xFF"

START_TEST(noise_never_harms)
{
    struct bytes none = {0};
    for (unsigned turn = 0; turn < 20000; turn++) {
        struct bytes packed = make(NOISE, 18 + dice() % 400);
        memcpy(packed.at, HEADER, sizeof HEADER - 1); /* any block follows */
        ck_assert_int_lt(unpack(packed, none, 1 + dice() % 2000), 0);
        free(packed.at);
    }
}
END_TEST

/* Streams made by hand: header and the first bytes of a block. */
static int unpack_text(const char *bytes, size_t n, size_t room)
{
    struct bytes packed = get(n), none = {0};
    memcpy(packed.at, bytes, n);
    int status = unpack(packed, none, room);
    free(packed.at);
    return status;
}

START_TEST(what_cannot_be)
{
    static const struct {
        char bytes[20]; /* zeros follow */
        int status;
    } cases[] = {
        {"\x1F\x8C\x08\0\0\0\0\0\0\xFF", INFLATE_HEADER},   /* magic                     */
        {"\x1F\x8B\x07\0\0\0\0\0\0\xFF", INFLATE_HEADER},   /* another method            */
        {"\x1F\x8B\x08\x08\0\0\0\0\0\xFF", INFLATE_HEADER}, /* with a name             */
        {HEADER "\x07", INFLATE_CODE},                      /* block kind 3              */
        {HEADER "\x01\x01", INFLATE_CODE},                  /* length and its complement */
        {HEADER "\x03\x02", INFLATE_CODE},                  /* copy before the beginning */
        {HEADER "\x1B\x03", INFLATE_CODE},                  /* length symbol 286         */
        {HEADER "\x05\0\x92\x04", INFLATE_CODE},            /* more codes than there are */
    };
    ck_assert_int_eq(unpack_text(cases[_i].bytes, sizeof cases[_i].bytes, 100), cases[_i].status);
}
END_TEST
enum { CANNOT = 8 };

int main(void)
{
    Suite *suite = suite_create("inflate");
    TCase *good = tcase_create("good"), *bad = tcase_create("bad");
    tcase_set_timeout(good, 60);
    tcase_set_timeout(bad, 60);
    tcase_add_loop_test(good, whatever_zlib_packs, 0, KINDS);
    tcase_add_test(good, every_short_length);
    tcase_add_loop_test(good, steps_come_often_enough, 0, 3);
    tcase_add_loop_test(bad, every_wrong_bit_is_noticed, 0, SAMPLES);
    tcase_add_test(bad, a_lost_sector_is_noticed);
    tcase_add_loop_test(bad, every_cut_is_noticed, 0, SAMPLES);
    tcase_add_loop_test(bad, room_must_be_exact, 0, SAMPLES);
    tcase_add_test(bad, noise_never_harms);
    tcase_add_loop_test(bad, what_cannot_be, 0, CANNOT);
    suite_add_tcase(suite, good);
    suite_add_tcase(suite, bad);
    return run_suite(suite);
}
