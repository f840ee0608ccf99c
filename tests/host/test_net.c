/*
 * Runs the suites of net/: with cards that copy what they receive, then with cards that lend it.
 */
#include "tests/host/test_net.h"

#include <stdio.h>

#include "tests/host/net_rig.h"

static Suite *(*const suites[])(void) = {
    net_pure_suite,       net_sums_suite,          net_meter_suite,      net_udp_suite,
    net_sink_suite,       net_send_suite,          net_send_udp_suite,   net_path_suite,
    net_limits_suite,     net_address_suite,       net_client_suite,     net_batch_suite,
    net_overload_suite,   net_iperf2_suite,        net_iperf2_udp_suite, net_iperf2_back_suite,
    net_report_suite,     net_selftest_suite,      net_iperf3_suite,     net_iperf3_end_suite,
    net_iperf3_udp_suite, net_iperf2_client_suite, net_bench_suite,      net_intake_suite,
    net_raw_suite,        net_small_suite,         net_nuttcp_suite,     net_nuttcp_end_suite,
    net_nuttcp_udp_suite, net_acks_suite,          net_names_suite,      net_names_answer_suite,
    net_web_suite,        net_web_events_suite,    net_heap_suite,       net_share_suite,
};

static int run_all(int *failed)
{
    SRunner *runner = srunner_create(NULL);
    int run;

    for (unsigned i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    run = srunner_ntests_run(runner);
    *failed += srunner_ntests_failed(runner);
    srunner_free(runner);
    return run;
}

int main(void)
{
    int failed = 0;
    int run = run_all(&failed);

    rig_lends = true;
    run += run_all(&failed);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed == 0 ? 0 : 1;
}
