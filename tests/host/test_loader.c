/*
 * The word that our own loaders put in front of the options.
 */
#include "kernel/loader.h"

#include <check.h>

#include "tests/host/run_suite.h"

static uint32_t ms;

START_TEST(the_word_is_taken_off)
{
    ck_assert_str_eq(loader_take("load_ms=3074 ip=dhcp irq=poll"), "ip=dhcp irq=poll");
    ck_assert(loader_load_ms(&ms));
    ck_assert_uint_eq(ms, 3074);
    ck_assert_str_eq(loader_take("load_ms=0"), "");
    ck_assert(loader_load_ms(&ms));
    ck_assert_uint_eq(ms, 0);
    ck_assert_str_eq(loader_take("load_ms=86400000 "), "");
    ck_assert(loader_load_ms(&ms));
    ck_assert_uint_eq(ms, 86400000);
}
END_TEST

START_TEST(unpacking_is_part_of_loading)
{
    loader_unpack_ms = 790;
    loader_take("load_ms=3074");
    ck_assert(loader_load_ms(&ms));
    ck_assert_uint_eq(ms, 3864);
    loader_unpack_ms = 0;
}
END_TEST

START_TEST(other_lines_stay_whole)
{
    static const char *const lines[] = {"",
                                        "ip=dhcp",
                                        "load_ms",
                                        "load_ms=",
                                        "load_ms= ip=dhcp",
                                        "load_ms=12x",
                                        "load_ms=1\t",
                                        "load_ms=1234567890",
                                        "out/nictest86.elf load_ms=5",
                                        " load_ms=5"};

    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ck_assert_ptr_eq(loader_take(lines[i]), lines[i]);
        ck_assert(!loader_load_ms(&ms));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loader");
    TCase *t = tcase_create("word");

    tcase_add_test(t, the_word_is_taken_off);
    tcase_add_test(t, unpacking_is_part_of_loading);
    tcase_add_test(t, other_lines_stay_whole);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
