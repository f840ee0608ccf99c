/*
 * The nuttcp server: who is turned away, how tests end that do not end well, and that the server is
 * free again soon (NEEDS.md 3.4).
 */
#include "tests/host/nuttcp_rig.h"

#include <string.h>

enum {
    SINK = 7001,
    LONGER_THAN_TIME_WAIT_MS = 5500, /* twice TCP_MSL, and a look at it */
};

static struct nt_client c, other;

/* ---- who is turned away ---- */

START_TEST(the_second_client_hears_that_it_is_busy)
{
    struct nt_asks asks = nt_asks();

    nt_begin(&c, &asks);
    memset(&other, 0, sizeof(other));
    ck_assert(peer_tcp_connect(&other.control, &peer, NT_FROM + 500, BOX_IP, NT_PORT));
    other.control.keeps = (uint8_t *)other.heard;
    other.control.keeps_room = sizeof(other.heard) - 1;
    ck_assert(peer_tcp_send(&other.control, 400)); /* it says its part before it has heard */
    nt_hears(&other, "HELO nuttcp v6.1.2\nKO\nis busy with another test\nKO\n", 1000);
    nt_over(&other);
    ck_assert(peer_tcp_finish(&other.control));
    ck_assert(peer_tcp_send(&c.data[0], 7000));
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    nt_result(7000, "\"ok\"");
}
END_TEST

START_TEST(what_is_not_understood_is_refused)
{
    static const struct {
        const char *say, *hear;
    } cases[] = {{"x\n", "KO\ndid not understand the parameters\nKO\n"},
                 {"buflen = 8192, nbuf = 1\n", "KO\ndid not understand the parameters\nKO\n"},
                 {"buflen = 8192, nbuf = 1, win = 0, nstream = 9, rate = 0, port = 5001, "
                  "trans = 1, braindead = 0, timeout = 1.0, udp = 0, vers = 6.1.2\n",
                  "KO\ntakes 1 to 8 streams\nKO\n"},
                 {"buflen = 8192, nbuf = 1, win = 0, nstream = 1, rate = 0, port = 5201, "
                  "trans = 1, braindead = 0, timeout = 1.0, udp = 0, vers = 6.1.2\n",
                  "KO\nhas other use for one of these data ports\nKO\n"},
                 {"buflen = 1000, nbuf = 1, win = 0, nstream = 1, rate = 0, port = 5201, "
                  "trans = 1, braindead = 0, timeout = 1.0, udp = 1, vers = 6.1.2\n",
                  "KO\nhas other use for one of these data ports\nKO\n"}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nt_open(&c, &peer, NT_FROM + i);
        nt_say(&c, cases[i].say);
        nt_hears(&c, cases[i].hear, 1000);
        nt_over(&c);
    }
    nt_expect_free();
}
END_TEST

/* Where a line may not end, nor any text be. */
START_TEST(a_line_with_a_zero_is_refused)
{
    nt_open(&c, &peer, NT_FROM);
    nt_say_bytes(&c, "\0\n", 2);
    nt_hears(&c, "KO\ndid not understand the parameters\nKO\n", 1000);
    nt_over(&c);
    nt_expect_free();
}
END_TEST

START_TEST(an_endless_line_is_refused)
{
    nt_open(&c, &peer, NT_FROM);
    ck_assert(peer_tcp_send(&c.control, 3000)); /* of anything, without an end */
    nt_hears(&c, "KO\ndid not understand the parameters\nKO\n", 1000);
    nt_over(&c);
    nt_expect_free();
}
END_TEST

/* ---- how it ends ---- */

START_TEST(control_connection_breaks)
{
    struct nt_asks asks = nt_asks();

    nt_begin(&c, &asks);
    ck_assert(peer_tcp_send(&c.data[0], 3000));
    rig_run_ms(300);
    peer_tcp_flags(&c.control, _i == 0 ? T_RST | T_ACK : T_FIN | T_ACK);
    rig_run_ms(50);
    nt_result(3000, "\"reset\"");
    ck_assert(c.data[0].reset_seen);
    rig_forget();
    nt_expect_free();
}
END_TEST

START_TEST(data_connection_breaks)
{
    struct nt_asks asks = nt_asks();

    nt_begin(&c, &asks);
    ck_assert(peer_tcp_send(&c.data[0], 3000));
    peer_tcp_flags(&c.data[0], T_RST | T_ACK);
    nt_hears(&c, "nuttcp-r: 0.0029 MB in ", 1000);
    nt_over(&c);
    nt_result(3000, "\"reset\"");
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
    struct nt_asks asks = nt_asks();

    asks.sends = _i == 0;
    asks.timeout_ms = 60000;
    nt_begin(&c, &asks);
    if (asks.sends) {
        ck_assert(peer_tcp_send(&c.data[0], 3000));
    }
    rig_run_ms(300);
    c.control.mute = c.data[0].mute = true;
    ck_assert(rig_until(is_free_again, NULL, 10000));
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"timeout\"");
    ck_assert_int_lt(rig_number(rig_record("result", 0), "us"), 1000000);
    rig_forget();
    nt_expect_free();
}
END_TEST

/* At every step a client may fall silent; the server is free again soon. */
START_TEST(stalled_at_any_step)
{
    struct nt_asks asks = nt_asks();

    asks.sends = _i != 2;
    nt_open(&c, &peer, NT_FROM);
    if (_i > 0) {
        nt_ask(&c, &asks);
    }
    ck_assert(rig_until(is_free_again, NULL, 10000));
    ck_assert(c.control.reset_seen);
    nt_expect_free();
}
END_TEST

static bool is_open(void *arg)
{
    const struct peer_tcp *data = arg;

    return data->open;
}

/* One stream has long gone, and its pcb is a stranger's, when the other is acknowledged at last. */
START_TEST(one_stream_ends_long_before_the_other)
{
    static struct peer_tcp stranger;
    struct nt_asks asks = nt_asks();

    asks.sends = false;
    asks.streams = 2;
    asks.nbuf = 2;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    ck_assert(rig_until(is_open, &c.data[1], 1000));
    c.data[1].mute = true;
    rig_run_ms(LONGER_THAN_TIME_WAIT_MS);
    ck_assert(c.data[0].fin_seen && c.data[0].fin_sent);
    ck_assert_uint_eq(c.data[0].received, 8192);
    ck_assert(!c.control.fin_seen);
    ck_assert(peer_tcp_connect(&stranger, &peer, NT_FROM + 500, BOX_IP, SINK));
    c.data[1].mute = false;
    rig_run_ms(LONGER_THAN_TIME_WAIT_MS); /* it is sent again */
    nt_over(&c);
    ck_assert_uint_eq(c.data[1].received, 8192);
    nt_result(16384, "\"ok\"");
    ck_assert(!stranger.fin_seen && !stranger.reset_seen);
    ck_assert(peer_tcp_send(&stranger, 3000));
    ck_assert(peer_tcp_finish(&stranger));
}
END_TEST

/* The other way round: its FIN comes before it has acknowledged all. */
START_TEST(a_stream_hangs_up_before_it_has_all)
{
    struct nt_asks asks = nt_asks();

    asks.sends = false;
    asks.nbuf = 1;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    ck_assert(rig_until(is_open, &c.data[0], 1000));
    c.data[0].mute = true;
    rig_run_ms(20);
    peer_tcp_flags(&c.data[0], T_FIN | T_ACK);
    rig_run_ms(20);
    ck_assert(!c.control.fin_seen);
    c.data[0].mute = false;
    nt_over(&c);
    nt_result(8192, "\"ok\"");
}
END_TEST

Suite *net_nuttcp_end_suite(void)
{
    Suite *suite = suite_create("net_nuttcp_end");
    TCase *refuses = rig_case(suite, "who is turned away");
    TCase *ends = rig_case(suite, "how it ends");

    tcase_add_test(refuses, the_second_client_hears_that_it_is_busy);
    tcase_add_test(refuses, what_is_not_understood_is_refused);
    tcase_add_test(refuses, a_line_with_a_zero_is_refused);
    tcase_add_test(refuses, an_endless_line_is_refused);
    tcase_add_loop_test(ends, control_connection_breaks, 0, 2);
    tcase_add_test(ends, data_connection_breaks);
    tcase_add_loop_test(ends, client_vanishes, 0, 2);
    tcase_add_loop_test(ends, stalled_at_any_step, 0, 3);
    tcase_add_test(ends, one_stream_ends_long_before_the_other);
    tcase_add_test(ends, a_stream_hangs_up_before_it_has_all);
    return suite;
}
