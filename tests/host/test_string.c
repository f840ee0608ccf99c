/*
 * kernel/string.c against the host's library, under other names so that both exist.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strstr
#undef strncpy
#define memcpy our_memcpy
#define memmove our_memmove
#define memset our_memset
#define memcmp our_memcmp
#define strlen our_strlen
#define strcmp our_strcmp
#define strncmp our_strncmp
#define strchr our_strchr
#define strstr our_strstr
#define strncpy our_strncpy
#include "kernel/string.c"
#include "tests/host/run_suite.h"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strstr
#undef strncpy

enum { SIZE = 64, MOST = 24, GUARD = 0xEE };

static void fill(unsigned char *to)
{
    for (unsigned i = 0; i < SIZE; i++) {
        to[i] = (unsigned char)random();
    }
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

START_TEST(copy_every_offset_and_length)
{
    unsigned char from[SIZE], ours[SIZE], theirs[SIZE];
    fill(from);
    for (unsigned a = 0; a < 8; a++) {
        for (unsigned b = 0; b < 8; b++) {
            for (unsigned n = 0; n <= MOST; n++) {
                memset(ours, GUARD, SIZE);
                memset(theirs, GUARD, SIZE);
                ck_assert_ptr_eq(our_memcpy(ours + a, from + b, n), ours + a);
                memcpy(theirs + a, from + b, n);
                ck_assert_mem_eq(ours, theirs, SIZE);
            }
        }
    }
}
END_TEST

START_TEST(move_every_overlap)
{
    unsigned char from[SIZE], ours[SIZE], theirs[SIZE];
    fill(from);
    for (unsigned a = 0; a < 32; a++) {
        for (unsigned b = 0; b < 32; b++) {
            for (unsigned n = 0; n <= MOST; n++) {
                memcpy(ours, from, SIZE);
                memcpy(theirs, from, SIZE);
                ck_assert_ptr_eq(our_memmove(ours + a, ours + b, n), ours + a);
                memmove(theirs + a, theirs + b, n);
                ck_assert_mem_eq(ours, theirs, SIZE);
            }
        }
    }
}
END_TEST

START_TEST(set_every_offset_and_length)
{
    unsigned char ours[SIZE], theirs[SIZE];
    for (unsigned a = 0; a < 8; a++) {
        for (unsigned n = 0; n <= MOST; n++) {
            memset(ours, GUARD, SIZE);
            memset(theirs, GUARD, SIZE);
            ck_assert_ptr_eq(our_memset(ours + a, 0x1A5, n), ours + a);
            memset(theirs + a, 0x1A5, n);
            ck_assert_mem_eq(ours, theirs, SIZE);
        }
    }
}
END_TEST

START_TEST(compare_bytes_as_unsigned)
{
    ck_assert_int_eq(our_memcmp("abc", "abd", 2), 0);
    ck_assert_int_eq(our_memcmp("a", "b", 0), 0);
    ck_assert_int_lt(our_memcmp("abc", "abd", 3), 0);
    ck_assert_int_gt(our_memcmp("\x80", "\x7F", 1), 0);
}
END_TEST

static const char *const texts[] = {"",    "a",    "b",     "ab",     "abc",    "abd",
                                    "aab", "\x80", "a\xFF", "abcabd", "exit=on"};
enum { TEXTS = sizeof texts / sizeof texts[0] };

START_TEST(strings_agree_with_the_library)
{
    for (unsigned a = 0; a < TEXTS; a++) {
        ck_assert_uint_eq(our_strlen(texts[a]), strlen(texts[a]));
        for (int c = 0; c < 256; c++) {
            ck_assert_ptr_eq(our_strchr(texts[a], c), strchr(texts[a], c));
        }
        for (unsigned b = 0; b < TEXTS; b++) {
            ck_assert_int_eq(sign(our_strcmp(texts[a], texts[b])),
                             sign(strcmp(texts[a], texts[b])));
            ck_assert_ptr_eq(our_strstr(texts[a], texts[b]), strstr(texts[a], texts[b]));
            for (unsigned n = 0; n < 8; n++) {
                ck_assert_int_eq(sign(our_strncmp(texts[a], texts[b], n)),
                                 sign(strncmp(texts[a], texts[b], n)));
            }
        }
    }
}
END_TEST

START_TEST(strncpy_pads_and_may_not_end)
{
    char to[8];
    memset(to, 'x', sizeof to);
    ck_assert_ptr_eq(our_strncpy(to, "ab", 5), to);
    ck_assert_mem_eq(to, "ab\0\0\0xxx", sizeof to);
    our_strncpy(to, "12345", 3);
    ck_assert_mem_eq(to, "123\0\0xxx", sizeof to);
    our_strncpy(to, "9", 0);
    ck_assert_mem_eq(to, "123\0\0xxx", sizeof to);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("string");
    TCase *tests = tcase_create("string");
    tcase_add_test(tests, copy_every_offset_and_length);
    tcase_add_test(tests, move_every_overlap);
    tcase_add_test(tests, set_every_offset_and_length);
    tcase_add_test(tests, compare_bytes_as_unsigned);
    tcase_add_test(tests, strings_agree_with_the_library);
    tcase_add_test(tests, strncpy_pads_and_may_not_end);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
