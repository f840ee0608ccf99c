/*
 * The frame pool: everything handed out once, taken back once, aligned as promised.
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/frame.h"
#include "tests/host/run_suite.h"

enum { FRAMES = 9 };

static struct frame memory[FRAMES];

START_TEST(hands_out_each_once)
{
    struct frame *taken[FRAMES];
    frame_pool_init(memory, FRAMES);
    ck_assert_uint_eq(frame_pool_size(), FRAMES);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FRAMES; i++) {
            ck_assert_uint_eq(frame_pool_free(), FRAMES - i);
            taken[i] = frame_alloc();
            ck_assert_ptr_nonnull(taken[i]);
            ck_assert(taken[i] >= memory && taken[i] < memory + FRAMES);
            for (unsigned k = 0; k < i; k++) {
                ck_assert_ptr_ne(taken[i], taken[k]);
            }
            memset(taken[i]->above, (int)i, FRAME_ABOVE + FRAME_ALIGN_SHIFT + FRAME_ROOM);
            taken[i]->next = taken[i]; /* the holder may use it */
        }
        ck_assert_ptr_null(frame_alloc());
        ck_assert_ptr_null(frame_alloc());
        ck_assert_uint_eq(frame_pool_free(), 0);
        for (unsigned i = 0; i < FRAMES; i++) {
            frame_free(taken[(i * 4 + round) % FRAMES]);
        }
        ck_assert_uint_eq(frame_pool_free(), FRAMES);
    }
}
END_TEST

/* The IP header is 4-byte aligned, `above` 16-byte, and the two touch the data without a gap. */
START_TEST(layout)
{
    frame_pool_init(memory, FRAMES);
    for (unsigned i = 0; i < FRAMES; i++) {
        struct frame *f = frame_alloc();
        ck_assert_uint_eq(((uintptr_t)f->data + 14) % 4, 0);
        ck_assert_uint_eq((uintptr_t)f->above % 16, 0);
        ck_assert_ptr_eq(f->above + FRAME_ABOVE + FRAME_ALIGN_SHIFT, f->data);
        ck_assert_uint_ge(sizeof f->data, FRAME_MAX + 4 + 1); /* FCS and a last odd word */
    }
}
END_TEST

START_TEST(again_from_scratch)
{
    frame_pool_init(memory, FRAMES);
    frame_alloc();
    frame_pool_init(memory, 2);
    ck_assert_uint_eq(frame_pool_size(), 2);
    ck_assert_uint_eq(frame_pool_free(), 2);
    ck_assert_ptr_nonnull(frame_alloc());
    ck_assert_ptr_nonnull(frame_alloc());
    ck_assert_ptr_null(frame_alloc());
}
END_TEST

/* Aborts: giving back twice panics. */
START_TEST(twice)
{
    frame_pool_init(memory, FRAMES);
    struct frame *f = frame_alloc(), *g = frame_alloc();
    frame_free(f);
    frame_free(g);
    frame_free(f);
}
END_TEST

/* Aborts: a frame in front of the pool, and one behind it. */
START_TEST(not_of_the_pool)
{
    frame_pool_init(&memory[1], 2);
    frame_free(_i == 0 ? &memory[0] : &memory[3]);
}
END_TEST

START_TEST(twice_with_pool_full)
{
    frame_pool_init(memory, FRAMES);
    frame_free(&memory[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame");
    TCase *tc = tcase_create("frame");
    tcase_add_test(tc, hands_out_each_once);
    tcase_add_test(tc, layout);
    tcase_add_test(tc, again_from_scratch);
    tcase_add_test_raise_signal(tc, twice, SIGABRT);
    tcase_add_test_raise_signal(tc, twice_with_pool_full, SIGABRT);
    tcase_add_loop_test_raise_signal(tc, not_of_the_pool, SIGABRT, 0, 2);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
