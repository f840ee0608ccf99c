/*
 * Echo, discard, chargen and the text report: what they say, to whom, and what they never hold.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "drivers/frame.h"
#include "tests/host/sim/bus.h"

enum { ECHO = 7, DISCARD = 9, CHARGEN = 19, REPORT = 7777, FROM = 40000, LINE = 74 };

static struct peer_tcp c;
static uint8_t kept[200000];

static void connect_to(unsigned port)
{
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, port));
    c.keeps = kept;
    c.keeps_room = sizeof(kept);
}

static bool has_fin(void *arg)
{
    return ((struct peer_tcp *)arg)->fin_seen;
}

/* What the peer sends is what it hears, from `first` on. */
static void is_echo(unsigned n)
{
    ck_assert_uint_eq(c.received, n);
    for (unsigned i = 0; i < n && i < sizeof(kept); i++) {
        ck_assert_uint_eq(kept[i], (uint8_t)(i * 7));
    }
}

static uint8_t line_char(unsigned at)
{
    unsigned column = at % LINE;

    return column == LINE - 2   ? '\r'
           : column == LINE - 1 ? '\n'
                                : (uint8_t)(' ' + (at / LINE + column) % 95);
}

/* ---- TCP ---- */

START_TEST(echo_says_all_of_it_back)
{
    static const unsigned sizes[] = {1, 1459, 2920, 2921, 100001};

    connect_to(ECHO);
    ck_assert(peer_tcp_send(&c, sizes[_i]));
    ck_assert(peer_tcp_finish(&c)); /* half-close: what is left still comes */
    ck_assert(rig_until(has_fin, &c, 2000));
    is_echo(sizes[_i]);
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

/* Byte by byte, each answered before the next. */
START_TEST(echo_of_single_bytes)
{
    connect_to(ECHO);
    for (unsigned i = 0; i < 40; i++) {
        ck_assert(peer_tcp_send(&c, 1));
        rig_run_ms(5);
        ck_assert_uint_eq(c.received, i + 1);
    }
    ck_assert(peer_tcp_finish(&c));
    is_echo(40);
}
END_TEST

/* Clients that send and never read, in tiny segments: no frame stays with us, others are served,
 * and 30 s later they are gone. */
START_TEST(echo_to_those_who_never_read)
{
    static struct peer_tcp many[5];
    unsigned before;

    rig_run_ms(100);
    before = frame_pool_free();
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(peer_tcp_connect(&many[i], &peer, FROM + 1 + i, BOX_IP, ECHO));
        many[i].stop_at = 1;
        for (unsigned n = 0; n < 400; n++) {
            peer_tcp_segment(&many[i], n * 7, 7);
            rig_run_ms(1);
        }
        peer_tcp_segment(&many[i], 2800, 1460); /* beyond the window */
        rig_run_ms(10);
        ck_assert_uint_ge(many[i].acked - many[i].first_seq, 2700);
        ck_assert_uint_le(many[i].acked - many[i].first_seq, 2920);
    }
    ck_assert_uint_eq(frame_pool_free(), before);
    connect_to(ECHO);
    ck_assert(peer_tcp_send(&c, 5000));
    ck_assert(peer_tcp_finish(&c));
    is_echo(5000);
    rig_run_ms(35000);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(many[i].reset_seen);
    }
}
END_TEST

START_TEST(connections_are_bounded)
{
    static struct peer_tcp many[6];

    for (unsigned i = 0; i < 6; i++) {
        ck_assert(peer_tcp_connect(&many[i], &peer, FROM + 1 + i, BOX_IP, i % 2 ? ECHO : DISCARD));
    }
    peer_tcp_connect(&c, &peer, FROM, BOX_IP, ECHO);
    rig_run_ms(20);
    ck_assert(c.reset_seen);
    ck_assert(peer_tcp_finish(&many[3]));
    peer_tcp_forget(&c);
    connect_to(ECHO);
    ck_assert(peer_tcp_send(&c, 100));
    ck_assert(peer_tcp_finish(&c));
    is_echo(100);
}
END_TEST

START_TEST(discard_says_nothing)
{
    connect_to(DISCARD);
    ck_assert(peer_tcp_send(&c, 100000));
    ck_assert(peer_tcp_finish(&c));
    ck_assert(rig_until(has_fin, &c, 2000));
    ck_assert_uint_eq(c.received, 0);
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

/* Rotating lines until the client ends it; more than one cycle of 95. */
START_TEST(chargen_until_closed)
{
    connect_to(CHARGEN);
    rig_run_ms(200);
    ck_assert(peer_tcp_send(&c, 3000)); /* heard by nobody */
    ck_assert(peer_tcp_finish(&c));
    ck_assert(rig_until(has_fin, &c, 2000));
    ck_assert_uint_gt(c.received, 95 * LINE);
    for (unsigned i = 0; i < c.received && i < sizeof(kept); i++) {
        ck_assert_uint_eq(kept[i], line_char(i));
    }
}
END_TEST

START_TEST(chargen_to_one_who_never_reads)
{
    connect_to(CHARGEN);
    c.stop_at = c.received + 5000;
    rig_run_ms(500);
    ck_assert_uint_le(c.received, c.stop_at);
    rig_run_ms(35000);
    ck_assert(c.reset_seen);
}
END_TEST

START_TEST(reset_by_the_client_frees_the_place)
{
    for (unsigned i = 0; i < 20; i++) {
        connect_to(_i == 0 ? ECHO : CHARGEN);
        ck_assert(peer_tcp_send(&c, 500));
        rig_run_ms(5);
        peer_tcp_flags(&c, T_RST | T_ACK);
        rig_run_ms(5);
        peer_tcp_forget(&c);
    }
}
END_TEST

/* ---- UDP ---- */

static struct {
    unsigned count, length, from, to, nic;
    uint32_t to_ip;
    uint8_t data[DATAGRAM_MAX];
} heard;

static void note(const struct packet *p)
{
    if (p->protocol == PROTO_UDP) {
        heard.count++;
        heard.from = get16(p->data);
        heard.to = get16(p->data + 2);
        heard.to_ip = p->to;
        heard.length = p->length - UDP_HEADER;
        memcpy(heard.data, p->data + UDP_HEADER, heard.length);
    }
}

static void ask(unsigned port, const void *data, unsigned n)
{
    peer_send_udp(&peer, BOX_IP, FROM, port, data, n);
    rig_run_ms(10);
}

START_TEST(udp_echo_is_the_same)
{
    static const unsigned sizes[] = {0, 1, 18, 1472, 4000};
    static uint8_t data[4000];

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t)(i * 31);
    }
    peer_set_packet_hook(note);
    ask(ECHO, data, sizes[_i]);
    ck_assert_uint_eq(heard.count, 1);
    ck_assert_uint_eq(heard.from, ECHO);
    ck_assert_uint_eq(heard.to, FROM);
    ck_assert_uint_eq(heard.length, sizes[_i]);
    ck_assert_int_eq(memcmp(heard.data, data, sizes[_i]), 0);
}
END_TEST

START_TEST(udp_chargen_is_no_longer_than_its_request)
{
    static const unsigned sizes[] = {0, 1, 74, 512, 1472};
    static const uint8_t data[1472];

    peer_set_packet_hook(note);
    for (unsigned round = 0; round < 96; round++) { /* every line, and the first again */
        ask(CHARGEN, data, sizes[_i]);
        ck_assert_uint_eq(heard.count, round + 1);
        ck_assert_uint_eq(heard.length, sizes[_i] < 512 ? sizes[_i] : 512);
        for (unsigned i = 0; i < heard.length; i++) {
            ck_assert_uint_eq(heard.data[i], line_char(round % 95 * LINE + i));
        }
    }
}
END_TEST

/* No answer, and no ICMP either: the port is open. */
START_TEST(udp_discard_says_nothing)
{
    peer_set_packet_hook(note);
    ask(DISCARD, "x", 1);
    ck_assert_uint_eq(heard.count, 0);
    ck_assert_uint_eq(peer_packets(PROTO_ICMP), 0);
}
END_TEST

/* Sources that would answer our answer, and those that are more than one host: sent raw, so spoofed
 * as they like. */
START_TEST(nobody_is_answered_in_a_loop_or_for_many)
{
    static const unsigned ports[] = {0,   7,   9,    13,   17,   19,   53,  123,
                                     137, 138, 2000, 5001, 5010, 5201, 5353};
    static const uint32_t sources[] = {RIG_IP4(10, 0, 0, 255),
                                       RIG_IP4(255, 255, 255, 255),
                                       RIG_IP4(224, 0, 0, 1),
                                       RIG_IP4(0, 0, 0, 0),
                                       BOX_IP,
                                       RIG_IP4(127, 0, 0, 1)};
    static const uint32_t targets[] = {RIG_IP4(10, 0, 0, 255), RIG_IP4(255, 255, 255, 255)};
    unsigned port = _i == 0 ? ECHO : CHARGEN;
    struct station liar = peer;

    peer_set_packet_hook(note);
    for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        peer_send_udp(&peer, BOX_IP, ports[i], port, "loop", 4);
        rig_run_ms(5);
    }
    for (unsigned i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        liar.ip = sources[i];
        peer_send_udp(&liar, BOX_IP, FROM, port, "many", 4);
        rig_run_ms(5);
    }
    for (unsigned i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        peer_send_udp(&peer, targets[i], FROM, port, "all", 3);
        rig_run_ms(5);
    }
    ck_assert_uint_eq(heard.count, 0);
    ask(port, "fair", 4);
    ck_assert_uint_eq(heard.count, 1);
}
END_TEST

/* A flood from whomever: 64 at once, and a thousand a second. */
START_TEST(answers_are_bounded)
{
    peer_set_packet_hook(note);
    for (unsigned i = 0; i < 4000; i++) {
        peer_send_udp(&peer, BOX_IP, FROM, i % 2 == 0 ? ECHO : CHARGEN, "flood", 5);
        sim_run_us(200);
        rig_turn();
    }
    rig_run_ms(100);
    ck_assert_uint_ge(heard.count, 700);
    ck_assert_uint_le(heard.count, 4000 * 200 / 1000 + 64 + 600);
    heard.count = 0;
    ask(ECHO, "afterwards", 10);
    ck_assert_uint_eq(heard.count, 1);
}
END_TEST

/* ---- the report ---- */

START_TEST(report_is_that_of_the_command)
{
    const char *at;

    if (_i != 0) {
        connect_to(7001);
        ck_assert(peer_tcp_send(&c, 50000));
        ck_assert(peer_tcp_finish(&c));
        peer_tcp_forget(&c);
    }
    connect_to(REPORT);
    ck_assert(rig_until(has_fin, &c, 3000));
    kept[c.received] = '\0';
    rig_forget();
    ck_assert_int_eq(rig_command("report", 100), 0);
    at = strstr(rig_text(), _i == 0 ? "no results yet" : "  # card");
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(strncmp(at, (const char *)kept, c.received), 0);
    ck_assert_uint_gt(c.received, _i == 0 ? 10 : 100);
    ck_assert(peer_tcp_finish(&c));
}
END_TEST

/* 64 results are more than is written at once; the reader stops twice on the way. */
START_TEST(report_to_a_slow_reader)
{
    for (unsigned i = 0; i < 70; i++) {
        ck_assert(peer_tcp_connect(&c, &peer, 30000 + i, BOX_IP, 7001));
        ck_assert(peer_tcp_send(&c, 100 + i));
        ck_assert(peer_tcp_finish(&c));
        peer_tcp_forget(&c);
    }
    connect_to(REPORT);
    c.stop_at = c.received + 1500;
    rig_run_ms(4000);
    c.stop_at += 2000;
    peer_tcp_flags(&c, T_ACK); /* its window is open again */
    rig_run_ms(4000);
    c.stop_at = 0;
    peer_tcp_flags(&c, T_ACK);
    ck_assert(rig_until(has_fin, &c, 5000));
    kept[c.received] = '\0';
    rig_forget();
    ck_assert_int_eq(rig_command("report", 100), 0);
    ck_assert_ptr_nonnull(strstr(rig_text(), (const char *)kept));
    ck_assert_uint_gt(c.received, 64 * 50);
    ck_assert(peer_tcp_finish(&c));
}
END_TEST

START_TEST(readers_are_bounded)
{
    static struct peer_tcp many[2];

    for (unsigned i = 0; i < 70; i++) {
        ck_assert(peer_tcp_connect(&c, &peer, 30000 + i, BOX_IP, 7001));
        ck_assert(peer_tcp_send(&c, 100));
        ck_assert(peer_tcp_finish(&c));
        peer_tcp_forget(&c);
    }
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(peer_tcp_connect(&many[i], &peer, FROM + 1 + i, BOX_IP, REPORT));
        many[i].stop_at = 1;
    }
    peer_tcp_connect(&c, &peer, FROM, BOX_IP, REPORT);
    rig_run_ms(20);
    ck_assert(c.reset_seen);
    rig_run_ms(20000); /* those who do not read are gone */
    ck_assert(many[0].reset_seen && many[1].reset_seen);
    peer_tcp_forget(&c);
    connect_to(REPORT);
    ck_assert(rig_until(has_fin, &c, 3000));
    ck_assert(peer_tcp_finish(&c));
}
END_TEST

Suite *net_small_suite(void)
{
    Suite *suite = suite_create("net_small");
    TCase *tcp = rig_case(suite, "tcp");
    TCase *udp = rig_case(suite, "udp");
    TCase *report = rig_case(suite, "report");

    tcase_add_loop_test(tcp, echo_says_all_of_it_back, 0, 5);
    tcase_add_test(tcp, echo_of_single_bytes);
    tcase_add_test(tcp, echo_to_those_who_never_read);
    tcase_add_test(tcp, connections_are_bounded);
    tcase_add_test(tcp, discard_says_nothing);
    tcase_add_test(tcp, chargen_until_closed);
    tcase_add_test(tcp, chargen_to_one_who_never_reads);
    tcase_add_loop_test(tcp, reset_by_the_client_frees_the_place, 0, 2);
    tcase_add_loop_test(udp, udp_echo_is_the_same, 0, 5);
    tcase_add_loop_test(udp, udp_chargen_is_no_longer_than_its_request, 0, 5);
    tcase_add_test(udp, udp_discard_says_nothing);
    tcase_add_loop_test(udp, nobody_is_answered_in_a_loop_or_for_many, 0, 2);
    tcase_add_test(udp, answers_are_bounded);
    tcase_add_loop_test(report, report_is_that_of_the_command, 0, 2);
    tcase_add_test(report, report_to_a_slow_reader);
    tcase_add_test(report, readers_are_bounded);
    return suite;
}
