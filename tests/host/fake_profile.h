/*
 * kernel/profile.h for the host: the test says where samples fall.
 */
#ifndef TESTS_HOST_FAKE_PROFILE_H
#define TESTS_HOST_FAKE_PROFILE_H

#include <stdbool.h>

#include "kernel/profile.h"

/* Sampling works from now on; else profile_start() fails, as on a machine without the clock. */
void fake_profile_works(bool works);

/* `n` samples of a layer, if sampling is on. */
void fake_profile_add(enum profile_layer layer, unsigned n);

bool fake_profile_is_on(void);

#endif
