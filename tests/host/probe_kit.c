/*
 * What every test of finding cards needs: an empty machine, boot options, and looking.
 */
#include "tests/host/probe.h"

enum { POOL = 16, PROBE_LIMIT_US = 1500000 };

const unsigned probe_addresses[PROBE_ADDRESSES] = {0x300, 0x280, 0x320, 0x340, 0x360};

static struct frame pool[POOL];

void machine(void)
{
    sim_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, POOL);
}

void find(void)
{
    uint64_t begin = sim_now_ns();
    nics_init();
    ck_assert_msg(sim_now_ns() - begin < PROBE_LIMIT_US * 1000ULL, "probing took %llu us",
                  (unsigned long long)(sim_now_ns() - begin) / 1000);
}

void found_one(void)
{
    ck_assert_msg(nic_count == 1, "not found: %s", host_text());
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"nic\""), 1);
}

void found_none(const char *why)
{
    ck_assert_msg(nic_count == 0, "claimed: %s", host_text());
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"nic\""), 0);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"nic_missing\""), 1);
    ck_assert_msg(why == NULL || strstr(host_text(), why) != NULL, "no word of '%s' in: %s", why,
                  host_text());
}

static void complain(const char *word, const char *why)
{
    ck_abort_msg("option %s: %s", word, why);
}

void boot_options(const char *words)
{
    options_parse(&options, words, complain);
}
