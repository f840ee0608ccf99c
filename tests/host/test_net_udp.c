/*
 * ttcp's UDP sink: the sentinel rules of NEEDS.md 3.1, kept and broken.
 */
#include "tests/host/test_net.h"

#include "lwip/stats.h"
#include "lwip/udp.h"
#include "tests/host/sim/bus.h"

enum { PORT = 5001, FROM = 3000, SIZE = 1000, FLOWS = 8, SILENCE_MS = 4500, ECHO_MS = 2100 };

static const uint8_t payload[8192] = "ttcp payload";

static void sentinel_from(const struct station *s, unsigned port)
{
    peer_send_udp(s, BOX_IP, port, PORT, " !\"#", 4);
}

static void data_from(const struct station *s, unsigned port, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        peer_send_udp(s, BOX_IP, port, PORT, payload, SIZE);
        rig_run_ms(1);
    }
}

static void sentinels(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sentinel_from(&peer, FROM);
    }
    rig_run_ms(2);
}

static void data(unsigned n)
{
    data_from(&peer, FROM, n);
}

/* There is just one result so far, of `datagrams`, ended so. */
static const char *only_result(unsigned datagrams, const char *end)
{
    const char *r = rig_record("result", 0);

    ck_assert_uint_eq(rig_record_count("result"), 1);
    ck_assert_str_eq(rig_value(r, "end"), end);
    ck_assert_int_eq(rig_number(r, "packets"), datagrams);
    ck_assert_int_eq(rig_number(r, "calls"), datagrams);
    ck_assert_int_eq(rig_number(r, "bytes"), datagrams * SIZE);
    ck_assert_str_eq(rig_value(r, "proto"), "\"udp\"");
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
    ck_assert_int_ge(rig_number(r, "gap_us"), 0);
    ck_assert_int_lt(rig_number(r, "gap_us"), 10 * SILENCE_MS * 1000);
    return r;
}

START_TEST(a_normal_test)
{
    const char *r;

    sentinels(1);
    data(10);
    rig_run_ms(100);
    sentinels(1);
    r = only_result(10, "\"ok\"");
    ck_assert_int_ge(rig_number(r, "us"), 110000);
    ck_assert_int_lt(rig_number(r, "us"), 130000);
    ck_assert_int_ge(rig_number(r, "gap_us"), 100000); /* silence before the end */
}
END_TEST

/* Sentinel and data in one receive burst: the meter starts in the turn that already counts. */
/* lwIP looks through its list of ports for each datagram: the one under test ends the walk. */
START_TEST(the_port_in_use_is_found_first)
{
    const unsigned ports[] = {5001, 2000, 5010, 2000};

    for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        for (unsigned n = 0; n < 2; n++) { /* the second finds what the first has said */
            peer_send_udp(&peer, BOX_IP, FROM, ports[i], payload, SIZE);
            rig_run_ms(1);
        }
        ck_assert_uint_eq(udp_pcbs->local_port, ports[i]);
        ck_assert_uint_eq(udp_pcbs->remote_port, FROM);
        ck_assert_uint_eq(udp_pcbs->flags & UDP_FLAGS_CONNECTED, 0);
    }
}
END_TEST

START_TEST(sentinel_and_data_in_one_burst)
{
    const char *r;

    sentinel_from(&peer, FROM);
    for (unsigned i = 0; i < 4; i++) {
        peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, SIZE);
    }
    sentinel_from(&peer, FROM);
    sim_run_us(6000); /* while the box is busy elsewhere */
    rig_run_ms(1);
    r = only_result(4, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "gap_us"), 10000);
    ck_assert_int_lt(rig_number(r, "us"), 10000);
    ck_assert_str_eq(rig_value(r, "bound"), "null");
}
END_TEST

/* Classic clients send five end sentinels, one variant nine; none may begin a new test. */
START_TEST(repeated_end_sentinels)
{
    sentinels(1);
    data(3);
    sentinels((unsigned)_i);
    rig_run_ms(SILENCE_MS);
    only_result(3, "\"ok\"");
}
END_TEST

/* A late repetition is no news, but two seconds after the end a sentinel is a start again. */
START_TEST(repetitions_are_ignored_for_two_seconds_only)
{
    sentinels(1);
    data(3);
    sentinels(2);
    rig_run_ms(1500);
    sentinels(1); /* must not prolong it */
    rig_run_ms(ECHO_MS - 1500);
    sentinels(1);
    data(2);
    sentinels(1);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    ck_assert_int_eq(rig_number(rig_record("result", 1), "packets"), 2);
    ck_assert_str_eq(rig_value(rig_record("result", 1), "end"), "\"ok\"");
}
END_TEST

START_TEST(repetitions_are_ignored_from_that_port_only)
{
    sentinels(1);
    data(3);
    sentinels(1);
    sentinel_from(&peer, FROM + 1);
    data_from(&peer, FROM + 1, 4);
    sentinel_from(&peer, FROM + 1);
    rig_run_ms(2);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    ck_assert_int_eq(rig_number(rig_record("result", 1), "packets"), 4);
}
END_TEST

START_TEST(lost_start)
{
    const char *r;

    data(5);
    sentinels(5);
    r = only_result(5, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "us"), 50000);
}
END_TEST

/* Start lost and only one of the end sentinels arrives: the end all the same. */
START_TEST(lost_start_and_one_end_sentinel)
{
    const char *r;

    data(5);
    sentinels(1);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    rig_run_ms(SILENCE_MS);
    r = only_result(5, "\"ok\"");
    ck_assert_int_lt(rig_number(r, "us"), 50000);
}
END_TEST

/* Data overtaken by the end sentinel belongs to nobody; a new test from that port is one again. */
START_TEST(late_data)
{
    sentinels(1);
    data(4);
    sentinels(2);
    data(1);
    rig_run_ms(SILENCE_MS);
    only_result(4, "\"ok\"");
    data(3);
    sentinels(2);
    ck_assert_uint_eq(rig_record_count("result"), 2);
}
END_TEST

/* Overtaken by data. */
START_TEST(late_start)
{
    data(2);
    sentinels(1);
    data(3);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    sentinels(5);
    only_result(5, "\"ok\"");
}
END_TEST

START_TEST(lost_ends)
{
    const char *r;

    sentinels(1);
    data(6);
    rig_run_ms(SILENCE_MS);
    r = only_result(6, "\"timeout\"");
    ck_assert_int_lt(rig_number(r, "us"), 50000); /* the time-out is not in it */
}
END_TEST

START_TEST(only_sentinels_are_no_test)
{
    sentinels(5);
    rig_run_ms(2 * SILENCE_MS);
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

START_TEST(sentinels_of_any_size_up_to_four)
{
    peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, (unsigned)_i);
    rig_run_ms(2);
    data(2);
    peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, (unsigned)_i);
    rig_run_ms(2);
    only_result(2, "\"ok\"");
}
END_TEST

START_TEST(five_bytes_are_data)
{
    sentinels(1);
    peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, 5);
    rig_run_ms(2);
    sentinels(1);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 5);
}
END_TEST

START_TEST(two_clients_at_once)
{
    struct station *other = peer_plug(0, RIG_IP4(10, 0, 0, 3));

    sentinels(1);
    sentinel_from(other, FROM);
    for (unsigned i = 0; i < 5; i++) {
        data(1);
        data_from(other, FROM, 2);
    }
    sentinels(1);
    sentinel_from(other, FROM);
    rig_run_ms(2);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "peer"), "\"10.0.0.2:3000\"");
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 5);
    ck_assert_str_eq(rig_value(rig_record("result", 1), "peer"), "\"10.0.0.3:3000\"");
    ck_assert_int_eq(rig_number(rig_record("result", 1), "packets"), 10);
}
END_TEST

/* The ninth test at once is not counted; the eight are, and then there is room again. */
START_TEST(eight_flows_are_full)
{
    for (unsigned i = 0; i <= FLOWS; i++) {
        data_from(&peer, FROM + i, 2);
    }
    for (unsigned i = 0; i <= FLOWS; i++) {
        sentinel_from(&peer, FROM + i);
        sentinel_from(&peer, FROM + i);
    }
    rig_run_ms(20);
    ck_assert_uint_eq(rig_record_count("result"), FLOWS);
    rig_run_ms(SILENCE_MS);
    data_from(&peer, FROM + FLOWS, 3);
    sentinel_from(&peer, FROM + FLOWS);
    sentinel_from(&peer, FROM + FLOWS);
    rig_run_ms(2);
    ck_assert_uint_eq(rig_record_count("result"), FLOWS + 1);
    ck_assert_int_eq(rig_number(rig_record("result", FLOWS), "packets"), 3);
}
END_TEST

/* Sentinels from everywhere, before and all through a real test. */
START_TEST(sentinel_flood_locks_nobody_out)
{
    struct station liar = {.nic = 0, .mac = {2, 1}, .ip = 0};

    for (unsigned i = 0; i < 30; i++) {
        liar.ip = RIG_IP4(10, 0, 0, 100) + i;
        sentinel_from(&liar, 1000 + i);
        sentinel_from(&liar, 2000 + i);
        if (i == 10 || i == 28) {
            sentinel_from(&peer, FROM);
        } else if (i > 10 && i < 28) {
            peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, SIZE);
        }
        rig_run_ms(2);
    }
    sentinels(4);
    rig_run_ms(SILENCE_MS);
    only_result(17, "\"ok\"");
}
END_TEST

START_TEST(fragmented_datagrams_count_once)
{
    sentinels(1);
    for (unsigned i = 0; i < 5; i++) {
        peer_send_udp(&peer, BOX_IP, FROM, PORT, payload, sizeof(payload));
        rig_run_ms(10);
    }
    sentinels(1);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 5);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 5 * sizeof(payload));
}
END_TEST

START_TEST(the_other_two_ports)
{
    static const unsigned ports[] = {5010, 2000};

    for (unsigned i = 0; i < 2; i++) {
        peer_send_udp(&peer, BOX_IP, FROM, ports[i], payload, 4);
        peer_send_udp(&peer, BOX_IP, FROM, ports[i], payload, SIZE);
        peer_send_udp(&peer, BOX_IP, FROM, ports[i], payload, 4);
        rig_run_ms(5);
    }
    ck_assert_uint_eq(rig_record_count("result"), 2);
}
END_TEST

/* Nothing is sent back, whatever comes: not even an ICMP message on an open port. */
START_TEST(the_sink_is_silent)
{
    sentinels(1);
    data(5);
    sentinels(5);
    rig_run_ms(SILENCE_MS);
    ck_assert_uint_eq(peer_packets(PROTO_UDP), 0);
    ck_assert_uint_eq(peer_packets(PROTO_ICMP), 0);
    only_result(5, "\"ok\"");
}
END_TEST

/* ---- a header that tells another length ---- */

static unsigned answers;

static void count_udp(const struct packet *p)
{
    answers += p->protocol == PROTO_UDP;
}

/* One datagram to the echo port, its header telling `told` bytes of payload; `sum`: with a right
 * checksum over all of the packet, as it would be for that length, or with none. */
static void send_misstated(unsigned n, unsigned told, bool sum)
{
    uint8_t udp[UDP_HEADER + 64] = {0};

    put16(udp, FROM);
    put16(udp + 2, 7);
    put16(udp + 4, UDP_HEADER + told);
    if (sum) {
        put16(udp + 6, transport_checksum(peer.ip, BOX_IP, PROTO_UDP, udp, UDP_HEADER + n));
    }
    peer_send_ip(&peer, BOX_IP, PROTO_UDP, udp, UDP_HEADER + n);
    rig_run_ms(5);
}

/* RFC 768: neither what stands behind a datagram nor what is missing of it is taken. */
START_TEST(datagrams_are_as_long_as_they_say)
{
    static const unsigned told[] = {0, 19, 21, 64, 1400, 0xFFFF - UDP_HEADER};

    peer_set_packet_hook(count_udp);
    for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        for (unsigned sum = 0; sum < 2; sum++) {
            send_misstated(20, told[i], sum);
        }
    }
    ck_assert_uint_eq(answers, 0);
    ck_assert_uint_eq(lwip_stats.udp.lenerr, 12);
    send_misstated(20, 20, true);
    send_misstated(20, 20, false);
    ck_assert_uint_eq(answers, 2);
}
END_TEST

Suite *net_udp_suite(void)
{
    Suite *suite = suite_create("net_udp");
    TCase *rules = rig_case(suite, "sentinels");
    TCase *flows = rig_case(suite, "flows");

    tcase_add_test(rules, a_normal_test);
    tcase_add_test(rules, the_port_in_use_is_found_first);
    tcase_add_test(rules, sentinel_and_data_in_one_burst);
    tcase_add_loop_test(rules, repeated_end_sentinels, 1, 10);
    tcase_add_test(rules, repetitions_are_ignored_for_two_seconds_only);
    tcase_add_test(rules, repetitions_are_ignored_from_that_port_only);
    tcase_add_test(rules, lost_start);
    tcase_add_test(rules, lost_start_and_one_end_sentinel);
    tcase_add_test(rules, late_data);
    tcase_add_test(rules, late_start);
    tcase_add_test(rules, lost_ends);
    tcase_add_test(rules, only_sentinels_are_no_test);
    tcase_add_loop_test(rules, sentinels_of_any_size_up_to_four, 0, 5);
    tcase_add_test(rules, five_bytes_are_data);
    tcase_add_test(flows, two_clients_at_once);
    tcase_add_test(flows, eight_flows_are_full);
    tcase_add_test(flows, sentinel_flood_locks_nobody_out);
    tcase_add_test(flows, fragmented_datagrams_count_once);
    tcase_add_test(flows, the_other_two_ports);
    tcase_add_test(flows, the_sink_is_silent);
    tcase_add_test(flows, datagrams_are_as_long_as_they_say);
    return suite;
}
