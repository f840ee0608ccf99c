/*
 * The formatter against the host's snprintf, and what only ours has.
 */
#include "kernel/print.h"

#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/error.h"
#include "tests/host/run_suite.h"

/* The host's compiler must not judge formats made at run time. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

enum { ROUNDS = 20000, OUT_MAX = 128 };

static uint64_t random64(void)
{
    uint64_t value = (uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random();
    return value >> (random() % 64); /* short numbers as often as long ones */
}

/* "%[-][0][width][.precision]MODLETTER"; precisions of numbers too, as C has them. */
static void random_spec(char *to, const char *modifier, char letter)
{
    char width[8] = "", precision[8] = "";
    if (random() % 2 != 0) {
        snprintf(width, sizeof width, "%ld", 1 + random() % 25);
    }
    if (random() % 3 == 0) {
        snprintf(precision, sizeof precision, ".%ld", random() % 22);
    }
    sprintf(to, "<%%%s%s%s%s%s%c>", random() % 2 != 0 ? "-" : "", random() % 2 != 0 ? "0" : "",
            width, precision, modifier, letter);
}

#define AGREE(spec, value)                                                                         \
    do {                                                                                           \
        char ours[OUT_MAX], theirs[OUT_MAX];                                                       \
        __typeof__(((void)0, (value))) once = (value);                                             \
        size_t room = (size_t)random() % sizeof ours;                                              \
        memset(ours, '#', sizeof ours);                                                            \
        memset(theirs, '#', sizeof theirs);                                                        \
        int n = format(ours, room, spec, once);                                                    \
        int m = snprintf(theirs, room, spec, once);                                                \
        ck_assert_msg(n == m && memcmp(ours, theirs, sizeof ours) == 0,                            \
                      "%s: ours %d '%.*s', the host's %d '%.*s'", spec, n, (int)room, ours, m,     \
                      (int)room, theirs);                                                          \
    } while (0)

START_TEST(numbers_agree_with_the_host)
{
    static const char letters[] = "diuxX";
    char spec[64];
    srandom(86);
    for (unsigned round = 0; round < ROUNDS; round++) {
        char letter = letters[(unsigned)random() % 5];
        random_spec(spec, "", letter);
        AGREE(spec, (unsigned)random64());
        random_spec(spec, "l", letter);
        AGREE(spec, (unsigned long)random64());
        random_spec(spec, "ll", letter);
        AGREE(spec, (unsigned long long)random64());
        AGREE(spec, 0 - (unsigned long long)random64());
        random_spec(spec, "z", letter);
        AGREE(spec, (size_t)random64());
    }
}
END_TEST

START_TEST(extremes_agree_with_the_host)
{
    AGREE("%d", INT_MIN);
    AGREE("%d", INT_MAX);
    AGREE("%lld", LLONG_MIN);
    AGREE("%lld", LLONG_MAX);
    AGREE("%llu", ULLONG_MAX);
    AGREE("%llx", ULLONG_MAX);
    AGREE("%u", 0);
    AGREE("%.0d|", 0);
    AGREE("%05d", -42);
}
END_TEST

START_TEST(strings_agree_with_the_host)
{
    static const char *const texts[] = {"", "a", "NicTest86", "a longer one with blanks in it"};
    char spec[64];
    srandom(387);
    for (unsigned round = 0; round < ROUNDS; round++) {
        do { /* C leaves '0' with %s and %c undefined */
            random_spec(spec, "", 's');
        } while (spec[2] == '0' || (spec[2] == '-' && spec[3] == '0'));
        AGREE(spec, texts[(unsigned)random() % 4]);
    }
    AGREE("%c", 'x');
    AGREE("%3c|", 'x');
    AGREE("%-3c|", 'x');
    AGREE("100%%%s", "");
}
END_TEST

START_TEST(width_and_precision_from_arguments)
{
    char text[64];
    format(text, sizeof text, "%*d|%-*d|%.*s|%*s", 5, 42, 5, 42, 2, "abc", -4, "x");
    ck_assert_str_eq(text, "   42|42   |ab|x   ");
}
END_TEST

/* A string that a precision ends need not be terminated. */
START_TEST(precision_is_never_read_past)
{
    char *exact = malloc(3);
    char text[16];
    memcpy(exact, "abc", 3);
    format(text, sizeof text, "%.3s", exact);
    ck_assert_str_eq(text, "abc");
    free(exact);
}
END_TEST

START_TEST(addresses)
{
    static const uint8_t octets[4] = {192, 168, 0, 255},
                         mac[6] = {0x00, 0x00, 0xE8, 0x0A, 0xBC, 0xFF};
    uint32_t address;
    char text[80];
    memcpy(&address, octets, 4);
    ck_assert_int_eq(format(text, sizeof text, "%I", address), 13);
    ck_assert_str_eq(text, "192.168.0.255");
    format(text, sizeof text, "%16I|%-16I|", address, address);
    ck_assert_str_eq(text, "   192.168.0.255|192.168.0.255   |");
    ck_assert_int_eq(format(text, sizeof text, "%M", mac), 17);
    ck_assert_str_eq(text, "00:00:e8:0a:bc:ff");
    format(text, sizeof text, "%p %s", (void *)0x1234, (const char *)NULL);
    ck_assert_str_eq(text, "0x1234 (null)");
}
END_TEST

START_TEST(unknown_conversions_show_and_take_nothing)
{
    char text[32];
    format(text, sizeof text, "%q %-5lly %d %", 7);
    ck_assert_str_eq(text, "%q %-5lly 7 %");
}
END_TEST

START_TEST(no_room_at_all)
{
    char text[1] = {'#'};
    ck_assert_int_eq(format(NULL, 0, "%d", 12345), 5);
    ck_assert_int_eq(format(text, 1, "%d", 12345), 5);
    ck_assert_int_eq(text[0], '\0');
}
END_TEST

START_TEST(fixed_point)
{
    char text[24], expected[64];
    ck_assert_str_eq(format_fixed(text, 115880, 2), "1158.80");
    ck_assert_str_eq(format_fixed(text, 5, 3), "0.005");
    ck_assert_str_eq(format_fixed(text, 0, 1), "0.0");
    ck_assert_str_eq(format_fixed(text, 42, 0), "42");
    ck_assert_str_eq(format_fixed(text, UINT64_MAX, 1), "1844674407370955161.5");
    srandom(4);
    for (unsigned round = 0; round < ROUNDS; round++) {
        static const unsigned long long power[] = {1, 10, 100, 1000};
        unsigned long long value = random64();
        unsigned decimals = 1 + (unsigned)random() % 3;
        snprintf(expected, sizeof expected, "%llu.%0*llu", value / power[decimals], (int)decimals,
                 value % power[decimals]);
        ck_assert_str_eq(format_fixed(text, value, decimals), expected);
    }
}
END_TEST

START_TEST(every_error_has_its_own_name)
{
    for (int a = E_UNSUPPORTED; a <= OK; a++) {
        ck_assert_str_ne(error_name(a), error_name(-1000));
        for (int b = a + 1; b <= OK; b++) {
            ck_assert_str_ne(error_name(a), error_name(b));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("print");
    TCase *cases = tcase_create("format");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, numbers_agree_with_the_host);
    tcase_add_test(cases, extremes_agree_with_the_host);
    tcase_add_test(cases, strings_agree_with_the_host);
    tcase_add_test(cases, width_and_precision_from_arguments);
    tcase_add_test(cases, precision_is_never_read_past);
    tcase_add_test(cases, addresses);
    tcase_add_test(cases, unknown_conversions_show_and_take_nothing);
    tcase_add_test(cases, no_room_at_all);
    tcase_add_test(cases, fixed_point);
    tcase_add_test(cases, every_error_has_its_own_name);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
