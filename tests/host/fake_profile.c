/*
 * See fake_profile.h.
 */
#include "tests/host/fake_profile.h"

#include <string.h>

static bool usable, on;
static uint32_t samples[PROFILE_LAYERS];

void fake_profile_works(bool works)
{
    usable = works;
}

void fake_profile_add(enum profile_layer layer, unsigned n)
{
    samples[layer] += on ? n : 0;
}

bool fake_profile_is_on(void)
{
    return on;
}

bool profile_start(void)
{
    memset(samples, 0, sizeof(samples));
    on = usable;
    return on;
}

void profile_stop(void)
{
    on = false;
}

void profile_counts(uint32_t counts[PROFILE_LAYERS])
{
    memcpy(counts, samples, sizeof(samples));
}

const char *profile_layer_name(enum profile_layer layer)
{
    static const char *const names[PROFILE_LAYERS] = {
        "other", "driver",    "netif",     "lwip",  "checksum",
        "copy",  "responder", "interrupt", "clock", "idle"};

    return names[layer];
}
