/*
 * The ttcp sender over UDP: every datagram right, every sentinel there.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "tests/host/sim/wire.h"

enum { PORT = 5001, SENTINEL = 4, LONG_MS = 60000 };

/* What the peer received. */
static struct {
    unsigned before, datagrams, after; /* sentinels, data, sentinels */
    unsigned wrong;
    unsigned length;
} got;

static void take(const struct packet *p)
{
    const uint8_t *data = p->data + UDP_HEADER;
    unsigned n = p->length - UDP_HEADER;

    if (p->protocol != PROTO_UDP || get16(p->data + 2) != PORT) {
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        got.wrong += data[i] != ' ' + i % 95;
    }
    if (n == SENTINEL) {
        got.before += got.datagrams == 0;
        got.after += got.datagrams != 0;
    } else {
        got.datagrams++;
        got.length = n;
    }
}

static void send_and_check(const char *command, unsigned length, unsigned count)
{
    const char *r;

    memset(&got, 0, sizeof(got));
    rig_forget();
    peer_set_packet_hook(take);
    ck_assert_int_eq(rig_command(command, LONG_MS), 0);
    ck_assert_uint_eq(got.datagrams, count);
    ck_assert_uint_eq(got.length, length);
    ck_assert_uint_eq(got.wrong, 0);
    ck_assert_uint_eq(got.before, 1);
    ck_assert_uint_eq(got.after, 5);
    r = rig_record("result", 0);
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)length * count);
    ck_assert_int_eq(rig_number(r, "packets"), count);
    ck_assert_int_eq(rig_number(r, "calls"), count);
    ck_assert_str_eq(rig_value(r, "retrans"), "null");
    ck_assert_str_eq(rig_value(r, "end"), "\"ok\"");
}

static const struct {
    const char *command;
    unsigned length, count;
} runs[] = {
    {"ttcp -t -u -l 5 -n 500 10.0.0.2", 5, 500},
    {"ttcp -t -u -l 1 -n 5 10.0.0.2", 5, 5}, /* 4 bytes and less would be sentinels */
    {"ttcp -t -u -l 1472 -n 300 10.0.0.2", 1472, 300},
    {"ttcp -t -u -l 1473 -n 100 10.0.0.2", 1473, 100},
    {"ttcp -t -u -n 40 10.0.0.2", 8192, 40},
    {"ttcp -t -u -l 8193 -n 10 10.0.0.2", 8193, 10},
    {"ttcp -t -u -l 47353 -n 3 10.0.0.2", 47353, 3},
    {"ttcp -t -u -l 65507 -n 4 10.0.0.2", 65507, 4},
};

enum { RUNS = sizeof(runs) / sizeof(runs[0]) };

START_TEST(datagrams_of_any_size)
{
    send_and_check(runs[_i].command, runs[_i].length, runs[_i].count);
}
END_TEST

START_TEST(the_same_without_batching)
{
    ck_assert_int_eq(rig_command("set batch=off", 100), 0);
    send_and_check(runs[_i].command, runs[_i].length, runs[_i].count);
}
END_TEST

/* The wire is the limit, and the report knows. */
START_TEST(bound_by_the_wire)
{
    send_and_check("ttcp -t -u -l 1472 -n 1000 10.0.0.2", 1472, 1000);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "bound"), "\"wire\"");
    ck_assert_int_gt(rig_number(rig_record("result", 0), "kb_s"), 1100);
}
END_TEST

/* However long the run, the box answers meanwhile, and Ctrl-C is heard. */
START_TEST(answers_while_it_sends)
{
    uint8_t data[100] = {0};

    if (_i == 1) {
        ck_assert_int_eq(rig_command("set batch=off", 100), 0);
    }
    rig_type("ttcp -t -u -n 2000000000 10.0.0.2\n");
    rig_run_ms(300);
    peer_send_echo(&peer, BOX_IP, 1, data, sizeof(data));
    rig_run_ms(200);
    ck_assert_uint_eq(peer_packets(PROTO_ICMP), 1);
    rig_type("\003");
    rig_run_ms(200);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"abort\"");
    ck_assert_int_eq(rig_number(rig_record("done", _i == 1 ? 1 : 0), "status"), 1);
}
END_TEST

/* A card as fast as an emulated one: every frame is gone at once. */
static unsigned frames_swallowed;

static unsigned swallow(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    (void)nic;
    (void)in;
    frames_swallowed += n;
    return n;
}

/* Without batching the queue never fills, and still a turn of the main loop must end. */
START_TEST(a_turn_ends_also_on_a_fast_card)
{
    static struct nic_ops fast;
    const struct nic_ops *real = nics[0].ops;

    send_and_check("ttcp -t -u -l 100 -n 5 10.0.0.2", 100, 5); /* ARP is done */
    ck_assert_int_eq(rig_command("set batch=off", 100), 0);
    fast = *real;
    fast.tx_burst = swallow;
    nics[0].ops = &fast;
    rig_type("ttcp -t -u -l 100 -n 10000 10.0.0.2\n");
    for (unsigned i = 0; i < 10; i++) {
        unsigned before = frames_swallowed;

        rig_turn();
        ck_assert_uint_le(frames_swallowed - before, 100);
    }
    ck_assert_uint_gt(frames_swallowed, 100);
    rig_type("\003");
    rig_run_ms(10);
    nics[0].ops = real;
}
END_TEST

START_TEST(nobody_there)
{
    peer.deaf = true;
    ck_assert_int_eq(rig_command("ttcp -t -u 10.0.0.2", 5000), 1);
    ck_assert(rig_said("no answer to ARP"));
    ck_assert_uint_eq(rig_record_count("result"), 0);
}
END_TEST

/* The first sentinel finds the transmit queue full of other things. */
START_TEST(queue_full_at_the_start)
{
    uint8_t data[20] = {0};

    peer_send_echo(&peer, BOX_IP, 1, data, sizeof(data)); /* now the box knows our MAC */
    rig_run_ms(10);
    sim_hold_tx(&rig_cards[0].chip);
    for (unsigned i = 0; i < 80; i++) {
        peer_send_echo(&peer, BOX_IP, i, data, sizeof(data));
    }
    rig_run_ms(20);
    rig_type("ttcp -t -u -l 1000 -n 2000 10.0.0.2\n");
    rig_run_ms(200);
    sim_release_tx(&rig_cards[0].chip);
    rig_run_ms(3000);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 2000);
    ck_assert_uint_eq(rig_record_count("result"), 1);
}
END_TEST

START_TEST(off_link_goes_by_the_gateway)
{
    struct station *gateway = peer_plug(0, RIG_IP4(10, 0, 0, 254));
    struct station *far = peer_plug(0, RIG_IP4(192, 0, 2, 7));

    far->deaf = true;
    (void)gateway;
    send_and_check("ttcp -t -u -l 100 -n 20 192.0.2.7", 100, 20);
}
END_TEST

Suite *net_send_udp_suite(void)
{
    Suite *suite = suite_create("net_send_udp");
    TCase *udp = rig_case(suite, "udp");

    tcase_add_loop_test(udp, datagrams_of_any_size, 0, RUNS);
    tcase_add_loop_test(udp, the_same_without_batching, 0, RUNS);
    tcase_add_test(udp, bound_by_the_wire);
    tcase_add_loop_test(udp, answers_while_it_sends, 0, 2);
    tcase_add_test(udp, a_turn_ends_also_on_a_fast_card);
    tcase_add_test(udp, nobody_there);
    tcase_add_test(udp, queue_full_at_the_start);
    tcase_add_test(udp, off_link_goes_by_the_gateway);
    return suite;
}
