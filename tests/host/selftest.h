/*
 * Between the files of the selftest's suite.
 */
#ifndef TESTS_HOST_SELFTEST_H
#define TESTS_HOST_SELFTEST_H

#include "tests/host/quick_check.h"
#include <string.h>

#include "drivers/selftest.h"
#include "tests/host/host_support.h"
#include "tests/host/rig.h"

/* The one machine of a case. */
extern struct rig st;

/* Card `index` of the rig at work, with nothing printed yet. */
void st_up(unsigned index);
void st_up_card(const struct rig_card *card);

/* The first RTL8139 of the rig's cards. */
unsigned st_first_8139(void);

/* Test it from beginning to end. */
void st_run(void);

/* The card takes and sends frames at once, as if nothing had been; then the machine is taken down.
 */
void st_works(void);

/* What was said: these words are there; or not. */
void st_says(const char *words);
void st_never_says(const char *words);

/* The verdict names this step, and the step alone. */
void st_blames(const char *step);

TCase *selftest_8390(void);
TCase *selftest_8139(void);

#endif
