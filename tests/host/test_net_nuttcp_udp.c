/*
 * nuttcp over UDP: marks, what is counted, and that nobody but the control connection's own peer is
 * sent anything, nor longer than asked (NEEDS.md 3.4, DESIGN 8).
 */
#include "tests/host/nuttcp_rig.h"

#include <string.h>

enum { FROM = 43000, LENGTH = 100 };

static struct nt_client c;

/* Datagrams of the box. */
static struct {
    unsigned begins, ends, data, elsewhere;
    uint64_t last_us, count, wrong_counts;
    unsigned at_port[3];
} sent;

static void on_packet(const struct packet *p)
{
    const uint8_t *payload = p->data + UDP_HEADER;
    unsigned n = p->length - UDP_HEADER, port = get16(p->data + 2);

    if (p->protocol != PROTO_UDP) {
        return;
    }
    if (p->to != PEER_IP || port < NT_DATA || port > NT_DATA + 2) {
        sent.elsewhere++;
        return;
    }
    sent.begins += n == 4 && memcmp(payload, "BOD", 3) == 0;
    sent.ends += n == 4 && memcmp(payload, "EOD", 3) == 0;
    if (n > 4) {
        sent.data++;
        sent.at_port[port - NT_DATA]++;
        sent.count += n;
        sent.wrong_counts += payload[24] + payload[25] * 256u + payload[26] * 65536u != sent.count;
    }
}

static void send_mark(const char *mark)
{
    peer_send_udp(&peer, BOX_IP, FROM, NT_DATA, mark, 4);
    rig_run_ms(5);
}

/* With the bytes sent so far, as with -i. */
static void send_data(const struct station *s, unsigned port, unsigned number)
{
    uint8_t data[LENGTH] = {0};

    data[24] = (uint8_t)(number * LENGTH);
    data[25] = (uint8_t)(number * LENGTH >> 8);
    peer_send_udp(s, BOX_IP, FROM, port, data, LENGTH);
    rig_run_ms(5);
}

static struct nt_asks udp_asks(void)
{
    struct nt_asks asks = nt_asks();

    asks.udp = true;
    asks.buflen = LENGTH;
    asks.rate = 80;
    return asks;
}

/* ---- receiving ---- */

START_TEST(receiving)
{
    struct nt_asks asks = udp_asks();
    const char *r;

    nt_begin(&c, &asks);
    send_mark("BOD0");
    rig_run_ms(245);
    send_mark("BOD1");
    for (unsigned i = 1; i <= 10; i++) {
        send_data(&peer, NT_DATA, i);
    }
    rig_run_ms(500);
    send_mark("EOD0");
    rig_run_ms(495);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    send_mark("EOD1");
    nt_over(&c);
    send_mark("EOD2"); /* these are nobody else's */
    send_mark("EOD3");
    rig_run_ms(6000);
    r = nt_result(1000, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "proto"), "\"udp\"");
    ck_assert_int_eq(rig_number(r, "packets"), 10);
    ck_assert_str_eq(rig_value(r, "lost"), "null"); /* without -i nothing is numbered */
    ck_assert_int_ge(rig_number(r, "us"), 540000);
    ck_assert_int_le(rig_number(r, "us"), 570000);
    ck_assert_ptr_nonnull(strstr(c.heard, "nuttcp-r: 0.0010 MB in "));
}
END_TEST

/* Which marks arrive does not change what is counted, nor for how long. */
START_TEST(lost_marks)
{
    struct nt_asks asks = udp_asks();
    const char *r;

    nt_begin(&c, &asks);
    for (unsigned i = 1; i <= 10; i++) {
        send_data(&peer, NT_DATA, i);
    }
    rig_run_ms(500 + 1495);
    send_mark("EOD3");
    nt_over(&c);
    r = nt_result(1000, "\"ok\"");
    ck_assert_int_ge(rig_number(r, "us"), 540000);
    ck_assert_int_le(rig_number(r, "us"), 570000);
}
END_TEST

/* All end marks are lost: the client hangs up. */
START_TEST(no_end_mark_at_all)
{
    struct nt_asks asks = udp_asks();

    nt_begin(&c, &asks);
    send_data(&peer, NT_DATA, 1);
    peer_tcp_flags(&c.control, T_FIN | T_ACK);
    nt_hears(&c, "csw\n", 1000);
    nt_result(100, "\"reset\"");
}
END_TEST

/* Overtaken by the first end mark, but before the second: it counts. */
START_TEST(late_data_counts)
{
    struct nt_asks asks = udp_asks();

    nt_begin(&c, &asks);
    send_mark("BOD1");
    send_data(&peer, NT_DATA, 1);
    send_mark("EOD0");
    send_data(&peer, NT_DATA, 2);
    send_mark("EOD1");
    nt_over(&c);
    nt_result(200, "\"ok\"");
}
END_TEST

/* With -i datagrams are numbered: 4 is lost, 6 comes late, 7 twice. */
START_TEST(losses)
{
    static const unsigned order[] = {1, 2, 3, 5, 7, 6, 7, 8};
    struct nt_asks asks = udp_asks();
    const char *r;

    asks.interval_ms = 300;
    nt_begin(&c, &asks);
    send_mark("BOD1");
    for (unsigned i = 0; i < 8; i++) {
        send_data(&peer, NT_DATA, order[i]);
    }
    nt_hears(&c, " ~drop/pkt ", 1000);
    send_mark("EOD0");
    send_mark("EOD1");
    nt_over(&c);
    r = nt_result(800, "\"ok\"");
    ck_assert_int_eq(rig_number(r, "lost"), 1);
    ck_assert_int_eq(rig_number(r, "dup"), 1);
    ck_assert_int_eq(rig_number(r, "ooo"), 1);
}
END_TEST

START_TEST(from_others_nothing_is_taken)
{
    struct station *stranger = peer_plug(0, RIG_IP4(10, 0, 0, 77));
    struct nt_asks asks = udp_asks();

    asks.port = 6000;
    nt_open(&c, &peer, NT_FROM);
    nt_ask(&c, &asks);
    send_data(stranger, 6000, 1);
    peer_send_udp(stranger, BOX_IP, FROM, 6000, "EOD1", 4);
    rig_run_ms(20);
    send_data(&peer, 6000, 1);
    send_data(&peer, NT_DATA, 2); /* through a port forwarding */
    send_mark("EOD0");
    send_mark("EOD1");
    nt_over(&c);
    nt_result(200, "\"ok\"");
}
END_TEST

/* ---- sending ---- */

START_TEST(sending)
{
    struct nt_asks asks = udp_asks();
    const char *r;

    asks.sends = false;
    asks.nbuf = 50;
    asks.timeout_ms = 0;
    asks.streams = _i == 0 ? 1 : 3;
    peer_set_packet_hook(on_packet);
    nt_begin(&c, &asks);
    rig_run_ms(1000);
    nt_over(&c);
    r = nt_result(5000, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "dir"), "\"tx\"");
    ck_assert_int_ge(rig_number(r, "us"), 480000);
    ck_assert_int_le(rig_number(r, "us"), 520000);
    ck_assert_uint_eq(sent.begins, 2);
    ck_assert_uint_eq(sent.ends, 5);
    ck_assert_uint_eq(sent.data, 50);
    ck_assert_uint_eq(sent.wrong_counts, 0);
    ck_assert_uint_eq(sent.elsewhere, 0);
    ck_assert_uint_eq(sent.at_port[0], _i == 0 ? 50 : 17);
    ck_assert_ptr_nonnull(strstr(c.heard, ", 100 pps\n"));
}
END_TEST

/* The control connection is what proves the client: without it nothing more is sent. */
START_TEST(stops_with_the_control_connection)
{
    struct nt_asks asks = udp_asks();
    unsigned so_far;

    asks.sends = false;
    peer_set_packet_hook(on_packet);
    nt_begin(&c, &asks);
    rig_run_ms(1000);
    if (_i == 2) {
        c.control.mute = true;
        rig_run_ms(10000);
    } else {
        peer_tcp_flags(&c.control, _i == 0 ? T_RST | T_ACK : T_FIN | T_ACK);
        rig_run_ms(20);
    }
    so_far = sent.data;
    ck_assert_uint_gt(so_far, 50);
    rig_run_ms(3000);
    ck_assert_uint_eq(sent.data, so_far);
    ck_assert_uint_eq(sent.elsewhere, 0);
    rig_forget();
    nt_expect_free();
}
END_TEST

/* The client's user has interrupted it: it closes its half, and waits for the end marks and the
 * report.  The server is free with the last word of it. */
START_TEST(interrupted_while_it_is_sent_datagrams)
{
    struct nt_asks asks = udp_asks();

    asks.sends = false;
    peer_set_packet_hook(on_packet);
    nt_begin(&c, &asks);
    rig_run_ms(1000);
    peer_tcp_flags(&c.control, T_FIN | T_ACK);
    nt_hears(&c, "csw\n", 100);
    ck_assert_uint_eq(sent.ends, 2);
    nt_result((uint64_t)sent.data * LENGTH, "\"reset\"");
    rig_forget();
    nt_expect_free();
}
END_TEST

/* An amount that would take hours ends after 60 s. */
START_TEST(sixty_seconds_at_most)
{
    struct nt_asks asks = udp_asks();
    const char *r;

    asks.sends = false;
    asks.rate = 8;
    asks.nbuf = 1000000000;
    asks.timeout_ms = 0;
    peer_set_packet_hook(on_packet);
    nt_begin(&c, &asks);
    rig_run_ms(62000);
    nt_over(&c);
    r = rig_record("result", 0);
    ck_assert_int_ge(rig_number(r, "us"), 59900000);
    ck_assert_int_le(rig_number(r, "us"), 60100000);
    ck_assert_int_eq(rig_number(r, "packets"), sent.data);
}
END_TEST

Suite *net_nuttcp_udp_suite(void)
{
    Suite *suite = suite_create("net_nuttcp_udp");
    TCase *receives = rig_case(suite, "receiving");
    TCase *sends = rig_case(suite, "sending");

    tcase_add_test(receives, receiving);
    tcase_add_test(receives, lost_marks);
    tcase_add_test(receives, no_end_mark_at_all);
    tcase_add_test(receives, late_data_counts);
    tcase_add_test(receives, losses);
    tcase_add_test(receives, from_others_nothing_is_taken);
    tcase_add_loop_test(sends, sending, 0, 2);
    tcase_add_loop_test(sends, stops_with_the_control_connection, 0, 3);
    tcase_add_test(sends, interrupted_while_it_is_sent_datagrams);
    tcase_add_test(sends, sixty_seconds_at_most);
    return suite;
}
