/*
 * Runs the conformance suite.
 */
#include <stdlib.h>

#include "tests/host/conform.h"

int main(void)
{
    Suite *suite = suite_create("conformance");
    suite_add_tcase(suite, conform_rx());
    suite_add_tcase(suite, conform_overrun());
    suite_add_tcase(suite, conform_tx());
    suite_add_tcase(suite, conform_irq());
    suite_add_tcase(suite, conform_soak());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
