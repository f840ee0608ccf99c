/*
 * boot/unpack/expand.c against what iso/pack packs, and what damage does to it.  Input and room are
 * exact allocations, so AddressSanitizer sees each byte read or written too far.
 *
 * (tests/emu/test_unpack.py compares the product with a third hand's unpacker.)
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "boot/unpack/expand.h"
#include "iso/pack/pack.h"
#include "tests/host/run_suite.h"

enum { BIG = 30000, SHORT = 100 };

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

enum kind { EMPTY, ZEROS, NOISE, TEXT, DISTANT, SKEWED, CALLS, KINDS };

enum { FAR = 140000, FARTHER = 150000 };

/* Few symbols often, many seldom: codes of every length. */
static uint8_t skewed(void)
{
    unsigned value = 0;
    while (value < 255 && dice() % 3 != 0) {
        value += 1 + dice() % 3;
    }
    return (uint8_t)value;
}

/* Calls everywhere, their operands of all sizes, cut off at the end. */
static uint8_t call_like(size_t at)
{
    return dice() % 4 == 0 ? CALL : dice() % 2 == 0 ? (uint8_t)(0 - at % 2) : (uint8_t)dice();
}

static uint8_t byte_of(enum kind kind, const uint8_t *before, size_t at)
{
    switch (kind) {
    case EMPTY:
    case ZEROS: return 0;
    case NOISE: return (uint8_t)dice();
    case TEXT: return (uint8_t)("the wire, the card and "[at % 23] ^ dice() % 7 / 6);
    case DISTANT: return at < FAR ? (uint8_t)dice() : before[at - FAR + dice() % 40 / 39];
    case CALLS: return call_like(at);
    default: return skewed();
    }
}

static struct bytes make(enum kind kind, size_t n)
{
    struct bytes b = get(kind == EMPTY ? 0 : n);
    for (size_t i = 0; i < b.n; i++) {
        b.at[i] = byte_of(kind, b.at, i);
    }
    return b;
}

/* Exactly as long as it is. */
static struct bytes packed_of(struct bytes plain)
{
    struct bytes packed = pack_image(plain.at, plain.n), exact = get(packed.n);
    memcpy(exact.at, packed.at, packed.n);
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
    int status = expand(packed.at, packed.n, out.at, room, step);
    if (status == 0) {
        ck_assert_uint_eq(room, expected.n);
        ck_assert(memcmp(out.at, expected.at, room) == 0);
    }
    free(out.at);
    return status;
}

START_TEST(whatever_is_packed)
{
    struct bytes plain = make((enum kind)_i, _i == DISTANT ? FARTHER : BIG),
                 packed = packed_of(plain);
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    free(packed.at);
    free(plain.at);
}
END_TEST

START_TEST(every_short_length)
{
    for (size_t n = 0; n < SHORT; n++) {
        struct bytes plain = make((enum kind)(n % KINDS), n), packed = packed_of(plain);
        ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
        free(packed.at);
        free(plain.at);
    }
}
END_TEST

/* What it is for.  (zlib makes 5307 bytes of the text.) */
START_TEST(it_gets_shorter)
{
    struct bytes plain = make(TEXT, BIG), packed = packed_of(plain);
    ck_assert_uint_lt(packed.n, 5000);
    free(packed.at);
    free(plain.at);
    plain = make(ZEROS, BIG);
    packed = packed_of(plain);
    ck_assert_uint_lt(packed.n, 500);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* The operand of a call and the place it leads to, each way; and no two for one. */
START_TEST(calls_are_one_to_one)
{
    enum { N = 100 };
    for (uint32_t behind = CALL_BYTES; behind <= N; behind++) {
        bool taken[4 * N] = {false};
        for (uint32_t i = 0; i < 4 * N; i++) {
            uint32_t operand = i - 2 * N, place = call_place(operand, behind, N);
            ck_assert_uint_eq(call_operand(place, behind, N), operand);
            ck_assert_uint_lt(place + 2 * N, 4 * N);
            ck_assert(!taken[place + 2 * N]);
            taken[place + 2 * N] = true;
            ck_assert(operand + behind >= N || place == operand + behind);
        }
        ck_assert_uint_eq(call_place(0x7FFFFFFF, behind, N), 0x7FFFFFFF);
        ck_assert_uint_eq(call_operand(0x80000000, behind, N), 0x80000000);
    }
}
END_TEST

/* The clock before the kernel relies on it (boot/unpack/pc.h). */
START_TEST(steps_come_often_enough)
{
    static const enum kind some[] = {ZEROS, TEXT, SKEWED};
    struct bytes plain = make(some[_i], BIG), packed = packed_of(plain);
    steps = 0;
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    unsigned least = BIG / (EXPAND_STEP + COPY_MAX) + BIG / EXPAND_STEP, for_codes = 40;
    ck_assert_uint_ge(steps, least);
    ck_assert_uint_le(steps, 3 * (BIG / EXPAND_STEP + 2) + for_codes);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* In an image of no bytes there are only the check sum and the codes. */
START_TEST(steps_come_while_codes_are_read)
{
    enum { CODES = LITERAL_CODES + DISTANCE_CODES };
    enum { TOLD = LITERAL_CODES * LITERAL_SYMBOLS + DISTANCE_CODES * DISTANCE_SYMBOLS };
    struct bytes plain = make(EMPTY, 0), packed = packed_of(plain);
    unsigned summed = (unsigned)(packed.n - SUM_BYTES + EXPAND_STEP - 1) / EXPAND_STEP;
    steps = 0;
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    ck_assert_uint_ge(steps, summed + CODES + TOLD / 256);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* ---- damage ---- */

static struct bytes sample(int i, struct bytes *plain)
{
    *plain = make(i % 3 == 0 ? TEXT : i % 3 == 1 ? SKEWED : NOISE, 700);
    return packed_of(*plain);
}
enum { SAMPLES = 3 };

START_TEST(every_wrong_bit_is_noticed)
{
    struct bytes plain, packed = sample(_i, &plain);
    for (size_t bit = 0; bit < packed.n * 8; bit++) {
        packed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(unpack(packed, plain, plain.n), EXPAND_SUM);
        packed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(unpack(packed, plain, plain.n), 0);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* A sector of a floppy that reads as what was there before, or as its neighbour. */
START_TEST(a_lost_sector_is_noticed)
{
    struct bytes plain = make(SKEWED, BIG), packed = packed_of(plain);
    static const uint8_t fill[] = {0x00, 0xF6, 0xFF};
    for (size_t at = 0; at + 1024 <= packed.n; at += 512) {
        uint8_t sector[512];
        memcpy(sector, packed.at + at, sizeof sector);
        memset(packed.at + at, fill[at / 512 % sizeof fill], sizeof sector);
        ck_assert_int_eq(unpack(packed, plain, plain.n), EXPAND_SUM);
        memcpy(packed.at + at, packed.at + at + 512, sizeof sector);
        ck_assert_int_eq(unpack(packed, plain, plain.n), EXPAND_SUM);
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
        ck_assert_int_lt(unpack(part, plain, plain.n), 0);
        free(part.at);
    }
    struct bytes more = get(packed.n + PACKED_UNIT);
    memset(more.at, 0, more.n);
    memcpy(more.at, packed.at, packed.n);
    ck_assert_int_eq(unpack(more, plain, plain.n), EXPAND_SUM);
    free(more.at);
    free(packed.at);
    free(plain.at);
}
END_TEST

/* ---- what no packer made, with the right sum ---- */

/* Bits 0 up, in a message of n bytes. */
static struct bytes message(size_t n, const uint8_t *begin, size_t length)
{
    struct bytes b = get(n);
    memset(b.at, 0, n);
    memcpy(b.at + SUM_BYTES, begin, length);
    sign(b);
    return b;
}

START_TEST(noise_never_harms)
{
    struct bytes plain = make(SKEWED, 700), packed = packed_of(plain);
    for (unsigned turn = 0; turn < 4000; turn++) {
        struct bytes b = get(packed.n);
        memcpy(b.at, packed.at, packed.n);
        for (unsigned wrong = 1 + dice() % 8; wrong > 0; wrong--) {
            b.at[SUM_BYTES + dice() % (b.n - SUM_BYTES)] ^= (uint8_t)(1 << dice() % 8);
        }
        sign(b);
        struct bytes out = get(dice() % 1400);
        expand(b.at, b.n, out.at, out.n, step);
        free(out.at);
        free(b.at);
    }
    free(packed.at);
    free(plain.at);
}
END_TEST

START_TEST(room_must_be_right)
{
    struct bytes plain = make(TEXT, 5000), packed = packed_of(plain), none = {0};
    for (size_t room = 0; room < plain.n - 100; room += 7) {
        ck_assert_int_lt(unpack(packed, none, room), 0);
    }
    ck_assert_int_eq(unpack(packed, none, plain.n + 1000), EXPAND_CUT);
    free(packed.at);
    free(plain.at);
}
END_TEST

START_TEST(what_cannot_be)
{
    static const struct {
        uint8_t begin[4];
        size_t n;
    } cases[] = {
        {{0x00}, 400},             /* no code at all                            */
        {{0x01}, 400},             /* half of one                               */
        {{0x11, 0x01}, 400},       /* more codes than there are                 */
        {{0xCC, 0xCC}, 400},       /* longer than the longest                   */
        {{0, 0, 0, 0}, SUM_BYTES}, /* nothing behind the sum                    */
    };
    struct bytes b = message(cases[_i].n, cases[_i].begin,
                             cases[_i].n == SUM_BYTES ? 0 : sizeof cases[_i].begin),
                 none = {0};
    ck_assert_int_eq(unpack(b, none, 100), EXPAND_CODE);
    free(b.at);
}
END_TEST
enum { CANNOT = 5 };

START_TEST(odd_sizes_are_refused)
{
    struct bytes none = {0};
    for (size_t n = 0; n < 2 * PACKED_UNIT; n++) {
        struct bytes b = get(n);
        memset(b.at, 0, n);
        ck_assert_int_eq(unpack(b, none, 10), n % PACKED_UNIT != 0 || n == 0 ? EXPAND_CUT
                                              : n == PACKED_UNIT             ? EXPAND_CODE
                                                                             : EXPAND_SUM);
        free(b.at);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expand");
    TCase *good = tcase_create("good"), *bad = tcase_create("bad");
    tcase_set_timeout(good, 100);
    tcase_set_timeout(bad, 100);
    tcase_add_loop_test(good, whatever_is_packed, 0, KINDS);
    tcase_add_test(good, every_short_length);
    tcase_add_test(good, it_gets_shorter);
    tcase_add_test(good, calls_are_one_to_one);
    tcase_add_loop_test(good, steps_come_often_enough, 0, 3);
    tcase_add_test(good, steps_come_while_codes_are_read);
    tcase_add_loop_test(bad, every_wrong_bit_is_noticed, 0, SAMPLES);
    tcase_add_test(bad, a_lost_sector_is_noticed);
    tcase_add_loop_test(bad, every_cut_is_noticed, 0, SAMPLES);
    tcase_add_test(bad, noise_never_harms);
    tcase_add_test(bad, room_must_be_right);
    tcase_add_loop_test(bad, what_cannot_be, 0, CANNOT);
    tcase_add_test(bad, odd_sizes_are_refused);
    suite_add_tcase(suite, good);
    suite_add_tcase(suite, bad);
    return run_suite(suite);
}
