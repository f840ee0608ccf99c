/*
 * ttcp's TCP sink: several connections at once, and every way one can end.
 */
#include "tests/host/sim/bus.h"
#include "tests/host/test_net.h"

#include <string.h>

#include "lwip/priv/tcp_priv.h"
#include "net/tcp_watch.h"

enum {
    PORT = 5001,
    FROM = 40000,
    DEAD_MS = 33000,
    OPENED_MS = 30, /* the first byte is acknowledged */
};

static struct peer_tcp c; /* the client of most cases */

static void must_connect(struct peer_tcp *client, unsigned port)
{
    ck_assert(peer_tcp_connect(client, &peer, port, BOX_IP, PORT));
}

static const char *result_of(unsigned port)
{
    char client[32];

    snprintf(client, sizeof(client), "\"10.0.0.2:%u\"", port);
    for (unsigned i = 0; i < rig_record_count("result"); i++) {
        if (rig_is(rig_record("result", i), "peer", client)) {
            return rig_record("result", i);
        }
    }
    ck_abort_msg("no result for %s", client);
}

static void check(const char *r, uint64_t bytes, const char *end)
{
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)bytes);
    ck_assert_str_eq(rig_value(r, "end"), end);
    ck_assert_str_eq(rig_value(r, "dir"), "\"rx\"");
    ck_assert_str_eq(rig_value(r, "test"), "\"ttcp\"");
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
}

/*
 * Parked whole, a segment that goes on beyond the window would drive lwIP's window below zero once
 * the gap before it is filled (its assertion "ooseq tcplen > rcv_wnd").
 */
START_TEST(beyond_the_window_ahead_of_its_turn)
{
    const unsigned port = _i == 0 ? PORT : 9;
    unsigned window, at;

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, port));
    ck_assert(peer_tcp_send(&c, 1)); /* opens the window */
    rig_run_ms(OPENED_MS);
    window = c.box_window;
    ck_assert_uint_gt(window, PEER_MSS);
    peer_tcp_segment(&c, window, PEER_MSS);
    rig_run_ms(5);
    ck_assert_uint_eq(tcp_watch_beyond_window(), 1);
    for (at = 1 + PEER_MSS; at < window; at += PEER_MSS) {
        peer_tcp_segment(&c, at, at + PEER_MSS > window ? window - at : PEER_MSS);
        rig_run_ms(5);
    }
    peer_tcp_segment(&c, 1, PEER_MSS); /* the gap */
    rig_run_ms(50);
    ck_assert_uint_eq(tcp_watch_beyond_window(), 1);
    ck_assert_uint_le(tcp_active_pcbs->rcv_wnd, TCP_WND);
    ck_assert_uint_eq(c.acked - c.first_seq, window);
}
END_TEST

START_TEST(bytes_until_fin)
{
    const char *r;

    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 100000));
    ck_assert(peer_tcp_finish(&c));
    ck_assert_uint_eq(rig_record_count("result"), 1);
    r = result_of(FROM);
    check(r, 100000, "\"ok\"");
    ck_assert_int_eq(rig_number(r, "packets"), 69);
    ck_assert_int_le(rig_number(r, "calls"), 69); /* segments of one burst are one delivery */
    ck_assert_int_ge(rig_number(r, "calls"), 69 / 6);
    ck_assert(rig_said("ttcp-r: 100000 bytes in "));
    ck_assert(c.fin_seen); /* the box closes its side, too */
    ck_assert_uint_eq(c.data_segments, 0);
}
END_TEST

/* Past the first segments, which are acknowledged one by one (slow start). */
static uint32_t past_slow_start(void)
{
    enum { SEGMENTS = 24 };

    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, SEGMENTS * PEER_MSS));
    rig_run_ms(300);
    return SEGMENTS * PEER_MSS;
}

/* `n` segments waiting in the card's ring when the box looks; how many it answers with. */
static unsigned answers_to_burst(uint32_t offset, unsigned n)
{
    unsigned before = c.segments;

    for (unsigned i = 0; i < n; i++) {
        peer_tcp_segment(&c, offset + i * PEER_MSS, PEER_MSS);
    }
    sim_run_us(n * 1300); /* while the box is busy elsewhere */
    rig_run_ms(10);
    return c.segments - before;
}

START_TEST(a_burst_is_acknowledged_once)
{
    uint32_t sent = past_slow_start();

    ck_assert_uint_eq(answers_to_burst(sent, 6), 1); /* a window (NEEDS 66) */
    ck_assert_uint_eq(c.acked - c.first_seq, sent + 6 * PEER_MSS);
}
END_TEST

/* A segment alone is acknowledged with the next (RFC 9293 3.8.6.3), a gap at once. */
START_TEST(lone_segments_are_acknowledged_in_pairs)
{
    uint32_t sent = past_slow_start();

    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(answers_to_burst(sent, 1), i % 2);
        sent += PEER_MSS;
    }
    ck_assert_uint_eq(answers_to_burst(sent + PEER_MSS, 1), 1);
}
END_TEST

START_TEST(the_other_two_ports)
{
    static const unsigned ports[] = {5010, 2000};

    for (unsigned i = 0; i < 2; i++) {
        ck_assert(peer_tcp_connect(&c, &peer, FROM + i, BOX_IP, ports[i]));
        ck_assert(peer_tcp_send(&c, 5000));
        ck_assert(peer_tcp_finish(&c));
        check(result_of(FROM + i), 5000, "\"ok\"");
        peer_tcp_forget(&c);
    }
}
END_TEST

START_TEST(several_at_once_each_counted)
{
    static struct peer_tcp many[6];

    for (unsigned i = 0; i < 6; i++) {
        must_connect(&many[i], FROM + i);
    }
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 6; i++) {
            ck_assert(peer_tcp_send(&many[i], 1000 * (i + 1)));
        }
    }
    for (unsigned i = 6; i-- > 0;) {
        ck_assert(peer_tcp_finish(&many[i]));
    }
    ck_assert_uint_eq(rig_record_count("result"), 6);
    for (unsigned i = 0; i < 6; i++) {
        check(result_of(FROM + i), 4000 * (i + 1), "\"ok\"");
    }
}
END_TEST

START_TEST(a_connection_without_payload_gives_no_result)
{
    must_connect(&c, FROM);
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(100);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert(!rig_said("ttcp-r:"));
}
END_TEST

START_TEST(reset_by_the_client)
{
    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 10000));
    rig_run_ms(20);
    peer_tcp_flags(&c, T_RST | T_ACK);
    rig_run_ms(10);
    check(result_of(FROM), 10000, "\"reset\"");
}
END_TEST

/* RFC 5961: a blind reset that only hits the window must not end a test. */
START_TEST(reset_beside_the_mark_is_not_believed)
{
    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 10000));
    rig_run_ms(300);
    c.snd_nxt += 1000;
    peer_tcp_flags(&c, T_RST | T_ACK);
    c.snd_nxt -= 1000;
    rig_run_ms(10);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert(peer_tcp_send(&c, 10000));
    ck_assert(peer_tcp_finish(&c));
    check(result_of(FROM), 20000, "\"ok\"");
}
END_TEST

START_TEST(dead_client_is_cleaned_up_in_30_s)
{
    const char *r;

    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 10000));
    rig_run_ms(29000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    rig_run_ms(DEAD_MS - 29000);
    r = result_of(FROM);
    check(r, 10000, "\"timeout\"");
    ck_assert_int_lt(rig_number(r, "us"), 1000000); /* the time-out is not in it */
    ck_assert(c.reset_seen);
}
END_TEST

START_TEST(silent_client_without_payload_is_cleaned_up_too)
{
    must_connect(&c, FROM);
    rig_run_ms(DEAD_MS);
    ck_assert(c.reset_seen);
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

/* A client that closes and vanishes: our FIN is never acknowledged; rig_down() waits for it. */
START_TEST(client_vanishes_behind_its_fin)
{
    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 10000));
    peer_tcp_flags(&c, T_FIN | T_ACK);
    c.mute = true;
    rig_run_ms(10);
    check(result_of(FROM), 10000, "\"ok\"");
}
END_TEST

START_TEST(segments_out_of_order_and_doubled_are_counted_once)
{
    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 1)); /* opens the window */
    rig_run_ms(OPENED_MS);
    peer_tcp_segment(&c, 1000, 1000);
    peer_tcp_segment(&c, 2000, 1000);
    peer_tcp_segment(&c, 1500, 1000);
    peer_tcp_segment(&c, 1, 999);
    peer_tcp_segment(&c, 1, 999);
    rig_run_ms(300);
    ck_assert_uint_eq(c.acked, c.first_seq + 3000);
    ck_assert(peer_tcp_finish(&c));
    check(result_of(FROM), 3000, "\"ok\"");
}
END_TEST

START_TEST(progress_line_every_second)
{
    must_connect(&c, FROM);
    rig_run_ms(1500);
    ck_assert(!rig_said("KB/s"));
    for (unsigned i = 0; i < 35; i++) {
        ck_assert(peer_tcp_send(&c, 1000));
        rig_run_ms(100);
    }
    ck_assert_uint_ge(rig_said_times("KB/s\n"), 3);
    ck_assert_uint_le(rig_said_times("KB/s\n"), 5);
    ck_assert(peer_tcp_finish(&c));
}
END_TEST

START_TEST(a_closed_port_refuses)
{
    ck_assert(!peer_tcp_connect(&c, &peer, FROM, BOX_IP, 4444));
    ck_assert(c.reset_seen);
}
END_TEST

/* A megabyte as fast as the wire carries it: the report says so, and no stall is in it. */
START_TEST(wire_speed_is_reported_as_such)
{
    const char *r;

    must_connect(&c, FROM);
    ck_assert(peer_tcp_send(&c, 1000 * PEER_MSS));
    ck_assert(peer_tcp_finish(&c));
    r = result_of(FROM);
    check(r, 1000 * PEER_MSS, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "gap_us"), 200000);
    ck_assert_int_gt(rig_number(r, "kb_s"), 900);
}
END_TEST

/* ---- the command ---- */

START_TEST(receive_command_ends_with_the_next_test)
{
    unsigned port = _i == 0 ? PORT : 7778;

    rig_type(_i == 0 ? "ttcp -r\n" : "ttcp -r -p 7778\n");
    rig_run_ms(20);
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, port));
    ck_assert(peer_tcp_send(&c, 3000));
    ck_assert_uint_eq(rig_record_count("done"), 0);
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(20);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    check(result_of(FROM), 3000, "\"ok\"");
    peer_tcp_forget(&c);
    ck_assert(peer_tcp_connect(&c, &peer, FROM + 1, BOX_IP, port) == (_i == 0));
}
END_TEST

/* The same port again, while the last acknowledgement of the test before is still on its way. */
START_TEST(receive_command_twice_on_one_port)
{
    rig_type("ttcp -r -p 7778\n");
    rig_run_ms(20);
    rig_type("ttcp -r -p 7778\n"); /* kept until the first has ended */
    for (unsigned round = 0; round < 2; round++) {
        rig_run_ms(20);
        ck_assert_uint_eq(rig_record_count("done"), round);
        ck_assert(peer_tcp_connect(&c, &peer, FROM + round, BOX_IP, 7778));
        ck_assert(peer_tcp_send(&c, 3000));
        ck_assert(peer_tcp_finish(&c));
        peer_tcp_forget(&c);
        rig_run_ms(20);
        ck_assert_int_eq(rig_number(rig_record("done", round), "status"), 0);
    }
    ck_assert_uint_eq(rig_record_count("result"), 2);
}
END_TEST

START_TEST(receive_command_fails_with_the_test)
{
    rig_type("ttcp -r -p 7778\n");
    rig_run_ms(20);
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, 7778));
    ck_assert(peer_tcp_send(&c, 3000));
    peer_tcp_flags(&c, T_RST | T_ACK);
    rig_run_ms(20);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
}
END_TEST

START_TEST(receive_command_over_udp)
{
    rig_type("ttcp -r -u -p 7778\n");
    rig_run_ms(20);
    for (unsigned i = 0; i < 5; i++) {
        static const uint8_t data[100];

        peer_send_udp(&peer, BOX_IP, FROM, 7778, data, i == 0 || i == 4 ? 4 : sizeof(data));
        rig_run_ms(2);
    }
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 300);
    for (unsigned i = 0; i < 4; i++) { /* the end comes five times: no error for any of them */
        peer_send_udp(&peer, BOX_IP, FROM, 7778, "end!", 4);
        rig_run_ms(100);
    }
    ck_assert_uint_eq(peer_packets(PROTO_ICMP), 0);
    rig_run_ms(2000);
    peer_send_udp(&peer, BOX_IP, FROM, 7778, "closed", 6); /* port unreachable */
    rig_run_ms(20);
    ck_assert_uint_eq(peer_packets(PROTO_ICMP), 1);
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

/* The same port again while it was about to close. */
START_TEST(receive_command_over_udp_again)
{
    static const uint8_t data[100];

    for (unsigned round = 0; round < 3; round++) {
        rig_type("ttcp -r -u -p 7778\n");
        rig_run_ms(20);
        peer_send_udp(&peer, BOX_IP, FROM + round, 7778, data, 4);
        peer_send_udp(&peer, BOX_IP, FROM + round, 7778, data, sizeof(data));
        peer_send_udp(&peer, BOX_IP, FROM + round, 7778, data, 4);
        rig_run_ms(500);
        ck_assert_uint_eq(rig_record_count("result"), round + 1);
        ck_assert_int_eq(rig_number(rig_record("done", round), "status"), 0);
    }
}
END_TEST

START_TEST(receive_command_with_words_for_sending)
{
    static const char *const commands[] = {"ttcp -r -n 5", "ttcp -r -l 100", "ttcp -r -D",
                                           "ttcp -r 10.0.0.2", "help me"};

    ck_assert_int_eq(rig_command(commands[_i], 100), 1);
    ck_assert(rig_said("usage: "));
}
END_TEST

START_TEST(receive_command_aborted)
{
    static const char *const commands[] = {"ttcp -r\n", "ttcp -r -p 7778\n", "ttcp -r -u\n",
                                           "ttcp -r -u -p 7778\n"};

    for (unsigned round = 0; round < 2; round++) {
        rig_type(commands[_i]);
        rig_run_ms(20);
        ck_assert_uint_eq(rig_record_count("done"), round);
        rig_type("\003");
        rig_run_ms(20);
        ck_assert_uint_eq(rig_record_count("done"), round + 1);
        ck_assert_int_eq(rig_number(rig_record("done", round), "status"), 1);
    }
}
END_TEST

/* Aborted while its test runs: that goes on and is reported. */
START_TEST(receive_command_aborted_during_the_test)
{
    rig_type("ttcp -r -p 7778\n");
    rig_run_ms(20);
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, 7778));
    ck_assert(peer_tcp_send(&c, 3000));
    rig_type("\003");
    rig_run_ms(20);
    ck_assert(peer_tcp_send(&c, 3000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(20);
    check(result_of(FROM), 6000, "\"ok\"");
    ck_assert_uint_eq(rig_record_count("done"), 1);
}
END_TEST

Suite *net_sink_suite(void)
{
    Suite *suite = suite_create("net_sink");
    TCase *sink = rig_case(suite, "sink");
    TCase *command = rig_case(suite, "ttcp -r");

    tcase_add_loop_test(sink, beyond_the_window_ahead_of_its_turn, 0, 2);
    tcase_add_test(sink, bytes_until_fin);
    tcase_add_test(sink, a_burst_is_acknowledged_once);
    tcase_add_test(sink, lone_segments_are_acknowledged_in_pairs);
    tcase_add_test(sink, the_other_two_ports);
    tcase_add_test(sink, several_at_once_each_counted);
    tcase_add_test(sink, a_connection_without_payload_gives_no_result);
    tcase_add_test(sink, reset_by_the_client);
    tcase_add_test(sink, reset_beside_the_mark_is_not_believed);
    tcase_add_test(sink, dead_client_is_cleaned_up_in_30_s);
    tcase_add_test(sink, silent_client_without_payload_is_cleaned_up_too);
    tcase_add_test(sink, client_vanishes_behind_its_fin);
    tcase_add_test(sink, segments_out_of_order_and_doubled_are_counted_once);
    tcase_add_test(sink, progress_line_every_second);
    tcase_add_test(sink, a_closed_port_refuses);
    tcase_add_test(sink, wire_speed_is_reported_as_such);
    tcase_add_loop_test(command, receive_command_ends_with_the_next_test, 0, 2);
    tcase_add_test(command, receive_command_twice_on_one_port);
    tcase_add_test(command, receive_command_fails_with_the_test);
    tcase_add_test(command, receive_command_over_udp);
    tcase_add_test(command, receive_command_over_udp_again);
    tcase_add_loop_test(command, receive_command_with_words_for_sending, 0, 5);
    tcase_add_loop_test(command, receive_command_aborted, 0, 4);
    tcase_add_test(command, receive_command_aborted_during_the_test);
    return suite;
}
