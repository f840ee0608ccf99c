/*
 * Records to the letter of DESIGN section 4.
 */
#include "kernel/record.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/time.h"
#include "tests/host/run_suite.h"

/* ---- what record.c talks to ---- */

enum { SENT_MAX = 8 };

static char sent[SENT_MAX][RECORD_MAX + 1];
static unsigned sent_n;
static uint64_t now;

bool console_record(const char *line, size_t n)
{
    ck_assert_uint_lt(sent_n, SENT_MAX);
    ck_assert_uint_le(n, RECORD_MAX);
    ck_assert_uint_eq(strlen(line), n);
    memcpy(sent[sent_n++], line, n + 1);
    return true;
}

uint64_t time_us(void)
{
    return now;
}

/* ---- tests ---- */

START_TEST(the_example_of_the_contract)
{
    now = 412345;
    record_begin("ready");
    record_int("nic", 0);
    record_str("ip", "10.0.2.15");
    record_str("how", "dhcp");
    record_end();
    ck_assert_uint_eq(sent_n, 1);
    ck_assert_str_eq(
        sent[0],
        "@{\"ev\":\"ready\",\"nic\":0,\"ip\":\"10.0.2.15\",\"how\":\"dhcp\",\"t_us\":412345}");
    ck_assert_str_eq(record_last(), sent[0] + 1);
}
END_TEST

START_TEST(every_kind_of_value)
{
    record_begin("x");
    record_int("min", INT64_MIN);
    record_int("max", INT64_MAX);
    record_bool("t", true);
    record_bool("f", false);
    record_null("n");
    record_str("s", NULL);
    record_fixed("one", 95, 1);
    record_fixed("two", 115880, 2);
    record_fixed("three", 7, 3);
    record_end();
    ck_assert_str_eq(sent[0],
                     "@{\"ev\":\"x\",\"min\":-9223372036854775808,\"max\":9223372036854775807,"
                     "\"t\":true,\"f\":false,\"n\":null,\"s\":null,\"one\":9.5,"
                     "\"two\":1158.80,\"three\":0.007,\"t_us\":0}");
}
END_TEST

START_TEST(strings_are_escaped_ascii)
{
    record_begin("x");
    record_str("s", "a\"b\\c/\n\r\t\b\x01\x1f\x7f\xc3\xa4\xff~");
    record_end();
    ck_assert_str_eq(sent[0],
                     "@{\"ev\":\"x\",\"s\":\"a\\\"b\\\\c/\\u000a\\u000d\\u0009\\u0008\\u0001"
                     "\\u001f\\u007f???~\",\"t_us\":0}");
}
END_TEST

/* Every byte there is: one line of printable ASCII comes out. */
START_TEST(no_byte_breaks_the_line)
{
    char all[256];
    for (unsigned i = 0; i < 255; i++) {
        all[i] = (char)(i + 1);
    }
    all[255] = '\0';
    record_begin("x");
    record_str("s", all);
    record_end();
    for (const char *c = sent[0]; *c != '\0'; c++) {
        ck_assert_msg(*c >= ' ' && *c < 0x7F, "byte %02x", (unsigned char)*c);
    }
}
END_TEST

START_TEST(faults)
{
    record_fault("option", -1);
    record_str("word", "bat=on");
    record_end();
    record_fault("overrun", 2);
    record_end();
    ck_assert_str_eq(
        sent[0],
        "@{\"ev\":\"fault\",\"what\":\"option\",\"nic\":null,\"word\":\"bat=on\",\"t_us\":0}");
    ck_assert_str_eq(sent[1], "@{\"ev\":\"fault\",\"what\":\"overrun\",\"nic\":2,\"t_us\":0}");
}
END_TEST

START_TEST(time_is_that_of_the_emission)
{
    now = 1;
    record_begin("x");
    now = 4294967296000;
    record_end();
    ck_assert_str_eq(sent[0], "@{\"ev\":\"x\",\"t_us\":4294967296000}");
}
END_TEST

/* A record of `n` bytes in all with its line end. */
static void record_of(size_t n)
{
    static char filler[RECORD_MAX + 1];
    size_t others = strlen("@{\"ev\":\"big\",\"s\":\"\",\"t_us\":0}\r\n");
    memset(filler, 'x', n - others);
    filler[n - others] = '\0';
    record_begin("big");
    record_str("s", filler);
    record_end();
}

START_TEST(the_longest_record_fits)
{
    record_of(RECORD_MAX);
    ck_assert_uint_eq(sent_n, 1);
    ck_assert_uint_eq(strlen(sent[0]), RECORD_MAX - 2);
    ck_assert_uint_eq(record_too_long(), 0);
}
END_TEST

START_TEST(one_byte_more_is_named_instead)
{
    record_of(RECORD_MAX + 1);
    ck_assert_uint_eq(sent_n, 1);
    ck_assert_str_eq(sent[0], "@{\"ev\":\"fault\",\"what\":\"record_lost\",\"nic\":null,\"lost\":1,"
                              "\"too_long\":\"big\",\"t_us\":0}");
    ck_assert_uint_eq(record_too_long(), 1);
    record_begin("next");
    record_end();
    ck_assert_str_eq(sent[1], "@{\"ev\":\"next\",\"t_us\":0}");
}
END_TEST

START_TEST(lost_ones_are_not_told_inside_another)
{
    record_begin("x");
    ck_assert(!record_report_lost(3));
    record_end();
    ck_assert(record_report_lost(3));
    ck_assert_str_eq(sent[0], "@{\"ev\":\"x\",\"t_us\":0}");
    ck_assert_str_eq(
        sent[1], "@{\"ev\":\"fault\",\"what\":\"record_lost\",\"nic\":null,\"lost\":3,\"t_us\":0}");
}
END_TEST

START_TEST(last_is_empty_before_the_first)
{
    ck_assert_str_eq(record_last(), "");
    record_begin("x");
    ck_assert_str_eq(record_last(), "");
}
END_TEST

START_TEST(lists_and_lists_of_lists)
{
    record_begin("table");
    record_open("columns");
    record_item("a[");
    record_item("b");
    record_close();
    record_open("rows");
    for (unsigned i = 0; i < 2; i++) {
        record_open(NULL);
        record_item("say \"x\"");
        record_item("");
        record_close();
    }
    record_close();
    record_open("none");
    record_close();
    record_str("verdict", "v");
    record_end();
    ck_assert_str_eq(sent[0], "@{\"ev\":\"table\",\"columns\":[\"a[\",\"b\"],"
                              "\"rows\":[[\"say \\\"x\\\"\",\"\"],[\"say \\\"x\\\"\",\"\"]],"
                              "\"none\":[],\"verdict\":\"v\",\"t_us\":0}");
}
END_TEST

START_TEST(four_decimals_are_a_mistake)
{
    record_begin("x");
    record_fixed("s", 1, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record");
    TCase *cases = tcase_create("record");
    tcase_add_test(cases, the_example_of_the_contract);
    tcase_add_test(cases, every_kind_of_value);
    tcase_add_test(cases, strings_are_escaped_ascii);
    tcase_add_test(cases, no_byte_breaks_the_line);
    tcase_add_test(cases, faults);
    tcase_add_test(cases, time_is_that_of_the_emission);
    tcase_add_test(cases, the_longest_record_fits);
    tcase_add_test(cases, one_byte_more_is_named_instead);
    tcase_add_test(cases, lost_ones_are_not_told_inside_another);
    tcase_add_test(cases, last_is_empty_before_the_first);
    tcase_add_test(cases, lists_and_lists_of_lists);
    tcase_add_test_raise_signal(cases, four_decimals_are_a_mistake, SIGABRT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
