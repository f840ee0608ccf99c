/*
 * kernel/arena.c.  Each test runs in a process of its own, so each begins with an empty arena.
 */
#include <check.h>
#include <string.h>

#include "kernel/arena.h"
#include "tests/host/run_suite.h"

static _Alignas(64) unsigned char memory[1024];

START_TEST(empty_gives_nothing)
{
    ck_assert_ptr_null(arena_alloc(1, 1));
    ck_assert_uint_eq(arena_left(), 0);
}
END_TEST

START_TEST(zeroed_and_counted)
{
    memset(memory, 0xAA, sizeof memory);
    arena_init(memory, sizeof memory);
    unsigned char *block = arena_alloc(100, 1);
    ck_assert_ptr_eq(block, memory);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_eq(block[i], 0);
    }
    ck_assert_uint_eq(block[100], 0xAA);
    ck_assert_uint_eq(arena_used(), 100);
    ck_assert_uint_eq(arena_left(), sizeof memory - 100);
}
END_TEST

START_TEST(aligned)
{
    arena_init(memory + 1, sizeof memory - 1);
    for (size_t align = 1; align <= 64; align *= 2) {
        void *block = arena_alloc(3, align);
        ck_assert_uint_eq((uintptr_t)block % align, 0);
    }
}
END_TEST

START_TEST(to_the_last_byte)
{
    arena_init(memory, sizeof memory);
    ck_assert_ptr_null(arena_alloc(sizeof memory + 1, 1));
    ck_assert_ptr_eq(arena_alloc(sizeof memory, 1), memory);
    ck_assert_uint_eq(arena_left(), 0);
    ck_assert_ptr_null(arena_alloc(1, 1));
}
END_TEST

START_TEST(refusal_takes_nothing)
{
    arena_init(memory, sizeof memory);
    arena_alloc(sizeof memory - 10, 1);
    ck_assert_ptr_null(arena_alloc(9, 16)); /* fits only without the alignment */
    ck_assert_ptr_null(arena_alloc(SIZE_MAX, 1));
    ck_assert_ptr_null(arena_alloc(SIZE_MAX, 64));
    ck_assert_uint_eq(arena_left(), 10);
    ck_assert_ptr_nonnull(arena_alloc(10, 1));
}
END_TEST

START_TEST(largest_block_wins)
{
    arena_init(memory, 100);
    arena_init(memory + 200, 300);
    arena_init(memory + 600, 200);
    ck_assert_uint_eq(arena_left(), 300);
    ck_assert_ptr_eq(arena_alloc(1, 1), memory + 200);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("arena");
    tcase_add_test(tests, empty_gives_nothing);
    tcase_add_test(tests, zeroed_and_counted);
    tcase_add_test(tests, aligned);
    tcase_add_test(tests, to_the_last_byte);
    tcase_add_test(tests, refusal_takes_nothing);
    tcase_add_test(tests, largest_block_wins);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
