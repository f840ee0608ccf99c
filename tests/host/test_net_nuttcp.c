/*
 * The nuttcp server: tests over TCP, and the ports it shares (NEEDS.md 3.4).
 */
#include "tests/host/nuttcp_rig.h"

#include <stdlib.h>
#include <string.h>

#include "lwip/opt.h"

static struct nt_client c;

/* ---- receiving ---- */

START_TEST(receiving)
{
    struct nt_asks asks = nt_asks();
    const char *r;

    nt_begin(&c, &asks);
    ck_assert(peer_tcp_send(&c.data[0], 100000));
    rig_run_ms(300);
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    ck_assert_ptr_nonnull(strstr(c.heard, "nuttcp-r: v6.1.2: socket\n"
                                          "nuttcp-r: buflen=8192, nstream=1, port=5001 tcp\n"
                                          "nuttcp-r: accept from 10.0.0.2\n"));
    ck_assert_ptr_nonnull(strstr(c.heard, "\nnuttcp-r: 0.0954 MB in "));
    r = nt_result(100000, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "dir"), "\"rx\"");
    ck_assert_str_eq(rig_value(r, "peer"), "\"10.0.0.2:42000\"");
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
    ck_assert_int_eq(rig_number(r, "packets"), 69);
    nt_expect_free();
}
END_TEST

/* The figures of the report are those of the record. */
START_TEST(one_figure_for_both)
{
    struct nt_asks asks = nt_asks();
    unsigned seconds, hundredths, busy;
    const char *r;
    char *at;

    nt_begin(&c, &asks);
    ck_assert(peer_tcp_send(&c.data[0], 300000));
    rig_run_ms(700);
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    r = nt_result(300000, "\"ok\"");
    ck_assert_int_eq(sscanf(strstr(c.heard, "MB in "), "MB in %u.%2u real", &seconds, &hundredths),
                     2);
    ck_assert_int_eq(seconds * 100 + hundredths, (rig_number(r, "us") + 5000) / 10000);
    at = strstr(c.heard, "sys ");
    ck_assert_int_eq(sscanf(at, "sys %*u:%*ureal %u%% ", &busy), 1);
    ck_assert_int_le(labs((long)busy * 10 - (long)(strtod(rig_value(r, "cpu_pct"), NULL) * 10)), 5);
}
END_TEST

START_TEST(several_streams)
{
    struct nt_asks asks = nt_asks();

    asks.streams = 8;
    nt_begin(&c, &asks);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(peer_tcp_send(&c.data[i], 1000 + i));
    }
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_eq(rig_record_count("result"), 0);
        ck_assert(peer_tcp_finish(&c.data[i]));
    }
    nt_over(&c);
    ck_assert_int_eq(rig_number(nt_result(8028, "\"ok\""), "streams"), 8);
}
END_TEST

/* What the client counts of its own retransmissions stands in its buffers, wherever they are cut.
 */
START_TEST(intervals_tell_retransmissions)
{
    static uint8_t says[3000];
    struct nt_asks asks = nt_asks();

    memset(says, 'x', sizeof(says));
    memcpy(says + 24, "\xff\xff\xff\xffNRTR", 8);
    memcpy(says + 1024, "\x05\0\0\0NRTR", 8);
    memcpy(says + 2024, "\x07\0\0\0NRTR", 8);
    asks.buflen = 1000;
    asks.interval_ms = 500;
    nt_begin(&c, &asks);
    c.data[0].says = says;
    c.data[0].says_bytes = sizeof(says);
    ck_assert(peer_tcp_send(&c.data[0], 1027)); /* in the middle of it */
    nt_hears(&c, "interval reporting every 0.50 seconds\n", 1000);
    nt_hears(&c, "     0 retrans\n", 1000);
    ck_assert(peer_tcp_send(&c.data[0], 1900));
    nt_hears(&c, "     7 retrans\n", 1000);
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    ck_assert_ptr_nonnull(strstr(c.heard, "DONE\nnuttcp-r: 0.0028 MB in "));
}
END_TEST

/* ---- sending ---- */

START_TEST(sending)
{
    struct nt_asks asks = nt_asks();
    const char *r;

    asks.sends = false;
    asks.nbuf = 10;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    nt_over(&c);
    ck_assert_uint_eq(c.data[0].received, 81920);
    ck_assert(c.data[0].fin_seen && !c.data[0].reset_seen);
    r = nt_result(81920, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "dir"), "\"tx\"");
    ck_assert_int_eq(rig_number(r, "calls"), 10);
    ck_assert_ptr_nonnull(strstr(c.heard, "nuttcp-t: connect to 10.0.0.2 with mss=1460, RTT="));
    ck_assert_ptr_nonnull(strstr(c.heard, "\nnuttcp-t: 0.0781 MB in "));
    ck_assert_ptr_nonnull(strstr(c.heard, "\nnuttcp-t: retrans = 0\n"));
}
END_TEST

/* -F: its connections came in narrow. */
START_TEST(who_is_sent_to_may_say_something)
{
    struct nt_asks asks = nt_asks();

    asks.sends = false;
    asks.flip = true;
    asks.streams = 2;
    asks.timeout_ms = 500;
    nt_begin(&c, &asks);
    rig_run_ms(100);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(c.data[i].box_window, TCP_WND);
    }
    nt_over(&c);
}
END_TEST

/* It does not listen yet: we ask again. */
START_TEST(a_client_that_is_late)
{
    struct nt_asks asks = nt_asks();

    asks.sends = false;
    asks.nbuf = 1;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    c.data[0].refusing = true;
    rig_run_ms(400);
    c.data[0].refusing = false;
    c.data[0].listening = true;
    c.data[0].close_back = true;
    nt_over(&c);
    nt_result(8192, "\"ok\"");
}
END_TEST

START_TEST(for_as_long_as_asked)
{
    struct nt_asks asks = nt_asks();
    const char *r;

    asks.sends = false;
    asks.timeout_ms = 1500;
    asks.rate = 1600;
    nt_begin(&c, &asks);
    nt_over(&c);
    r = rig_record("result", 0);
    ck_assert_int_ge(rig_number(r, "us"), 1500000);
    ck_assert_int_le(rig_number(r, "us"), 1600000);
    ck_assert_uint_eq(rig_number(r, "bytes"), c.data[0].received);
    ck_assert_int_ge(rig_number(r, "bytes"), 294000);
    ck_assert_int_le(rig_number(r, "bytes"), 306000);
    ck_assert_str_eq(rig_value(r, "bound"), "\"pacing\"");
}
END_TEST

/* The client reads a buffer of each in turn. */
START_TEST(streams_take_turns)
{
    struct nt_asks asks = nt_asks();

    asks.sends = false;
    asks.streams = 3;
    asks.buflen = 5000;
    asks.nbuf = 7;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    nt_over(&c);
    ck_assert_uint_eq(c.data[0].received, 15000);
    ck_assert_uint_eq(c.data[1].received, 10000);
    ck_assert_uint_eq(c.data[2].received, 10000);
    ck_assert_ptr_null(strstr(c.heard, "retrans")); /* as its own server, of one stream only */
    nt_result(35000, "\"ok\"");
}
END_TEST

/* One takes nothing: none of the others gets more than what would be read before its turn. */
START_TEST(nobody_runs_ahead)
{
    struct nt_asks asks = nt_asks();
    uint64_t so_far;

    asks.sends = false;
    asks.streams = 3;
    asks.buflen = 5000;
    asks.timeout_ms = 2000;
    nt_begin(&c, &asks);
    c.data[1].stop_at = 1460;
    rig_run_ms(1500);
    ck_assert_uint_eq(c.data[0].received, c.data[2].received + 5000);
    so_far = c.data[0].received;
    ck_assert_uint_le(so_far, 4 * 5000); /* of the second, three fit into what may be on its way */
    rig_run_ms(300);
    ck_assert_uint_eq(c.data[0].received, so_far);
    peer_tcp_flags(&c.control, T_RST | T_ACK);
    rig_run_ms(50);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"reset\"");
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
    struct nt_asks asks = nt_asks();
    char text[64];

    asks.sends = false;
    asks.nbuf = 100;
    asks.timeout_ms = 0;
    asks.interval_ms = 1000;
    nt_begin(&c, &asks);
    peer_set_hook(lose_some);
    nt_hears(&c, "csw\n", 15000);
    peer_set_hook(NULL);
    nt_over(&c);
    ck_assert_uint_gt(c.data[0].repeated, 0);
    ck_assert_int_eq(rig_number(nt_result(819200, "\"ok\""), "retrans"), c.data[0].repeated);
    snprintf(text, sizeof(text), "retrans = %u\n", c.data[0].repeated);
    ck_assert_ptr_nonnull(strstr(c.heard, text));
}
END_TEST

/* -F: who sends is connected to. */
START_TEST(flipped)
{
    struct nt_asks asks = nt_asks();

    asks.flip = true;
    asks.sends = _i == 0;
    asks.nbuf = 2;
    asks.timeout_ms = 0;
    nt_begin(&c, &asks);
    if (asks.sends) {
        nt_hears(&c, "nuttcp-r: connect to 10.0.0.2 with RTT=", 1000);
        ck_assert(peer_tcp_send(&c.data[0], 16384));
        ck_assert(peer_tcp_finish(&c.data[0]));
    } else {
        nt_hears(&c, "nuttcp-t: accept from 10.0.0.2 with mss=1460\n", 1000);
    }
    nt_over(&c);
    nt_result(16384, "\"ok\"");
}
END_TEST

/* ---- the ports it shares ---- */

/* Another's data on 5001 is another's, and on 5010 even the client's host's: it runs a ttcp; also
 * while a session waits for its own. */
START_TEST(strangers_data_is_not_taken)
{
    const struct station *stranger = _i == 0 ? peer_plug(0, RIG_IP4(10, 0, 0, 77)) : &peer;
    struct nt_asks asks = nt_asks();
    static struct peer_tcp s;

    nt_open(&c, &peer, NT_FROM);
    nt_ask(&c, &asks);
    ck_assert(peer_tcp_connect(&s, stranger, 7000, BOX_IP, _i == 0 ? NT_DATA : 5010));
    s.close_back = true;
    ck_assert(peer_tcp_send(&s, 500));
    ck_assert(peer_tcp_finish(&s));
    rig_run_ms(20);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "test"), "\"ttcp\"");
    nt_connect(&c, 0);
    ck_assert(peer_tcp_send(&c.data[0], 700));
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    ck_assert_int_eq(rig_number(rig_record("result", 1), "bytes"), 700);
    ck_assert_str_eq(rig_value(rig_record("result", 1), "test"), "\"nuttcp\"");
}
END_TEST

/* A port of its own choice; through a port forwarding the data comes to 5001 all the same. */
START_TEST(other_data_ports)
{
    struct nt_asks asks = nt_asks();
    unsigned port = _i == 0 ? 6000 : NT_DATA;

    asks.port = 6000;
    nt_open(&c, &peer, NT_FROM);
    nt_ask(&c, &asks);
    ck_assert(peer_tcp_connect(&c.data[0], &peer, NT_FROM + 1, BOX_IP, port));
    c.data[0].close_back = true;
    ck_assert(peer_tcp_send(&c.data[0], 700));
    ck_assert(peer_tcp_finish(&c.data[0]));
    nt_over(&c);
    nt_result(700, "\"ok\"");
    ck_assert(!peer_tcp_connect(&c.data[1], &peer, NT_FROM + 2, BOX_IP, 6000)); /* closed again */
}
END_TEST

Suite *net_nuttcp_suite(void)
{
    Suite *suite = suite_create("net_nuttcp");
    TCase *does = rig_case(suite, "what it does");
    TCase *shares = rig_case(suite, "ports it shares");

    tcase_add_test(does, receiving);
    tcase_add_test(does, one_figure_for_both);
    tcase_add_test(does, several_streams);
    tcase_add_test(does, intervals_tell_retransmissions);
    tcase_add_test(does, sending);
    tcase_add_test(does, a_client_that_is_late);
    tcase_add_test(does, for_as_long_as_asked);
    tcase_add_test(does, who_is_sent_to_may_say_something);
    tcase_add_test(does, streams_take_turns);
    tcase_add_test(does, nobody_runs_ahead);
    tcase_add_test(does, retransmissions_are_counted);
    tcase_add_loop_test(does, flipped, 0, 2);
    tcase_add_loop_test(shares, strangers_data_is_not_taken, 0, 2);
    tcase_add_loop_test(shares, other_data_ports, 0, 2);
    return suite;
}
