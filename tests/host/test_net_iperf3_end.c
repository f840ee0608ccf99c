/*
 * How an iperf3 session ends when it does not end well: interrupted, broken off, gone silent; and
 * that the server is free again soon (NEEDS.md 3.3).
 */
#include "tests/host/iperf3_rig.h"

enum { MOST = 8 };

static struct i3_client c;

START_TEST(client_interrupted)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, _i == 0 ? I3_PLAIN : I3_REVERSE, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(300);
    i3_say(&c, I3_TERMINATE);
    rig_run_ms(20);
    ck_assert(c.stream[0].reset_seen);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"abort\"");
    i3_expect_free();
}
END_TEST

START_TEST(control_connection_breaks)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_PLAIN, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(300);
    peer_tcp_flags(&c.control, _i == 0 ? T_RST | T_ACK : T_FIN | T_ACK);
    rig_run_ms(20);
    i3_result(3000, "\"reset\"");
    ck_assert(c.stream[0].reset_seen);
    i3_expect_free();
}
END_TEST

static bool is_free_again(void *arg)
{
    (void)arg;
    return c.control.reset_seen || rig_record_count("result") != 0;
}

/* Its machine has lost its power: nothing answers any more, in either direction. */
START_TEST(client_vanishes)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, _i == 0 ? I3_PLAIN : I3_REVERSE, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(300);
    c.control.mute = c.stream[0].mute = true;
    ck_assert(rig_until(is_free_again, NULL, 10000));
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"timeout\"");
    ck_assert_int_lt(rig_number(rig_record("result", 0), "us"), 1000000);
    i3_expect_free();
}
END_TEST

/* Alive, but with nothing to say for a minute: -t 0 lasts until the client has had enough. */
START_TEST(a_silent_client_is_not_a_dead_one)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":0,\"parallel\":1}", 1);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(60000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(300);
    i3_finish(&c);
    i3_result(6000, "\"ok\"");
}
END_TEST

/* At every step a client may fall silent; the server is free again soon. */
START_TEST(stalled_at_any_step)
{
    i3_open(&c, &peer, I3_FROM);
    if (_i > 0) {
        i3_document(&c, I3_PLAIN);
        i3_expect(&c, I3_CREATE);
    }
    if (_i > 1) {
        ck_assert(i3_stream(&c, i3_cookie));
        i3_expect(&c, I3_START);
        i3_expect(&c, I3_RUNNING);
        i3_say(&c, I3_END);
        i3_expect(&c, I3_RESULTS);
    }
    if (_i > 2) {
        i3_document(&c, "{}");
        i3_expect_document(&c);
        i3_expect(&c, I3_DISPLAY);
    }
    ck_assert(rig_until(is_free_again, NULL, 10000));
    ck_assert(c.control.reset_seen);
    i3_expect_free();
}
END_TEST

/* The time asked for is over, its grace too, but TEST_END does not come. */
START_TEST(a_client_that_never_ends)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":1,\"parallel\":1}", 1);
    ck_assert(peer_tcp_send(&c.stream[0], 3000));
    rig_run_ms(30000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    rig_run_ms(2000);
    i3_result(3000, "\"timeout\"");
    i3_expect_free();
}
END_TEST

/* A stream is closed early: the session goes on. */
START_TEST(a_stream_ends_early)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":8}", 8);
    for (unsigned i = 0; i < 7; i++) {
        ck_assert(peer_tcp_send(&c.stream[i], 1000));
        if (i % 2 == 0) {
            peer_tcp_finish(&c.stream[i]);
        } else {
            peer_tcp_flags(&c.stream[i], T_RST | T_ACK);
        }
    }
    for (unsigned i = 0; i < 10; i++) {
        ck_assert(peer_tcp_send(&c.stream[7], PEER_MSS));
    }
    rig_run_ms(100);
    i3_finish(&c);
    i3_result(7 * 1000 + 10 * PEER_MSS, "\"ok\"");
}
END_TEST

/* TEST_END overtakes data: what was announced is waited for, and what never comes only for 1 s. */
START_TEST(an_amount_is_waited_for)
{
    const char *r;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c,
           _i == 0 ? "{\"tcp\":true,\"time\":0,\"num\":10000,\"parallel\":1,\"len\":1000}"
                   : "{\"tcp\":true,\"time\":0,\"blockcount\":20,\"parallel\":1,\"len\":500}",
           1);
    ck_assert(peer_tcp_send(&c.stream[0], 4000));
    rig_run_ms(20);
    i3_say(&c, I3_END);
    rig_run_ms(500);
    ck_assert_uint_eq(c.control.received, c.read); /* no results are asked for yet */
    ck_assert(peer_tcp_send(&c.stream[0], _i < 2 ? 6000 : 1000));
    if (_i == 2) {
        rig_run_ms(900);
        ck_assert_uint_eq(c.control.received, c.read);
        rig_run_ms(200);
    }
    i3_expect(&c, I3_RESULTS);
    i3_document(&c, "{\"streams\":[]}");
    i3_expect_document(&c);
    i3_expect(&c, I3_DISPLAY);
    i3_say(&c, I3_DONE);
    ck_assert(peer_tcp_finish(&c.control));
    r = i3_result(_i < 2 ? 10000 : 5000, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "us"), 700000);
}
END_TEST

static uint32_t right_edge(const struct peer_tcp *stream)
{
    return stream->acked + stream->box_window;
}

/* They may have much to say still: it is not asked for, neither with the FIN nor before a reset. */
START_TEST(no_window_opens_at_the_end)
{
    uint32_t edges[MOST];

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":8}", MOST);
    for (unsigned i = 0; i < MOST; i++) {
        ck_assert(peer_tcp_send(&c.stream[i], 3000));
    }
    rig_run_ms(300);
    for (unsigned i = 0; i < MOST; i++) {
        edges[i] = right_edge(&c.stream[i]);
        c.stream[i].close_back = false; /* has not ended yet */
    }
    i3_say(&c, _i == 0 ? I3_END : I3_TERMINATE);
    rig_run_ms(50);
    for (unsigned i = 0; i < MOST; i++) {
        ck_assert(_i == 0 ? c.stream[i].fin_seen && !c.stream[i].reset_seen
                          : c.stream[i].reset_seen);
        ck_assert_uint_eq(right_edge(&c.stream[i]), edges[i]);
    }
    if (_i == 0) {
        for (unsigned i = 0; i < MOST; i++) {
            ck_assert(peer_tcp_finish(&c.stream[i]));
        }
        i3_expect(&c, I3_RESULTS);
        i3_document(&c, "{\"streams\":[]}");
        i3_expect_document(&c);
        i3_expect(&c, I3_DISPLAY);
        i3_say(&c, I3_DONE);
        ck_assert(peer_tcp_finish(&c.control));
    }
}
END_TEST

Suite *net_iperf3_end_suite(void)
{
    Suite *suite = suite_create("net_iperf3_end");
    TCase *ends = rig_case(suite, "how it ends");

    tcase_add_loop_test(ends, client_interrupted, 0, 2);
    tcase_add_loop_test(ends, control_connection_breaks, 0, 2);
    tcase_add_loop_test(ends, client_vanishes, 0, 2);
    tcase_add_test(ends, a_silent_client_is_not_a_dead_one);
    tcase_add_loop_test(ends, stalled_at_any_step, 0, 4);
    tcase_add_test(ends, a_client_that_never_ends);
    tcase_add_test(ends, a_stream_ends_early);
    tcase_add_loop_test(ends, no_window_opens_at_the_end, 0, 2);
    tcase_add_loop_test(ends, an_amount_is_waited_for, 0, 3);
    return suite;
}
