/*
 * The ttcp sender: bytes, counts and reports over TCP and UDP, and every way a peer can fail it.
 */
#include "tests/host/test_net.h"

#include <string.h>

enum { PORT = 5001, LONG_MS = 60000 };

static struct peer_tcp server;

static void listen_for(unsigned call)
{
    peer_tcp_listen(&server, &peer, PORT);
    server.call = call;
}

static const char *result(uint64_t bytes, uint64_t calls, const char *end)
{
    const char *r = rig_record("result", 0);

    ck_assert_uint_eq(rig_record_count("result"), 1);
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)bytes);
    ck_assert_int_eq(rig_number(r, "calls"), (int64_t)calls);
    ck_assert_str_eq(rig_value(r, "end"), end);
    ck_assert_str_eq(rig_value(r, "dir"), "\"tx\"");
    return r;
}

/* All arrived in order and right, and what was counted here is what the record says. */
static void received(uint64_t bytes, const char *r)
{
    ck_assert_uint_eq(server.received, bytes);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    ck_assert(server.fin_seen);
    ck_assert_int_eq(rig_number(r, "packets"), server.data_segments);
    ck_assert_int_eq(rig_number(r, "retrans"), server.repeated);
}

/* ---- TCP ---- */

START_TEST(writes_of_any_size)
{
    static const struct {
        const char *command;
        unsigned length, count;
    } runs[] = {
        {"ttcp -t -n 64 10.0.0.2", 8192, 64},
        {"ttcp -t -l 1 -n 5000 10.0.0.2", 1, 5000},
        {"ttcp -t -l 1 -n 1 10.0.0.2", 1, 1},
        {"ttcp -t -l 100 -n 700 10.0.0.2", 100, 700},
        {"ttcp -t -l 256 -n 300 10.0.0.2", 256, 300},
        {"ttcp -t -l 1460 -n 100 10.0.0.2", 1460, 100},
        {"ttcp -t -l 1461 -n 100 10.0.0.2", 1461, 100},
        {"ttcp -t -l 8193 -n 20 10.0.0.2", 8193, 20},
        {"ttcp -t -l 65507 -n 5 10.0.0.2", 65507, 5},
        {"ttcp -t -D -l 8192 -n 20 10.0.0.2", 8192, 20},
    };
    uint64_t bytes = (uint64_t)runs[_i].length * runs[_i].count;
    const char *r;

    listen_for(runs[_i].length);
    ck_assert_int_eq(rig_command(runs[_i].command, LONG_MS), 0);
    r = result(bytes, runs[_i].count, "\"ok\"");
    received(bytes, r);
    ck_assert_uint_eq(server.repeated, 0);
    ck_assert_int_lt(rig_number(r, "gap_us"), 500000);
}
END_TEST

/* With -D a write leaves at once, as far as the congestion window allows; without it they are
 * joined to full segments. */
START_TEST(nodelay_sends_at_once)
{
    listen_for(100);
    ck_assert_int_eq(
        rig_command(_i == 0 ? "ttcp -t -D -l 100 -n 50 10.0.0.2" : "ttcp -t -l 100 -n 50 10.0.0.2",
                    LONG_MS),
        0);
    received(5000, result(5000, 50, "\"ok\""));
    if (_i == 0) {
        ck_assert_uint_ge(server.data_segments, 40);
    } else {
        ck_assert_uint_le(server.data_segments, 6);
    }
}
END_TEST

START_TEST(refused)
{
    listen_for(0);
    server.refusing = true;
    ck_assert_int_eq(rig_command("ttcp -t 10.0.0.2", LONG_MS), 1);
    ck_assert(rig_said("ttcp-t: connection refused\n"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

START_TEST(nobody_answers)
{
    ck_assert_int_eq(rig_command("ttcp -t 10.0.0.2", 12000), 1);
    ck_assert(rig_said("connect timed out after 10 s"));
}
END_TEST

START_TEST(reset_midway)
{
    const char *r;

    listen_for(8192);
    rig_type("ttcp -t 10.0.0.2\n");
    rig_run_ms(200);
    ck_assert(server.open);
    peer_tcp_flags(&server, T_RST | T_ACK);
    rig_run_ms(20);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "end"), "\"reset\"");
    ck_assert_int_gt(rig_number(r, "bytes"), 8192);
    ck_assert(rig_said("ttcp-t: connection reset by the peer\n"));
}
END_TEST

/* Half close: a peer that only stops sending still gets everything. */
START_TEST(peer_closes_first)
{
    listen_for(8192);
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    rig_run_ms(100);
    peer_tcp_flags(&server, T_FIN | T_ACK);
    rig_run_ms(5000);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    received(64 * 8192, result(64 * 8192, 64, "\"ok\""));
}
END_TEST

START_TEST(peer_never_closes)
{
    listen_for(8192);
    server.close_back = false;
    ck_assert_int_eq(rig_command("ttcp -t -n 8 10.0.0.2", 10000), 0);
    received(8 * 8192, result(8 * 8192, 8, "\"ok\""));
    ck_assert_int_lt(rig_number(rig_record("result", 0), "us"), 1000000);
}
END_TEST

/* Closed for three seconds, then open: probes are not data, and nothing is sent twice. */
START_TEST(zero_window_stall)
{
    const char *r;

    listen_for(8192);
    server.stop_at = 100000;
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    rig_run_ms(3000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert_uint_gt(server.data_segments, 100000 / PEER_MSS + 1);
    server.stop_at = 0;
    peer_tcp_flags(&server, T_ACK);
    rig_run_ms(2000);
    r = result(64 * 8192, 64, "\"ok\"");
    ck_assert_uint_eq(server.received, 64 * 8192);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    ck_assert_int_gt(rig_number(r, "gap_us"), 1500000);
    ck_assert_int_eq(rig_number(r, "retrans"), 0);
}
END_TEST

START_TEST(zero_window_for_ever)
{
    listen_for(0);
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    server.stop_at = 100000;
    rig_run_ms(40000);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"timeout\"");
}
END_TEST

START_TEST(peer_dies)
{
    const char *r;

    listen_for(0);
    rig_type("ttcp -t -n 6400 10.0.0.2\n");
    rig_run_ms(500);
    server.mute = true;
    rig_run_ms(40000);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "end"), "\"timeout\"");
    ck_assert_int_lt(rig_number(r, "us"), 1000000);
    ck_assert_int_gt(rig_number(r, "bytes"), 8192);
    ck_assert_int_le(rig_number(r, "bytes"), (int64_t)server.received); /* not what waited here */
}
END_TEST

START_TEST(aborted_at_any_moment)
{
    listen_for(0);
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    for (int i = 0; i < _i * 5; i++) {
        rig_turn();
    }
    rig_type("\003");
    rig_run_ms(500);
    ck_assert_uint_eq(rig_record_count("done"), 1);
    peer_tcp_forget(&server);
    rig_forget();
    listen_for(8192);
    ck_assert_int_eq(rig_command("ttcp -t -n 8 10.0.0.2", LONG_MS), 0);
    received(8 * 8192, result(8 * 8192, 8, "\"ok\""));
}
END_TEST

/* ---- retransmissions: counted by the box exactly as seen on the cable ---- */

static unsigned lose_first, lose_count, data_frames;

static bool is_data(const struct heard *f)
{
    const uint8_t *ip = f->data + ETH_HEADER;
    const uint8_t *tcp = ip + IP_HEADER;

    return get16(f->data + 12) == ETH_TYPE_IP && ip[9] == PROTO_TCP &&
           get16(ip + 2) > IP_HEADER + tcp[12] / 16u * 4;
}

static bool lose_some(const struct heard *f)
{
    unsigned n;

    if (!is_data(f)) {
        return true;
    }
    n = data_frames++;
    return n < lose_first || n >= lose_first + lose_count;
}

static bool lose_every(const struct heard *f)
{
    return !is_data(f) || data_frames++ % lose_count != lose_first;
}

START_TEST(lost_segments_are_counted_when_sent_again)
{
    static const struct {
        unsigned first, count;
    } losses[] = {{0, 1}, {5, 1}, {20, 2}, {20, 7}, {40, 10}, {356, 4} /* the last ones */};
    const char *r;

    listen_for(8192);
    data_frames = 0;
    lose_first = losses[_i].first;
    lose_count = losses[_i].count;
    peer_set_hook(lose_some);
    ck_assert_int_eq(rig_command("ttcp -t -n 64 10.0.0.2", LONG_MS), 0);
    r = result(64 * 8192, 64, "\"ok\"");
    received(64 * 8192, r);
    ck_assert_uint_ge(server.repeated, lose_count);
}
END_TEST

START_TEST(small_writes_on_a_bad_cable)
{
    listen_for(10);
    data_frames = 0;
    lose_first = 2;
    lose_count = 5;
    peer_set_hook(lose_every);
    ck_assert_int_eq(rig_command("ttcp -t -l 10 -n 3000 10.0.0.2", LONG_MS * 5), 0);
    received(30000, result(30000, 3000, "\"ok\""));
    ck_assert_uint_gt(server.repeated, 0);
}
END_TEST

/* Acknowledgements that come twice are no loss until there are three of them. */
START_TEST(doubled_acknowledgement_is_no_loss)
{
    listen_for(8192);
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    for (unsigned i = 0; i < 40; i++) {
        rig_run_ms(10);
        peer_tcp_flags(&server, T_ACK);
    }
    rig_run_ms(5000);
    received(64 * 8192, result(64 * 8192, 64, "\"ok\""));
    ck_assert_uint_eq(server.repeated, 0);
}
END_TEST

Suite *net_send_suite(void)
{
    Suite *suite = suite_create("net_send");
    TCase *tcp = rig_case(suite, "tcp");
    TCase *loss = rig_case(suite, "loss");

    tcase_add_loop_test(tcp, writes_of_any_size, 0, 10);
    tcase_add_loop_test(tcp, nodelay_sends_at_once, 0, 2);
    tcase_add_test(tcp, refused);
    tcase_add_test(tcp, nobody_answers);
    tcase_add_test(tcp, reset_midway);
    tcase_add_test(tcp, peer_closes_first);
    tcase_add_test(tcp, peer_never_closes);
    tcase_add_test(tcp, zero_window_stall);
    tcase_add_test(tcp, zero_window_for_ever);
    tcase_add_test(tcp, peer_dies);
    tcase_add_loop_test(tcp, aborted_at_any_moment, 0, 12);
    tcase_add_loop_test(loss, lost_segments_are_counted_when_sent_again, 0, 6);
    tcase_add_test(loss, small_writes_on_a_bad_cable);
    tcase_add_test(loss, doubled_acknowledgement_is_no_loss);
    return suite;
}
