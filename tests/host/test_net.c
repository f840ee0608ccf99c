/*
 * Runs the suites of net/.
 */
#include "tests/host/test_net.h"

#include <stdio.h>

static Suite *(*const suites[])(void) = {
    net_pure_suite,    net_meter_suite,    net_udp_suite,   net_sink_suite,
    net_send_suite,    net_send_udp_suite, net_path_suite,  net_limits_suite,
    net_address_suite, net_client_suite,   net_batch_suite, net_overload_suite,
};

int main(void)
{
    SRunner *runner = srunner_create(NULL);
    int run, failed;

    for (unsigned i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    run = srunner_ntests_run(runner);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%d passed, %d failed\n", run - failed, failed);
    return failed == 0 ? 0 : 1;
}
