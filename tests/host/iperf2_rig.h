/*
 * A client of iperf2's UDP server, by hand: what it sends and what comes back.
 */
#ifndef TESTS_HOST_IPERF2_RIG_H
#define TESTS_HOST_IPERF2_RIG_H

#include "tests/host/test_net.h"

enum {
    PORT = 5001,
    FROM = 40001,
    SIZE = 1000,
    OLD = 12,
    NEW = 16,
    REPORT = 40,
    SILENCE_MS = 4500,
    FLAGS_NEW = 0x48010098,
    FLAGS_REVERSE = 0x6C010098,
    FLAGS_DUAL = (int)0xC8010099,
    FLAGS_TRADE = (int)0xC8010098,
};

/* How it sends; SIZE bytes of the new era from port FROM, unless changed. */
struct iperf2_client {
    unsigned flags, rate, amount, port;
    bool old_era, bare; /* bare: no header at all */
    unsigned size, from;
};
extern struct iperf2_client as;

/* What the box has sent back: how many datagrams, and the last of them. */
struct iperf2_back {
    unsigned count, length, to_port;
    uint8_t bytes[2048];
    int32_t id;
};
extern struct iperf2_back back;

/* Fixture: the box, and the client as above. */
void iperf2_set_up(void);

/* One datagram with this id, or those of a range; negative: the final one. */
void send_from(const struct station *s, int32_t id);
void send_id(int32_t id);
void send_ids(int32_t from, int32_t to);

/* The last datagram that came back is the report of this; a word of it. */
uint32_t report_word(unsigned offset);
void expect_report(unsigned bytes, unsigned lost, unsigned ooo, unsigned datagrams);

/* The last result. */
const char *expect_result(unsigned packets, int lost, int dup, int ooo, const char *end);

static inline TCase *iperf2_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, iperf2_set_up, rig_down);
    tcase_set_timeout(tcase, CASE_SECONDS);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
