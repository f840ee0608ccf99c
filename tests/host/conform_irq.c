/*
 * Conformance: interrupts and the halt.  ISA lines are edge-triggered and an edge that is lost is
 * lost for ever; a halt that nothing can end aborts the test.
 */
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "tests/host/conform.h"
#include "tests/host/host_support.h"

static struct rig r;

static void frame_comes(void *arg)
{
    (void)arg;
    rig_receive(&r, 77, 5);
}

/* Idle until `frames` have come, as the kernel's main loop does. */
static void live_until(unsigned frames)
{
    for (unsigned turns = 0; r.received < frames; turns++) {
        ck_assert_msg(turns < 200, "frame not delivered");
        if (!rig_turn(&r) && r.received < frames) {
            rig_idle(&r);
        }
    }
}

/* A frame at every possible bus access between waking up and halting, exhaustively. */
CASE(irq_edge_not_lost)
{
    uint64_t span = UINT64_MAX;
    for (uint64_t k = 0; k < span; k++) {
        rig_up(&r, cfg);
        rig_pump(&r);
        uint64_t begin = sim_accesses();
        sim_at_access(begin + k, frame_comes, NULL);
        unsigned halts = sim_halts();
        live_until(1);
        rig_expect(&r, 0, 77, 5);
        if (sim_halts() > halts && k > 3 && sim_accesses() - begin < k) {
            span = k; /* the frame came during the halt: all places before it are done */
        }
        ck_assert_uint_lt(k, 2000);
        rig_down(&r);
    }
    ck_assert_uint_ge(span, 2);
}

/* The same with a frame being worked on, so that the second comes in every phase of the receive
 * burst; and with one being sent. */
CASE(irq_during_remote_dma)
{
    uint64_t span = UINT64_MAX;
    for (uint64_t k = 0; k < span; k++) {
        rig_up(&r, cfg);
        unsigned taken = irq_count(RIG_IRQ);
        rig_receive(&r, 64, 1);
        uint64_t begin = sim_accesses();
        sim_at_access(begin + k, frame_comes, NULL);
        rig_pump(&r);
        ck_assert(rig_send(&r, 80, 2));
        ck_assert_msg(irq_count(RIG_IRQ) == taken, "interrupted outside the halt");
        if (sim_accesses() - begin < k) {
            span = k;
        }
        live_until(2);
        ck_assert(rig_drain(&r));
        rig_expect(&r, 0, 64, 1);
        rig_expect(&r, 1, 77, 5);
        rig_expect_sent(&r, 0, 80, 2);
        ck_assert_uint_lt(k, 2000);
        rig_down(&r);
    }
}

CASE(irq_counts)
{
    rig_up(&r, cfg);
    unsigned before = r.nic->stats.irqs;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t frame[60];
        rig_frame(frame, sizeof frame, i);
        rig_pump(&r);
        r.side->receive_at(&r, sim_now_ns() + 100000, frame, sizeof frame);
        ck_assert(rig_idle(&r));
        ck_assert_uint_eq(r.side->mask(&r), 0);
        ck_assert(!r.nic->armed);
        ck_assert_uint_eq(r.nic->stats.irq_lost, 0);
        rig_pump(&r);
    }
    ck_assert_uint_eq(r.received, 5);
    ck_assert_uint_eq(r.nic->stats.irqs - before, 5);
    ck_assert_uint_eq(irq_unclaimed(RIG_IRQ), 0);
    ck_assert_uint_eq(irq_spurious(), 0);
    rig_down(&r);
}

/* The handler's part: claim, mask at the chip, name the cause; and nothing if nothing was asked. */
CASE(irq_ack_masks)
{
    rig_up(&r, cfg);
    r.rtl.used_unmasked = true; /* the handler is played by us */
    cpu_cli();
    ck_assert(nics_arm());
    ck_assert_uint_ne(r.side->mask(&r), 0);
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), 0);
    rig_receive(&r, 60, 1);
    ck_assert(sim_irq_line(RIG_IRQ));
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), EV_RX);
    ck_assert_uint_eq(r.side->mask(&r), 0);
    ck_assert(!sim_irq_line(RIG_IRQ));
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), 0);
    ck_assert_msg((r.nic->ops->poll(r.nic) & EV_RX) != 0,
                  "the status is the main loop's to acknowledge");
    nics_disarm();
    cpu_sti();
    rig_pump(&r);
    rig_expect(&r, 0, 60, 1);
    rig_down(&r);
}

/* Frames a bounded burst left in the ring set no status any more: they keep us from halting. */
CASE(rest_of_burst_refuses_rearm)
{
    struct frame *one[1];
    rig_up(&r, cfg);
    for (unsigned i = 0; i < 3; i++) {
        rig_receive(&r, 60, i);
    }
    ck_assert_uint_eq(r.nic->ops->rx_burst(r.nic, one, 1), 1);
    frame_free(one[0]);
    rig_rx_done(r.nic);
    ck_assert(!rig_idle(&r));
    ck_assert_uint_eq(r.side->mask(&r), 0);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 2);
    rig_down(&r);
}

static void two_more_come(void *arg)
{
    (void)arg;
    rig_receive(&r, 72, 2);
    rig_receive(&r, 73, 3);
}

/* Two frames, and two more at bus access `k` of a burst of three: is one left in the ring whose
 * status the burst has acknowledged already? */
static bool burst_of_three(const struct rig_card *cfg, uint64_t k, bool *done)
{
    struct frame *some[3];
    bool silent = false;
    rig_up(&r, cfg);
    rig_receive(&r, 70, 0);
    rig_receive(&r, 71, 1);
    uint64_t begin = sim_accesses();
    sim_at_access(begin + k, two_more_come, NULL);
    unsigned got = r.nic->ops->rx_burst(r.nic, some, 3);
    *done = sim_accesses() - begin <= k && sim_fire_access_event();
    for (unsigned i = 0; i < got; i++) {
        ck_assert_uint_eq(some[i]->length, 70 + i);
        frame_free(some[i]);
    }
    rig_rx_done(r.nic);
    silent = got == 3 && cfg->rtl8139 != NULL && (r.rtl.isr & L_ROK) == 0;
    ck_assert_msg((r.nic->ops->poll(r.nic) & EV_RX) != 0, "%u of 4 frames forgotten", 4 - got);
    ck_assert_msg(!rig_idle(&r), "armed with %u frames in the ring", 4 - got);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 4 - got);
    rig_expect(&r, 3 - got, 73, 3);
    rig_down(&r);
    return silent;
}

/* A burst ended at its limit may have acknowledged what it leaves behind.  Of the RTL8139 the
 * status is clear then, and the card must say by itself that frames are waiting. */
CASE(burst_limit_leaves_frames)
{
    unsigned silent = 0;
    bool done = false;
    for (uint64_t k = 0; !done; k++) {
        silent += burst_of_three(cfg, k, &done);
        ck_assert_uint_lt(k, 2000);
    }
    ck_assert_msg(cfg->rtl8139 == NULL || silent > 0, "the case it is about did not happen");
}

/* The end of a remote DMA sets a bit too, and a handler on a shared line is asked at any time: it
 * is no interrupt of ours unless it is unmasked. */
CASE(dma_end_not_claimed)
{
    rig_up(&r, cfg);
    rig_pump(&r);
    ck_assert(rig_send(&r, 100, 1)); /* its remote write has set RDC */
    ck_assert(rig_drain(&r));
    sim_chip_set_isr(r.chip, N_RDC);
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), 0);
    cpu_cli();
    ck_assert_msg(nics_arm(), "the end of a DMA keeps us from halting");
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "the end of a DMA interrupts");
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), 0);
    ck_assert_uint_ne(r.chip->imr, 0);
    rig_receive(&r, 60, 1);
    ck_assert_uint_eq(r.nic->ops->irq_ack(r.nic), EV_RX);
    nics_disarm();
    cpu_sti();
    rig_pump(&r);
    rig_expect(&r, 0, 60, 1);
    rig_down(&r);
}

/* The tick ended the halt, and the card's interrupt is on its way: let in, not counted as lost. */
CASE(irq_under_way_at_tick)
{
    rig_up(&r, cfg);
    for (unsigned i = 0; i < 5; i++) {
        unsigned before = r.nic->stats.irqs;
        rig_pump(&r);
        cpu_cli();
        ck_assert(nics_arm());
        rig_receive(&r, 60, i); /* latched: interrupts are disabled */
        ck_assert_uint_eq(r.nic->stats.irqs, before);
        nics_check_lost();
        ck_assert_uint_eq(r.nic->stats.irqs, before + 1);
        ck_assert_uint_ne(r.nic->pending & EV_RX, 0);
        ck_assert_uint_eq(r.nic->stats.irq_lost, 0);
        ck_assert_msg(!sim_irq_enabled(), "left with interrupts enabled");
        nics_disarm();
        cpu_sti();
    }
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 5);
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    rig_down(&r);
}

static void tally_fills(void *arg)
{
    (void)arg;
    sim_raise_tally(r.chip, TALLY_MISSED, 130);
}

/* A tally at its alarm, and a transmission that ends, wake us too. */
CASE(rare_events_wake)
{
    rig_up(&r, cfg);
    sim_at(sim_now_ns() + 5000000, tally_fills, NULL);
    ck_assert(rig_idle(&r));
    rig_pump(&r);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 130);
    ck_assert(rig_send(&r, FRAME_MAX, 1));
    ck_assert(rig_idle(&r));
    rig_pump(&r);
    ck_assert(r.nic->ops->tx_idle(r.nic));
    ck_assert_uint_eq(r.nic->stats.tx_frames, 1);
    rig_down(&r);
}

/* Whatever ends the halt, the card is masked first. */
CASE(tick_wakes)
{
    rig_up(&r, cfg);
    sim_tick(10000);
    for (unsigned i = 0; i < 20; i++) {
        rig_pump(&r);
        ck_assert(rig_idle(&r));
        ck_assert_uint_eq(r.side->mask(&r), 0);
    }
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    ck_assert_uint_eq(r.nic->stats.irq_lost, 0);
    sim_tick(0);
    rig_down(&r);
}

/* Another device on the line: not ours, and nothing happens.  (On a level line: storm_*.) */
CASE(foreign_irq)
{
    int other;
    if (cfg->rtl8139 != NULL && cfg->rtl8139->level) {
        return;
    }
    rig_up(&r, cfg);
    unsigned before = irq_unclaimed(RIG_IRQ), own = r.nic->stats.irqs;
    sim_irq_drive(RIG_IRQ, &other, true);
    sim_irq_deliver();
    sim_irq_drive(RIG_IRQ, &other, false);
    ck_assert_uint_eq(irq_unclaimed(RIG_IRQ), before + 1);
    ck_assert_uint_eq(r.nic->stats.irqs, own);
    ck_assert_uint_eq(r.nic->pending, 0);
    rig_receive(&r, 70, 1);
    rig_pump(&r);
    rig_expect(&r, 0, 70, 1);
    rig_down(&r);
}

/* With two cards, one that has work keeps both from being armed, and both end up masked. */
CASE(second_card_refuses_rearm)
{
    static struct sim_card second;
    uint8_t frame[60];
    rig_up(&r, cfg);
    nics_close();
    r.side->unplug(&r);
    sim_reset();
    memset(nics, 0, sizeof nics);
    nic_count = 0;
    r.side->plug(&r);
    sim_card_plug(&second, &sim_cards[0], 0x320, 11);
    nics_init();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert_int_eq(nics[0].irq, RIG_IRQ);
    ck_assert_int_eq(nics[1].irq, 11);
    rig_frame(frame, sizeof frame, 1);
    for (unsigned busy = 0; busy < 2; busy++) {
        sim_receive(busy == 0 ? r.chip : &second.chip, frame, sizeof frame);
        cpu_cli();
        ck_assert_msg(!nics_arm(), "armed with work waiting on card %u", busy);
        cpu_sti();
        ck_assert_uint_eq(r.chip->imr | second.chip.imr, 0);
        ck_assert(!sim_irq_line(RIG_IRQ) && !sim_irq_line(11));
        struct frame *out[1];
        ck_assert_uint_eq(nics[busy].ops->rx_burst(&nics[busy], out, 1), 1);
        frame_free(out[0]);
        rig_rx_done(&nics[busy]);
        nics[busy].ops->poll(&nics[busy]);
    }
    cpu_cli();
    ck_assert(nics_arm());
    nics_disarm();
    cpu_sti();
    sim_card_free(&second);
    rig_down(&r);
}

/* The line breaks: after three wake-ups with status set and no interrupt we poll, and say so. */
CASE(irq_lost_falls_back)
{
    uint8_t frame[60];
    rig_up(&r, cfg);
    rig_frame(frame, sizeof frame, 1);
    r.side->move_irq(&r, 15);
    sim_tick(10000);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(r.nic->mode == NIC_MODE_IRQ);
        rig_pump(&r);
        r.side->receive_at(&r, sim_now_ns() + 500000, frame, sizeof frame);
        ck_assert(rig_idle(&r));
    }
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    ck_assert_uint_ge(r.nic->stats.irq_lost, 1);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_lost\""), 1);
    ck_assert(!nics_may_halt());
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 3);
    sim_tick(0);
    rig_down(&r);
}

/* Frames in the ring, one waiting to be sent, armed: close makes it quiet, and open works again. */
CASE(close_is_quiet)
{
    rig_up(&r, cfg);
    r.side->hold_tx(&r);
    ck_assert(rig_send(&r, 60, 1));
    rig_receive(&r, 60, 1);
    cpu_cli();
    r.nic->ops->irq_provoke(r.nic);
    r.nic->ops->close(r.nic);
    ck_assert(!sim_irq_line(RIG_IRQ));
    cpu_sti();
    ck_assert(r.side->at_rest(&r));
    ck_assert_uint_eq(r.side->mask(&r), 0);
    unsigned stored = r.side->stored(&r);
    r.side->release_tx(&r);
    for (unsigned i = 0; i < 100; i++) {
        rig_receive(&r, 100, i);
        sim_run_us(100);
    }
    ck_assert_uint_eq(r.side->stored(&r), stored);
    ck_assert_uint_eq(r.side->sent_count(&r), 0);
    ck_assert(!sim_irq_line(RIG_IRQ));
    r.nic->ops->close(r.nic); /* safe in any state */
    ck_assert_int_eq(r.nic->ops->open(r.nic), 0);
    rig_receive(&r, 101, 4);
    rig_pump(&r);
    rig_expect(&r, 0, 101, 4);
    ck_assert(rig_send(&r, 62, 6));
    ck_assert(rig_drain(&r));
    rig_expect_sent(&r, 0, 62, 6);
    rig_down(&r);
}

/* What ends while it closes does not interrupt any more. */
CASE(close_masks_first)
{
    rig_up(&r, cfg);
    ck_assert(rig_send(&r, FRAME_MAX, 1));
    cpu_cli();
    ck_assert(nics_arm());
    cpu_sti();
    unsigned before = irq_count(RIG_IRQ);
    r.nic->ops->close(r.nic);
    ck_assert_uint_eq(irq_count(RIG_IRQ), before);
    /* The 8390 lets go what is on the wire; the RTL8139 is reset. */
    ck_assert_uint_eq(r.side->sent_count(&r), rig_is_8390(cfg));
    rig_down(&r);
}

TCase *conform_irq(void)
{
    TCase *tc = tcase_create("irq");
    tcase_set_timeout(tc, 60);
    ADD_CASE(tc, irq_edge_not_lost);
    ADD_CASE(tc, irq_during_remote_dma);
    ADD_CASE(tc, irq_counts);
    ADD_CASE(tc, irq_ack_masks);
    ADD_CASE(tc, rest_of_burst_refuses_rearm);
    ADD_CASE(tc, burst_limit_leaves_frames);
    ADD_CASE_8390(tc, dma_end_not_claimed, "no remote DMA");
    ADD_CASE(tc, irq_under_way_at_tick);
    ADD_CASE_8390(tc, rare_events_wake, "no tallies that interrupt; see missed_counter");
    ADD_CASE(tc, tick_wakes);
    ADD_CASE(tc, foreign_irq);
    ADD_CASE_8390(tc, second_card_refuses_rearm, "see two_cards_two_lines");
    ADD_CASE(tc, irq_lost_falls_back);
    ADD_CASE(tc, close_is_quiet);
    ADD_CASE(tc, close_masks_first);
    return tc;
}
