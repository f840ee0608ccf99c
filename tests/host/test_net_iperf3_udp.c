/*
 * The iperf3 server over UDP: whose hello counts, what is counted of the data, and that nobody but
 * the control connection's own peer is ever sent anything (NEEDS.md 3.3, DESIGN 8).
 */
#include "tests/host/iperf3_rig.h"

#include <string.h>

#include "tests/host/sim/bus.h"

#define PLAIN "{\"udp\":true,\"time\":10,\"parallel\":1,\"len\":100}"
#define REVERSE                                                                                    \
    "{\"udp\":true,\"time\":10,\"parallel\":1,\"reverse\":true,\"len\":100,\"bandwidth\":80000}"
#define BIDIR                                                                                      \
    "{\"udp\":true,\"time\":10,\"parallel\":1,\"bidirectional\":true,\"len\":100,"                 \
    "\"bandwidth\":80000}"

enum { STREAM = 43000, LENGTH = 100, SECONDS = 1000 };

static struct i3_client c;

/* Datagrams of the box, by where they went. */
static struct {
    unsigned answers, data, elsewhere;
    uint32_t to;
    unsigned to_port;
    uint32_t last_number;
    unsigned wrong_order;
} sent;

static void on_packet(const struct packet *p)
{
    const uint8_t *payload = p->data + UDP_HEADER;
    unsigned n = p->length - UDP_HEADER;

    if (p->protocol != PROTO_UDP) {
        return;
    }
    sent.to = p->to;
    sent.to_port = get16(p->data + 2);
    sent.elsewhere += p->to != PEER_IP || get16(p->data) != I3_PORT;
    if (n == 4) {
        ck_assert_mem_eq(payload, "6789", 4);
        sent.answers++;
    } else {
        sent.data++;
        sent.wrong_order += get32(payload + 8) != sent.last_number + 1;
        sent.last_number = get32(payload + 8);
    }
}

static void say_hello(const struct station *s, unsigned port, bool old)
{
    peer_send_udp(s, BOX_IP, port, I3_PORT, old ? "\x15\xcd\x5b\x07" : "9876", 4);
    rig_run_ms(5);
}

static void send_data_from(const struct station *s, unsigned port, uint32_t number, uint32_t us)
{
    uint8_t data[LENGTH] = {0};

    put32(data, SECONDS);
    put32(data + 4, us);
    put32(data + 8, number);
    peer_send_udp(s, BOX_IP, port, I3_PORT, data, sizeof(data));
    rig_run_ms(1);
}

static void send_data(uint32_t number)
{
    send_data_from(&peer, STREAM, number, (uint32_t)(sim_now_ns() / 1000));
}

static void begin(const char *params)
{
    memset(&sent, 0, sizeof(sent));
    peer_set_packet_hook(on_packet);
    i3_open(&c, &peer, I3_FROM);
    i3_document(&c, params);
    i3_expect(&c, I3_CREATE);
}

static void run(const char *params)
{
    begin(params);
    say_hello(&peer, STREAM, false);
    i3_expect(&c, I3_START);
    i3_expect(&c, I3_RUNNING);
    ck_assert_uint_eq(sent.answers, 1);
    ck_assert_uint_eq(sent.to_port, STREAM);
}

static bool holds(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void expect_counts(const char *r, unsigned lost, unsigned dup, unsigned ooo)
{
    ck_assert_int_eq(rig_number(r, "lost"), lost);
    ck_assert_int_eq(rig_number(r, "dup"), dup);
    ck_assert_int_eq(rig_number(r, "ooo"), ooo);
}

/* ---- receiving ---- */

START_TEST(a_clean_run)
{
    const char *results, *r;

    run(PLAIN);
    for (unsigned i = 1; i <= 50; i++) {
        send_data(i);
    }
    results = i3_finish(&c);
    ck_assert(holds(results, "\"bytes\":5000,"));
    ck_assert(holds(results, "\"errors\":0,\"packets\":50,"));
    r = i3_result(5000, "\"ok\"");
    ck_assert_int_eq(rig_number(r, "packets"), 50);
    expect_counts(r, 0, 0, 0);
    ck_assert_int_lt(rig_number(r, "jitter_us"), 1000);
}
END_TEST

START_TEST(lost_late_and_doubled)
{
    static const uint32_t numbers[] = {1, 2, 5, 4, 6, 6, 9, 10};

    run(PLAIN);
    for (unsigned i = 0; i < 8; i++) {
        send_data(numbers[i]);
    }
    ck_assert(holds(i3_finish(&c), "\"errors\":3,\"packets\":10,")); /* 3, 7 and 8 */
    expect_counts(i3_result(800, "\"ok\""), 3, 1, 1);
}
END_TEST

/* What is sent every 5 ms says it was sent 0.8 ms earlier and later in turn: the transit time
 * changes by 1.6 ms each time. */
START_TEST(jitter)
{
    char text[64];
    const char *results, *r;

    run(PLAIN);
    for (unsigned i = 1; i <= 100; i++) {
        uint32_t now = (uint32_t)(sim_now_ns() / 1000);

        send_data_from(&peer, STREAM, i, i % 2 == 0 ? now + 800 : now - 800);
        rig_run_ms(4);
    }
    results = i3_finish(&c);
    r = i3_result(10000, "\"ok\"");
    ck_assert_int_ge(rig_number(r, "jitter_us"), 1500);
    ck_assert_int_le(rig_number(r, "jitter_us"), 1700);
    snprintf(text, sizeof(text), "\"jitter\":0.%06u,", (unsigned)rig_number(r, "jitter_us"));
    ck_assert_msg(holds(results, text), "%s in %s", text, results);
}
END_TEST

/* What is lost behind the highest number nobody can miss, nor can iperf3's own server. */
START_TEST(lost_at_the_tail)
{
    run(PLAIN);
    for (unsigned i = 1; i <= 8; i++) {
        send_data(i);
    }
    ck_assert(holds(i3_finish(&c), "\"errors\":0,\"packets\":8,"));
    expect_counts(i3_result(800, "\"ok\""), 0, 0, 0);
}
END_TEST

START_TEST(counters_of_64_bits)
{
    uint8_t data[LENGTH] = {0};

    run("{\"udp\":true,\"time\":10,\"parallel\":1,\"len\":100,\"udp_counters_64bit\":1}");
    put32(data + 12, 1);
    peer_send_udp(&peer, BOX_IP, STREAM, I3_PORT, data, sizeof(data));
    put32(data + 12, 3);
    peer_send_udp(&peer, BOX_IP, STREAM, I3_PORT, data, sizeof(data));
    rig_run_ms(5);
    ck_assert(holds(i3_finish(&c), "\"errors\":1,\"packets\":3,"));
}
END_TEST

/* iperf3's own way: packets are told with the omitted ones, losses without. */
START_TEST(omitted_seconds)
{
    run("{\"udp\":true,\"time\":10,\"omit\":1,\"parallel\":1,\"len\":100}");
    send_data(1);
    send_data(5);
    rig_run_ms(1100);
    send_data(6);
    send_data(8);
    ck_assert(holds(i3_finish(&c), "\"bytes\":200,\"retransmits\":-1,"));
    expect_counts(i3_result(200, "\"ok\""), 1, 0, 0);
}
END_TEST

START_TEST(too_short_to_hold_a_number)
{
    run(PLAIN);
    peer_send_udp(&peer, BOX_IP, STREAM, I3_PORT, "12345678901", 11);
    peer_send_udp(&peer, BOX_IP, STREAM, I3_PORT, "", 0);
    rig_run_ms(5);
    ck_assert(holds(i3_finish(&c), "\"bytes\":0,"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

/* ---- whose hello counts ---- */

START_TEST(without_a_session_nobody_is_answered)
{
    peer_set_packet_hook(on_packet);
    say_hello(&peer, STREAM, false);
    say_hello(&peer, STREAM, true);
    send_data(1);
    ck_assert_uint_eq(peer_packets(PROTO_UDP), 0);
}
END_TEST

START_TEST(old_clients_and_repeats_are_answered_alike)
{
    begin(PLAIN);
    say_hello(&peer, STREAM, true);
    say_hello(&peer, STREAM, true);
    i3_expect(&c, I3_START);
    i3_expect(&c, I3_RUNNING);
    ck_assert_uint_eq(sent.answers, 2);
    send_data(1);
    say_hello(&peer, STREAM, true); /* not once it has heard the first */
    ck_assert_uint_eq(sent.answers, 2);
    say_hello(&peer, STREAM + 1, true); /* there was to be one stream */
    ck_assert_uint_eq(sent.answers, 2);
    i3_finish(&c);
}
END_TEST

START_TEST(a_stranger_gets_nothing)
{
    struct station *stranger = peer_plug(0, RIG_IP4(10, 0, 0, 77));

    begin(_i == 0 ? PLAIN : _i == 1 ? REVERSE : BIDIR);
    say_hello(stranger, STREAM, false);
    ck_assert_uint_eq(peer_packets(PROTO_UDP), 0);
    say_hello(&peer, STREAM, false);
    if (_i == 2) {
        say_hello(stranger, STREAM + 2, false);
        say_hello(&peer, STREAM + 2, false);
    }
    i3_expect(&c, I3_START);
    i3_expect(&c, I3_RUNNING);
    say_hello(stranger, STREAM, false);
    send_data_from(stranger, STREAM, 1, 0);
    send_data_from(&peer, STREAM + 1, 1, 0);
    rig_run_ms(100);
    ck_assert_uint_eq(sent.elsewhere, 0);
    ck_assert((sent.data != 0) == (_i != 0));
    ck_assert(holds(i3_finish(&c), "\"bytes\":0,") == (_i != 1));
}
END_TEST

/* Ports that would answer our answer. */
START_TEST(ports_of_services_get_nothing)
{
    static const unsigned ports[] = {7, 9, 13, 17, 19, I3_PORT};

    begin(PLAIN);
    for (unsigned i = 0; i < 6; i++) {
        say_hello(&peer, ports[i], false);
    }
    ck_assert_uint_eq(peer_packets(PROTO_UDP), 0);
}
END_TEST

/* ---- sending ---- */

START_TEST(sending_at_the_rate_asked_for)
{
    const char *results, *r;
    char stream[64];

    run(REVERSE); /* 100 datagrams a second */
    rig_run_ms(2000);
    results = i3_finish(&c);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "dir"), "\"tx\"");
    ck_assert_int_ge(rig_number(r, "packets"), 197);
    ck_assert_int_le(rig_number(r, "packets"), 203);
    ck_assert_str_eq(rig_value(r, "bound"), "\"pacing\"");
    ck_assert_uint_eq(sent.data, (unsigned)rig_number(r, "packets"));
    ck_assert_uint_eq(sent.wrong_order + sent.elsewhere, 0);
    snprintf(stream, sizeof(stream), "\"errors\":0,\"packets\":%u,", sent.data);
    ck_assert_msg(holds(results, stream), "%s in %s", stream, results);
    rig_run_ms(1000);
    ck_assert_uint_eq(sent.data, sent.last_number); /* none after the end */
}
END_TEST

/* The peer's machine goes: what it asked for ends with it. */
START_TEST(sending_ends_with_the_client)
{
    unsigned data;

    run(REVERSE);
    rig_run_ms(500);
    c.control.mute = true;
    rig_run_ms(10000);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"timeout\"");
    data = sent.data;
    rig_run_ms(2000);
    ck_assert_uint_eq(sent.data, data);
}
END_TEST

Suite *net_iperf3_udp_suite(void)
{
    Suite *suite = suite_create("net_iperf3_udp");
    TCase *rx = rig_case(suite, "receiving");
    TCase *hello = rig_case(suite, "whose hello counts");
    TCase *tx = rig_case(suite, "sending");

    tcase_add_test(rx, a_clean_run);
    tcase_add_test(rx, lost_late_and_doubled);
    tcase_add_test(rx, jitter);
    tcase_add_test(rx, lost_at_the_tail);
    tcase_add_test(rx, counters_of_64_bits);
    tcase_add_test(rx, omitted_seconds);
    tcase_add_test(rx, too_short_to_hold_a_number);
    tcase_add_test(hello, without_a_session_nobody_is_answered);
    tcase_add_test(hello, old_clients_and_repeats_are_answered_alike);
    tcase_add_loop_test(hello, a_stranger_gets_nothing, 0, 3);
    tcase_add_test(hello, ports_of_services_get_nothing);
    tcase_add_test(tx, sending_at_the_rate_asked_for);
    tcase_add_test(tx, sending_ends_with_the_client);
    return suite;
}
