/*
 * The raw sink and source: bytes both ways without a word around them.
 */
#include "tests/host/test_net.h"

#include "lwip/tcp.h"
#include "net/apps/tcp_stream.h"

enum { SINK = 7001, SOURCE = 7002, FROM = 40000, ALL = 16 << 20, WRITE = 8192 };

static struct peer_tcp c;

static void check(const char *r, const char *test, const char *dir, uint64_t bytes, const char *end)
{
    ck_assert_str_eq(rig_value(r, "test"), test);
    ck_assert_str_eq(rig_value(r, "dir"), dir);
    ck_assert_str_eq(rig_value(r, "end"), end);
    ck_assert_str_eq(rig_value(r, "proto"), "\"tcp\"");
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)bytes);
}

START_TEST(sink_counts_until_fin)
{
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, SINK));
    ck_assert(peer_tcp_send(&c, 123457));
    ck_assert(peer_tcp_finish(&c));
    ck_assert_uint_eq(rig_record_count("result"), 1);
    check(rig_record("result", 0), "\"sink\"", "\"rx\"", 123457, "\"ok\"");
    ck_assert(c.fin_seen);
    ck_assert_uint_eq(c.data_segments, 0);
}
END_TEST

/* What iperf2 would begin with is raw bytes here. */
START_TEST(sink_reads_nothing_into_it)
{
    static const uint8_t header[60] = {0x44, 0x01, 0x00, 0x78, 0, 0, 0, 1, [32] = 0x04};

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, SINK));
    c.says = header;
    c.says_bytes = sizeof(header);
    ck_assert(peer_tcp_send(&c, 5000));
    rig_run_ms(300);
    ck_assert_uint_eq(c.data_segments, 0);
    ck_assert(peer_tcp_finish(&c));
    check(rig_record("result", 0), "\"sink\"", "\"rx\"", 5000, "\"ok\"");
}
END_TEST

static bool has_fin(void *arg)
{
    return ((struct peer_tcp *)arg)->fin_seen;
}

/* The client may stop sending at once (`nc -N`), or never. */
START_TEST(source_sends_16_mib_then_fin)
{
    const char *r;

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, SOURCE));
    c.call = WRITE;
    if (_i == 0) {
        peer_tcp_flags(&c, T_FIN | T_ACK);
    }
    ck_assert(rig_until(has_fin, &c, 60000));
    rig_run_ms(500);
    ck_assert_uint_eq(c.received, ALL);
    ck_assert_uint_eq(c.wrong_bytes, 0);
    r = rig_record("result", 0);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    check(r, "\"source\"", "\"tx\"", ALL, "\"ok\"");
    ck_assert_int_eq(rig_number(r, "calls"), ALL / WRITE);
    ck_assert_int_eq(rig_number(r, "packets"), c.data_segments);
    ck_assert_int_gt(rig_number(r, "kb_s"), 900);
}
END_TEST

START_TEST(source_whose_client_breaks_off)
{
    const char *r;

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, SOURCE));
    rig_run_ms(500);
    peer_tcp_flags(&c, T_RST | T_ACK);
    rig_run_ms(20);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "end"), "\"reset\"");
    ck_assert_int_le(rig_number(r, "bytes"), (int64_t)c.received); /* only what arrived */
    ck_assert_int_gt(rig_number(r, "bytes"), 100000);
}
END_TEST

/* Clients that take nothing fill all places for strangers; the console has its own, and 30 s later
 * the places are free again. */
START_TEST(sources_are_bounded)
{
    enum { PLACES = TCP_STREAMS - TCP_STREAMS_KEPT };
    static struct peer_tcp many[PLACES], server;

    for (unsigned i = 0; i < PLACES; i++) {
        ck_assert(peer_tcp_connect(&many[i], &peer, FROM + i, BOX_IP, SOURCE));
        many[i].stop_at = 20000;
    }
    peer_tcp_connect(&c, &peer, FROM - 1, BOX_IP, SOURCE);
    rig_run_ms(20);
    ck_assert(c.reset_seen);
    peer_tcp_listen(&server, &peer, 5001);
    ck_assert_int_eq(rig_command("ttcp -t -n 4 10.0.0.2", 5000), 0);
    rig_run_ms(33000);
    for (unsigned i = 0; i < PLACES; i++) {
        ck_assert(many[i].reset_seen);
    }
    peer_tcp_forget(&c);
    ck_assert(peer_tcp_connect(&c, &peer, FROM - 2, BOX_IP, SOURCE));
    rig_run_ms(100);
    ck_assert_uint_gt(c.received, 0);
    peer_tcp_flags(&c, T_RST | T_ACK);
}
END_TEST

Suite *net_raw_suite(void)
{
    Suite *suite = suite_create("net_raw");
    TCase *sink = rig_case(suite, "sink");
    TCase *source = rig_case(suite, "source");

    tcase_add_test(sink, sink_counts_until_fin);
    tcase_add_test(sink, sink_reads_nothing_into_it);
    tcase_add_loop_test(source, source_sends_16_mib_then_fin, 0, 2);
    tcase_add_test(source, source_whose_client_breaks_off);
    tcase_add_test(source, sources_are_bounded);
    return suite;
}
