/*
 * Order statistics, and the `bench` record made of them.
 */
#include "kernel/samples.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/host_support.h"
#include "tests/host/run_suite.h"

START_TEST(nearest_rank)
{
    struct samples s = {.n = 0};
    ck_assert_uint_eq(samples_percentile(&s, 50), 0);
    for (unsigned i = 0; i < 50; i++) {
        samples_add(&s, (i * 37 + 11) % 50 + 1); /* 1 to 50, in disorder */
    }
    ck_assert_uint_eq(samples_percentile(&s, 0), 1);
    ck_assert_uint_eq(samples_percentile(&s, 1), 1);
    ck_assert_uint_eq(samples_percentile(&s, 50), 25);
    ck_assert_uint_eq(samples_percentile(&s, 51), 26);
    ck_assert_uint_eq(samples_percentile(&s, 99), 50);
    ck_assert_uint_eq(samples_percentile(&s, 100), 50);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
    struct samples s = {.n = 0};
    for (unsigned i = 0; i < SAMPLES_MAX + 10; i++) {
        samples_add(&s, i);
    }
    ck_assert_uint_eq(s.n, SAMPLES_MAX);
    ck_assert_uint_eq(samples_percentile(&s, 100), SAMPLES_MAX - 1);
}
END_TEST

START_TEST(record)
{
    struct samples s = {.n = 0};
    samples_record(&s, "nothing", 0, "us", 1);
    ck_assert_str_eq(host_records(), "");
    samples_add(&s, 30);
    samples_add(&s, 10);
    samples_add(&s, 21);
    samples_record(&s, "irq_latency", 2, "us", 1);
    ck_assert_ptr_nonnull(strstr(host_records(),
                                 "{\"ev\":\"bench\",\"name\":\"irq_latency\",\"nic\":2,"
                                 "\"unit\":\"us\",\"n\":3,\"min\":1.0,\"p50\":2.1,"
                                 "\"mean\":2.0,\"p99\":3.0,\"max\":3.0,\"t_us\":"));
    host_capture_clear();
    samples_record(&s, "x", -1, "KB/s", 3);
    ck_assert_ptr_nonnull(strstr(host_records(), "\"nic\":null,"));
    ck_assert_ptr_nonnull(strstr(host_records(), "\"mean\":0.020,"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples");
    TCase *cases = tcase_create("samples");
    tcase_add_test(cases, nearest_rank);
    tcase_add_test(cases, no_more_than_there_is_room_for);
    tcase_add_test(cases, record);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
