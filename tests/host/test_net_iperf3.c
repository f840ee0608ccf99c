/*
 * The iperf3 server over TCP: the dialogue, and who is turned away (NEEDS.md 3.3).
 */
#include "tests/host/iperf3_rig.h"

#include <string.h>

#include "lwip/opt.h"
#include "tests/host/sim/bus.h"

static struct i3_client c, other;

static bool holds(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* ---- what it does ---- */

START_TEST(receiving)
{
    const char *results, *r;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_PLAIN, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 100000));
    rig_run_ms(300);
    results = i3_finish(&c);
    ck_assert(holds(results, "\"id\":1,\"bytes\":100000,\"retransmits\":-1,"));
    ck_assert(holds(results, "\"sender_has_retransmits\":0,"));
    r = i3_result(100000, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "dir"), "\"rx\"");
    ck_assert_str_eq(rig_value(r, "peer"), "\"10.0.0.2:42000\"");
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
    ck_assert_int_eq(rig_number(r, "packets"), 70); /* the cookie's among them */
    ck_assert(c.stream[0].fin_seen);
}
END_TEST

START_TEST(cpu_figure_is_the_one_of_the_record)
{
    const char *results;
    char total[64];

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_PLAIN, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 300000));
    rig_run_ms(100);
    results = i3_finish(&c);
    snprintf(total, sizeof(total),
             "\"cpu_util_total\":%s,\"cpu_util_user\":0.0,\"cpu_util_system\":%s,",
             rig_value(rig_record("result", 0), "cpu_pct"),
             rig_value(rig_record("result", 0), "cpu_pct"));
    ck_assert_msg(holds(results, total), "%s in %s", total, results);
}
END_TEST

START_TEST(sending_until_told_to_stop)
{
    const char *results, *r;
    char stream[64];

    i3_open(&c, &peer, I3_FROM);
    i3_document(&c, I3_REVERSE);
    i3_expect(&c, I3_CREATE);
    ck_assert(i3_stream(&c, i3_cookie));
    i3_expect(&c, I3_START);
    i3_expect(&c, I3_RUNNING);
    rig_run_ms(1000);
    ck_assert_uint_gt(c.stream[0].received, 1000000);
    results = i3_finish(&c);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "dir"), "\"tx\"");
    snprintf(stream, sizeof(stream), "\"id\":1,\"bytes\":%s,\"retransmits\":0,",
             rig_value(r, "bytes"));
    ck_assert_msg(holds(results, stream), "%s in %s", stream, results);
    ck_assert(holds(results, "\"sender_has_retransmits\":1,"));
    rig_run_ms(500);
    ck_assert(c.stream[0].fin_seen && !c.stream[0].reset_seen);
    /* What had left by then: no less than what had come, no more than came in the end. */
    ck_assert_uint_le(rig_number(r, "bytes"), c.stream[0].received);
    ck_assert_uint_ge(rig_number(r, "bytes") + 32 * PEER_MSS, c.stream[0].received);
}
END_TEST

/* Every fiftieth segment of the box is lost. */
static bool lose_some(const struct heard *f)
{
    static unsigned n;

    return f->length < 1000 || ++n % 50 != 0;
}

START_TEST(retransmissions_are_counted)
{
    char stream[64];
    const char *results;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_REVERSE, 1);
    peer_set_hook(lose_some);
    rig_run_ms(2000);
    results = i3_finish(&c);
    peer_set_hook(NULL);
    ck_assert_uint_gt(c.stream[0].repeated, 0);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "retrans"), c.stream[0].repeated);
    snprintf(stream, sizeof(stream), "\"retransmits\":%u,", c.stream[0].repeated);
    ck_assert_msg(holds(results, stream), "%s in %s", stream, results);
}
END_TEST

START_TEST(both_ways_at_once)
{
    const char *results;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":2,\"bidirectional\":true}", 4);
    ck_assert(peer_tcp_send(&c.stream[0], 5000));
    ck_assert(peer_tcp_send(&c.stream[1], 6000));
    rig_run_ms(300);
    ck_assert_uint_eq(c.stream[0].received + c.stream[1].received, 0);
    ck_assert_uint_gt(c.stream[2].received, 0);
    ck_assert_uint_gt(c.stream[3].received, 0);
    results = i3_finish(&c);
    ck_assert(holds(results, "\"id\":1,\"bytes\":5000,"));
    ck_assert(holds(results, "\"id\":3,\"bytes\":6000,"));
    ck_assert(holds(results, "\"id\":4,") && holds(results, "\"id\":5,"));
    ck_assert_uint_eq(rig_record_count("result"), 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(rig_number(rig_record("result", i), "streams"), 2);
    }
}
END_TEST

START_TEST(omitted_seconds_do_not_count)
{
    const char *r;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":3,\"omit\":2,\"parallel\":1}", 1);
    ck_assert(peer_tcp_send(&c.stream[0], 50000));
    rig_run_ms(2100);
    ck_assert(peer_tcp_send(&c.stream[0], 30000));
    rig_run_ms(400);
    ck_assert(holds(i3_finish(&c), "\"bytes\":30000,"));
    r = i3_result(30000, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "us"), 600000);
    ck_assert_int_le(rig_number(r, "packets"), 22);
}
END_TEST

START_TEST(ended_within_the_omitted_seconds)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":3,\"omit\":2,\"parallel\":1}", 1);
    ck_assert(peer_tcp_send(&c.stream[0], 50000));
    rig_run_ms(400);
    ck_assert(holds(i3_finish(&c), "\"bytes\":0,"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

START_TEST(a_rate_is_kept)
{
    const char *r;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"parallel\":2,\"reverse\":true,\"len\":6000,\"bandwidth\":800000}",
           2);
    rig_run_ms(3000);
    i3_finish(&c);
    r = rig_record("result", 0);
    ck_assert_int_ge(rig_number(r, "bytes"), 2 * 297000);
    ck_assert_int_le(rig_number(r, "bytes"), 2 * 303000);
    ck_assert_str_eq(rig_value(r, "bound"), "\"pacing\"");
    ck_assert_int_lt(rig_number(r, "cpu_pct"), 60);
}
END_TEST

static uint32_t open_windows(void)
{
    uint32_t open = 0;

    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_le(c.stream[i].box_window, 2 * PEER_MSS);
        open += c.stream[i].box_window;
    }
    return open;
}

/* Eight streams: no more windows are open than the card's ring takes, however late the box looks,
 * and nobody is left out. */
START_TEST(windows_fit_the_ring)
{
    enum { AMOUNT = 40 * PEER_MSS, LATE_US = 12000, TURNS = 1000 };
    uint32_t left = 1;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":8}", 8);
    rig_run_ms(2);
    ck_assert_uint_eq(open_windows(), TCP_WND);
    for (unsigned i = 0; i < 8; i++) {
        c.stream[i].eager = true;
        c.stream[i].snd_end += AMOUNT;
        peer_tcp_fill(&c.stream[i]);
    }
    for (unsigned turns = 0; left != 0; turns++) {
        ck_assert_uint_lt(turns, TURNS);
        rig_turn();
        sim_run_us(LATE_US);
        left = 0;
        for (unsigned i = 0; i < 8; i++) {
            left += c.stream[i].snd_end - c.stream[i].acked;
        }
    }
    ck_assert_uint_eq(nics[0].stats.rx_overrun, 0);
    i3_finish(&c);
    i3_result(8 * AMOUNT, "\"ok\"");
}
END_TEST

/* The run begins with the last cookie, before that stream's window was told to be closed. */
START_TEST(the_last_stream_has_its_part_like_all)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":2}", 2);
    rig_run_ms(2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(c.stream[i].box_window, TCP_WND / 2);
    }
    i3_finish(&c);
}
END_TEST

/* One that may send and does not: the others go on all the same. */
START_TEST(who_has_nothing_to_send_blocks_nobody)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, "{\"tcp\":true,\"time\":10,\"parallel\":8}", 8);
    for (unsigned round = 0; round < 20; round++) {
        ck_assert(peer_tcp_send(&c.stream[7], PEER_MSS));
    }
    i3_finish(&c);
    i3_result(20 * PEER_MSS, "\"ok\"");
}
END_TEST

/* ---- who is turned away ---- */

START_TEST(the_second_client_hears_that_it_is_busy)
{
    static struct peer_tcp second;

    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_PLAIN, 1);
    memset(&other, 0, sizeof(other));
    ck_assert(peer_tcp_connect(&second, &peer, I3_FROM + 500, BOX_IP, I3_PORT));
    second.keeps = other.heard;
    second.keeps_room = sizeof(other.heard);
    peer_tcp_send(&second, I3_COOKIE); /* says its cookie before it has heard */
    rig_run_ms(50);
    ck_assert_uint_eq(second.received, 1);
    ck_assert_uint_eq(other.heard[0], I3_BUSY);
    ck_assert(second.fin_seen && !second.reset_seen);
    peer_tcp_finish(&second);
    ck_assert(peer_tcp_send(&c.stream[0], 7000));
    rig_run_ms(300);
    i3_finish(&c);
    i3_result(7000, "\"ok\"");
}
END_TEST

/* While streams are awaited: from elsewhere, or without the cookie, nobody is one. */
START_TEST(strangers_are_no_streams)
{
    struct station *stranger = peer_plug(0, RIG_IP4(10, 0, 0, 77));
    static struct peer_tcp s;

    i3_open(&c, &peer, I3_FROM);
    i3_document(&c, I3_PLAIN);
    i3_expect(&c, I3_CREATE);
    ck_assert(peer_tcp_connect(&s, stranger, 7000, BOX_IP, I3_PORT));
    s.says = (const uint8_t *)i3_cookie;
    s.says_bytes = I3_COOKIE;
    peer_tcp_send(&s, I3_COOKIE);
    rig_run_ms(50);
    ck_assert(s.fin_seen && s.received == 1);
    peer_tcp_finish(&s);
    ck_assert(i3_stream(&c, "zbcdefghijklmnopqrstuvwxyz234567abcd"));
    rig_run_ms(50);
    ck_assert(c.stream[0].fin_seen && c.stream[0].received == 1);
    ck_assert_uint_eq(c.control.received, c.read);
    peer_tcp_finish(&c.stream[0]);
    ck_assert(i3_stream(&c, i3_cookie));
    i3_expect(&c, I3_START);
    i3_expect(&c, I3_RUNNING);
    i3_finish(&c);
}
END_TEST

START_TEST(what_is_not_understood_is_refused)
{
    static const struct {
        const char *text;
        unsigned error;
    } cases[] = {{"{}", 114},
                 {"{\"tcp\":true", 114},
                 {"{\"tcp\":true,\"parallel\":9}", 6},
                 {"{\"sctp\":true}", 13}};

    for (unsigned i = 0; i < 4; i++) {
        i3_open(&c, &peer, I3_FROM + i);
        i3_document(&c, cases[i].text);
        i3_expect_error(&c, cases[i].error);
        peer_tcp_finish(&c.control);
    }
    i3_expect_free();
}
END_TEST

START_TEST(results_that_are_none)
{
    i3_open(&c, &peer, I3_FROM);
    i3_run(&c, I3_PLAIN, 1);
    ck_assert(peer_tcp_send(&c.stream[0], 1000));
    rig_run_ms(300);
    i3_say(&c, I3_END);
    i3_expect(&c, I3_RESULTS);
    i3_document(&c, "{\"streams\":[");
    i3_expect_error(&c, 117);
    i3_result(1000, "\"ok\""); /* the test itself was well */
    peer_tcp_finish(&c.control);
    i3_expect_free();
}
END_TEST

START_TEST(a_state_out_of_step)
{
    static const uint8_t states[] = {I3_END, I3_DONE, I3_RUNNING, 0, 200};

    for (unsigned i = 0; i < sizeof(states); i++) {
        bool running = states[i] != I3_END;

        i3_open(&c, &peer, I3_FROM + 20 * i);
        i3_document(&c, I3_PLAIN);
        i3_expect(&c, I3_CREATE);
        if (running) {
            ck_assert(i3_stream(&c, i3_cookie));
            i3_expect(&c, I3_START);
            i3_expect(&c, I3_RUNNING);
        }
        i3_say(&c, states[i]);
        rig_run_ms(20);
        ck_assert(c.control.reset_seen);
    }
    i3_expect_free();
}
END_TEST

Suite *net_iperf3_suite(void)
{
    Suite *suite = suite_create("net_iperf3");
    TCase *work = rig_case(suite, "what it does");
    TCase *away = rig_case(suite, "who is turned away");

    tcase_add_test(work, receiving);
    tcase_add_test(work, cpu_figure_is_the_one_of_the_record);
    tcase_add_test(work, sending_until_told_to_stop);
    tcase_add_test(work, retransmissions_are_counted);
    tcase_add_test(work, both_ways_at_once);
    tcase_add_test(work, omitted_seconds_do_not_count);
    tcase_add_test(work, ended_within_the_omitted_seconds);
    tcase_add_test(work, a_rate_is_kept);
    tcase_add_test(work, windows_fit_the_ring);
    tcase_add_test(work, the_last_stream_has_its_part_like_all);
    tcase_add_test(work, who_has_nothing_to_send_blocks_nobody);
    tcase_add_test(away, the_second_client_hears_that_it_is_busy);
    tcase_add_test(away, strangers_are_no_streams);
    tcase_add_test(away, what_is_not_understood_is_refused);
    tcase_add_test(away, results_that_are_none);
    tcase_add_test(away, a_state_out_of_step);
    return suite;
}
