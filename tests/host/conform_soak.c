/*
 * Conformance: long random traffic against a reference model, and the sums of the statistics.
 *
 * The model is a queue of what the chip stored and a queue of what the driver accepted: nothing may
 * come out changed, twice, or out of order; what is missing must be in a counter, once.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/host/conform.h"

enum { STEPS = 4000, QUEUE = 8192 };

struct expected {
    uint16_t length;
    unsigned seed;
};

static struct rig r;
static struct expected coming[QUEUE], leaving[QUEUE];
static unsigned came, checked, left;
static unsigned state;
static bool held;

static void check_received(void)
{
    for (unsigned i = 0; i < r.received; i++, checked++) {
        ck_assert_uint_lt(checked, came);
        rig_expect(&r, i, coming[checked].length, coming[checked].seed);
    }
    r.received = 0;
}

static void one_comes(void)
{
    unsigned stored = r.side->stored(&r), seed = rig_random(&state);
    unsigned length =
        rig_random(&state) % 3 == 0 ? 60 + rig_random(&state) % 10 : 60 + rig_random(&state) % 1455;
    rig_receive(&r, length, seed);
    if (r.side->stored(&r) > stored) {
        coming[came++] = (struct expected){(uint16_t)length, seed};
    }
}

static bool may_collide(void)
{
    return r.cfg.rtl8139 == NULL || r.cfg.rtl8139->half;
}

static void one_goes(void)
{
    unsigned length = 14 + rig_random(&state) % 1501, seed = rig_random(&state);
    if (r.side->tx_quiet(&r) && may_collide() && rig_random(&state) % 8 == 0) {
        r.side->tx_fate(&r, FATE_COLLISIONS, 1 + rig_random(&state) % 15);
    }
    if (rig_send(&r, length, seed)) {
        leaving[left++] = (struct expected){(uint16_t)length, seed};
    }
}

static void step(void)
{
    switch (rig_random(&state) % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: one_comes(); break;
    case 5:
    case 6:
    case 7: one_goes(); break;
    case 8: rig_pump(&r); break;
    case 9: sim_run_us(rig_random(&state) % 3000); break;
    case 10:
        if (held) {
            r.side->release_tx(&r);
        } else {
            r.side->hold_tx(&r);
        }
        held = !held;
        break;
    case 11:
        for (unsigned n = rig_random(&state) % 40; n > 0; n--) {
            one_comes();
        }
        break;
    default: rig_turn(&r); break;
    }
    check_received();
}

CASE(soak)
{
    rig_up(&r, cfg);
    came = checked = left = 0;
    state = 4711;
    held = false;
    for (unsigned i = 0; i < STEPS && came < QUEUE - 64 && left < QUEUE - 64; i++) {
        step();
    }
    r.side->release_tx(&r);
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    check_received();
    r.nic->ops->service(r.nic, 0);

    const struct nic_stats *s = &r.nic->stats;
    ck_assert_uint_eq(checked, came);
    ck_assert_uint_eq(r.side->sent_count(&r), left);
    for (unsigned i = 0; i < left; i++) {
        rig_expect_sent(&r, i, leaving[i].length, leaving[i].seed);
    }
    ck_assert_uint_eq(s->rx_frames, came);
    ck_assert_uint_eq(s->rx_bytes, r.received_bytes);
    ck_assert_uint_eq(s->tx_frames, left);
    ck_assert_uint_eq(s->rx_missed, r.side->missed(&r));
    ck_assert_uint_eq(s->rx_overrun, r.side->overruns(&r));
    ck_assert_uint_eq(s->rx_resync + s->rx_length + s->rx_error + s->tx_timeout + s->dma_timeout,
                      0);
    unsigned enough = r.nic->ring_kb <= 16 ? 6 : r.nic->ring_kb <= 32 ? 1 : 0;
    ck_assert_msg(r.side->overruns(&r) >= enough && came > 500 && left > 100,
                  "the soak is too tame: %u overruns, %u in, %u out", r.side->overruns(&r), came,
                  left);
    if (rig_is_8390(cfg)) {
        ck_assert_uint_eq(s->tx_resent, r.chip->cut_short);
        ck_assert_uint_gt(r.chip->cut_short, 1);
    }
    uint64_t bursts = 0;
    for (unsigned i = 0; i < NIC_BURST_BUCKETS; i++) {
        bursts += s->rx_burst[i];
    }
    ck_assert_uint_le(bursts, came);
    ck_assert_uint_gt(bursts, 0);
    rig_down(&r);
}

/* Garbage in the ring, of every kind, mixed with good frames: no loop, no leak, no misuse, and the
 * card still works at the end. */
CASE(soak_bad_headers)
{
    rig_up(&r, cfg);
    state = 99;
    for (unsigned i = 0; i < 1500; i++) {
        if (rig_random(&state) % 3 == 0) {
            struct sim_header_damage d = {true, -1, -1, -1, -1};
            unsigned what = rig_random(&state);
            d.status = (what & 1) != 0 ? (int)(rig_random(&state) & 0xFF) : -1;
            d.next = (what & 2) != 0 ? (int)(rig_random(&state) & 0xFF) : -1;
            d.count0 = (what & 4) != 0 ? (int)(rig_random(&state) & 0xFF) : -1;
            d.count1 = (what & 8) != 0 ? (int)(rig_random(&state) & 0xFF) : -1;
            sim_corrupt_header(r.chip, d);
        }
        rig_receive(&r, 60 + rig_random(&state) % 1455, i);
        if (rig_random(&state) % 4 == 0) {
            rig_pump(&r);
        }
        r.received = 0;
    }
    r.chip->damage.on = false;
    rig_pump(&r);
    r.received = 0;
    rig_receive(&r, 222, 1);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 1);
    rig_expect(&r, 0, 222, 1);
    rig_down(&r);
}

TCase *conform_soak(void)
{
    TCase *tc = tcase_create("soak");
    tcase_set_timeout(tc, 120);
    ADD_CASE(tc, soak);
    ADD_CASE_8390(tc, soak_bad_headers, "see bad_headers_soak");
    return tc;
}
