/*
 * The suites of net/ and what they share.
 */
#ifndef TESTS_HOST_TEST_NET_H
#define TESTS_HOST_TEST_NET_H

#include <check.h>
#include <stdio.h>

#include "tests/host/net_peer.h"
#include "tests/host/net_peer_tcp.h"
#include "tests/host/net_rig.h"

Suite *net_pure_suite(void);
Suite *net_sums_suite(void);
Suite *net_meter_suite(void);
Suite *net_udp_suite(void);
Suite *net_share_suite(void);
Suite *net_sink_suite(void);
Suite *net_raw_suite(void);
Suite *net_small_suite(void);
Suite *net_send_suite(void);
Suite *net_send_udp_suite(void);
Suite *net_path_suite(void);
Suite *net_limits_suite(void);
Suite *net_address_suite(void);
Suite *net_client_suite(void);
Suite *net_batch_suite(void);
Suite *net_intake_suite(void);
Suite *net_heap_suite(void);
Suite *net_acks_suite(void);
Suite *net_overload_suite(void);
Suite *net_bench_suite(void);
Suite *net_iperf2_suite(void);
Suite *net_iperf2_udp_suite(void);
Suite *net_iperf2_back_suite(void);
Suite *net_report_suite(void);
Suite *net_selftest_suite(void);
Suite *net_iperf3_suite(void);
Suite *net_iperf3_end_suite(void);
Suite *net_iperf3_udp_suite(void);
Suite *net_iperf2_client_suite(void);
Suite *net_nuttcp_suite(void);
Suite *net_nuttcp_end_suite(void);
Suite *net_nuttcp_udp_suite(void);
Suite *net_names_suite(void);
Suite *net_names_answer_suite(void);
Suite *net_web_suite(void);
Suite *net_web_events_suite(void);

enum { CASE_SECONDS = 20 /* sanitized, on a busy machine */ };

/* A case of `suite` with the box up before and nothing left of it afterwards. */
static inline TCase *rig_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, rig_up, rig_down);
    tcase_set_timeout(tcase, CASE_SECONDS);
    suite_add_tcase(suite, tcase);
    return tcase;
}

/* The same for cases that bring the box up themselves. */
static inline TCase *own_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_set_timeout(tcase, CASE_SECONDS);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
