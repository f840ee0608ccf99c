/*
 * What the programs of the conformance suite share.
 */
#include "tests/host/conform.h"

#include <stdio.h>
#include <stdlib.h>

/* Nobody looks for a case that does not exist: it is said, and why. */
void conform_not_for(const char *family, const char *name, const char *why)
{
    printf("not for the %s: %s: %s\n", family, name, why);
}

int conform_run(const char *name, TCase *(*const parts[])(void))
{
    Suite *suite = suite_create(name);
    for (unsigned i = 0; parts[i] != NULL; i++) {
        suite_add_tcase(suite, parts[i]());
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
