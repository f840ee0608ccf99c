/*
 * What needs no network: meter arithmetic, the checksum loop, the turn's clock.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/load.h"
#include "lwip/opt.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/packet_sum.h"
#include "tests/host/sim/bus.h"

enum { LINK_KBIT = 10000, SECOND = 1000000 };

/* ---- meter_compute ---- */

static struct meter_sum compute(uint64_t us, uint64_t bytes, uint64_t idle, uint64_t wire)
{
    return meter_compute(&(struct meter_run){.us = us,
                                             .bytes = bytes,
                                             .calls = bytes / 1000,
                                             .idle_us = idle,
                                             .wire_bytes = wire,
                                             .link_kbit = LINK_KBIT});
}

START_TEST(rates_of_one_second)
{
    struct meter_sum s = meter_compute(
        &(struct meter_run){.us = SECOND, .bytes = 1024000, .calls = 500, .link_kbit = LINK_KBIT});

    ck_assert_uint_eq(s.kb_s_milli, 1000000);
    ck_assert_uint_eq(s.mbit_s_milli, 8192);
    ck_assert_uint_eq(s.calls_s_milli, 500000);
    ck_assert_uint_eq(s.cpu_permille, 1000);
    ck_assert_str_eq(s.bound, "cpu");
}
END_TEST

START_TEST(the_wire_speed_of_ten_megabit)
{
    /* DESIGN 10: 1460 of every 1538 bytes are payload: 1158.8 KB/s. */
    struct meter_sum s = compute(SECOND, 1186606, SECOND / 2, 1250000);

    ck_assert_uint_eq(s.kb_s_milli, 1158794);
    ck_assert_str_eq(s.bound, "wire");
}
END_TEST

START_TEST(bound_changes_exactly_at_its_limits)
{
    uint64_t wire = 1187500; /* 95 % of 10 Mbit/s for a second, in bytes */

    ck_assert_str_eq(compute(SECOND, 1, 0, wire).bound, "wire");
    ck_assert_str_eq(compute(SECOND, 1, 0, wire - 1).bound, "cpu");
    ck_assert_str_eq(compute(SECOND, 1, 50000, wire - 1).bound, "cpu");
    ck_assert_str_eq(compute(SECOND, 1, 51000, wire - 1).bound, "peer");
}
END_TEST

START_TEST(too_short_to_say_what_bounded_it)
{
    ck_assert_ptr_null(compute(9999, 12500, 0, 12500).bound);
    ck_assert_str_eq(compute(10000, 12500, 0, 12500).bound, "wire");
}
END_TEST

START_TEST(unknown_link_rate_is_never_the_bound)
{
    struct meter_run run = {
        .us = SECOND, .bytes = 1, .calls = 1, .idle_us = SECOND, .wire_bytes = 1000};

    ck_assert_str_eq(meter_compute(&run).bound, "peer");
}
END_TEST

/* A requested rate reached within 5 %: 1 Mbit/s, in payload. */
START_TEST(a_requested_rate_is_the_bound_when_reached)
{
    struct meter_run run = {.us = SECOND, .bytes = 118750, .calls = 1, .idle_us = SECOND / 2};

    run.link_kbit = LINK_KBIT;
    run.asked_bit_s = SECOND;
    ck_assert_str_eq(meter_compute(&run).bound, "pacing");
    run.bytes -= 1;
    ck_assert_str_eq(meter_compute(&run).bound, "peer");
    run.held_us = SECOND / 2; /* ... or our timer was it, half of the time */
    ck_assert_str_eq(meter_compute(&run).bound, "pacing");
    run.held_us -= 1;
    ck_assert_str_eq(meter_compute(&run).bound, "peer");
}
END_TEST

/* The order of DESIGN 4: wire, cpu, pacing, peer. */
START_TEST(pacing_comes_after_wire_and_cpu)
{
    struct meter_run run = {.us = SECOND,
                            .bytes = 1187500,
                            .wire_bytes = 1250000,
                            .link_kbit = LINK_KBIT,
                            .asked_bit_s = SECOND};

    ck_assert_str_eq(meter_compute(&run).bound, "wire");
    run.wire_bytes = 1000;
    ck_assert_str_eq(meter_compute(&run).bound, "cpu");
}
END_TEST

START_TEST(no_time_at_all)
{
    struct meter_sum s = compute(0, 1000, 0, 0);

    ck_assert_uint_eq(s.kb_s_milli, 0);
    ck_assert_uint_eq(s.calls_s_milli, 0);
    ck_assert_ptr_null(s.bound);
}
END_TEST

START_TEST(more_idle_than_time_is_no_load)
{
    ck_assert_uint_eq(compute(SECOND, 1, 2 * SECOND, 0).cpu_permille, 0);
}
END_TEST

/* A week at 100 Mbit/s: bytes beyond 2^45, microseconds beyond 2^39. */
START_TEST(a_week_long_run)
{
    uint64_t us = 7ull * 86400 * SECOND;
    struct meter_run run = {.us = us,
                            .bytes = us * 125 / 10,
                            .calls = us / 1000,
                            .idle_us = us / 2,
                            .wire_bytes = us * 125 / 10,
                            .link_kbit = 100000};
    struct meter_sum s = meter_compute(&run);

    ck_assert_uint_ge(s.mbit_s_milli, 99999);
    ck_assert_uint_le(s.mbit_s_milli, 100001);
    ck_assert_uint_ge(s.calls_s_milli, 999990);
    ck_assert_uint_le(s.calls_s_milli, 1000010);
    ck_assert_uint_eq(s.cpu_permille, 500);
    ck_assert_str_eq(s.bound, "wire");
}
END_TEST

static bool near(double value, double right)
{
    return value <= right * 1.0001 + 1 && value >= right * 0.9999 - 2;
}

/* Against the same sums in floating point, over all magnitudes. */
START_TEST(rates_agree_with_floating_point)
{
    unsigned wrong = 0;

    srand(1);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t us = 1 + (((uint64_t)rand() << 20 ^ (uint64_t)rand()) >> rand() % 50);
        uint64_t bytes = ((uint64_t)rand() << 14 ^ (uint64_t)rand()) % (us * 1000);
        struct meter_sum s = meter_compute(
            &(struct meter_run){.us = us, .bytes = bytes, .calls = bytes, .link_kbit = LINK_KBIT});
        double kb = (double)bytes * 1e9 / (double)us / 1024;
        double calls = (double)bytes * 1e9 / (double)us;

        wrong += !near((double)s.kb_s_milli, kb) || !near((double)s.calls_s_milli, calls);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static TCase *meter_case(void)
{
    TCase *meter = tcase_create("meter");

    tcase_add_test(meter, rates_of_one_second);
    tcase_add_test(meter, the_wire_speed_of_ten_megabit);
    tcase_add_test(meter, bound_changes_exactly_at_its_limits);
    tcase_add_test(meter, too_short_to_say_what_bounded_it);
    tcase_add_test(meter, unknown_link_rate_is_never_the_bound);
    tcase_add_test(meter, a_requested_rate_is_the_bound_when_reached);
    tcase_add_test(meter, pacing_comes_after_wire_and_cpu);
    tcase_add_test(meter, no_time_at_all);
    tcase_add_test(meter, more_idle_than_time_is_no_load);
    tcase_add_test(meter, a_week_long_run);
    tcase_add_test(meter, rates_agree_with_floating_point);
    return meter;
}

/* ---- port_checksum ---- */

enum { SUM_ROUNDS = 100000, SUM_BYTES = 1600 };

static unsigned swapped(unsigned sum)
{
    return (sum >> 8 | sum << 8) & 0xFFFF;
}

/* 0 and FFFFh are both zero in ones' complement. */
static unsigned canonical(unsigned sum)
{
    return sum == 0xFFFF ? 0 : sum;
}

static void fill(uint8_t *data, unsigned n)
{
    static const uint8_t extremes[] = {0, 0xFF};
    unsigned kind = (unsigned)rand() % 4;

    for (unsigned i = 0; i < n; i++) {
        data[i] = kind < 2 ? extremes[kind] : (uint8_t)(rand() >> 8);
    }
}

/* Datagrams of every length up to some, in two pieces, odd or even; once with a sum of zero. */
START_TEST(datagrams_get_their_checksum)
{
    enum { MOST = 70, UDP = 8, IP = 20 };
    static uint8_t first[IP + UDP + MOST], second[MOST], whole[12 + UDP + 2 * MOST];
    struct pbuf rest = {.payload = second};
    unsigned wrong = 0, zeros = 0;

    srand(3);
    for (unsigned i = 0; i < SUM_ROUNDS; i++) {
        unsigned here = (unsigned)rand() % MOST, there = (unsigned)rand() % MOST;
        unsigned length = UDP + here + there;
        struct pbuf p = {.payload = first,
                         .len = (uint16_t)(IP + UDP + here),
                         .tot_len = (uint16_t)(IP + length),
                         .next = there == 0 ? NULL : &rest};

        fill(first, sizeof(first));
        fill(second, sizeof(second));
        first[9] = 17;
        memset(first + IP + 6, 0, 2);
        rest.len = rest.tot_len = (uint16_t)there;
        packet_sum_udp(&p);
        if (i % 100 == 0 && here >= 2) { /* its own complement added: nothing is left */
            memset(first + IP + UDP, 0, 2);
            memset(first + IP + 6, 0, 2);
            packet_sum_udp(&p);
            memcpy(first + IP + UDP, first + IP + 6, 2);
            memset(first + IP + 6, 0, 2);
            packet_sum_udp(&p);
        }
        memcpy(whole, first + 12, 8);
        memcpy(whole + 8, (uint8_t[]){0, 17, 0, (uint8_t)length}, 4);
        memcpy(whole + 12, first + IP, UDP + here);
        memcpy(whole + 12 + UDP + here, second, there);
        zeros += first[IP + 6] == 0xFF && first[IP + 7] == 0xFF;
        wrong += (first[IP + 6] | first[IP + 7]) == 0 ||
                 canonical(reference_sum(whole, 12 + length)) != 0;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(zeros, SUM_ROUNDS / 200);
}
END_TEST

/* What was rounded off may not make idle time shrink: meters subtract. */
START_TEST(idle_time_never_shrinks)
{
    uint64_t before = load_idle_us();

    for (unsigned i = 0; i < 1000; i++) {
        uint64_t now;

        load_add_idle(i % 2, 1); /* a count is 0.84 us: each of the two may be 0 or 1 */
        load_add_idle(1, 0);
        now = load_idle_us();
        ck_assert_uint_ge(now, before);
        before = now;
    }
    load_add_idle(10000, 1193); /* 1193 counts are 1000 us */
    ck_assert_uint_le(load_idle_us() - before, 9001);
    ck_assert_uint_ge(load_idle_us() - before, 8500);
}
END_TEST

START_TEST(checksum_of_any_length_and_alignment)
{
    static uint8_t data[SUM_BYTES + 8];
    unsigned wrong = 0;

    srand(2);
    for (unsigned i = 0; i < SUM_ROUNDS; i++) {
        unsigned at = (unsigned)rand() % 8;
        unsigned n = (unsigned)rand() % (i % 2 == 0 ? SUM_BYTES : 80);

        if (i % 16 == 0) {
            fill(data, sizeof(data));
        }
        wrong += canonical(port_checksum(data + at, (int)n)) !=
                 canonical(swapped(reference_sum(data + at, n)));
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* As inet_chksum_pbuf() does with the pieces of a chain: swapped whenever an odd number of bytes
 * came before. */
START_TEST(checksum_of_pieces_is_that_of_the_whole)
{
    static uint8_t data[SUM_BYTES];
    unsigned wrong = 0;

    srand(3);
    fill(data, sizeof(data));
    for (unsigned i = 0; i < SUM_ROUNDS / 10; i++) {
        unsigned n = 3 + (unsigned)rand() % (SUM_BYTES - 3);
        unsigned first = (unsigned)rand() % n, second = (unsigned)rand() % (n - first);
        unsigned part[3] = {first, second, n - first - second};
        unsigned at = 0;
        uint32_t sum = 0;

        for (unsigned k = 0; k < 3; k++) {
            unsigned one = port_checksum(data + at, (int)part[k]);

            sum += at % 2 == 0 ? one : swapped(one);
            at += part[k];
        }
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
        wrong += canonical(sum) != canonical(swapped(reference_sum(data, n)));
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

static TCase *checksum_case(void)
{
    TCase *checksum = tcase_create("checksum");

    tcase_set_timeout(checksum, CASE_SECONDS);
    tcase_add_test(checksum, checksum_of_any_length_and_alignment);
    tcase_add_test(checksum, datagrams_get_their_checksum);
    tcase_add_test(checksum, idle_time_never_shrinks);
    tcase_add_test(checksum, checksum_of_pieces_is_that_of_the_whole);
    return checksum;
}

/* ---- net/clock.c ---- */

START_TEST(milliseconds_follow_microseconds)
{
    static const unsigned steps_us[] = {1, 999, 1000, 1001, 63999, 64000, 64001, 10 * SECOND, 17};

    sim_reset();
    for (unsigned i = 0; i < 500; i++) {
        uint64_t before = clock_us();

        sim_run_us(steps_us[i % (sizeof(steps_us) / sizeof(steps_us[0]))]);
        clock_turn();
        ck_assert_uint_gt(clock_us(), before);
        ck_assert_uint_eq(clock_ms(), (uint32_t)(clock_us() / 1000));
    }
}
END_TEST

START_TEST(clock_stands_still_within_a_turn)
{
    uint64_t us;

    sim_reset();
    clock_turn();
    us = clock_us();
    sim_run_us(5000);
    ck_assert_uint_eq(clock_us(), us);
}
END_TEST

START_TEST(milliseconds_wrap_after_49_days)
{
    sim_reset();
    sim_run_us(4294967295999ull - 20);
    clock_turn();
    ck_assert_uint_eq(clock_ms(), UINT32_MAX);
    sim_run_us(100);
    clock_turn();
    ck_assert_uint_eq(clock_ms(), 0);
    sim_run_us(10 * SECOND);
    clock_turn();
    ck_assert_uint_eq(clock_ms(), (uint32_t)(clock_us() / 1000));
}
END_TEST

/* Periods do not drift; one that was missed altogether is not made up for. */
START_TEST(due_keeps_its_period)
{
    uint64_t at = 1000;

    sim_reset();
    clock_turn();
    ck_assert(!clock_due(&at, 1000));
    sim_run_us(1500);
    clock_turn();
    ck_assert(clock_due(&at, 1000));
    ck_assert_uint_eq(at, 2000);
    ck_assert(!clock_due(&at, 1000));
    sim_run_us(10000);
    clock_turn();
    ck_assert(clock_due(&at, 1000));
    ck_assert_uint_eq(at, clock_us() + 1000);
    ck_assert(!clock_due(&at, 1000));
}
END_TEST

static TCase *clock_case(void)
{
    TCase *clock = tcase_create("clock");

    tcase_add_test(clock, milliseconds_follow_microseconds);
    tcase_add_test(clock, clock_stands_still_within_a_turn);
    tcase_add_test(clock, milliseconds_wrap_after_49_days);
    tcase_add_test(clock, due_keeps_its_period);
    return clock;
}

Suite *net_pure_suite(void)
{
    Suite *suite = suite_create("net_pure");

    suite_add_tcase(suite, meter_case());
    suite_add_tcase(suite, checksum_case());
    suite_add_tcase(suite, clock_case());
    return suite;
}
