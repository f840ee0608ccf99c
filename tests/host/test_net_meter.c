/*
 * Meters that sum over several connections or flows, begin anew, or are dropped; and the accounting
 * of numbered datagrams.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>

#include "net/meter.h"
#include "net/nicif.h"
#include "net/sequence.h"
#include "tests/host/sim/bus.h"

/* ---- sequence ---- */

static struct sequence seq;

static void add_all(const unsigned *numbers, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sequence_add(&seq, numbers[i]);
    }
}

#define ADD(...)                                                                                   \
    add_all((const unsigned[]){__VA_ARGS__}, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void expect(uint64_t lost, uint64_t dup, uint64_t ooo)
{
    ck_assert_uint_eq(sequence_lost(&seq), lost);
    ck_assert_uint_eq(seq.dup, dup);
    ck_assert_uint_eq(seq.ooo, ooo);
}

START_TEST(nothing_wrong)
{
    sequence_start(&seq, 1);
    ADD(1, 2, 3, 4);
    expect(0, 0, 0);
    ck_assert_uint_eq(seq.next, 5);
}
END_TEST

START_TEST(a_gap_is_lost_until_it_is_filled)
{
    sequence_start(&seq, 1);
    ADD(1, 2, 6);
    expect(3, 0, 0);
    ADD(4, 7);
    expect(2, 0, 1);
}
END_TEST

/* The first ones lost are lost, too. */
START_TEST(lost_at_the_beginning)
{
    sequence_start(&seq, 1);
    ADD(4, 5);
    expect(3, 0, 0);
}
END_TEST

START_TEST(a_duplicate_is_not_out_of_order)
{
    sequence_start(&seq, 1);
    ADD(1, 2, 2, 3, 1, 5, 4, 4);
    expect(0, 3, 1);
}
END_TEST

START_TEST(numbers_before_the_first_do_not_count)
{
    sequence_start(&seq, 10);
    ck_assert_int_eq(sequence_add(&seq, 9), SEQUENCE_BEFORE);
    ADD(10, 11);
    expect(0, 0, 0);
}
END_TEST

/* Beyond the window nobody can know; as long as something is missing it was that. */
START_TEST(older_than_the_window)
{
    sequence_start(&seq, 1);
    ADD(1, 3, 2 + SEQUENCE_WINDOW * 3);
    ck_assert_uint_eq(sequence_lost(&seq), SEQUENCE_WINDOW * 3 - 1);
    ck_assert_int_eq(sequence_add(&seq, 2), SEQUENCE_LATE);
    sequence_start(&seq, 1);
    for (unsigned i = 1; i <= 2 * SEQUENCE_WINDOW; i++) {
        sequence_add(&seq, i);
    }
    ck_assert_int_eq(sequence_add(&seq, 2), SEQUENCE_TWICE);
    expect(0, 1, 0);
}
END_TEST

/* A jump over the whole window leaves nothing of before in it. */
START_TEST(a_jump_forgets_what_was_seen)
{
    sequence_start(&seq, 0);
    for (unsigned i = 0; i < SEQUENCE_WINDOW; i++) {
        sequence_add(&seq, i);
    }
    sequence_add(&seq, 1000000);
    ck_assert_int_eq(sequence_add(&seq, 999999), SEQUENCE_LATE);
    ck_assert_int_eq(sequence_add(&seq, 999999), SEQUENCE_TWICE);
    expect(1000000 - SEQUENCE_WINDOW - 1, 1, 1);
}
END_TEST

/* Against a plain table of everything seen: numbers wander about within the window. */
START_TEST(agrees_with_a_table)
{
    static uint8_t table[200000];
    uint64_t dup = 0, ooo = 0, distinct = 0, next = 1;

    srand(7);
    sequence_start(&seq, 1);
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t n = next + (unsigned)rand() % 3;

        if (rand() % 4 == 0) {
            uint64_t back = (unsigned)rand() % SEQUENCE_WINDOW;

            n = next > back + 1 ? next - back : 1;
        }
        if (n >= next) {
            next = n + 1;
        } else if (table[n] == 0) {
            ooo++;
        } else {
            dup++;
        }
        distinct += table[n] == 0;
        table[n] = 1;
        sequence_add(&seq, n);
    }
    expect(next - 1 - distinct, dup, ooo);
}
END_TEST

/* RFC 3550 A.8 by hand: transit steps of 16, 0 and 32 us. */
START_TEST(jitter_follows_the_rfc)
{
    sequence_start(&seq, 1);
    sequence_time(&seq, 5000, 100);
    ck_assert_uint_eq(seq.jitter_16, 0);
    sequence_time(&seq, 6000, 1116);
    ck_assert_uint_eq(seq.jitter_16, 16);
    ck_assert_uint_eq(sequence_jitter_us(&seq), 1);
    sequence_time(&seq, 7000, 2116);
    ck_assert_uint_eq(seq.jitter_16, 15);
    sequence_time(&seq, 8000, 3084); /* faster by 32 */
    ck_assert_uint_eq(seq.jitter_16, 46);
}
END_TEST

/* A constant step of 1600 us makes a jitter of just that, in the long run. */
START_TEST(jitter_converges)
{
    sequence_start(&seq, 1);
    for (unsigned i = 0; i < 1000; i++) {
        sequence_time(&seq, i * 10000, i * 10000 + i % 2 * 1600);
    }
    ck_assert_uint_ge(sequence_jitter_us(&seq), 1599);
    ck_assert_uint_le(sequence_jitter_us(&seq), 1600);
}
END_TEST

/* The sender's clock is set by an hour, forwards and back: no jitter of the network. */
START_TEST(a_clock_being_set_is_no_jitter)
{
    sequence_start(&seq, 1);
    sequence_time(&seq, 0, 0);
    sequence_time(&seq, 3600000000u, 1000);
    sequence_time(&seq, 3600001000u, 2000);
    sequence_time(&seq, 4000, 4000);
    ck_assert_uint_eq(sequence_jitter_us(&seq), 0);
}
END_TEST

/* ---- meters ---- */

static struct meter meter;

static void start_meter(enum meter_dir dir, bool udp)
{
    ip_addr_t host;

    IP_ADDR4(&host, 10, 0, 0, 2);
    meter_start(&meter, "iperf3", dir, udp, nicif_netif(&nics[0]), &host, 4000);
}

/* Three connections: their segments and repeats are added up. */
START_TEST(connections_are_summed)
{
    const char *r;

    start_meter(METER_TX, false);
    meter.streams = 3;
    for (unsigned i = 1; i <= 3; i++) {
        struct tcp_count count = {.sent = 10 * i, .resent = i, .received = 1000};

        meter_add_tcp(&meter, &count);
        meter_add(&meter, 14600 * i);
    }
    ck_assert_uint_eq(meter_segments(&meter), 60);
    ck_assert_uint_eq(meter_resent(&meter), 6);
    meter_end(&meter, "ok");
    r = rig_record("result", 0);
    ck_assert_int_eq(rig_number(r, "streams"), 3);
    ck_assert_int_eq(rig_number(r, "packets"), 60);
    ck_assert_int_eq(rig_number(r, "retrans"), 6);
    ck_assert_int_eq(rig_number(r, "calls"), 3);
    ck_assert_str_eq(rig_value(r, "lost"), "null");
    ck_assert(rig_said("3 streams"));
}
END_TEST

START_TEST(flows_are_summed)
{
    const char *r;

    start_meter(METER_RX, true);
    meter.streams = 2;
    sequence_start(&seq, 1);
    ADD(1, 2, 5, 3, 3);
    seq.jitter_16 = 16 * 100;
    meter_add_sequence(&meter, &seq);
    sequence_start(&seq, 1);
    ADD(4);
    seq.jitter_16 = 16 * 300;
    meter_add_sequence(&meter, &seq);
    meter.datagrams = 6;
    meter_add(&meter, 6000);
    meter_end(&meter, "ok");
    r = rig_record("result", 0);
    ck_assert_int_eq(rig_number(r, "lost"), 1 + 3);
    ck_assert_int_eq(rig_number(r, "dup"), 1);
    ck_assert_int_eq(rig_number(r, "ooo"), 1);
    ck_assert_int_eq(rig_number(r, "jitter_us"), 200);
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
    ck_assert(rig_said("6 datagrams, 4 lost, 1 out of order, 1 twice, jitter 0.200 ms"));
}
END_TEST

/* What was before the restart is in none of the figures, also of segments counted elsewhere. */
START_TEST(a_restarted_meter_begins_anew)
{
    struct tcp_count other = {.sent = 7, .resent = 2};
    const char *r;

    start_meter(METER_TX, false);
    meter.tcp.sent = 100;
    meter.tcp.resent = 10;
    meter_add(&meter, 5000);
    rig_run_ms(500);
    meter_restart(&meter);
    meter_less_tcp(&meter, &other);
    meter.tcp.sent += 4;
    meter.tcp.resent += 1;
    other.sent += 3;
    meter_add_tcp(&meter, &other);
    rig_run_ms(100);
    meter_add(&meter, 1000);
    meter_end(&meter, "ok");
    r = rig_record("result", 0);
    ck_assert_int_eq(rig_number(r, "bytes"), 1000);
    ck_assert_int_eq(rig_number(r, "calls"), 1);
    ck_assert_int_eq(rig_number(r, "packets"), 7);
    ck_assert_int_eq(rig_number(r, "retrans"), 1);
    ck_assert_int_ge(rig_number(r, "us"), 90000);
    ck_assert_int_le(rig_number(r, "us"), 120000);
    ck_assert_int_le(rig_number(r, "gap_us"), 120000);
}
END_TEST

START_TEST(a_dropped_meter_says_nothing)
{
    start_meter(METER_TX, false);
    meter_add(&meter, 5000);
    meter_drop(&meter);
    rig_run_ms(3000);
    meter_end(&meter, "ok");
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert(!rig_said("iperf3-"));
}
END_TEST

START_TEST(the_peers_own_count_is_reported)
{
    const char *r;

    start_meter(METER_TX, true);
    meter.loss = (struct meter_loss){.lost = 3, .dup = -1, .ooo = 1, .jitter_us = 250};
    meter_add(&meter, 1000);
    meter_end(&meter, "ok");
    r = rig_record("result", 0);
    ck_assert_int_eq(rig_number(r, "lost"), 3);
    ck_assert_str_eq(rig_value(r, "dup"), "null");
    ck_assert_int_eq(rig_number(r, "jitter_us"), 250);
}
END_TEST

Suite *net_meter_suite(void)
{
    Suite *suite = suite_create("net_meter");
    TCase *numbers = own_case(suite, "sequence");
    TCase *meters = rig_case(suite, "meter");

    tcase_add_test(numbers, nothing_wrong);
    tcase_add_test(numbers, a_gap_is_lost_until_it_is_filled);
    tcase_add_test(numbers, lost_at_the_beginning);
    tcase_add_test(numbers, a_duplicate_is_not_out_of_order);
    tcase_add_test(numbers, numbers_before_the_first_do_not_count);
    tcase_add_test(numbers, older_than_the_window);
    tcase_add_test(numbers, a_jump_forgets_what_was_seen);
    tcase_add_test(numbers, agrees_with_a_table);
    tcase_add_test(numbers, jitter_follows_the_rfc);
    tcase_add_test(numbers, jitter_converges);
    tcase_add_test(numbers, a_clock_being_set_is_no_jitter);
    tcase_add_test(meters, connections_are_summed);
    tcase_add_test(meters, flows_are_summed);
    tcase_add_test(meters, a_restarted_meter_begins_anew);
    tcase_add_test(meters, a_dropped_meter_says_nothing);
    tcase_add_test(meters, the_peers_own_count_is_reported);
    return suite;
}
