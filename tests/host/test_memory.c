/*
 * kernel/memory.c: maps as loaders give them, and maps that lie.
 */
#define _GNU_SOURCE
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/multiboot.h"
#include "kernel/memory.h"
#include "tests/host/run_suite.h"

enum { IMAGE_END = 0x140000, RESERVED = 2 };

static unsigned char map[512];
static size_t length;

static void put(uint64_t base, uint64_t bytes, uint32_t type, uint32_t extra)
{
    struct multiboot_region r = {
        .size = (uint32_t)(sizeof r - sizeof r.size) + extra,
        .base_low = (uint32_t)base,
        .base_high = (uint32_t)(base >> 32),
        .length_low = (uint32_t)bytes,
        .length_high = (uint32_t)(bytes >> 32),
        .type = type,
    };
    memcpy(map + length, &r, sizeof r);
    length += sizeof r + extra;
}

START_TEST(a_pc_with_16_mb)
{
    put(0, 0x9FC00, MULTIBOOT_REGION_FREE, 0);
    put(0xF0000, 0x10000, RESERVED, 0);
    put(0x100000, 0xF00000, MULTIBOOT_REGION_FREE, 4); /* entries may be longer than we know */
    put(0xFFFC0000, 0x40000, RESERVED, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, IMAGE_END);
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    ck_assert_uint_eq(m.top_kb, 16384);
}
END_TEST

/* Below the hole there is enough: the rest may be slow (not cached) on old boards. */
START_TEST(the_lower_side_of_a_hole)
{
    put(0x1000000, 0x3000000, MULTIBOOT_REGION_FREE, 0);
    put(0x100000, 0xE00000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, IMAGE_END);
    ck_assert_uint_eq(m.end, 0xF00000);
    ck_assert_uint_eq(m.top_kb, 65536);
}
END_TEST

START_TEST(the_larger_side_if_both_are_small)
{
    put(0x100000, 0x100000, MULTIBOOT_REGION_FREE, 0);
    put(0x1000000, 0x180000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, 0x1000000);
    ck_assert_uint_eq(m.end, 0x1180000);
}
END_TEST

/* An ISA card may answer between 15 and 16 MB, whatever the map says. */
START_TEST(a_map_that_claims_the_hole)
{
    put(0x100000, 0x7F00000, MULTIBOOT_REGION_FREE, 0); /* 128 MB */
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    ck_assert_uint_eq(m.top_kb, 131072);
    length = 0;
    put(0xD00000, 0x500000, MULTIBOOT_REGION_FREE, 0); /* 13 to 18 MB: twice 2 MB */
    m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, 0xD00000);
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    length = 0;
    put(0xF00000, 0x100000, MULTIBOOT_REGION_FREE, 0); /* nothing but the hole */
    m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
}
END_TEST

START_TEST(nothing_above_64_mb)
{
    put(0x3F00000, 0x8000000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, 0x3F00000);
    ck_assert_uint_eq(m.end, MEMORY_LIMIT);
    length = 0;
    put(MEMORY_LIMIT, 0x8000000, MULTIBOOT_REGION_FREE, 0);
    m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
}
END_TEST

/* A BIOS that calls memory free and reserves some of it in the same map. */
START_TEST(what_is_reserved_is_not_free)
{
    put(0x100000, 0x700000, MULTIBOOT_REGION_FREE, 0);
    put(0x200000, 0x1000, RESERVED, 0);
    put(0x7F0000, 0x10000, 3, 0); /* ACPI tables */
    put(0x900000, 0x1000, RESERVED, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, 0x201000);
    ck_assert_uint_eq(m.end, 0x7F0000);
    put(0, 0x100000000, RESERVED, 0);
    m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
}
END_TEST

START_TEST(nothing_above_the_image)
{
    put(0, 0xA0000, MULTIBOOT_REGION_FREE, 0);
    put(0x100000, IMAGE_END - 0x100000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
    ck_assert_uint_eq(memory_from_map(map, 0, IMAGE_END).top_kb, 0);
}
END_TEST

START_TEST(cut_at_4_gb)
{
    put(0x100000, 0x200000000, MULTIBOOT_REGION_FREE, 0);
    put(0x100000000, 0x100000000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, IMAGE_END);
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    ck_assert_uint_eq(m.top_kb, UINT32_MAX >> 10);
}
END_TEST

START_TEST(malformed_maps_end)
{
    put(0x100000, 0x300000, MULTIBOOT_REGION_FREE, 0);
    uint32_t sizes[] = {0, 4, 19, 0x7FFFFFFF, UINT32_MAX - 3, UINT32_MAX};
    put(0x1000000, 0x400000, MULTIBOOT_REGION_FREE, 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memcpy(map, &sizes[i], sizeof sizes[i]);
        struct memory m = memory_from_map(map, length, IMAGE_END);
        ck_assert_uint_eq(m.end, 0x400000); /* the entry that was cut short still counts */
    }
    ck_assert_uint_eq(memory_from_map(map, sizeof(struct multiboot_region) - 1, IMAGE_END).end,
                      IMAGE_END);
}
END_TEST

START_TEST(from_the_size_alone)
{
    struct memory m = memory_from_upper(3072, IMAGE_END);
    ck_assert_uint_eq(m.start, IMAGE_END);
    ck_assert_uint_eq(m.end, 0x400000);
    ck_assert_uint_eq(m.top_kb, 4096);
    m = memory_from_upper(0, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
    m = memory_from_upper(31 * 1024, IMAGE_END); /* 32 MB: whether in one piece it does not say */
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    ck_assert_uint_eq(m.top_kb, 32768);
    m = memory_from_upper(UINT32_MAX, IMAGE_END);
    ck_assert_uint_eq(m.end, MEMORY_HOLE);
    ck_assert_uint_eq(m.top_kb, UINT32_MAX >> 10);
    m = memory_from_upper(64, IMAGE_END);
    ck_assert_uint_eq(m.start, m.end);
}
END_TEST

/* ---- memory that answers, and where it does not ---- */

enum { MB = 1 << 20, MARK_AT = MB + 0x20000 };

static int chips;

/* Memory of `bytes`, on which [from, from + size) lies with `line` and all above not connected. */
static void connect(uint32_t from, uint32_t size, uint32_t line)
{
    for (uint32_t at = from; at < from + size; at += MB) {
        void *got = mmap((void *)(uintptr_t)at, MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         chips, at & (line - 1));
        ck_assert_ptr_eq(got, (void *)(uintptr_t)at);
    }
}

static void machine_of(uint32_t bytes)
{
    chips = memfd_create("memory", 0);
    ck_assert_int_eq(ftruncate(chips, bytes), 0);
    connect(MB, bytes - MB, bytes);
    memset((void *)(uintptr_t)MB, 0x77, IMAGE_END - MB);
}

static volatile uint32_t *mark(void)
{
    return (volatile uint32_t *)(uintptr_t)MARK_AT;
}

static void image_is_whole(void)
{
    for (uint32_t at = MB; at < IMAGE_END; at += 4) {
        if (*(volatile uint32_t *)(uintptr_t)at != 0x77777777) {
            ck_abort_msg("the image was written to at %x", (unsigned)at);
        }
    }
}

START_TEST(all_that_is_there_answers)
{
    machine_of(4 * MB);
    struct memory m = memory_from_upper(3072, IMAGE_END);
    memory_verify(&m, mark());
    ck_assert_uint_eq(m.start, IMAGE_END);
    ck_assert_uint_eq(m.end, 4 * MB);
    ck_assert_uint_eq(m.top_kb, m.claimed_kb);
    image_is_whole();
}
END_TEST

/* 2 MB of chips that answer again and again up to 8 MB: the image must not be found by writing. */
START_TEST(an_address_line_is_not_connected)
{
    machine_of(2 * MB);
    connect(2 * MB, 6 * MB, 2 * MB);
    struct memory m = memory_from_upper(7 * 1024, IMAGE_END);
    memory_verify(&m, mark());
    ck_assert_uint_eq(m.end, 2 * MB);
    ck_assert_uint_eq(m.top_kb, 2048);
    ck_assert_uint_eq(m.claimed_kb, 8192);
    image_is_whole();
}
END_TEST

/* Behind 3 MB only the third begins again: the image is not in it. */
START_TEST(memory_that_repeats_itself)
{
    machine_of(4 * MB);
    for (uint32_t at = 3 * MB; at < 6 * MB; at += MB) {
        ck_assert_ptr_ne(mmap((void *)(uintptr_t)at, MB, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, chips, 2 * MB),
                         MAP_FAILED);
    }
    struct memory m = memory_from_upper(5 * 1024, IMAGE_END);
    memory_verify(&m, mark());
    ck_assert_uint_eq(m.end, 3 * MB);
    image_is_whole();
}
END_TEST

START_TEST(a_block_of_less_than_a_page)
{
    machine_of(4 * MB);
    struct memory m = {IMAGE_END + 8, IMAGE_END + 4000, 1285, 1285};
    memory_verify(&m, mark());
    ck_assert_uint_eq(m.start, IMAGE_END + 8);
    ck_assert_uint_ge(m.end, m.start);
    m = (struct memory){IMAGE_END, IMAGE_END, 0, 0};
    memory_verify(&m, mark());
    ck_assert_uint_eq(m.start, m.end);
}
END_TEST

START_TEST(a20)
{
    machine_of(4 * MB);
    volatile uint32_t *other = (volatile uint32_t *)(uintptr_t)(MARK_AT + MB);
    *mark() = *other = 0x12345678; /* equal by chance */
    ck_assert(!memory_same(mark(), other));
    ck_assert_uint_eq(*mark(), 0x12345678);
    ck_assert_uint_eq(*other, 0x12345678);
    connect(2 * MB, MB, MB);
    connect(MB, MB, MB);
    *mark() = 0x12345678;
    ck_assert(memory_same(mark(), other));
    ck_assert_uint_eq(*mark(), 0x12345678);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, a_pc_with_16_mb);
    tcase_add_test(tests, the_lower_side_of_a_hole);
    tcase_add_test(tests, the_larger_side_if_both_are_small);
    tcase_add_test(tests, a_map_that_claims_the_hole);
    tcase_add_test(tests, nothing_above_64_mb);
    tcase_add_test(tests, what_is_reserved_is_not_free);
    tcase_add_test(tests, nothing_above_the_image);
    tcase_add_test(tests, cut_at_4_gb);
    tcase_add_test(tests, malformed_maps_end);
    tcase_add_test(tests, from_the_size_alone);
    tcase_add_test(tests, all_that_is_there_answers);
    tcase_add_test(tests, an_address_line_is_not_connected);
    tcase_add_test(tests, memory_that_repeats_itself);
    tcase_add_test(tests, a_block_of_less_than_a_page);
    tcase_add_test(tests, a20);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
