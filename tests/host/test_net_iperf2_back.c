/*
 * iperf2's UDP tests towards a client: -R, -d, -r, and the guards against being turned on a third
 * party (DESIGN 8).
 */
#include "tests/host/iperf2_rig.h"

/* -R: ids 1 to n at the asked rate from port 5001, then -n; the request is no test of its own. */
START_TEST(reverse)
{
    as.flags = FLAGS_REVERSE;
    as.rate = 4000000; /* 1470 bytes every 2.94 ms */
    as.amount = 147000;
    send_id(1);
    rig_run_ms(1000);
    ck_assert_uint_ge(back.count, 101);
    ck_assert_uint_le(back.count, 103); /* the final one is repeated */
    ck_assert_int_lt(back.id, -99);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    as.size = 1470;
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 101);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "dir"), "\"tx\"");
    ck_assert_str_eq(rig_value(rig_record("result", 0), "bound"), "\"pacing\"");
    ck_assert_int_ge(rig_number(rig_record("result", 0), "us"), 288000);
    ck_assert_int_le(rig_number(rig_record("result", 0), "us"), 300000);
}
END_TEST

/* Nobody is there at that address, though lwIP knows a MAC for it from before. */
START_TEST(no_reverse_without_proof)
{
    send_id(1);
    send_id(-2); /* answered: the address is known now */
    rig_run_ms(10);
    ck_assert_uint_eq(back.count, 1);
    peer.deaf = true;
    as.flags = FLAGS_REVERSE;
    as.from = FROM + 1;
    as.amount = 14700;
    send_id(1);
    rig_run_ms(3000);
    ck_assert_uint_eq(back.count, 1);
    ck_assert(rig_said("does not prove"));
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

/* Sent from one MAC, and the address answers from another. */
START_TEST(no_reverse_towards_another)
{
    struct station liar = {.nic = 0, .mac = {2, 9, 9, 9, 9, 9}, .ip = PEER_IP};

    as.flags = FLAGS_REVERSE;
    as.amount = 14700;
    send_from(&liar, 1);
    rig_run_ms(3000);
    ck_assert_uint_eq(back.count, 0);
    ck_assert(rig_said("does not prove"));
}
END_TEST

START_TEST(no_reverse_off_link)
{
    struct station far = {.nic = 0, .mac = {2, 0, 0, 0, 0, 9}, .ip = RIG_IP4(192, 168, 7, 7)};

    as.flags = FLAGS_REVERSE;
    as.amount = 14700;
    send_from(&far, 1);
    rig_run_ms(3000);
    ck_assert_uint_eq(back.count, 0);
    ck_assert(rig_said("not on our network"));
}
END_TEST

/* One at a time, and never longer than 60 s whatever was asked. */
START_TEST(reverse_is_bounded)
{
    as.flags = FLAGS_REVERSE;
    as.rate = 100000;
    as.amount = 0u - 1000000; /* 10000 s */
    send_id(1);
    as.from = FROM + 1;
    send_id(1);
    rig_run_ms(58000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    ck_assert_uint_eq(back.to_port, FROM);
    rig_run_ms(3000);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    ck_assert_int_le(rig_number(rig_record("result", 0), "us"), 60100000);
}
END_TEST

START_TEST(unreachable_stops_it)
{
    unsigned before;
    uint8_t icmp[ICMP_HEADER + IP_HEADER + UDP_HEADER] = {3, 3};
    uint8_t *ip = icmp + ICMP_HEADER, *udp = ip + IP_HEADER;

    as.flags = FLAGS_REVERSE;
    as.rate = 1000000;
    as.amount = 0u - 2000;
    send_id(1);
    rig_run_ms(500);
    ip[0] = 0x45;
    ip[9] = PROTO_UDP;
    put32(ip + 12, BOX_IP);
    put32(ip + 16, PEER_IP);
    put16(udp, PORT);
    put16(udp + 2, FROM);
    put16(icmp + 2, (uint16_t)~reference_sum(icmp, sizeof(icmp)));
    peer_send_ip(&peer, BOX_IP, PROTO_ICMP, icmp, sizeof(icmp));
    rig_run_ms(20);
    before = back.count;
    rig_run_ms(2000);
    ck_assert_uint_eq(back.count, before);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"refused\"");
}
END_TEST

/* -d at once, -r when its own test is over: to the client's own port, with ids and a final. */
START_TEST(answer_tests)
{
    as.flags = _i == 0 ? (unsigned)FLAGS_DUAL : (unsigned)FLAGS_TRADE;
    as.port = 6001;
    as.rate = 4000000;
    as.amount = 14700;
    send_ids(1, 3);
    rig_run_ms(500);
    ck_assert_uint_eq(back.count == 0, _i != 0);
    send_id(-4);
    rig_run_ms(4000);
    ck_assert_uint_eq(back.to_port, 6001);
    ck_assert_int_lt(back.id, -10);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    ck_assert_int_eq(rig_number(rig_record("result", 1), "packets"), 11);
    ck_assert_str_eq(rig_value(rig_record("result", 1), "end"), "\"timeout\""); /* no report */
}
END_TEST

Suite *net_iperf2_back_suite(void)
{
    Suite *suite = suite_create("net_iperf2_back");
    TCase *towards = iperf2_case(suite, "towards");

    tcase_add_test(towards, reverse);
    tcase_add_test(towards, no_reverse_without_proof);
    tcase_add_test(towards, no_reverse_towards_another);
    tcase_add_test(towards, no_reverse_off_link);
    tcase_add_test(towards, reverse_is_bounded);
    tcase_add_test(towards, unreachable_stops_it);
    tcase_add_loop_test(towards, answer_tests, 0, 2);
    return suite;
}
