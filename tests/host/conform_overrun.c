/*
 * Conformance: ring overruns, cured by the data sheet's procedure (ch. 7).  The chip aborts on any
 * other order and stays deaf without it.
 */
#include <string.h>

#include "tests/host/conform.h"

static struct rig r;

/* The frames of sim_fill_ring() came out in order, and only they. */
static void expect_filled(unsigned first, unsigned stored, unsigned length)
{
    ck_assert_uint_eq(r.received, first + stored);
    for (unsigned i = 0; i < stored && first + i < RIG_KEPT; i++) {
        const struct sim_frame *f = &r.kept[first + i];
        ck_assert_uint_eq(f->length, length);
        ck_assert_uint_eq(f->data[14] | f->data[15] << 8, i);
    }
}

static void expect_hearing(unsigned overruns)
{
    ck_assert_uint_eq(r.nic->stats.rx_overrun, overruns);
    ck_assert_uint_eq(r.chip->overruns_cured, overruns);
    ck_assert_uint_eq(r.chip->hardware_resets, 1); /* the one of the probe, or of open */
    r.received = 0;
    rig_receive(&r, 99, 5);
    rig_pump(&r);
    rig_expect(&r, 0, 99, 5);
}

CASE(overrun_idle)
{
    static const unsigned lengths[] = {60, 240, 300, 700, FRAME_MAX};
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    for (unsigned i = 0; i < 5; i++) {
        r.received = 0;
        unsigned stored = r.side->fill_ring(&r, lengths[i]);
        for (unsigned n = 0; n < 3; n++) {
            rig_receive(&r, 60, 0); /* missed: the chip is deaf */
        }
        rig_pump(&r);
        expect_filled(0, stored, lengths[i]);
        expect_hearing(i + 1);
    }
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, r.side->missed(&r));
    ck_assert_uint_eq(r.side->missed(&r), 5 * 4);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

/* Frames that come while the procedure is under way. */
CASE(overrun_under_load)
{
    uint8_t frame[300];
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    unsigned stored = r.side->fill_ring(&r, 300);
    rig_frame(frame, sizeof frame, 1);
    for (unsigned i = 0; i < 40; i++) {
        r.side->receive_at(&r, sim_now_ns() + i * 270000ULL, frame, sizeof frame);
    }
    for (unsigned i = 0; i < 400; i++) {
        rig_turn(&r);
        sim_run_us(50);
    }
    rig_pump(&r);
    ck_assert_uint_ge(r.received, stored);
    ck_assert_uint_eq(r.received, r.side->stored(&r));
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, r.side->missed(&r));
    expect_hearing(r.side->overruns(&r));
    rig_down(&r);
}

/* A frame that waits for the medium when the chip is stopped goes out afterwards, exactly once. */
CASE(overrun_mid_tx)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    r.side->hold_tx(&r);
    ck_assert(rig_send(&r, 60, 1));
    unsigned stored = r.side->fill_ring(&r, 60);
    rig_pump(&r);
    r.side->release_tx(&r);
    ck_assert(rig_drain(&r));
    expect_filled(0, stored, 60);
    ck_assert_uint_eq(r.nic->stats.tx_resent, 1);
    ck_assert_uint_eq(r.side->sent_count(&r), 1);
    ck_assert_uint_eq(r.chip->cut_short, 1);
    rig_expect_sent(&r, 0, 60, 1);
    ck_assert_uint_eq(r.nic->stats.tx_frames, 1);
    expect_hearing(1);
    rig_down(&r);
}

/* The same with both slots filled: both, once, in order. */
CASE(overrun_two_slots)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    r.side->hold_tx(&r);
    ck_assert(rig_send(&r, 200, 1));
    ck_assert(rig_send(&r, 300, 2));
    r.side->fill_ring(&r, 1000);
    rig_pump(&r);
    r.side->release_tx(&r);
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), 2);
    rig_expect_sent(&r, 0, 200, 1);
    rig_expect_sent(&r, 1, 300, 2);
    ck_assert_uint_eq(r.nic->stats.tx_resent, 1);
    ck_assert_uint_eq(r.nic->stats.tx_frames, 2);
    expect_hearing(1);
    rig_down(&r);
}

/* A frame on the wire is finished by the chip and must not go out twice. */
CASE(overrun_tx_on_wire)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    ck_assert(rig_send(&r, FRAME_MAX, 1));
    ck_assert(rig_send(&r, 100, 2));
    r.side->fill_ring(&r, 60);
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), 2);
    rig_expect_sent(&r, 0, FRAME_MAX, 1);
    rig_expect_sent(&r, 1, 100, 2);
    ck_assert_uint_eq(r.nic->stats.tx_resent, 0);
    ck_assert_uint_eq(r.nic->stats.tx_frames, 2);
    expect_hearing(1);
    rig_down(&r);
}

/* A frame that is given up during the wait was not cut short. */
CASE(overrun_tx_aborted)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    r.side->tx_fate(&r, FATE_ABORT, 0);
    ck_assert(rig_send(&r, FRAME_MAX, 1));
    r.side->fill_ring(&r, 60);
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), 0);
    ck_assert_uint_eq(r.nic->stats.tx_resent, 0);
    ck_assert_uint_eq(r.nic->stats.tx_abort, 1);
    expect_hearing(1);
    rig_down(&r);
}

/* Frames offered for transmission while the ring drains go out afterwards. */
CASE(overrun_then_send)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    r.side->fill_ring(&r, 60);
    rig_turn(&r);
    bool taken = rig_send(&r, 90, 1);
    rig_pump(&r);
    if (!taken) {
        ck_assert(rig_send(&r, 90, 1));
    }
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), 1);
    rig_expect_sent(&r, 0, 90, 1);
    expect_hearing(1);
    rig_down(&r);
}

/* No buffer to drain into: nothing can be removed, so the cure waits, and is then completed. */
CASE(overrun_with_pool_empty)
{
    struct frame *all[RIG_POOL];
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    for (unsigned i = 0; i < RIG_POOL; i++) {
        all[i] = frame_alloc();
    }
    unsigned stored = r.side->fill_ring(&r, 60);
    r.side->hold_tx(&r);
    bool taken = rig_send(&r, 60, 9);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 0);
    sim_run_us(50000);
    for (unsigned i = 0; i < 50; i++) {
        rig_turn(&r);
    }
    r.side->release_tx(&r);
    for (unsigned i = 0; i < RIG_POOL; i++) {
        frame_free(all[i]);
    }
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    expect_filled(0, stored, 60);
    ck_assert_uint_eq(r.side->sent_count(&r), taken);
    expect_hearing(1);
    rig_down(&r);
}

/* While the cure waits for buffers the chip is in loopback: a transmission that ended is reclaimed,
 * but the next one may not be started yet. */
CASE(overrun_pool_empty_two_slots)
{
    struct frame *all[RIG_POOL];
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    for (unsigned i = 0; i < RIG_POOL; i++) {
        all[i] = frame_alloc();
    }
    ck_assert(rig_send(&r, FRAME_MAX, 1));
    ck_assert(rig_send(&r, 100, 2));
    unsigned stored = r.side->fill_ring(&r, 60);
    for (unsigned i = 0; i < 20; i++) {
        rig_turn(&r);
        rig_send(&r, 90, 3);
        r.nic->ops->tx_idle(r.nic);
        r.nic->ops->service(r.nic, 0);
    }
    ck_assert_uint_eq(r.side->sent_count(&r), 1);
    for (unsigned i = 0; i < RIG_POOL; i++) {
        frame_free(all[i]);
    }
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    expect_filled(0, stored, 60);
    rig_expect_sent(&r, 0, FRAME_MAX, 1);
    rig_expect_sent(&r, 1, 100, 2);
    ck_assert_uint_eq(r.nic->stats.tx_resent, 0);
    expect_hearing(1);
    rig_down(&r);
}

/* A bad header inside the drain. */
CASE(overrun_with_bad_header)
{
    rig_up(&r, cfg);
    rig_receive(&r, 60, 1);
    sim_corrupt_header(r.chip, (struct sim_header_damage){true, -1, 0x02, -1, -1});
    r.side->fill_ring(&r, 60);
    rig_pump(&r);
    rig_expect(&r, 0, 60, 1);
    ck_assert_uint_eq(r.nic->stats.rx_overrun, 1);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 1);
    ck_assert(r.chip->overrun == OVERRUN_NONE);
    for (unsigned i = 0; i < 60; i++) {
        r.received = 0;
        rig_receive(&r, 300, i);
        rig_pump(&r);
        rig_expect(&r, 0, 300, i);
    }
    rig_down(&r);
}

/* Closing in the middle of it. */
CASE(overrun_then_close)
{
    rig_up(&r, cfg);
    r.side->hold_tx(&r);
    ck_assert(rig_send(&r, 60, 1));
    r.side->fill_ring(&r, 60);
    r.nic->ops->poll(r.nic);
    rig_down(&r);
}

/* Interrupts: an overrun ends the halt. */
CASE(overrun_wakes)
{
    rig_up(&r, cfg);
    r.chip->hardware_resets = 1;
    rig_pump(&r);
    uint8_t frame[60];
    rig_frame(frame, sizeof frame, 1);
    unsigned stored = r.side->fill_ring(&r, 60);
    while (!rig_idle(&r)) { /* refuses until the work is done */
        rig_pump(&r);
        r.side->receive_at(&r, sim_now_ns() + 5000000, frame, sizeof frame);
    }
    rig_pump(&r);
    ck_assert_uint_eq(r.received, stored + 1);
    expect_hearing(1);
    rig_down(&r);
}

TCase *conform_overrun(void)
{
    TCase *tc = tcase_create("overrun");
    tcase_set_timeout(tc, 60);
    const char *why = "the procedure of the DP8390; see overflow_*";
    ADD_CASE_8390(tc, overrun_idle, why);
    ADD_CASE_8390(tc, overrun_under_load, why);
    ADD_CASE_8390(tc, overrun_mid_tx, why);
    ADD_CASE_8390(tc, overrun_two_slots, why);
    ADD_CASE_8390(tc, overrun_tx_on_wire, why);
    ADD_CASE_8390(tc, overrun_tx_aborted, why);
    ADD_CASE_8390(tc, overrun_then_send, why);
    ADD_CASE_8390(tc, overrun_with_pool_empty, why);
    ADD_CASE_8390(tc, overrun_pool_empty_two_slots, why);
    ADD_CASE_8390(tc, overrun_with_bad_header, why);
    ADD_CASE_8390(tc, overrun_then_close, why);
    ADD_CASE_8390(tc, overrun_wakes, why);
    return tc;
}
