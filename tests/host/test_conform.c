/*
 * Runs the conformance suite.
 */
#include <stdlib.h>

#include "tests/host/conform.h"

/* Driver and kernel never call malloc(), and rig_down() counts the frames: looking for lost heap
 * blocks at the end of each of some 400 children would find only the chip model's own, and takes
 * twice as long as all the cases. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

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
