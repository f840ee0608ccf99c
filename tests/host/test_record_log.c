/*
 * The record log: what a reader is told first, order, wrapping, and what a slow one misses.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/record_log.h"

static char told[4200];
static unsigned lost;

/* The next record as text; null if there is none. */
static const char *next(struct record_reader *r)
{
    const char *event;
    size_t n = record_reader_look(r, &event, &lost);

    if (n == 0) {
        return NULL;
    }
    ck_assert_uint_ge(n, 8);
    ck_assert_mem_eq(event, "data: ", 6);
    ck_assert_mem_eq(event + n - 2, "\n\n", 2);
    memcpy(told, event + 6, n - 8);
    told[n - 8] = '\0';
    record_reader_advance(r);
    return told;
}

static void add(const char *json)
{
    record_log_add(json, strlen(json));
}

static void add_number(unsigned number, unsigned bytes)
{
    static char json[4200];
    int n = snprintf(json, sizeof(json), "{\"ev\":\"x\",\"n\":%u,\"p\":\"", number);

    memset(json + n, 'p', bytes);
    strcpy(json + n + bytes, "\"}");
    add(json);
}

START_TEST(told_first)
{
    struct record_reader r;

    add("{\"ev\":\"ready\",\"nic\":1,\"ip\":\"b\"}");
    add("{\"ev\":\"boot\",\"version\":\"v\"}");
    add("{\"ev\":\"nic\",\"nic\":0,\"driver\":\"d\"}");
    add("{\"ev\":\"ready\",\"nic\":0,\"ip\":\"a\"}");
    add("{\"ev\":\"ready\",\"nic\":0,\"ip\":\"c\"}");
    add("{\"ev\":\"nice\",\"nic\":0}");
    add("{\"ev\":\"nic\",\"nic\":7}");
    record_reader_open(&r);
    add("{\"ev\":\"done\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"boot\",\"version\":\"v\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"nic\",\"nic\":0,\"driver\":\"d\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"ready\",\"nic\":0,\"ip\":\"c\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"ready\",\"nic\":1,\"ip\":\"b\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"done\"}");
    ck_assert_ptr_null(next(&r));
    ck_assert_uint_eq(lost, 0);
}
END_TEST

/* Replaced before it is told: the new one. */
START_TEST(replaced)
{
    struct record_reader r;

    add("{\"ev\":\"ready\",\"nic\":0,\"ip\":\"a\"}");
    record_reader_open(&r);
    add("{\"ev\":\"ready\",\"nic\":0,\"ip\":\"bb\"}");
    ck_assert_str_eq(next(&r), "{\"ev\":\"ready\",\"nic\":0,\"ip\":\"bb\"}");
}
END_TEST

/* Every length at every place of the ring, for a reader that keeps up. */
START_TEST(keeps_up)
{
    struct record_reader r;
    char expected[32];

    record_reader_open(&r);
    for (unsigned i = 0; i < 5000; i++) {
        add_number(i, (i * 37) % 400);
        snprintf(expected, sizeof(expected), "{\"ev\":\"x\",\"n\":%u,", i);
        ck_assert_ptr_nonnull(next(&r));
        ck_assert_mem_eq(told, expected, strlen(expected));
        ck_assert_str_eq(told + strlen(told) - 2, "\"}");
        ck_assert_ptr_null(next(&r));
    }
    ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(too_slow)
{
    struct record_reader r;
    unsigned got = 0;

    record_reader_open(&r);
    add_number(0, 100);
    for (unsigned i = 1; i < 1000; i++) {
        add_number(i, 100);
    }
    while (next(&r) != NULL) {
        got++;
    }
    ck_assert_uint_eq(got + lost, 1000);
    ck_assert_uint_gt(got, 50);
    ck_assert_ptr_nonnull(strstr(told, "\"n\":999,"));
    lost = 0;
    add_number(1000, 4000);
    add_number(1001, 4000);
    ck_assert_ptr_nonnull(strstr(next(&r), "\"n\":1000,"));
    ck_assert_ptr_nonnull(strstr(next(&r), "\"n\":1001,"));
    ck_assert_uint_eq(lost, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_log");
    TCase *tcase = tcase_create("log");
    SRunner *runner;
    int failed;

    tcase_add_test(tcase, told_first);
    tcase_add_test(tcase, replaced);
    tcase_add_test(tcase, keeps_up);
    tcase_add_test(tcase, too_slow);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
