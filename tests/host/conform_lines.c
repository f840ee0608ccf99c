/*
 * Conformance: lines that are shared, level-triggered, broken or storming, and the six ways of
 * serving them (SEEDS.md 3).
 */
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "tests/host/conform.h"
#include "tests/host/host_support.h"

enum { TICK_US = 10000, SECOND_BASE = 0xE100, SECOND_DEVICE = 11 };

static struct rig r;

static bool is_level(const struct rig_card *cfg)
{
    return cfg->rtl8139 != NULL && cfg->rtl8139->level;
}

static void frame_comes(void *arg)
{
    (void)arg;
    rig_receive(&r, 77, 5);
}

/* The halt of kernel/kmain.c. */
static void idle(void)
{
    unsigned ticks = irq_count(0);
    rig_idle(&r);
    if (irq_count(0) != ticks) {
        nics_check_lost();
    }
}

/* Turn and halt until so many frames came and went, as the kernel does. */
static void live_until(unsigned received, unsigned sent)
{
    for (unsigned turns = 0;
         r.received < received || r.side->sent_count(&r) < sent || !r.nic->ops->tx_idle(r.nic);
         turns++) {
        ck_assert_msg(turns < 1000, "%u frames received, %u sent: stalled", r.received,
                      r.side->sent_count(&r));
        if (rig_turn(&r)) {
            continue;
        }
        if (nics_may_halt()) {
            idle();
        } else {
            sim_run_us(50);
        }
    }
}

/* ---- the six structures ---- */

struct structure {
    bool txirq, txpoll, loopirq, looppoll;
};

static const struct structure structures[] = {
    {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}, {1, 1, 1, 1}, {1, 1, 1, 0},
};

static void up_with(const struct rig_card *cfg, const struct structure *s)
{
    rig_machine(&r, cfg);
    options.txirq = s->txirq;
    options.txpoll = s->txpoll;
    options.loopirq = s->loopirq;
    options.looppoll = s->looppoll;
    r.rtl.used_unmasked = r.card.chip.used_unmasked = s->txirq;
    rig_find(&r);
    ck_assert(nic_count == 1 && r.nic->mode == NIC_MODE_IRQ);
}

/* Frames to send, and one that comes at bus access k; returns the interrupts lost.  Without a tick
 * a lost interrupt is a halt for ever, which ends the test. */
static unsigned one_comes_at(const struct rig_card *cfg, const struct structure *s, bool tick,
                             uint64_t k, bool *done)
{
    enum { FRAMES = 3 };
    up_with(cfg, s);
    if (tick) {
        sim_tick(TICK_US);
    }
    uint64_t begin = sim_accesses();
    *done = false;
    sim_at_access(begin + k, frame_comes, NULL);
    for (unsigned i = 0; i < FRAMES;) {
        if (rig_send(&r, 60 + i, i)) {
            i++;
        } else {
            live_until(0, i);
        }
    }
    if (tick) { /* there is always something to wait for, so access k may never come */
        live_until(0, FRAMES);
        *done = sim_fire_access_event();
    }
    live_until(1, FRAMES);
    *done |= sim_accesses() - begin < k;
    rig_expect(&r, 0, 77, 5);
    for (unsigned i = 0; i < FRAMES; i++) {
        rig_expect_sent(&r, i, 60 + i, i);
    }
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    unsigned lost = r.nic->stats.irq_lost;
    sim_tick(0);
    rig_down(&r);
    return lost;
}

/* One board of the 8390 will do: they differ in other things, and take long. */
static bool is_another_8390(const struct rig_card *cfg)
{
    return cfg->ne2000 != NULL && cfg->ne2000 != &sim_cards[0];
}

CASE(structures_lose_nothing)
{
    if (is_another_8390(cfg)) {
        return;
    }
    unsigned first = is_level(cfg) ? 0 : 1; /* on a level line not even the first one can */
    for (unsigned i = first; i < sizeof structures / sizeof structures[0]; i++) {
        bool done = false;
        for (uint64_t k = 0; !done; k++) {
            unsigned lost = one_comes_at(cfg, &structures[i], false, k, &done);
            ck_assert_uint_eq(lost, 0);
            ck_assert_uint_lt(k, 2000);
        }
    }
}

/* Transmit completion in the handler only, one pass, edge-triggered: it does lose interrupts, and
 * the tick finds every one of them; nothing but time is lost. */
CASE(structure_that_loses)
{
    if (is_level(cfg) || is_another_8390(cfg)) {
        return;
    }
    unsigned lost = 0;
    bool done = false;
    for (uint64_t k = 0; !done; k++) {
        lost += one_comes_at(cfg, &structures[0], true, k, &done);
        ck_assert_uint_lt(k, 2000);
    }
    ck_assert_msg(lost > 0, "the broken structure lost nothing: the model is too kind");
}

/* Switching while frames are on their way. */
CASE(structures_switched)
{
    unsigned state = 3, sent = 0, came = 0;
    up_with(cfg, &structures[1]);
    sim_tick(TICK_US);
    for (unsigned i = 0; i < 200; i++) {
        const struct structure *s = &structures[rig_random(&state) % 6];
        bool was = options.txirq;
        r.rtl.used_unmasked = r.card.chip.used_unmasked = was || s->txirq;
        options.txirq = s->txirq;
        options.txpoll = s->txpoll;
        options.loopirq = s->loopirq;
        options.looppoll = s->looppoll;
        if (was != options.txirq) {
            nics_set_polling(false);
        }
        r.rtl.used_unmasked = r.card.chip.used_unmasked = s->txirq;
        rig_receive(&r, 100 + i, i);
        came++;
        sent += rig_send(&r, 100 + i, sent);
        if (rig_random(&state) % 2 == 0) {
            live_until(came, sent);
        }
    }
    live_until(came, sent);
    for (unsigned i = 0; i < came; i++) {
        rig_expect(&r, i, 100 + i, i);
    }
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    sim_tick(0);
    rig_down(&r);
}

/* ---- broken lines ---- */

/* A frame during the halt, woken by the tick or by the card. */
static void one_while_halted(unsigned index)
{
    uint8_t frame[60];
    rig_frame(frame, sizeof frame, index);
    rig_pump(&r);
    r.side->receive_at(&r, sim_now_ns() + 500000, frame, sizeof frame);
    unsigned before = r.received;
    for (unsigned i = 0; i < 3 && r.received == before; i++) { /* a tick may come first */
        if (nics_may_halt()) {
            idle();
        } else {
            sim_run_us(1000);
        }
        rig_pump(&r);
    }
}

static void pass_seconds(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sim_run_us(1000000);
        rig_pump(&r);
    }
}

/* Three edges swallowed: polling; after 10 s the line is tried again, and is good. */
CASE(lost_edges_then_retry)
{
    rig_up(&r, cfg);
    sim_tick(TICK_US);
    sim_irq_lose_edges(RIG_IRQ, 3);
    for (unsigned i = 0; i < 3; i++) {
        one_while_halted(i);
    }
    ck_assert_uint_eq(r.received, 3);
    if (is_level(cfg)) { /* has no edges to lose */
        ck_assert(r.nic->mode == NIC_MODE_IRQ);
        ck_assert_uint_eq(r.nic->stats.irq_lost, 0);
        sim_tick(0);
        rig_down(&r);
        return;
    }
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    ck_assert_uint_eq(r.nic->stats.irq_lost, 3);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_lost\""), 1);
    pass_seconds(8);
    ck_assert_msg(r.nic->mode == NIC_MODE_POLL, "tried again too soon");
    one_while_halted(3);
    pass_seconds(4);
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    unsigned irqs = r.nic->stats.irqs;
    one_while_halted(4);
    ck_assert_uint_eq(r.received, 5);
    ck_assert_uint_eq(r.nic->stats.irqs, irqs + 1);
    sim_tick(0);
    rig_down(&r);
}

/* Two lost and one seen, again and again, is no reason to give up. */
CASE(lost_edges_now_and_then)
{
    rig_up(&r, cfg);
    sim_tick(TICK_US);
    for (unsigned i = 0; i < 10; i++) {
        sim_irq_lose_edges(RIG_IRQ, 2);
        one_while_halted(0);
        one_while_halted(0);
        one_while_halted(0);
    }
    ck_assert_uint_eq(r.received, 30);
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    sim_tick(0);
    rig_down(&r);
}

/* Dead for good: every frame still arrives, and the pauses between two tries grow. */
CASE(dead_line)
{
    rig_up(&r, cfg);
    r.side->move_irq(&r, 15);
    sim_tick(TICK_US);
    for (unsigned i = 0; i < 3; i++) {
        one_while_halted(i);
    }
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "another try in 10 s"));
    pass_seconds(12);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(r.nic->mode == NIC_MODE_IRQ);
        one_while_halted(i);
    }
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "another try in 20 s"));
    ck_assert_uint_eq(r.received, 6);
    sim_tick(0);
    rig_down(&r);
}

/* Somebody else holds a level line up: masked, polled, tried again, and again until he lets go. */
CASE(storm_then_retry)
{
    int other;
    if (!is_level(cfg)) {
        return;
    }
    rig_up(&r, cfg);
    rig_pump(&r);
    sim_irq_drive(RIG_IRQ, &other, true);
    sim_irq_deliver();
    ck_assert_int_eq(irq_take_storm(), RIG_IRQ);
    nics_line_dead(RIG_IRQ);
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    one_while_halted(0);
    pass_seconds(11);
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    ck_assert_int_eq(irq_take_storm(), RIG_IRQ);
    nics_line_dead(RIG_IRQ);
    ck_assert(r.nic->mode == NIC_MODE_POLL);
    sim_irq_drive(RIG_IRQ, &other, false);
    pass_seconds(21);
    ck_assert(r.nic->mode == NIC_MODE_IRQ);
    ck_assert_int_eq(irq_take_storm(), IRQ_NONE);
    one_while_halted(1);
    ck_assert_uint_eq(r.received, 2);
    rig_down(&r);
}

/* ---- two cards ---- */

static struct sim_rtl second;

static void plug_two(const struct rig_card *cfg, int second_line)
{
    rig_machine(&r, cfg);
    sim_rtl_plug(&second, cfg->rtl8139, SECOND_DEVICE, SECOND_BASE, second_line);
    rig_find(&r);
    ck_assert_uint_eq(nic_count, 2);
}

static void unplug_two(void)
{
    rig_down(&r);
    ck_assert(sim_rtl_at_rest(&second));
    sim_rtl_free(&second);
}

static void to_second(unsigned length)
{
    uint8_t frame[FRAME_MAX] = {0};
    memcpy(frame, second.idr, 6);
    sim_rtl_receive(&second, frame, length, WIRE_OK);
}

static unsigned take_from(struct nic *nic)
{
    struct frame *out[4];
    unsigned n = (nic_events(nic) & EV_RX) != 0 ? nic->ops->rx_burst(nic, out, 4) : 0;
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_eq(out[i]->nic, nic->index);
        frame_free(out[i]);
    }
    return n;
}

CASE(two_cards_two_lines)
{
    plug_two(cfg, 11);
    ck_assert(nics[0].irq == RIG_IRQ && nics[1].irq == 11);
    ck_assert(nics[0].mac[5] != nics[1].mac[5]);
    for (unsigned busy = 0; busy < 2; busy++) {
        if (busy == 0) {
            rig_receive(&r, 60, 1);
        } else {
            to_second(60);
        }
        cpu_cli();
        ck_assert_msg(!nics_arm(), "armed with work waiting on card %u", busy);
        cpu_sti();
        ck_assert_uint_eq(r.rtl.imr | second.imr, 0);
        ck_assert(!sim_irq_line(RIG_IRQ) && !sim_irq_line(11));
        ck_assert_uint_eq(take_from(&nics[busy]), 1);
        ck_assert_uint_eq(take_from(&nics[busy]), 0);
    }
    unplug_two();
}

static void both_come(void *arg)
{
    (void)arg;
    to_second(60);
    rig_receive(&r, 60, 1);
}

/* Both on one level line: each takes what is its own, at every moment the frames can come. */
CASE(shared_level_line)
{
    if (!is_level(cfg)) {
        return;
    }
    bool done = false;
    for (uint64_t k = 0; !done; k++) {
        plug_two(cfg, RIG_IRQ);
        ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[1].mode == NIC_MODE_IRQ);
        ck_assert(nics[0].irq == RIG_IRQ && nics[1].irq == RIG_IRQ);
        uint64_t begin = sim_accesses();
        unsigned got[2] = {0, 0};
        sim_at_access(begin + k, both_come, NULL);
        for (unsigned turns = 0; got[0] + got[1] < 2; turns++) {
            ck_assert_uint_lt(turns, 200);
            got[0] += take_from(&nics[0]);
            got[1] += take_from(&nics[1]);
            if (got[0] + got[1] < 2) {
                rig_idle(&r);
            }
        }
        ck_assert(got[0] == 1 && got[1] == 1);
        done = sim_accesses() - begin < k;
        ck_assert_uint_eq(irq_unclaimed(RIG_IRQ), 0);
        unplug_two();
    }
}

/* On one edge line they would hide each other's interrupts: the second polls, and says why. */
CASE(edge_line_not_shared)
{
    if (is_level(cfg)) {
        return;
    }
    plug_two(cfg, RIG_IRQ);
    ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[1].mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "edge-triggered: not shared"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    ck_assert(!nics_may_halt());
    both_come(NULL);
    ck_assert_uint_eq(take_from(&nics[0]), 1);
    ck_assert_uint_eq(take_from(&nics[1]), 1);
    unplug_two();
}

/* ---- what the firmware says of the line ---- */

/* None noted: found by provoking, or polled; one line of text either way. */
CASE(irq_zero_and_255)
{
    static const uint8_t noted[] = {0, 255, 16, 13};
    for (unsigned i = 0; i < sizeof noted; i++) {
        for (unsigned reaches = 0; reaches < 2; reaches++) {
            rig_machine(&r, cfg);
            sim_pci_set8(r.rtl.pci, 0x3C, noted[i]);
            if (!reaches) {
                r.rtl.irq = 0; /* the tick's: nobody may claim it */
            }
            rig_find(&r);
            ck_assert_uint_eq(nic_count, 1);
            ck_assert(nics[0].mode == (reaches ? NIC_MODE_IRQ : NIC_MODE_POLL));
            ck_assert(!reaches || nics[0].irq == RIG_IRQ);
            ck_assert_uint_eq(host_count(host_text(), "the firmware gave it no interrupt"),
                              noted[i] != 13);
            rig_receive(&r, 77, 5);
            rig_pump(&r);
            rig_expect(&r, 0, 77, 5);
            rig_down(&r);
        }
    }
}

/* elcr=: the line is put into that mode, and the card works in it. */
CASE(elcr_is_set)
{
    for (unsigned level = 0; level < 2; level++) {
        rig_machine(&r, cfg);
        options.elcr = level ? ELCR_LEVEL : ELCR_EDGE;
        rig_find(&r);
        ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[0].irq == RIG_IRQ);
        ck_assert_ptr_nonnull(
            strstr(host_records(), level ? "\"trigger\":\"level\"" : "\"trigger\":\"edge\""));
        frame_comes(NULL);
        live_until(1, 0);
        rig_down(&r);
    }
}

TCase *conform_lines(void)
{
    TCase *tc = tcase_create("lines");
    tcase_set_timeout(tc, 120);
    ADD_CASE(tc, structures_lose_nothing);
    ADD_CASE(tc, structure_that_loses);
    ADD_CASE(tc, structures_switched);
    ADD_CASE(tc, lost_edges_then_retry);
    ADD_CASE(tc, lost_edges_now_and_then);
    ADD_CASE(tc, dead_line);
    ADD_CASE_8139(tc, storm_then_retry, "ISA lines are edges");
    ADD_CASE_8139(tc, two_cards_two_lines, "see second_card_refuses_rearm");
    ADD_CASE_8139(tc, shared_level_line, "ISA lines are edges");
    ADD_CASE_8139(tc, edge_line_not_shared, "no two ISA cards drive one line");
    ADD_CASE_8139(tc, irq_zero_and_255, "no configuration space");
    ADD_CASE_8139(tc, elcr_is_set, "PCI lines only");
    return tc;
}
