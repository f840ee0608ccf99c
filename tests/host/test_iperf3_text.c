/*
 * The JSON reader, and what iperf3 clients ask for: both against what they really send and against
 * whatever else may come.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/apps/iperf3_params.h"
#include "net/apps/json.h"
#include "tests/host/run_suite.h"

/* ---- the reader ---- */

/* In memory of exactly this size: a byte read too far is seen by ASan. */
static bool opens(const char *text, size_t n)
{
    char *copy = malloc(n == 0 ? 1 : n);
    struct json root;
    bool ok;

    memcpy(copy, text, n);
    ok = json_open(copy, n, &root);
    free(copy);
    return ok;
}

static const char *const right[] = {
    "{}",
    "[]",
    "0",
    "-0",
    "-1.5e+30",
    "1E2",
    "\"\"",
    "null",
    " \t\r\n[ 1 , 2 ] ",
    "{\"a\":{\"b\":[true]}}",
    "\"\\u00e4\\n\\\"\\\\\\/\"",
    "[[[[[[[[1]]]]]]]]",
    "18446744073709551615",
    "\"\303\244\"",
};

static const char *const wrong[] = {
    "",
    " ",
    "{",
    "}",
    "[",
    "{]",
    "[}",
    "[1,]",
    "[,1]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{1:1}",
    "{\"a\" 1}",
    "01",
    "-",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "nul",
    "nulll",
    "True",
    "\"",
    "\"\\",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"a\nb\"",
    "{}{}",
    "[] x",
    "[1 2]",
    "'a'",
    "[[[[[[[[[1]]]]]]]]]",
    "NaN",
    "Infinity",
};

START_TEST(right_texts_open)
{
    ck_assert_msg(opens(right[_i], strlen(right[_i])), "%s", right[_i]);
}
END_TEST

START_TEST(wrong_texts_do_not)
{
    ck_assert_msg(!opens(wrong[_i], strlen(wrong[_i])), "%s", wrong[_i]);
}
END_TEST

/* Every beginning of a right object or array is wrong: nothing is believed that was cut off. */
START_TEST(truncated_texts_do_not)
{
    static const char text[] =
        "{\"udp\":true,\"len\":1.5e3,\"s\":[{\"id\":\"\\u0031\"},null,false]}";

    ck_assert(opens(text, sizeof(text) - 1));
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        ck_assert_msg(!opens(text, n), "%zu bytes", n);
    }
}
END_TEST

START_TEST(a_nul_inside_ends_nothing)
{
    ck_assert(!opens("{}\0", 3));
    ck_assert(!opens("\"a\0b\"", 5));
    ck_assert(!opens("[\0]", 3));
}
END_TEST

static int64_t number(const char *text, unsigned decimals)
{
    struct json root;
    int64_t n = -77;

    ck_assert(json_open(text, strlen(text), &root));
    ck_assert(json_number(&root, decimals, &n));
    return n;
}

START_TEST(numbers_in_every_way_they_are_written)
{
    ck_assert_int_eq(number("0", 0), 0);
    ck_assert_int_eq(number("-0", 0), 0);
    ck_assert_int_eq(number("131072", 0), 131072);
    ck_assert_int_eq(number("-42", 0), -42);
    ck_assert_int_eq(number("1.9999", 0), 1);
    ck_assert_int_eq(number("-1.9999", 0), -1);
    ck_assert_int_eq(number("1.5", 6), 1500000);
    ck_assert_int_eq(number("1.4949226514781074e-05", 6), 14);
    ck_assert_int_eq(number("0.000014949", 6), 14);
    ck_assert_int_eq(number("1e3", 0), 1000);
    ck_assert_int_eq(number("1.25e2", 0), 125);
    ck_assert_int_eq(number("1.2345e2", 0), 123);
    ck_assert_int_eq(number("12345e-2", 0), 123);
    ck_assert_int_eq(number("12345e-2", 3), 123450);
    ck_assert_int_eq(number("12345.6e-3", 0), 12);
    ck_assert_int_eq(number("1e-400", 6), 0);
    ck_assert_int_eq(number("0e999999", 0), 0);
    ck_assert_int_eq(number("9223372036854775807", 0), INT64_MAX);
    ck_assert_int_eq(number("9223372036854775806", 0), INT64_MAX - 1);
}
END_TEST

START_TEST(numbers_too_large_are_the_largest)
{
    ck_assert_int_eq(number("9223372036854775808", 0), INT64_MAX);
    ck_assert_int_eq(number("18446744073709551615", 0), INT64_MAX);
    ck_assert_int_eq(number("1.8446744073709552e+19", 0), INT64_MAX);
    ck_assert_int_eq(number("-18446744073709551615", 0), -INT64_MAX);
    ck_assert_int_eq(number("1e99999999999999999999", 0), INT64_MAX);
    ck_assert_int_eq(number("9223372036854", 6), 9223372036854000000);
    ck_assert_int_eq(number("9223372036855", 6), INT64_MAX);
}
END_TEST

/* The same number, as printf writes it in two ways, read back by two ways. */
START_TEST(numbers_agree_with_the_c_library)
{
    for (unsigned i = 0; i < 20000; i++) {
        int64_t n = (int64_t)rand() * rand() >> rand() % 62;
        char text[40];

        snprintf(text, sizeof(text), "%lld", (long long)n);
        ck_assert_int_eq(number(text, 0), n);
        snprintf(text, sizeof(text), "%.17e", (double)(n % (1ll << 52)));
        ck_assert_int_eq(number(text, 0), n % (1ll << 52));
    }
}
END_TEST

START_TEST(what_is_no_number)
{
    static const char *const others[] = {"\"1\"", "true", "null", "[1]", "{\"1\":1}"};

    for (unsigned i = 0; i < 5; i++) {
        struct json root;
        int64_t n;

        ck_assert(json_open(others[i], strlen(others[i]), &root));
        ck_assert(!json_number(&root, 0, &n));
    }
}
END_TEST

START_TEST(a_walk_finds_each_member_once)
{
    static const char text[] = " { \"a\" : 1 , \"b\":[ ] ,\"c\":{\"a\":[1,2]},\"\":\"}\" } ";
    static const char keys[] = "abc";
    struct json root, key, value;
    struct json_walk walk;
    unsigned n = 0;

    ck_assert(json_open(text, sizeof(text) - 1, &root));
    walk = json_walk(&root);
    for (; json_next(&walk, &key, &value); n++) {
        char name[2] = {keys[n], '\0'};

        ck_assert(json_is(&key, name));
    }
    ck_assert_uint_eq(n, 4);
    ck_assert(json_is(&value, "}"));
    ck_assert(!json_next(&walk, &key, &value));
}
END_TEST

START_TEST(a_walk_finds_each_element_once)
{
    static const char text[] = "[0,[9,9],1,{\"x\":9}, 2 ]";
    struct json root, key, value;
    struct json_walk walk;
    int64_t sum = 0, n;
    unsigned all = 0;

    ck_assert(json_open(text, sizeof(text) - 1, &root));
    for (walk = json_walk(&root); json_next(&walk, &key, &value); all++) {
        sum += json_number(&value, 0, &n) ? n : 0;
    }
    ck_assert_uint_eq(all, 5);
    ck_assert_int_eq(sum, 3);
}
END_TEST

START_TEST(a_walk_through_a_plain_value_finds_nothing)
{
    static const char *const plain[] = {"1", "\"[1]\"", "null", "[]", "{}", "[ ]"};

    for (unsigned i = 0; i < 6; i++) {
        struct json root, key, value;
        struct json_walk walk;

        ck_assert(json_open(plain[i], strlen(plain[i]), &root));
        walk = json_walk(&root);
        ck_assert(!json_next(&walk, &key, &value));
    }
}
END_TEST

START_TEST(flags)
{
    static const char *const set[] = {"true", "1", "-1", "0.001"};
    static const char *const clear[] = {"false", "0", "null", "\"true\"", "[]", "0.0"};
    struct json root;

    for (unsigned i = 0; i < 4; i++) {
        ck_assert(json_open(set[i], strlen(set[i]), &root) && json_flag(&root));
    }
    for (unsigned i = 0; i < 6; i++) {
        ck_assert(json_open(clear[i], strlen(clear[i]), &root) && !json_flag(&root));
    }
}
END_TEST

/* ---- parameters ---- */

static struct iperf3_params p;

static enum iperf3_error read(const char *text)
{
    return iperf3_read_params(text, strlen(text), &p);
}

/* As iperf3 3.12 sends them, from its --debug output. */
START_TEST(params_of_a_plain_client)
{
    ck_assert_int_eq(
        read("{\"tcp\":true,\"omit\":0,\"time\":10,\"num\":0,\"blockcount\":0,\"parallel\":1,"
             "\"len\":131072,\"pacing_timer\":1000,\"client_version\":\"3.12\"}"),
        IPERF3_OK);
    ck_assert(!p.udp && !p.sends && p.receives && !p.nodelay && !p.counters_64bit &&
              !p.server_output);
    ck_assert_uint_eq(p.parallel, 1);
    ck_assert_uint_eq(iperf3_streams(&p), 1);
    ck_assert_uint_eq(p.len, 131072);
    ck_assert_uint_eq(p.time_s, 10);
    ck_assert_uint_eq(p.omit_s, 0);
    ck_assert_uint_eq(p.bits_s, 0);
    ck_assert_uint_eq(p.burst, 1);
}
END_TEST

START_TEST(params_of_a_udp_client_with_everything)
{
    ck_assert_int_eq(
        read("{\"udp\":true,\"omit\":2,\"time\":5,\"num\":0,\"blockcount\":0,\"MSS\":1400,"
             "\"nodelay\":true,\"parallel\":8,\"reverse\":true,\"window\":65536,\"len\":1000,"
             "\"bandwidth\":2000000,\"fqrate\":1500000,\"pacing_timer\":1000,\"burst\":10,"
             "\"TOS\":16,\"title\":\"a \\\"b\\\"\","
             "\"extra_data\":\"x\",\"congestion\":\"reno\",\"get_server_output\":1,"
             "\"udp_counters_64bit\":1,\"repeating_payload\":1,\"zerocopy\":1,\"dont_fragment\":1,"
             "\"authtoken\":\"abc==\",\"client_version\":\"3.12\"}"),
        IPERF3_OK);
    ck_assert(p.udp && p.sends && !p.receives && p.nodelay && p.counters_64bit && p.server_output);
    ck_assert_uint_eq(iperf3_streams(&p), 8);
    ck_assert_uint_eq(p.len, 1000);
    ck_assert_uint_eq(p.window, 65536);
    ck_assert_uint_eq(p.bits_s, 1500000);
    ck_assert_uint_eq(p.burst, 10);
    ck_assert_uint_eq(p.tos, 16);
    ck_assert_uint_eq(p.omit_s, 2);
}
END_TEST

START_TEST(both_ways_are_twice_the_streams)
{
    ck_assert_int_eq(read("{\"tcp\":true,\"parallel\":8,\"bidirectional\":true}"), IPERF3_OK);
    ck_assert(p.sends && p.receives);
    ck_assert_uint_eq(iperf3_streams(&p), IPERF3_STREAMS_MAX);
}
END_TEST

/* Older and other clients: absent keys have iperf3's own defaults, false is no. */
START_TEST(params_left_out)
{
    ck_assert_int_eq(read("{\"tcp\":1,\"reverse\":false}"), IPERF3_OK);
    ck_assert_uint_eq(p.parallel, 1);
    ck_assert_uint_eq(p.len, 131072);
    ck_assert(!p.sends);
    ck_assert_int_eq(read("{\"udp\":true}"), IPERF3_OK);
    ck_assert_uint_eq(p.len, 1460);
    ck_assert_int_eq(read("{\"tcp\":true,\"bandwidth\":5000000000}"), IPERF3_OK);
    ck_assert_uint_eq(p.bits_s, 0);
    ck_assert_int_eq(read("{\"tcp\":true,\"burst\":1000000,\"window\":1e15}"), IPERF3_OK);
    ck_assert_uint_eq(p.burst, 1000);
    ck_assert_uint_eq(p.window, INT32_MAX);
}
END_TEST

static const struct {
    const char *text;
    enum iperf3_error error;
} refused[] = {
    {"", IPERF3_RECV_PARAMS},
    {"[]", IPERF3_RECV_PARAMS},
    {"{}", IPERF3_RECV_PARAMS},
    {"{\"tcp\":false}", IPERF3_RECV_PARAMS},
    {"{\"tcp\":true,\"parallel\":8", IPERF3_RECV_PARAMS},
    {"{\"tcp\":true,\"parallel\":\"8\"}", IPERF3_RECV_PARAMS},
    {"{\"tcp\":true,\"time\":-1}", IPERF3_RECV_PARAMS},
    {"{\"tcp\":true,\"len\":null}", IPERF3_RECV_PARAMS},
    {"{\"sctp\":true}", IPERF3_UNIMPLEMENTED},
    {"{\"tcp\":true,\"parallel\":0}", IPERF3_NUM_STREAMS},
    {"{\"tcp\":true,\"parallel\":9}", IPERF3_NUM_STREAMS},
    {"{\"tcp\":true,\"parallel\":18446744073709551615}", IPERF3_NUM_STREAMS},
    {"{\"tcp\":true,\"time\":86401}", IPERF3_DURATION},
    {"{\"tcp\":true,\"omit\":601}", IPERF3_OMIT},
    {"{\"tcp\":true,\"len\":1048577}", IPERF3_BLOCK_SIZE},
    {"{\"udp\":true,\"len\":65508}", IPERF3_UDP_BLOCK_SIZE},
    {"{\"udp\":true,\"len\":11}", IPERF3_UDP_BLOCK_SIZE},
    {"{\"udp\":true,\"len\":15,\"udp_counters_64bit\":1}", IPERF3_UDP_BLOCK_SIZE},
};

START_TEST(params_refused)
{
    ck_assert_int_eq(read(refused[_i].text), refused[_i].error);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
    Suite *suite = suite_create("iperf3_text");
    TCase *json = tcase_create("json"), *params = tcase_create("params");

    tcase_add_loop_test(json, right_texts_open, 0, COUNT(right));
    tcase_add_loop_test(json, wrong_texts_do_not, 0, COUNT(wrong));
    tcase_add_test(json, truncated_texts_do_not);
    tcase_add_test(json, a_nul_inside_ends_nothing);
    tcase_add_test(json, numbers_in_every_way_they_are_written);
    tcase_add_test(json, numbers_too_large_are_the_largest);
    tcase_add_test(json, numbers_agree_with_the_c_library);
    tcase_add_test(json, what_is_no_number);
    tcase_add_test(json, a_walk_finds_each_member_once);
    tcase_add_test(json, a_walk_finds_each_element_once);
    tcase_add_test(json, a_walk_through_a_plain_value_finds_nothing);
    tcase_add_test(json, flags);
    tcase_add_test(params, params_of_a_plain_client);
    tcase_add_test(params, params_of_a_udp_client_with_everything);
    tcase_add_test(params, both_ways_are_twice_the_streams);
    tcase_add_test(params, params_left_out);
    tcase_add_loop_test(params, params_refused, 0, COUNT(refused));
    suite_add_tcase(suite, json);
    suite_add_tcase(suite, params);
    return run_suite(suite);
}
