/*
 * What nuttcp clients say: what they really send, and whatever else may come (NEEDS.md 3.4).
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/apps/nuttcp_params.h"
#include "net/apps/nuttcp_wire.h"
#include "tests/host/run_suite.h"

/* Of nuttcp 6.1.2, as captured. */
#define PLAIN                                                                                      \
    "buflen = 8192, nbuf = 2147483647, win = 0, nstream = 1, rate = 4294967295, port = 5001, "     \
    "trans = 1, braindead = 0, timeout = 10.000000, udp = 0, vers = 6.1.2, "                       \
    "interval = 0.000000, reverse = 0, format = 2048, traceroute = 0, irate = 0, "                 \
    "thirdparty = _NULL_ , multicast = 0 , datamss = 0 , tos = 0 , nbuf_bytes = 0 , "              \
    "rate_pps = 0 , nodelay = 0"

static char line[2048];

/* The plain line with one piece replaced. */
static const char *with(const char *old, const char *new)
{
    const char *at = strstr(PLAIN, old);

    ck_assert_ptr_nonnull(at);
    snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - PLAIN), PLAIN, new, at + strlen(old));
    return line;
}

/* In memory of exactly this size: a byte read too far is seen by ASan. */
static const char *read_line(const char *text, size_t n, struct nuttcp_params *p)
{
    char *copy = malloc(n == 0 ? 1 : n);
    const char *refusal;

    memcpy(copy, text, n);
    refusal = nuttcp_read_params(copy, n, p);
    free(copy);
    return refusal;
}

static struct nuttcp_params asked(const char *old, const char *new)
{
    struct nuttcp_params p;
    const char *text = with(old, new);
    const char *refusal = read_line(text, strlen(text), &p);

    ck_assert_msg(refusal == NULL, "%s: %s", new, refusal);
    return p;
}

START_TEST(as_the_client_sends_it)
{
    struct nuttcp_params p = asked("", "");

    ck_assert(!p.udp && !p.sends && !p.connects && !p.nodelay && !p.instantaneous && p.two_begins);
    ck_assert_uint_eq(p.streams, 1);
    ck_assert_uint_eq(p.len, 8192);
    ck_assert_uint_eq(p.count, 0);
    ck_assert_uint_eq(p.us, 10000000);
    ck_assert_uint_eq(p.interval_us, 0);
    ck_assert_uint_eq(p.bits_s, 0);
    ck_assert_uint_eq(p.port, 5001);
    ck_assert_uint_eq(p.format, 2048);
}
END_TEST

START_TEST(every_option)
{
    ck_assert(asked("trans = 1", "trans = 0").sends);
    ck_assert(asked("trans = 1", "trans = 0").connects);
    ck_assert(asked("reverse = 0", "reverse = 1").connects);
    ck_assert(asked("udp = 0", "udp = 1").udp);
    ck_assert_uint_eq(asked("nbuf = 2147483647", "nbuf = 100").count, 100);
    ck_assert_uint_eq(asked("nbuf = 2147483647", "nbuf = 99999999999").count, 99999999999);
    ck_assert_uint_eq(asked("win = 0", "win = 65536").window, 65536);
    ck_assert_uint_eq(asked("rate = 4294967295", "rate = 5000").bits_s, 5000000);
    ck_assert_uint_eq(asked("rate = 4294967295", "rate = 0").bits_s, 0);
    ck_assert_uint_eq(asked("rate = 4294967295", "rate = 9000000000").bits_s, 0);
    ck_assert_uint_eq(asked("timeout = 10.000000", "timeout = 0.25").us, 250000);
    ck_assert_uint_eq(asked("timeout = 10.000000", "timeout = 1.0000009").us, 1000000);
    ck_assert_uint_eq(asked("interval = 0.000000", "interval = 1.5").interval_us, 1500000);
    ck_assert_uint_eq(asked("datamss = 0", "datamss = 1000").mss, 1000);
    ck_assert_uint_eq(asked("tos = 0", "tos = B8").tos, 0xB8);
    ck_assert(asked("nodelay = 0", "nodelay = 1").nodelay);
    ck_assert(asked("irate = 0", "irate = 1").instantaneous);
    ck_assert_uint_eq(asked("nstream = 1", "nstream = 8").streams, 8);
    ck_assert(!asked("vers = 6.1.2", "vers = 5.3.4").two_begins);
    ck_assert(asked("vers = 6.1.2", "vers = 8.2.2").two_begins);
    ck_assert_uint_eq(asked("nodelay = 0", "nodelay = 0, owd = 1, news = x").len, 8192);
}
END_TEST

/* Version 3.2 and before said no more than this. */
START_TEST(an_old_client)
{
    static const char old[] = "buflen = 8192, nbuf = 2048, win = 0, nstream = 1, rate = 0, "
                              "port = 5001, trans = 1, braindead = 0, timeout = 10, udp = 0, "
                              "vers = 3.2.1";
    struct nuttcp_params p;

    ck_assert_ptr_null(read_line(old, sizeof(old) - 1, &p));
    ck_assert_uint_eq(p.us, 10000000);
    ck_assert(!p.two_begins);
}
END_TEST

static const struct {
    const char *old, *new, *why;
} refused[] = {
    {"buflen = 8192", "buflen = 0", "takes buffers"},
    {"buflen = 8192", "buflen = -1", "takes buffers"},
    {"buflen = 8192", "buflen = 16777217", "takes buffers"},
    {"buflen = 8192", "buflen = 99999999999999999999", "did not understand"},
    {"buflen = 8192", "buflen = 4096 4096", "did not understand"},
    {"buflen = 8192", "buflen = ", "did not understand"},
    {"buflen = 8192, ", "", "did not understand"},
    {"buflen = 8192, ", "buflen = 1, buflen = 1, ", "did not understand"},
    {"nbuf = 2147483647", "nbuf = 0", "takes at least one buffer"},
    {"nstream = 1", "nstream = 0", "takes 1 to 8 streams"},
    {"nstream = 1", "nstream = 9", "takes 1 to 8 streams"},
    {"nstream = 1, rate = 4294967295, port = 5001", "nstream = 2, rate = 1, port = 65535",
     "takes data ports"},
    {"port = 5001", "port = 80", "takes data ports"},
    {"port = 5001", "port = 5000", "takes data ports"},
    {"port = 5001", "port = 65536", "takes data ports"},
    {"win = 0", "win = -1", "takes no such window"},
    {"rate = 4294967295", "rate = -5", "takes no such rate"},
    {"trans = 1", "trans = 2", "knows no such direction"},
    {"timeout = 10.000000", "timeout = -1.0", "did not understand"},
    {"timeout = 10.000000", "timeout = 1e9", "did not understand"},
    {"timeout = 10.000000", "timeout = nan", "did not understand"},
    {"timeout = 10.000000", "timeout = 86401", "takes at most 24 hours"},
    {"timeout = 10.000000", "timeout = 99999999999", "did not understand"},
    {"timeout = 10.000000", "timeout = 0.0", "did not understand"},
    {"interval = 0.000000", "interval = 3601.0", "takes no such interval"},
    {"vers = 6.1.2", "vers = 6.1", "did not understand"},
    {"vers = 6.1.2", "vers = 6.1.100", "did not understand"},
    {"thirdparty = _NULL_", "thirdparty = 10.0.0.9", "runs no tests with third parties"},
    {"thirdparty = _NULL_", "thirdparty = ", "runs no tests with third parties"},
    {"multicast = 0", "multicast = 1", "sends and hears no multicast"},
    {"traceroute = 0", "traceroute = 1", "has no traceroute"},
    {"tos = 0", "tos = 100", "takes no such type of service"},
    {"datamss = 0", "datamss = 70000", "takes no such segment size"},
    {"timeout = 10.000000, udp = 0", "timeout = 10.000000, udp = 1", NULL},
    {"udp = 0, vers = 6.1.2, interval = 0.000000, reverse = 0",
     "udp = 1, vers = 6.1.2, interval = 0.000000, reverse = 1", "flips no tests over UDP"},
    {"trans = 1, braindead = 0, timeout = 10.000000, udp = 0",
     "trans = 0, braindead = 0, timeout = 61.0, udp = 1", "sends datagrams for at most 60 seconds"},
    {"vers = 6.1.2", "vers = 6.1.2\t", "did not understand"},
    {"vers = 6.1.2", "vers = \xff.1.2", "did not understand"},
};

START_TEST(refusals)
{
    struct nuttcp_params p;
    const char *text = with(refused[_i].old, refused[_i].new);
    const char *refusal = read_line(text, strlen(text), &p);

    if (refused[_i].why == NULL) {
        ck_assert_ptr_null(refusal);
    } else {
        ck_assert_msg(refusal != NULL && strstr(refusal, refused[_i].why) == refusal, "%s: %s",
                      refused[_i].new, refusal);
    }
}
END_TEST

/* Datagrams have other limits than writes. */
START_TEST(lengths_of_datagrams)
{
    static const unsigned lengths[] = {4, 5, 65507, 65508};

    for (unsigned i = 0; i < 4; i++) {
        struct nuttcp_params p;
        char text[1024], length[32];
        const char *refusal;

        snprintf(length, sizeof(length), "buflen = %u", lengths[i]);
        snprintf(text, sizeof(text), "%s", with("buflen = 8192", length));
        memcpy(strstr(text, "udp = 0"), "udp = 1", 7);
        refusal = read_line(text, strlen(text), &p);
        if (i == 0 || i == 3) {
            ck_assert_str_eq(refusal, "takes datagrams of 5 to 65507 bytes");
        } else {
            ck_assert_ptr_null(refusal);
        }
    }
}
END_TEST

/* Cut off anywhere it is no line, unless only what is optional is missing. */
START_TEST(cut_anywhere)
{
    size_t needed = (size_t)(strstr(PLAIN, "vers = 6.1.2") - PLAIN) + strlen("vers = 6.1.2");

    for (size_t n = 0; n < strlen(PLAIN); n++) {
        struct nuttcp_params p;

        if (n < needed) {
            ck_assert_ptr_nonnull(read_line(PLAIN, n, &p));
        } else {
            read_line(PLAIN, n, &p);
        }
    }
}
END_TEST

START_TEST(greetings)
{
    static const char *const yes[] = {"HELO nuttcp v6.1.2", "HELO nuttcp v8.2.2\r",
                                      "HELO nuttcp v5.5.5 "};
    static const char *const no[] = {"",
                                     "HELO",
                                     "HELO nuttcp v",
                                     "HELO nuttcp v6.1",
                                     "HELO nuttcp v6.1.2.3",
                                     "HELO nuttcp v6.-1.2",
                                     "EHLO nuttcp v6.1.2",
                                     "HELO nuttcp v6.1.2x"};

    for (unsigned i = 0; i < 3; i++) {
        ck_assert_msg(nuttcp_is_greeting(yes[i], strlen(yes[i])), "%s", yes[i]);
    }
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_msg(!nuttcp_is_greeting(no[i], strlen(no[i])), "%s", no[i]);
    }
}
END_TEST

START_TEST(marks_and_counts)
{
    static const uint8_t swapped[8] = {0, 0, 0, 0, 0, 1, 0x86, 0xA0};
    static const uint8_t unknown[8] = {0xFF, 0xFF, 0xFF, 0xFF, 'N', 'R', 'T', 'R'};
    uint8_t mark[NUTTCP_MARK], info[8];
    unsigned number;
    uint32_t resent = 7;

    nuttcp_write_mark(mark, NUTTCP_END, 4);
    ck_assert_mem_eq(mark, "EOD4", 4);
    ck_assert_int_eq(nuttcp_read_mark(mark, &number), NUTTCP_END);
    ck_assert_uint_eq(number, 4);
    ck_assert_int_eq(nuttcp_read_mark((const uint8_t *)"BOD1", &number), NUTTCP_BEGIN);
    ck_assert_int_eq(nuttcp_read_mark((const uint8_t *)"BODx", &number), NUTTCP_NO_MARK);
    ck_assert_int_eq(nuttcp_read_mark((const uint8_t *)"0123", &number), NUTTCP_NO_MARK);
    nuttcp_write_sent(info, 0x123456789A);
    ck_assert_uint_eq(nuttcp_read_sent(info), 0x123456789A);
    ck_assert_uint_eq(nuttcp_read_sent(swapped), 100000);
    ck_assert(!nuttcp_read_retrans(unknown, &resent));
    ck_assert(!nuttcp_read_retrans(swapped, &resent));
    nuttcp_write_retrans(info, 258);
    ck_assert_mem_eq(info, "\x02\x01\0\0NRTR", 8);
    ck_assert(nuttcp_read_retrans(info, &resent));
    ck_assert_uint_eq(resent, 258);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nuttcp_text");
    TCase *words = tcase_create("words");

    tcase_add_test(words, as_the_client_sends_it);
    tcase_add_test(words, every_option);
    tcase_add_test(words, an_old_client);
    tcase_add_loop_test(words, refusals, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(words, lengths_of_datagrams);
    tcase_add_test(words, cut_anywhere);
    tcase_add_test(words, greetings);
    tcase_add_test(words, marks_and_counts);
    suite_add_tcase(suite, words);
    return run_suite(suite);
}
