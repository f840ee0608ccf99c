/*
 * The command `bench`: its records, its manners, and the arithmetic of `split`.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_profile.h"

enum { LONG_MS = 20000, SAMPLES = 50, FROM = 40000, PORT = 5001 };

static const char *record_of(const char *name)
{
    char quoted[40];

    snprintf(quoted, sizeof(quoted), "\"%s\"", name);
    for (unsigned i = 0; i < rig_record_count("bench"); i++) {
        if (rig_is(rig_record("bench", i), "name", quoted)) {
            return rig_record("bench", i);
        }
    }
    ck_abort_msg("no record of %s", name);
}

/* rig_number() stops at the point. */
static double fixed(const char *record, const char *key)
{
    return strtod(rig_value(record, key), NULL);
}

static void check_order(const char *r)
{
    ck_assert_double_le(fixed(r, "min"), fixed(r, "p50"));
    ck_assert_double_le(fixed(r, "p50"), fixed(r, "p99"));
    ck_assert_double_le(fixed(r, "p99"), fixed(r, "max"));
    ck_assert_double_le(fixed(r, "min"), fixed(r, "mean"));
    ck_assert_double_le(fixed(r, "mean"), fixed(r, "max"));
}

/* Steps that cost simulated time (computing takes none), and how much of it at least, in ns. */
static const struct {
    const char *name, *nic;
    double least, most;
} steps[] = {
    {"clock", "null", 3000, 3100},
    {"tx60", "0", 30 * 850, 200000},
    {"tx1514", "0", 757 * 850, 1000000},
    {"turn", "null", 3000, 1000000},
};

START_TEST(a_step_is_measured)
{
    char line[40];
    const char *r;

    snprintf(line, sizeof(line), "bench %s", steps[_i].name);
    ck_assert_int_eq(rig_command(line, LONG_MS), 0);
    ck_assert_uint_eq(rig_record_count("bench"), 1);
    r = record_of(steps[_i].name);
    ck_assert_int_eq(rig_number(r, "n"), SAMPLES);
    ck_assert_str_eq(rig_value(r, "unit"), "\"ns\"");
    ck_assert_str_eq(rig_value(r, "nic"), steps[_i].nic);
    ck_assert_double_ge(fixed(r, "p50"), steps[_i].least);
    ck_assert_double_le(fixed(r, "p50"), steps[_i].most);
    check_order(r);
    ck_assert(rig_said(steps[_i].name));
}
END_TEST

/* On the way up through lwIP nothing is left behind (rig_down looks), and the box answers. */
START_TEST(lwip_is_left_as_it_was)
{
    static struct peer_tcp c;

    rig_type(_i == 0 ? "bench rx18\n" : "bench rx1472\n");
    rig_run_ms(1);
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    ck_assert(peer_tcp_send(&c, 20000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(1000);
    ck_assert_uint_eq(rig_record_count("done"), 1);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    check_order(record_of(_i == 0 ? "rx18" : "rx1472"));
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 20000);
}
END_TEST

START_TEST(aborted_step_is_given_back)
{
    rig_type("bench rx18\n");
    rig_run_ms(1);
    rig_type("\003");
    rig_run_ms(10);
    ck_assert_uint_eq(rig_record_count("done"), 1);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    ck_assert_uint_eq(rig_record_count("bench"), 0);
    ck_assert_int_eq(rig_command("bench clock", LONG_MS), 0);
}
END_TEST

START_TEST(unknown_names_are_told)
{
    ck_assert_int_eq(rig_command("bench nonsense", 100), 1);
    ck_assert(rig_said("no bench \"nonsense\""));
    ck_assert(rig_said("checksum"));
    ck_assert(rig_said("split"));
    ck_assert_int_eq(rig_command("bench clock copy", 100), 1);
    ck_assert(rig_said("usage: bench"));
    ck_assert_uint_eq(rig_record_count("bench"), 0);
}
END_TEST

START_TEST(without_a_card)
{
    rig_up_with("nic=ne2000:0x280", 0, RIG_MEMORY_KB);
    ck_assert_int_eq(rig_command("bench tx60", 100), 2);
    ck_assert_int_eq(rig_command("bench rx18", 100), 2);
    ck_assert(rig_said("no card"));
    ck_assert_int_eq(rig_command("bench clock", LONG_MS), 0);
    rig_down();
}
END_TEST

/* ---- split ---- */

enum { ROUNDS = 520, ROUND_MS = 10 };

static void traffic(unsigned rounds)
{
    static const uint8_t data[100];

    for (unsigned i = 0; i < rounds; i++) {
        peer_send_udp(&peer, BOX_IP, FROM, PORT, data, sizeof(data));
        fake_profile_add(PROFILE_IDLE, 12);
        fake_profile_add(PROFILE_DRIVER, 6);
        fake_profile_add(PROFILE_LWIP, 2);
        rig_run_ms(ROUND_MS);
    }
}

/* A packet each 10 ms, of which 30 % is the driver's and 10 % lwIP's. */
START_TEST(split_of_even_traffic)
{
    fake_profile_works(true);
    rig_type("bench split\n");
    rig_run_ms(2);
    traffic(ROUNDS);
    ck_assert_uint_eq(rig_record_count("done"), 1);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    ck_assert_uint_eq(rig_record_count("bench"), PROFILE_LAYERS);
    ck_assert(!fake_profile_is_on());
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        ck_assert_int_ge(rig_number(rig_record("bench", i), "n"), 18);
        check_order(rig_record("bench", i));
    }
    ck_assert_double_eq_tol(fixed(record_of("split.driver"), "p50"), 3.0e6, 0.3e6);
    ck_assert_double_eq_tol(fixed(record_of("split.lwip"), "p50"), 1.0e6, 0.1e6);
    ck_assert_double_eq_tol(fixed(record_of("split.driver"), "share_pct"), 30.0, 0.5);
    ck_assert_double_eq_tol(fixed(record_of("split.lwip"), "share_pct"), 10.0, 0.3);
    ck_assert_double_eq_tol(fixed(record_of("split.idle"), "share_pct") +
                                fixed(record_of("split.interrupt"), "share_pct"),
                            60.0, 0.6);
    ck_assert_double_eq_tol(fixed(record_of("split.netif"), "p50"), 0, 0.1);
}
END_TEST

START_TEST(split_aborted_reports_what_there_is)
{
    fake_profile_works(true);
    rig_type("bench split\n");
    rig_run_ms(2);
    traffic(100);
    rig_type("\003");
    rig_run_ms(10);
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 1);
    ck_assert_double_eq_tol(fixed(record_of("split.driver"), "share_pct"), 30.0, 1.0);
    ck_assert(!fake_profile_is_on());
}
END_TEST

START_TEST(split_without_the_clock)
{
    fake_profile_works(false);
    ck_assert_int_eq(rig_command("bench split", 1000), 1);
    ck_assert(rig_said("real-time clock"));
    ck_assert_uint_eq(rig_record_count("bench"), 0);
}
END_TEST

Suite *net_bench_suite(void)
{
    Suite *suite = suite_create("net_bench");
    TCase *step = rig_case(suite, "steps");
    TCase *alone = own_case(suite, "alone");
    TCase *split = rig_case(suite, "split");

    tcase_add_loop_test(step, a_step_is_measured, 0, sizeof(steps) / sizeof(steps[0]));
    tcase_add_loop_test(step, lwip_is_left_as_it_was, 0, 2);
    tcase_add_test(step, aborted_step_is_given_back);
    tcase_add_test(step, unknown_names_are_told);
    tcase_add_test(alone, without_a_card);
    tcase_add_test(split, split_of_even_traffic);
    tcase_add_test(split, split_aborted_reports_what_there_is);
    tcase_add_test(split, split_without_the_clock);
    return suite;
}
