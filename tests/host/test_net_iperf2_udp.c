/*
 * iperf2's UDP server: hand-made sequences of datagrams of both eras, the report, and who gets none
 * (NEEDS.md 3.2, DESIGN 8).
 */
#include "tests/host/iperf2_rig.h"

#include <string.h>

/* ---- counting ---- */

START_TEST(a_clean_run)
{
    const char *r;

    as.old_era = _i != 0;
    as.flags = as.old_era ? 0 : as.flags;
    send_ids(1, 28);
    ck_assert_uint_eq(back.count, 0);
    send_id(-29);
    expect_report(29 * SIZE, 0, 0, 29);
    r = expect_result(29, 0, 0, 0, "\"ok\"");
    ck_assert_str_eq(rig_value(r, "peer"), "\"10.0.0.2:40001\"");
    ck_assert_uint_eq(report_word(12), 0);
    ck_assert_int_le((int)report_word(16), rig_number(r, "us") + 1);
    ck_assert_int_ge((int)report_word(16), rig_number(r, "us") - 1);
    ck_assert_int_lt(rig_number(r, "jitter_us"), 300); /* a steady millisecond each */
}
END_TEST

/* 2.1.8 sends what is left of an amount, be it only the number: no sentinel of ttcp's. */
START_TEST(a_remainder_of_four_bytes)
{
    send_ids(1, 3);
    as.size = 4;
    send_id(4);
    as.size = SIZE;
    send_id(-5);
    expect_report(4 * SIZE + 4, 0, 0, 5);
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

/* A client of old told to send no header: digits from the 13th byte on. */
START_TEST(no_header_at_all)
{
    as.old_era = as.bare = true;
    send_ids(1, 5);
    send_id(-6);
    expect_report(6 * SIZE, 0, 0, 6);
}
END_TEST

/* Some number from 0: nothing is missing then. */
START_TEST(numbers_from_zero)
{
    as.old_era = true;
    as.flags = 0;
    send_ids(0, 9);
    send_id(-10);
    expect_report(11 * SIZE, 0, 0, 10);
}
END_TEST

START_TEST(lost_at_the_tail)
{
    send_ids(1, 10);
    send_id(-21); /* 11 to 20 never came */
    expect_report(11 * SIZE, 10, 0, 21);
    expect_result(11, 10, 0, 0, "\"ok\"");
}
END_TEST

START_TEST(all_but_the_final_lost)
{
    send_id(-8);
    expect_report(SIZE, 7, 0, 8);
}
END_TEST

START_TEST(duplicates_and_reordering)
{
    static const int32_t ids[] = {1, 3, 2, 4, 4, 6, 8, 7, 5, 1, 9};

    for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        send_id(ids[i]);
    }
    send_id(-12); /* 10 and 11 are lost */
    expect_report(12 * SIZE, 2, 3, 12);
    expect_result(12, 2, 2, 3, "\"ok\"");
}
END_TEST

/* Old clients repeat the end 10 times, new ones up to 200 with falling ids: one test, one report.
 */
START_TEST(repeats_are_answered_alike)
{
    uint8_t first[NEW + REPORT];

    send_ids(1, 4);
    send_id(-5);
    memcpy(first, back.bytes, sizeof(first));
    for (int i = 1; i <= 10; i++) {
        rig_run_ms(_i == 0 ? 10 : 250);
        send_id(_i == 0 ? -5 - i : -5);
        ck_assert_uint_eq(back.count, 1 + (unsigned)i);
        ck_assert_mem_eq(back.bytes, first, sizeof(first));
    }
    rig_run_ms(6000);
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

START_TEST(a_lost_end)
{
    const char *r;

    send_ids(1, 10);
    rig_run_ms(SILENCE_MS);
    r = expect_result(10, 0, 0, 0, "\"timeout\"");
    ck_assert_int_lt(rig_number(r, "us"), 20000); /* the time-out is not in it */
    ck_assert_uint_eq(back.count, 0);
}
END_TEST

/* At 2 kbit/s a datagram of 1000 bytes comes every 4 s: that is no end. */
START_TEST(slow_senders_are_waited_for)
{
    as.rate = 2000;
    for (int32_t id = 1; id <= 3; id++) {
        send_id(id);
        rig_run_ms(5000);
    }
    send_id(-4);
    expect_report(4 * SIZE, 0, 0, 4);
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

/* What the end overtook is not counted, and no new test; the next test from that port is one. */
START_TEST(late_data_and_the_next_test)
{
    send_ids(1, 6);
    send_id(-9);
    send_id(7);
    send_id(8);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    send_ids(1, 3); /* at once: it begins with 1 */
    send_id(-4);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    expect_report(4 * SIZE, 0, 0, 4);
}
END_TEST

START_TEST(two_clients_at_once)
{
    struct station *other = peer_plug(0, RIG_IP4(10, 0, 0, 3));

    for (int32_t id = 1; id <= 9; id++) {
        send_id(id);
        if (id % 2 == 0) {
            send_from(other, id / 2);
        }
    }
    send_from(other, -6); /* its 5 is lost */
    expect_report(5 * SIZE, 1, 0, 6);
    send_id(-10);
    expect_report(10 * SIZE, 0, 0, 10);
}
END_TEST

/* RFC 1889: transit times that differ by 1 ms in turn make a jitter that tends to 1 ms. */
START_TEST(jitter_of_an_unsteady_sender)
{
    for (int32_t id = 1; id <= 200; id++) {
        uint8_t d[SIZE] = {0};
        uint64_t sent = 10000u * (unsigned)id + (id % 2 == 0 ? 1000 : 0);

        put32(d, (uint32_t)id);
        put32(d + 4, 5);
        put32(d + 8, (uint32_t)sent % 1000000);
        put32(d + 4, 5 + (uint32_t)(sent / 1000000));
        put32(d + NEW, FLAGS_NEW);
        peer_send_udp(&peer, BOX_IP, FROM, PORT, d, sizeof(d));
        rig_run_ms(10);
    }
    as.size = SIZE;
    send_id(-201);
    ck_assert_uint_eq(report_word(32), 0);
    ck_assert_uint_ge(report_word(36), 700);
    ck_assert_uint_le(report_word(36), 1400);
}
END_TEST

START_TEST(eight_parallel_flows)
{
    for (int32_t id = 1; id <= 4; id++) {
        for (unsigned i = 0; i < 8; i++) {
            as.from = FROM + i;
            send_id(id < 4 ? id : -id);
        }
    }
    ck_assert_uint_eq(rig_record_count("result"), 8);
    ck_assert_uint_eq(back.count, 8);
}
END_TEST

/* Single datagrams from everywhere do not lock a real client out for long. */
START_TEST(a_flood_of_strangers)
{
    struct station liar = {.nic = 0, .mac = {2, 1}, .ip = 0};

    for (unsigned i = 0; i < 40; i++) {
        liar.ip = RIG_IP4(10, 0, 0, 100) + i;
        send_from(&liar, 1);
    }
    rig_run_ms(400);
    send_ids(1, 5);
    send_id(-6);
    expect_report(6 * SIZE, 0, 0, 6);
}
END_TEST

/* ---- who gets no answer, or no larger one ---- */

/* A report is 56 bytes; a datagram of 40 may be anybody's until ARP has proven its sender. */
START_TEST(no_report_longer_than_its_question)
{
    peer.deaf = _i != 0;
    as.size = 40;
    as.from = FROM;
    send_ids(1, 3);
    send_id(-4);
    rig_run_ms(2000);
    if (peer.deaf) {
        ck_assert_uint_eq(back.count, 0);
    } else {
        expect_report(4 * 40, 0, 0, 4);
    }
}
END_TEST

START_TEST(service_ports_get_no_answer)
{
    static const unsigned ports[] = {7, 9, 13, 17, 19, 5001, 5201, 2000, 5010};

    for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        as.from = ports[i];
        send_id(1);
        send_id(-2);
    }
    rig_run_ms(100);
    ck_assert_uint_eq(back.count, 0);
    ck_assert_uint_eq(rig_record_count("result"), 9);
}
END_TEST

START_TEST(broadcast_gets_no_answer)
{
    uint8_t d[SIZE] = {0};

    put32(d, (uint32_t)-5);
    put32(d + NEW, FLAGS_NEW);
    peer_send_udp(&peer, RIG_IP4(10, 0, 0, 255), FROM, PORT, d, sizeof(d));
    rig_run_ms(100);
    ck_assert_uint_eq(back.count, 0);
}
END_TEST

/* ttcp and text are not taken for iperf2. */
START_TEST(others_on_the_same_port)
{
    static const uint8_t text[64] = "hello, is anybody there?  This is a line of text, no more.";
    static const uint8_t ttcp[1000] = " !\"#$%&'()*+,-./0123456789";
    const char *r;

    peer_send_udp(&peer, BOX_IP, 3000, PORT, ttcp, 4);
    peer_send_udp(&peer, BOX_IP, 3000, PORT, ttcp, sizeof(ttcp));
    peer_send_udp(&peer, BOX_IP, 3000, PORT, ttcp, 4);
    peer_send_udp(&peer, BOX_IP, 3001, PORT, text, sizeof(text));
    rig_run_ms(SILENCE_MS);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    for (unsigned i = 0; i < 2; i++) {
        r = rig_record("result", i);
        ck_assert_str_eq(rig_value(r, "test"), "\"ttcp\"");
        ck_assert_str_eq(rig_value(r, "lost"), "null");
    }
    ck_assert_uint_eq(back.count, 0);
}
END_TEST

Suite *net_iperf2_udp_suite(void)
{
    Suite *suite = suite_create("net_iperf2_udp");
    TCase *counting = iperf2_case(suite, "counting");
    TCase *guards = iperf2_case(suite, "guards");

    tcase_add_loop_test(counting, a_clean_run, 0, 2);
    tcase_add_test(counting, a_remainder_of_four_bytes);
    tcase_add_test(counting, no_header_at_all);
    tcase_add_test(counting, numbers_from_zero);
    tcase_add_test(counting, lost_at_the_tail);
    tcase_add_test(counting, all_but_the_final_lost);
    tcase_add_test(counting, duplicates_and_reordering);
    tcase_add_loop_test(counting, repeats_are_answered_alike, 0, 2);
    tcase_add_test(counting, a_lost_end);
    tcase_add_test(counting, slow_senders_are_waited_for);
    tcase_add_test(counting, late_data_and_the_next_test);
    tcase_add_test(counting, two_clients_at_once);
    tcase_add_test(counting, jitter_of_an_unsteady_sender);
    tcase_add_test(counting, eight_parallel_flows);
    tcase_add_test(guards, a_flood_of_strangers);
    tcase_add_loop_test(guards, no_report_longer_than_its_question, 0, 2);
    tcase_add_test(guards, service_ports_get_no_answer);
    tcase_add_test(guards, broadcast_gets_no_answer);
    tcase_add_test(guards, others_on_the_same_port);
    return suite;
}
