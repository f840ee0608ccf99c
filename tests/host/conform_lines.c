/*
 * Conformance: lines that are broken or storming, and the six ways of serving them (SEEDS.md 3).
 */
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "tests/host/conform.h"
#include "tests/host/host_support.h"

enum { TICK_US = 10000 };

static struct rig r;

static void frame_comes(void *arg)
{
    (void)arg;
    rig_receive(&r, 77, 5);
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
            rig_idle(&r);
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

static void may_be_unmasked(bool yes)
{
    r.rtl.used_unmasked = yes;
    if (r.chip != NULL) {
        r.chip->used_unmasked = yes;
    }
}

static void up_with(const struct rig_card *cfg, const struct structure *s)
{
    rig_machine(&r, cfg);
    options.txirq = s->txirq;
    options.txpoll = s->txpoll;
    options.loopirq = s->loopirq;
    options.looppoll = s->looppoll;
    may_be_unmasked(s->txirq);
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
    return rig_is_8390(cfg) && cfg->ne2000 != &sim_cards[0];
}

CASE(structures_lose_nothing)
{
    if (is_another_8390(cfg)) {
        return;
    }
    unsigned first = conform_is_level(cfg) ? 0 : 1; /* on a level line not even the first one can */
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
    if (conform_is_level(cfg) || is_another_8390(cfg)) {
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
        may_be_unmasked(was || s->txirq);
        options.txirq = s->txirq;
        options.txpoll = s->txpoll;
        options.loopirq = s->loopirq;
        options.looppoll = s->looppoll;
        if (was != options.txirq) {
            nics_set_polling(false);
        }
        may_be_unmasked(s->txirq);
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
            rig_idle(&r);
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
    if (conform_is_level(cfg)) { /* has no edges to lose */
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

/* Twice as long each time, but never longer than 320 s. */
CASE(pauses_grow_to_320_s)
{
    unsigned pause = 10;
    rig_up(&r, cfg);
    r.side->move_irq(&r, 15);
    for (unsigned failure = 0; failure < 7; failure++) {
        sim_tick(TICK_US);
        for (unsigned i = 0; i < 3; i++) {
            one_while_halted(i);
        }
        sim_tick(0);
        ck_assert(r.nic->mode == NIC_MODE_POLL);
        ck_assert_uint_eq(r.nic->retry_s, pause);
        sim_run_us(pause * 1000000ULL);
        rig_pump(&r); /* once a second: the first is too soon, or just right */
        sim_run_us(2000000);
        rig_pump(&r);
        ck_assert(r.nic->mode == NIC_MODE_IRQ);
        pause = pause * 2 > 320 ? 320 : pause * 2;
    }
    rig_down(&r);
}

/* Tried again, and good for as long as it was polled: the next failure starts at 10 s again. */
CASE(good_line_is_forgiven)
{
    rig_up(&r, cfg);
    sim_tick(TICK_US);
    for (unsigned failure = 1; failure <= 2; failure++) {
        r.side->move_irq(&r, 15);
        for (unsigned i = 0; i < 3; i++) {
            ck_assert(r.nic->mode == NIC_MODE_IRQ);
            one_while_halted(i);
        }
        ck_assert(r.nic->mode == NIC_MODE_POLL);
        ck_assert_uint_eq(host_count(host_text(), "another try in 10 s"), failure);
        r.side->move_irq(&r, RIG_IRQ);
        pass_seconds(12);
        ck_assert(r.nic->mode == NIC_MODE_IRQ);
        pass_seconds(12); /* not an interrupt yet: no reason to trust it */
        ck_assert_uint_ne(r.nic->retry_s, 0);
        one_while_halted(3);
        pass_seconds(2);
        ck_assert_uint_eq(r.nic->retry_s, 0);
    }
    ck_assert_uint_eq(r.received, 8);
    sim_tick(0);
    rig_down(&r);
}

/* Somebody else holds a level line up: masked, polled, tried again, and again until he lets go. */
CASE(storm_then_retry)
{
    int other;
    if (!conform_is_level(cfg)) {
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
    ADD_CASE(tc, pauses_grow_to_320_s);
    ADD_CASE(tc, good_line_is_forgiven);
    ADD_CASE_8139(tc, storm_then_retry, "ISA lines are edges");
    return tc;
}
