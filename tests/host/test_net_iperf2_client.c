/*
 * The command `iperf` towards servers of both eras, and towards such as do not answer.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "tests/host/sim/bus.h"

enum { PORT = 5001, OLD = 12, NEW = 16, REPORT = 40, FINALS = 10 };

/* ---- a server ---- */

static struct {
    bool old_era;
    unsigned mute_for; /* final datagrams that get no report */
    unsigned jitter_s;
    unsigned datagrams, finals, bytes, first_flags, from;
    uint64_t final_us[32];
    int32_t last_id;
} server;

static void report(unsigned port)
{
    uint8_t d[NEW + REPORT] = {0};
    uint8_t *r = d + (server.old_era ? OLD : NEW);

    put32(d, (uint32_t)server.last_id);
    put32(r, 0x80000000);
    put32(r + 8, server.bytes);
    put32(r + 16, 250000);
    put32(r + 20, 3);
    put32(r + 24, 1);
    put32(r + 28, server.datagrams);
    put32(r + 32, server.jitter_s);
    put32(r + 36, 777);
    peer_send_udp(&peer, BOX_IP, PORT, port, d, (server.old_era ? OLD : NEW) + REPORT);
}

static void serve(const struct packet *p)
{
    const uint8_t *d = p->data + UDP_HEADER;

    if (p->protocol != PROTO_UDP || get16(p->data + 2) != PORT) {
        return;
    }
    server.last_id = (int32_t)get32(d);
    server.from = get16(p->data);
    if (server.finals == 0) {
        server.datagrams++;
        server.bytes += p->length - UDP_HEADER;
    }
    if (server.datagrams == 1) {
        server.first_flags = get32(d + NEW);
    }
    if (server.last_id < 0) {
        server.final_us[server.finals++ % 32] = sim_now_ns() / 1000;
        if (server.finals > server.mute_for) {
            report(server.from);
        }
    }
}

static void set_up(void)
{
    rig_up();
    memset(&server, 0, sizeof(server));
    peer_set_packet_hook(serve);
}

static const char *result(const char *end)
{
    const char *r = rig_record("result", 0);

    ck_assert_uint_eq(rig_record_count("result"), 1);
    ck_assert_str_eq(rig_value(r, "test"), "\"iperf2\"");
    ck_assert_str_eq(rig_value(r, "end"), end);
    return r;
}

/* ---- UDP ---- */

START_TEST(the_servers_report_is_ours)
{
    const char *r;

    server.old_era = _i != 0;
    ck_assert_int_eq(rig_command("iperf -u -n 14700 -b 1m 10.0.0.2", 5000), 0);
    r = result("\"ok\"");
    ck_assert_uint_eq(server.first_flags, 0x48010098);
    ck_assert_uint_eq(server.datagrams, 11);
    ck_assert_int_eq(rig_number(r, "packets"), 11);
    ck_assert_int_eq(rig_number(r, "bytes"), 11 * 1470);
    ck_assert_int_eq(rig_number(r, "lost"), 3);
    ck_assert_int_eq(rig_number(r, "ooo"), 1);
    ck_assert_int_eq(rig_number(r, "jitter_us"), 777);
    ck_assert_str_eq(rig_value(r, "dup"), "null");
    ck_assert_str_eq(rig_value(r, "bound"), "\"pacing\"");
    ck_assert_int_ge(rig_number(r, "us"), 117000);
    ck_assert_int_le(rig_number(r, "us"), 121000);
    ck_assert(rig_said("the server got 16170 bytes in 0.25 s"));
}
END_TEST

/* 2.1.8 takes the difference of the clocks for jitter at first: that is not one. */
START_TEST(a_jitter_longer_than_the_test_is_none)
{
    server.jitter_s = 4000000;
    ck_assert_int_eq(rig_command("iperf -u -n 14700 -b 1m 10.0.0.2", 5000), 0);
    ck_assert_str_eq(rig_value(result("\"ok\""), "jitter_us"), "null");
}
END_TEST

START_TEST(the_final_is_repeated_until_answered)
{
    server.mute_for = 3;
    ck_assert_int_eq(rig_command("iperf -u -n 14700 10.0.0.2", 5000), 0);
    ck_assert_uint_eq(server.finals, 4);
    ck_assert_uint_ge(server.final_us[1] - server.final_us[0], 245000);
    ck_assert_uint_le(server.final_us[1] - server.final_us[0], 260000);
    ck_assert_int_lt(rig_number(result("\"ok\""), "us"), 130000); /* the wait is not in it */
}
END_TEST

START_TEST(no_report_at_all)
{
    server.mute_for = 100;
    ck_assert_int_eq(rig_command("iperf -u -n 14700 10.0.0.2", 8000), 1);
    ck_assert_uint_eq(server.finals, FINALS);
    ck_assert_str_eq(rig_value(result("\"timeout\""), "lost"), "null");
    ck_assert(rig_said("no report from the server"));
}
END_TEST

START_TEST(parallel_flows_are_summed)
{
    ck_assert_int_eq(rig_command("iperf -u -n 14700 -P 3 10.0.0.2", 8000), 0);
    ck_assert_uint_eq(rig_record_count("result"), 3);
    ck_assert(rig_said("sum of 3 streams: 48510 bytes"));
}
END_TEST

/* A rate in bits, as iperf2 reads it: k is 1000, K is 1024. */
START_TEST(rates)
{
    ck_assert_int_eq(
        rig_command(_i == 0 ? "iperf -u -t 2 -b 500k 10.0.0.2" : "iperf -u -t 2 -b 500K 10.0.0.2",
                    8000),
        0);
    ck_assert_uint_ge(server.datagrams, _i == 0 ? 86 : 88);
    ck_assert_uint_le(server.datagrams, _i == 0 ? 87 : 89);
}
END_TEST

/* -R: the server sends; what it sends is counted, and the request repeated if it gets lost. */
static void send_back(const struct packet *p)
{
    serve(p);
    if (p->protocol != PROTO_UDP || server.datagrams <= server.mute_for) {
        return;
    }
    for (int id = 1; id <= 5; id++) {
        uint8_t d[200] = {0};

        put32(d, (uint32_t)(id == 5 ? -5 : id));
        put32(d + 12, id == 5 ? UINT32_MAX : 0);
        put32(d + NEW, 0x48010098);
        if (id != 3) {
            peer_send_udp(&peer, BOX_IP, PORT, server.from, d, sizeof(d));
        }
    }
    peer_set_packet_hook(NULL);
}

START_TEST(reverse)
{
    const char *r;

    server.mute_for = (unsigned)_i;
    peer_set_packet_hook(send_back);
    ck_assert_int_eq(rig_command("iperf -u -R -n 800 10.0.0.2", 8000), 0);
    ck_assert_uint_eq(server.first_flags, 0x6C010098);
    r = result("\"ok\"");
    ck_assert_str_eq(rig_value(r, "dir"), "\"rx\"");
    ck_assert_int_eq(rig_number(r, "packets"), 4);
    ck_assert_int_eq(rig_number(r, "lost"), 1);
    ck_assert_int_eq(rig_number(r, "bytes"), 800);
}
END_TEST

START_TEST(reverse_from_nobody)
{
    server.mute_for = 100;
    peer_set_packet_hook(send_back);
    ck_assert_int_eq(rig_command("iperf -u -R -n 800 10.0.0.2", 8000), 1);
    ck_assert_uint_eq(server.datagrams, 3);
    ck_assert(rig_said("no answer from the server"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

START_TEST(nobody_at_that_address)
{
    ck_assert_int_eq(rig_command("iperf -u -n 800 10.0.0.77", 8000), 1);
    ck_assert(rig_said("no answer to ARP"));
}
END_TEST

/* ---- TCP ---- */

static struct peer_tcp c;
static uint32_t first_word;

static void note_first(const struct packet *p)
{
    unsigned header = p->protocol == PROTO_TCP ? p->data[12] / 16u * 4 : 0;

    if (header != 0 && p->length > header && first_word == 0) {
        first_word = get32(p->data + header);
    }
}

START_TEST(tcp_by_amount)
{
    peer_tcp_listen(&c, &peer, PORT);
    peer_set_packet_hook(note_first);
    ck_assert_int_eq(rig_command("iperf -n 100K 10.0.0.2", 5000), 0);
    ck_assert_uint_eq(c.received, 100 * 1024); /* the header is part of it */
    ck_assert_uint_eq(first_word, 0x40010078);
    ck_assert_int_eq(rig_number(result("\"ok\""), "bytes"), 100 * 1024);
}
END_TEST

START_TEST(tcp_by_time)
{
    const char *r;

    peer_tcp_listen(&c, &peer, PORT);
    ck_assert_int_eq(rig_command("iperf -t 1 10.0.0.2", 5000), 0);
    r = result("\"ok\"");
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)c.received);
    ck_assert_int_ge(rig_number(r, "us"), 1000000);
    ck_assert_int_le(rig_number(r, "us"), 1100000);
}
END_TEST

START_TEST(tcp_reverse)
{
    peer_tcp_listen(&c, &peer, PORT);
    peer_set_packet_hook(note_first);
    rig_type("iperf -R -n 30000 10.0.0.2\n");
    rig_run_ms(200);
    ck_assert(c.open);
    ck_assert_uint_eq(c.received, 60);
    ck_assert_uint_eq(first_word, 0x44010078);
    ck_assert(peer_tcp_send(&c, 30000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(100);
    ck_assert_str_eq(rig_value(result("\"ok\""), "dir"), "\"rx\"");
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 30000);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
}
END_TEST

/* It was asked for a second and goes on for ever. */
START_TEST(tcp_reverse_without_end)
{
    peer_tcp_listen(&c, &peer, PORT);
    rig_type("iperf -R -t 1 10.0.0.2\n");
    rig_run_ms(200);
    for (unsigned i = 0; i < 60 && rig_record_count("done") == 0; i++) {
        peer_tcp_send(&c, 1000);
        rig_run_ms(250);
    }
    ck_assert(rig_said("does not end its test"));
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    result("\"timeout\"");
}
END_TEST

START_TEST(tcp_refused)
{
    peer_tcp_listen(&c, &peer, PORT);
    c.refusing = true;
    ck_assert_int_eq(rig_command("iperf -n 100K 10.0.0.2", 5000), 1);
    ck_assert(rig_said("connection refused"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, set_up, rig_down);
    tcase_set_timeout(tcase, CASE_SECONDS);
    suite_add_tcase(suite, tcase);
    return tcase;
}

Suite *net_iperf2_client_suite(void)
{
    Suite *suite = suite_create("net_iperf2_client");
    TCase *udp = new_case(suite, "udp");
    TCase *tcp = new_case(suite, "tcp");

    tcase_add_loop_test(udp, the_servers_report_is_ours, 0, 2);
    tcase_add_test(udp, a_jitter_longer_than_the_test_is_none);
    tcase_add_test(udp, the_final_is_repeated_until_answered);
    tcase_add_test(udp, no_report_at_all);
    tcase_add_test(udp, parallel_flows_are_summed);
    tcase_add_loop_test(udp, rates, 0, 2);
    tcase_add_loop_test(udp, reverse, 0, 3);
    tcase_add_test(udp, reverse_from_nobody);
    tcase_add_test(udp, nobody_at_that_address);
    tcase_add_test(tcp, tcp_by_amount);
    tcase_add_test(tcp, tcp_by_time);
    tcase_add_test(tcp, tcp_reverse);
    tcase_add_test(tcp, tcp_reverse_without_end);
    tcase_add_test(tcp, tcp_refused);
    return suite;
}
