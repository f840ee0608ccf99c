/*
 * lwIP's heap (net/port/heap.c).
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "net/port/heap.h"

static _Alignas(16) unsigned char memory[HEAP_MIN];

START_TEST(heap_gives_what_was_asked)
{
    enum { SIZES = 6, MOST = 2000 };
    static const size_t sizes[SIZES] = {1, 128, 129, 512, 1600, 20000};
    static unsigned char *blocks[MOST];
    unsigned n = 0;

    heap_init(memory, sizeof(memory));
    ck_assert_ptr_null(heap_take(100000));
    ck_assert_ptr_null(heap_take_zeroed(SIZE_MAX / 2, 3));
    for (unsigned failed = 0; failed < SIZES && n < MOST;) {
        size_t size = sizes[n % SIZES];

        blocks[n] = heap_take(size);
        if (blocks[n] == NULL) {
            break;
        }
        ck_assert_uint_eq((uintptr_t)blocks[n] % sizeof(void *), 0);
        ck_assert(blocks[n] > memory && blocks[n] + size <= memory + sizeof(memory));
        memset(blocks[n], (int)n, size);
        n++;
    }
    ck_assert_uint_gt(n, 3);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < sizes[i % SIZES]; k++) {
            ck_assert_uint_eq(blocks[i][k], (unsigned char)i);
        }
        heap_give(blocks[i]);
    }
    heap_give(NULL);
    unsigned char *zeroed = heap_take_zeroed(10, 12);
    for (unsigned k = 0; k < 120; k++) {
        ck_assert_uint_eq(zeroed[k], 0);
    }
    heap_give(zeroed);
}
END_TEST

/* An empty list helps itself from the next size; in the end there is nothing, and all comes back.
 */
START_TEST(heap_runs_out_and_recovers)
{
    static void *blocks[2000];
    unsigned first = 0;

    heap_init(memory, sizeof(memory));
    for (unsigned round = 0; round < 3; round++) {
        unsigned n = 0;

        while ((blocks[n] = heap_take(64)) != NULL) {
            n++;
        }
        ck_assert_uint_gt(n, 100);
        ck_assert(round == 0 || n == first);
        first = n;
        while (n > 0) {
            heap_give(blocks[--n]);
        }
        ck_assert_ptr_nonnull(blocks[0] = heap_take(20000));
        heap_give(blocks[0]);
    }
}
END_TEST

START_TEST(heap_notices_a_block_given_twice)
{
    void *block;

    heap_init(memory, sizeof(memory));
    block = heap_take(64);
    heap_give(block);
    heap_give(block); /* panics */
}
END_TEST

Suite *net_heap_suite(void)
{
    Suite *suite = suite_create("net_heap");
    TCase *heap = own_case(suite, "heap");

    tcase_add_test(heap, heap_gives_what_was_asked);
    tcase_add_test(heap, heap_runs_out_and_recovers);
    tcase_add_test_raise_signal(heap, heap_notices_a_block_given_twice, 6);
    return suite;
}
