/*
 * kernel/memory.c: maps as loaders give them, and maps that lie.
 */
#include <check.h>
#include <string.h>

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
    ck_assert_uint_eq(m.end, 0x1000000);
    ck_assert_uint_eq(m.top_kb, 16384);
}
END_TEST

START_TEST(the_larger_side_of_a_hole)
{
    put(0x100000, 0xE00000, MULTIBOOT_REGION_FREE, 0);
    put(0x1000000, 0x3000000, MULTIBOOT_REGION_FREE, 0);
    struct memory m = memory_from_map(map, length, IMAGE_END);
    ck_assert_uint_eq(m.start, 0x1000000);
    ck_assert_uint_eq(m.end, 0x4000000);
    ck_assert_uint_eq(m.top_kb, 65536);
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
    ck_assert_uint_eq(m.end, UINT32_MAX);
}
END_TEST

START_TEST(malformed_maps_end)
{
    put(0x100000, 0x300000, MULTIBOOT_REGION_FREE, 0);
    uint32_t sizes[] = {0, 4, 19, 0x7FFFFFFF, UINT32_MAX - 3, UINT32_MAX};
    put(0x1000000, 0x1000000, MULTIBOOT_REGION_FREE, 0);
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
    m = memory_from_upper(UINT32_MAX, IMAGE_END);
    ck_assert_uint_gt(m.end, m.start);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, a_pc_with_16_mb);
    tcase_add_test(tests, the_larger_side_of_a_hole);
    tcase_add_test(tests, nothing_above_the_image);
    tcase_add_test(tests, cut_at_4_gb);
    tcase_add_test(tests, malformed_maps_end);
    tcase_add_test(tests, from_the_size_alone);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
