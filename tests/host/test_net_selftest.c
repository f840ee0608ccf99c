/*
 * The selftest as a command: the card is away from the network meanwhile, the others are not, and
 * it answers again at once.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "tests/host/sim/bus.h"

enum { TEST_MS = 5000, AT_ONCE_MS = 5, SPACING_MS = 7 };

static struct {
    unsigned replies[RIG_CARDS];
    unsigned seq;
} echo;

static void take_echo(const struct packet *p)
{
    if (p->protocol == PROTO_ICMP && p->data[0] == 0) {
        echo.replies[p->nic]++;
        echo.seq = get16(p->data + 6);
    }
}

static bool answered(void *arg)
{
    return echo.seq == *(unsigned *)arg;
}

static void answers_at_once(const struct station *from, uint32_t box, unsigned seq)
{
    peer_send_echo(from, box, seq, "again", 5);
    ck_assert_msg(rig_until(answered, &seq, AT_ONCE_MS), "no answer within %d ms", AT_ONCE_MS);
}

static void listen_to_echo(void)
{
    memset(&echo, 0, sizeof(echo));
    peer_set_packet_hook(take_echo);
}

START_TEST(whole)
{
    listen_to_echo();
    answers_at_once(&peer, BOX_IP, 1);
    ck_assert_int_eq(rig_command("selftest", TEST_MS), 0);
    answers_at_once(&peer, BOX_IP, 2);
    ck_assert(rig_said("card 0: this card works"));
    ck_assert_uint_eq(rig_record_count("done"), 1);
    ck_assert_uint_eq(rig_record_count("table"), 1);
    ck_assert_uint_ge(rig_record_count("bench"), 5);
    ck_assert_uint_eq(rig_record_count("fault"), 0);
}
END_TEST

/* What comes for the card meanwhile is lost, what it is to send waits. */
START_TEST(traffic_meanwhile)
{
    unsigned sent = 1000;
    listen_to_echo();
    answers_at_once(&peer, BOX_IP, 1);
    rig_type("selftest 0\n");
    for (unsigned i = 0; rig_record_count("done") == 0; i++) {
        peer_send_echo(&peer, BOX_IP, sent++, "lost", 4);
        rig_run_ms(SPACING_MS);
        ck_assert_uint_lt(i, TEST_MS / SPACING_MS);
    }
    ck_assert_uint_lt(echo.replies[0], sent - 1000);
    answers_at_once(&peer, BOX_IP, 2);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
}
END_TEST

/* The other card goes on answering while this one is away. */
static void two_up(void)
{
    rig_up_with(RIG_STATIC " ip=10.0.1.1/24", 2, RIG_MEMORY_KB);
}

START_TEST(other_card_answers)
{
    const uint32_t here = RIG_IP4(10, 0, 1, 1);
    struct station *there = peer_plug(1, RIG_IP4(10, 0, 1, 2));
    unsigned asked = 0;
    listen_to_echo();
    answers_at_once(there, here, 1);
    echo.replies[1] = 0;
    rig_type("selftest 0\n");
    while (rig_record_count("done") == 0) {
        peer_send_echo(there, here, 100 + asked++, "you", 3);
        rig_run_ms(SPACING_MS);
        ck_assert_uint_lt(asked, TEST_MS / SPACING_MS);
    }
    rig_run_ms(SPACING_MS);
    ck_assert_uint_gt(asked, 5);
    ck_assert_uint_eq(echo.replies[1], asked);
}
END_TEST

START_TEST(every_card)
{
    ck_assert_int_eq(rig_command("selftest", TEST_MS), 0);
    ck_assert(rig_said("card 0: this card works"));
    ck_assert(rig_said("card 1: this card works"));
    ck_assert_uint_eq(rig_record_count("table"), 2);
}
END_TEST

START_TEST(one_is_faulty)
{
    rig_cards[1].chip.fault.cell = 0x4321;
    rig_cards[1].chip.fault.cell_high = 1;
    ck_assert_int_eq(rig_command("selftest", TEST_MS), 1);
    ck_assert(rig_said("card 0: this card works"));
    ck_assert(rig_said("card 1: not to be trusted: RAM"));
}
END_TEST

START_TEST(aborted)
{
    listen_to_echo();
    rig_type("selftest\n");
    rig_run_ms(50);
    rig_type("\003");
    rig_run_ms(20);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    answers_at_once(&peer, BOX_IP, 7);
    ck_assert_int_eq(rig_command("selftest", TEST_MS), 0);
}
END_TEST

START_TEST(bad_input)
{
    ck_assert_int_eq(rig_command("selftest 1", 100), 1);
    ck_assert(rig_said("there is no card 1"));
    ck_assert_int_eq(rig_command("selftest all", 100), 1);
    ck_assert_int_eq(rig_command("selftest 0 1", 100), 1);
    ck_assert_uint_eq(rig_said_times("usage: selftest [CARD]"), 2);
}
END_TEST

static void none_up(void)
{
    rig_up_with("", 0, RIG_MEMORY_KB);
}

START_TEST(no_card)
{
    ck_assert_int_eq(rig_command("selftest", 100), 2);
    ck_assert_int_eq(rig_command("nics", 100), 2);
    ck_assert_int_eq(rig_command("counters", 100), 2);
}
END_TEST

/* ---- the other commands about cards ---- */

START_TEST(nics_command)
{
    ck_assert_int_eq(rig_command("nics", 100), 0);
    ck_assert(rig_said("0  ne2000  NE2000"));
    ck_assert(rig_said("ISA, I/O 0x300, irq 10 (proven, edge), by interrupt, 16 bits wide"));
    ck_assert(rig_said("link 10 Mbit/s, half duplex"));
    ck_assert_int_eq(rig_command("set irq=poll", 100), 0);
    rig_forget();
    ck_assert_int_eq(rig_command("nics", 100), 0);
    ck_assert(rig_said("polling, 16 bits wide"));
    nics[0].link = false;
    ck_assert_int_eq(rig_command("nics", 100), 0);
    ck_assert(rig_said("link down"));
}
END_TEST

START_TEST(counters_command)
{
    listen_to_echo();
    answers_at_once(&peer, BOX_IP, 1);
    ck_assert_int_eq(rig_command("counters", 100), 0);
    ck_assert(rig_said("card 0, ne2000 at 0x300"));
    ck_assert(rig_said("frames received"));
    ck_assert(rig_said("receive bursts of n frames:"));
    ck_assert_uint_gt((unsigned)rig_number(rig_record("counters", 0), "rx_frames"), 0);
    ck_assert_int_eq(rig_command("counters reset", 100), 0);
    ck_assert_int_eq(rig_number(rig_record("counters", 1), "rx_frames"), 0);
    ck_assert_int_eq(rig_command("counters set", 100), 1);
    ck_assert_int_eq(rig_command("counters reset now", 100), 1);
    ck_assert_uint_eq(rig_said_times("usage: counters [reset]"), 2);
}
END_TEST

Suite *net_selftest_suite(void)
{
    Suite *suite = suite_create("net_selftest");
    TCase *one = rig_case(suite, "one card");
    TCase *two = own_case(suite, "two cards");
    TCase *none = own_case(suite, "no card");

    tcase_add_test(one, whole);
    tcase_add_test(one, traffic_meanwhile);
    tcase_add_test(one, aborted);
    tcase_add_test(one, bad_input);
    tcase_add_test(one, nics_command);
    tcase_add_test(one, counters_command);
    tcase_add_checked_fixture(two, two_up, rig_down);
    tcase_add_test(two, other_card_answers);
    tcase_add_test(two, every_card);
    tcase_add_test(two, one_is_faulty);
    tcase_add_checked_fixture(none, none_up, rig_down);
    tcase_add_test(none, no_card);
    return suite;
}
