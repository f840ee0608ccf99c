/*
 * The client commands: bad input, and ping.
 */
#include "tests/host/test_net.h"

#include <string.h>

/* ---- bad input: one clear line each, and status 1 ---- */

static const struct {
    const char *command, *line;
} bad[] = {
    {"ttcp", "usage: ttcp -t"},
    {"ttcp -t", "usage: ttcp -t"},
    {"ttcp -t -r 10.0.0.2", "usage: ttcp -t"},
    {"ttcp -t 10.0.0.2 10.0.0.3", "usage: ttcp -t"},
    {"ttcp -r 10.0.0.2", "usage: ttcp -t"},
    {"ttcp -t -x 10.0.0.2", "usage: ttcp -t"},
    {"ttcp -t 10.0.0.2 -l", "usage: ttcp -t"},
    {"ttcp -t -x 5 10.0.0.2", "usage: ttcp -t"},
    {"ttcp -t -l 0 10.0.0.2", "-l: \"0\" is not a number from 1 to "},
    {"ttcp -t -l -5 10.0.0.2", "-l: \"-5\" is not a number from 1 to "},
    {"ttcp -t -l 99999999999999999999 10.0.0.2", "-l: \"99999999999999999999\" is not a number"},
    {"ttcp -t -l 8x 10.0.0.2", "-l: \"8x\" is not a number"},
    {"ttcp -t -l \"\" 10.0.0.2", "-l: \"\" is not a number"},
    {"ttcp -t -l K 10.0.0.2", "-l: \"K\" is not a number"},
    {"ttcp -t -n 0 10.0.0.2", "-n: \"0\" is not a number from 1 to 2147483647"},
    {"ttcp -t -n 2147483648 10.0.0.2", "-n: \"2147483648\" is not a number"},
    {"ttcp -t -n 4194304K 10.0.0.2", "-n: \"4194304K\" is not a number"},
    {"ttcp -t -p 65536 10.0.0.2", "-p: \"65536\" is not a number from 1 to 65535"},
    {"ttcp -t -p 0 10.0.0.2", "-p: \"0\" is not a number"},
    {"ttcp -t host", "\"host\" is not an IPv4 address (a.b.c.d)"},
    {"ttcp -t 10.0.0", "\"10.0.0\" is not an IPv4 address"},
    {"ttcp -t 10.0.0.256", "\"10.0.0.256\" is not an IPv4 address"},
    {"ttcp -t 10.0.0.2.3", "\"10.0.0.2.3\" is not an IPv4 address"},
    {"ttcp -t 10..0.2", "\"10..0.2\" is not an IPv4 address"},
    {"ttcp -t 0x0a.0.0.2", "\"0x0a.0.0.2\" is not an IPv4 address"},
    {"ttcp -t 010.0.0.2", "\"010.0.0.2\" is not an IPv4 address"}, /* no octal */
    {"ttcp -t 10.0.0.00", "\"10.0.0.00\" is not an IPv4 address"},
    {"ttcp -t 0.0.0.0", "0.0.0.0 is not the address of one host"},
    {"ttcp -t 255.255.255.255", "255.255.255.255 is not the address of one host"},
    {"ttcp -t 224.0.0.1", "224.0.0.1 is not the address of one host"},
    {"ttcp -t 10.0.0.255", "10.0.0.255 is not the address of one host"},
    {"ttcp -t 10.0.0.1", "10.0.0.1 is our own address"},
    {"ttcp -t 127.0.0.1", "127.0.0.1 is not the address of one host"},
    {"ping", "usage: ping"},
    {"ping -x 10.0.0.2", "usage: ping"},
    {"ping 10.0.0.2 10.0.0.3", "usage: ping"},
    {"ping -s 8001 10.0.0.2", "-s: \"8001\" is not a number from 0 to 8000"},
    {"ping -n 0 10.0.0.2", "-n: \"0\" is not a number from 1 to 1000000"},
    {"ping 10.0.0.2 -s", "usage: ping"},
    {"ping nowhere", "\"nowhere\" is not an IPv4 address"},
    {"ping 10.0.0.1", "10.0.0.1 is our own address"},
};

enum { BAD = sizeof(bad) / sizeof(bad[0]) };

START_TEST(bad_input)
{
    for (unsigned i = 0; i < BAD; i++) {
        rig_forget();
        ck_assert_msg(rig_command(bad[i].command, 100) == 1, "%s: %s", bad[i].command, rig_text());
        ck_assert_msg(strncmp(rig_text(), bad[i].line, strlen(bad[i].line)) == 0, "%s: %s",
                      bad[i].command, rig_text());
        ck_assert_uint_eq(rig_said_times("\n"), 1);
        ck_assert_uint_eq(rig_record_count("result"), 0);
    }
}
END_TEST

START_TEST(no_gateway)
{
    ck_assert_int_eq(rig_command("set ip=10.0.0.1/24", 100), 0);
    rig_forget();
    ck_assert_int_eq(rig_command("ttcp -t 192.0.2.1", 100), 1);
    ck_assert_str_eq(rig_text(), "192.0.2.1 is not on our network, and there is no gateway\n");
    rig_forget();
    ck_assert_int_eq(rig_command("ttcp -t 192.0.2.1", 100), 1);
}
END_TEST

START_TEST(no_address_yet)
{
    rig_up_with("ip=dhcp", 1, RIG_MEMORY_KB);
    rig_forget();
    ck_assert_int_eq(rig_command("ping 10.0.0.2", 100), 1);
    ck_assert_str_eq(rig_text(), "no address yet\n");
    ck_assert_int_eq(rig_command("ttcp -t -u 10.0.0.2", 100), 1);
}
END_TEST

/* ---- ping ---- */

static struct {
    unsigned asked, lose_every, spoil_every, shorten_every, largest;
} host;

static bool every(unsigned n)
{
    return n != 0 && host.asked % n == 0;
}

static void answer(const struct packet *p)
{
    static uint8_t reply[10000];
    unsigned n = p->length;

    if (p->protocol != PROTO_ICMP || p->data[0] != 8) {
        return;
    }
    host.asked++;
    host.largest = n > host.largest ? n : host.largest;
    if (every(host.lose_every)) {
        return;
    }
    memcpy(reply, p->data, n);
    n -= every(host.shorten_every);
    reply[0] = 0;
    reply[n - 1] ^= every(host.spoil_every);
    put16(reply + 2, 0);
    put16(reply + 2, (uint16_t)~reference_sum(reply, n));
    peer_send_ip(&peer, p->from, PROTO_ICMP, reply, n);
}

static void ping_up(void)
{
    rig_up();
    memset(&host, 0, sizeof(host));
    peer_set_packet_hook(answer);
}

START_TEST(four_pings)
{
    ck_assert_int_eq(rig_command("ping 10.0.0.2", 6000), 0);
    ck_assert_uint_eq(host.asked, 4);
    ck_assert_uint_eq(host.largest, ICMP_HEADER + 56);
    ck_assert_uint_eq(rig_said_times("56 bytes from 10.0.0.2: seq "), 4);
    ck_assert(rig_said("4 sent, 4 received, 0 lost, 0 wrong\nmin/avg/max/jitter "));
}
END_TEST

START_TEST(sizes)
{
    ck_assert_int_eq(rig_command("ping -f -n 20 -s 0 10.0.0.2", 2000), 0);
    ck_assert_int_eq(rig_command("ping -f -n 20 -s 1472 10.0.0.2", 2000), 0);
    ck_assert_int_eq(rig_command("ping -f -n 20 -s 1473 10.0.0.2", 2000), 0);
    ck_assert_int_eq(rig_command("ping -f -n 20 -s 8000 10.0.0.2", 2000), 0);
    ck_assert_uint_eq(host.asked, 80);
    ck_assert_uint_eq(host.largest, ICMP_HEADER + 8000);
}
END_TEST

START_TEST(sweep)
{
    ck_assert_int_eq(rig_command("ping --sweep 10.0.0.2", 30000), 0);
    ck_assert_uint_eq(host.asked, 1473);
    ck_assert_uint_eq(host.largest, ICMP_HEADER + 1472);
    ck_assert(rig_said("1473 sent, 1473 received, 0 lost, 0 wrong"));
}
END_TEST

START_TEST(lost_and_wrong_replies)
{
    host.lose_every = 5;
    host.spoil_every = 7;
    host.shorten_every = 11;
    ck_assert_int_eq(rig_command("ping -f -n 40 10.0.0.2", 20000), 1);
    ck_assert(rig_said("40 sent, 32 received, 8 lost, 7 wrong"));
}
END_TEST

START_TEST(nobody_there)
{
    ck_assert_int_eq(rig_command("ping -n 2 10.0.0.99", 5000), 1);
    ck_assert(rig_said("2 sent, 0 received, 2 lost, 0 wrong"));
}
END_TEST

START_TEST(aborted)
{
    rig_type("ping -f -n 1000000 10.0.0.2\n");
    rig_run_ms(300);
    ck_assert_uint_gt(host.asked, 100);
    rig_type("\003");
    rig_run_ms(20);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
}
END_TEST

Suite *net_client_suite(void)
{
    Suite *suite = suite_create("net_client");
    TCase *input = rig_case(suite, "input");
    TCase *ping = tcase_create("ping");

    tcase_add_checked_fixture(ping, ping_up, rig_down);
    tcase_set_timeout(ping, CASE_SECONDS);
    suite_add_tcase(suite, ping);
    tcase_add_test(input, bad_input);
    tcase_add_test(input, no_gateway);
    tcase_add_test(own_case(suite, "no address"), no_address_yet);
    tcase_add_test(ping, four_pings);
    tcase_add_test(ping, sizes);
    tcase_add_test(ping, sweep);
    tcase_add_test(ping, lost_and_wrong_replies);
    tcase_add_test(ping, nobody_there);
    tcase_add_test(ping, aborted);
    return suite;
}
