/*
 * Conformance: what only an RTL8139 has beside its ring: four descriptors, a link, a PCI bus.
 */
#include <string.h>

#include "tests/host/conform.h"
#include "tests/host/host_support.h"

static struct rig r;

static void expect_working(void)
{
    r.received = 0;
    rig_receive(&r, 700, 1);
    rig_pump(&r);
    rig_expect(&r, 0, 700, 1);
    unsigned sent = r.rtl.sent_count;
    ck_assert(rig_send(&r, 100, 2));
    ck_assert(rig_drain(&r));
    rig_expect_sent(&r, sent, 100, 2);
}

/* ---- transmit ---- */

/* Any number of frames in any rhythm: the model aborts at a descriptor out of turn. */
CASE(tx_four_in_turn)
{
    unsigned state = 5, sent = 0, refused = 0;
    rig_up(&r, cfg);
    while (sent < 300) {
        if (rig_send(&r, 60 + sent, sent)) {
            sent++;
        } else {
            refused++;
            sim_run_us(rig_random(&state) % 400);
        }
        if (rig_random(&state) % 5 == 0) {
            rig_turn(&r);
        }
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.rtl.sent_count, sent);
    for (unsigned i = 0; i < sent; i++) {
        rig_expect_sent(&r, i, 60 + i, i);
    }
    rig_down(&r);
}

CASE(tx_underrun_raises_threshold)
{
    rig_up(&r, cfg);
    ck_assert(rig_send(&r, 1000, 0));
    ck_assert(rig_drain(&r));
    unsigned first = r.rtl.highest_threshold, last = first;
    ck_assert_uint_gt(first, 0);
    for (unsigned i = 0; i < 70; i++) {
        r.rtl.fate = FATE_UNDERRUN;
        ck_assert(rig_send(&r, 1000, i));
        ck_assert(rig_drain(&r));
        ck_assert(rig_send(&r, 100, i));
        ck_assert(rig_drain(&r));
        unsigned now = r.rtl.highest_threshold;
        ck_assert_msg(i > 20 || now > last, "threshold still %u after %u underruns", now, i + 1);
        last = now;
    }
    ck_assert_uint_ge(last, 0x3E);
    ck_assert_uint_eq(r.nic->stats.tx_underrun, 70);
    ck_assert_uint_eq(r.nic->stats.tx_frames, r.rtl.sent_count);
    rig_down(&r);
}

/* The transmitter stands still after 16 collisions; the frame, and those behind it, go out once
 * each, in order, after CLRABT. */
CASE(tx_abort_clrabt)
{
    rig_up(&r, cfg);
    for (unsigned first = 0; first < 8; first++) {
        unsigned before = r.rtl.sent_count;
        r.rtl.fate = FATE_ABORT;
        for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
            ck_assert(rig_send(&r, 200 + i, i));
        }
        ck_assert(rig_drain(&r));
        ck_assert_uint_eq(r.rtl.sent_count, before + L_DESCRIPTORS);
        for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
            rig_expect_sent(&r, before + i, 200 + i, i);
        }
        ck_assert(rig_send(&r, 99, 9)); /* so that the next round begins at another descriptor */
        ck_assert(rig_drain(&r));
    }
    ck_assert_uint_eq(r.nic->stats.tx_abort, 8);
    ck_assert_uint_eq(r.rtl.aborts, 8);
    ck_assert_uint_eq(r.nic->stats.tx_frames, r.rtl.sent_count);
    ck_assert_uint_eq(r.nic->stats.tx_timeout, 0);
    rig_down(&r);
}

CASE(carrier_lost_ignored_at_100)
{
    rig_up(&r, cfg);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert(rig_send(&r, 100, i));
        ck_assert(rig_drain(&r));
        ck_assert(cfg->rtl8139->ten || (r.rtl.slot[i % L_DESCRIPTORS].tsd & L_CRS) != 0);
    }
    ck_assert_uint_eq(r.nic->stats.tx_carrier, 0);
    ck_assert_uint_eq(r.nic->stats.tx_frames, 10);
    rig_down(&r);
}

/* ---- the rest of the chip ---- */

CASE(link_comes_and_goes)
{
    rig_up(&r, cfg);
    ck_assert(r.nic->link);
    ck_assert_uint_eq(r.nic->link_kbit, cfg->rtl8139->ten ? 10000 : 100000);
    ck_assert(r.nic->full_duplex == !cfg->rtl8139->half);
    sim_rtl_set_link(&r.rtl, false);
    rig_pump(&r);
    ck_assert(!r.nic->link);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"link_down\""), 1);
    sim_rtl_set_link(&r.rtl, true);
    rig_pump(&r);
    ck_assert(r.nic->link);
    r.rtl.link = false; /* and without an interrupt: seen within a second */
    r.nic->ops->service(r.nic, 0);
    ck_assert(!r.nic->link);
    ck_assert_uint_eq(r.rtl.isr, 0);
    rig_down(&r);
}

CASE(system_error_restarts)
{
    rig_up(&r, cfg);
    sim_rtl_system_error(&r.rtl);
    rig_pump(&r);
    ck_assert(r.side->online(&r));
    expect_working();
    rig_down(&r);
}

/* Reserved bits of a register that is only half ours stay as they were. */
CASE(reserved_bits_kept)
{
    rig_up(&r, cfg);
    ck_assert_uint_eq(r.rtl.mulint, 0xA000);
    rig_down(&r);
}

/* Nobody answers any more (pulled out, power gone): bounded, no frames, no storm. */
CASE(card_gone)
{
    rig_up(&r, cfg);
    r.rtl.cfg.all_ones = true;
    uint64_t begin = sim_now_ns();
    for (unsigned i = 0; i < 20; i++) {
        rig_turn(&r);
        rig_send(&r, 100, 1);
    }
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_lt(sim_now_ns() - begin, 3000000000U);
    ck_assert_uint_eq(r.received, 0);
    nics_close();
    r.side->unplug(&r);
}

TCase *conform_8139(void)
{
    TCase *tc = tcase_create("8139");
    tcase_set_timeout(tc, 120);
    ADD_CASE_8139(tc, tx_four_in_turn, "no descriptors");
    ADD_CASE_8139(tc, tx_underrun_raises_threshold, "no threshold: the frame is in card memory");
    ADD_CASE_8139(tc, tx_abort_clrabt, "an abort does not stop it");
    ADD_CASE_8139(tc, carrier_lost_ignored_at_100, "10 Mbit/s only");
    ADD_CASE_8139(tc, link_comes_and_goes, "cannot tell");
    ADD_CASE_8139(tc, system_error_restarts, "no PCI");
    ADD_CASE_8139(tc, reserved_bits_kept, "no such register");
    ADD_CASE_8139(tc, card_gone, "bounded by dma_dead");
    return tc;
}
