/*
 * Conformance: leaving a card.  Whenever the machine is left, in the middle of anything, the card
 * is quiet afterwards, and the next start finds it; also where nobody had the time to close it.
 */
#include <setjmp.h>
#include <string.h>

#include "kernel/irq.h"
#include "tests/host/conform.h"
#include "tests/host/host_support.h"

enum { LONG_AFTER_US = 10000 };

static struct rig r;
static jmp_buf panicked;
static bool cfg_is_8390;
static bool was_known; /* at the panic, the probe had made a card of it */

static void expect_at_rest(const char *when)
{
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high after %s", when);
    ck_assert_msg(r.side->at_rest(&r), "not at rest after %s", when);
    sim_run_us(LONG_AFTER_US);
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high long after %s", when);
    ck_assert_uint_eq(r.side->mask(&r), 0);
}

/* The next start: found, the same, and it works. */
static void expect_found_again(const struct rig_card *cfg)
{
    rig_reboot(&r);
    rig_find(&r);
    sim_leaving = false; /* a DMA the panic left pending was broken off by the probe */
    ck_assert_msg(nic_count == 1, "%s not found again: %s", cfg->name, host_text());
    ck_assert_msg(r.nic->mode == NIC_MODE_IRQ && r.nic->irq == RIG_IRQ, "%s", host_text());
    unsigned sent = r.side->sent_count(&r);
    rig_receive(&r, 99, 7);
    rig_pump(&r);
    rig_expect(&r, 0, 99, 7);
    ck_assert(rig_send(&r, 88, 3));
    ck_assert(rig_drain(&r));
    rig_expect_sent(&r, sent, 88, 3);
}

static void work(void)
{
    for (unsigned i = 0; i < 3; i++) {
        rig_receive(&r, 60 + 9 * i, i);
    }
    rig_pump(&r);
    rig_send(&r, 61, 1);
    rig_send(&r, 70, 2);
    rig_drain(&r);
}

CASE(warm_boot)
{
    char model[sizeof nics[0].model];
    rig_up(&r, cfg);
    memcpy(model, r.nic->model, sizeof model);
    unsigned width = r.nic->width, ring_kb = r.nic->ring_kb;
    for (unsigned boot = 0; boot < 3; boot++) {
        work();
        nics_close();
        expect_at_rest("closing");
        expect_found_again(cfg);
        ck_assert_str_eq(r.nic->model, model);
        ck_assert(r.nic->width == width && r.nic->ring_kb == ring_kb);
        ck_assert_mem_eq(r.nic->mac, sim_card_mac, 6);
    }
    rig_down(&r);
}

/* A group that was joined is left with the card: the next start hears nothing of it. */
CASE(groups_left)
{
    static const uint8_t mdns[6] = {0x01, 0x00, 0x5E, 0x00, 0x00, 0xFB};
    struct nic_filter filter = {0};
    uint8_t frame[60];
    rig_up(&r, cfg);
    nic_filter_add(&filter, mdns);
    r.nic->ops->set_filter(r.nic, &filter);
    nics_close();
    expect_at_rest("closing");
    expect_found_again(cfg);
    unsigned before = r.received;
    rig_frame(frame, sizeof frame, 1);
    memcpy(frame, mdns, sizeof mdns);
    r.side->receive(&r, frame, sizeof frame, WIRE_OK);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, before);
    rig_down(&r);
}

/* The reset button: the card goes on receiving, unmasked, with frames in its ring. */
CASE(warm_boot_unclosed)
{
    rig_up(&r, cfg);
    work();
    rig_receive(&r, 100, 1);
    r.nic->ops->irq_unmask(r.nic, EV_RX | EV_TX | EV_FAULT | EV_LINK);
    rig_receive(&r, 100, 2);
    expect_found_again(cfg);
    rig_down(&r);
}

/* Not between asserting an NE2000's reset and releasing it, which is one step. */
static void panic_now(void *arg)
{
    (void)arg;
    if (cfg_is_8390 && r.chip->held_in_reset) {
        return;
    }
    sim_leaving = true;
    was_known = nics[0].ops != NULL;
    nics_close();
    longjmp(panicked, 1);
}

static void search(void)
{
    rig_find(&r);
}

static void prepare(const struct rig_card *cfg, void (*what)(void))
{
    rig_machine(&r, cfg);
    if (what != search) {
        rig_find(&r);
    }
}

/* Bus accesses that `what` takes. */
static uint64_t accesses_of(const struct rig_card *cfg, void (*what)(void))
{
    prepare(cfg, what);
    uint64_t begin = sim_accesses();
    what();
    uint64_t n = sim_accesses() - begin;
    nics_close();
    r.side->unplug(&r);
    return n;
}

/* Leave `what` before its bus access `k`. */
static void leave_at(const struct rig_card *cfg, uint64_t k, void (*what)(void))
{
    prepare(cfg, what);
    was_known = false;
    sim_at_access(sim_accesses() + k, panic_now, NULL);
    if (setjmp(panicked) == 0) {
        what();
        sim_at_access(0, NULL, NULL);
        nics_close();
    }
}

/* Some 400 moments on the first board and 500 on a 3C503, whose PROM hides the chip for a few
 * accesses; on the others fewer. */
static uint64_t step_of(const struct rig_card *cfg, uint64_t accesses)
{
    uint64_t moments = cfg->el2 != NULL ? 500 : cfg->ne2000 == &sim_cards[0] ? 400 : 60;
    return accesses / moments + 1;
}

/* Panic anywhere in receiving and sending. */
CASE(panic_at_work)
{
    cfg_is_8390 = cfg->rtl8139 == NULL;
    uint64_t n = accesses_of(cfg, work), step = step_of(cfg, n);
    for (uint64_t k = 0; k <= n; k += step) {
        leave_at(cfg, k, work);
        expect_at_rest("a panic at work");
        expect_found_again(cfg);
        nics_close();
        r.side->unplug(&r);
    }
}

/* The same while the card is looked for, opened, and its line is proven.  What the probe has only
 * begun to find is not closed, but does not interrupt, and is found again. */
CASE(panic_while_searching)
{
    cfg_is_8390 = cfg->rtl8139 == NULL;
    uint64_t n = accesses_of(cfg, search), step = step_of(cfg, n);
    for (uint64_t k = 0; k <= n; k += step) {
        leave_at(cfg, k, search);
        ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high, panic at access %u",
                      (unsigned)k);
        ck_assert_uint_eq(r.side->mask(&r), 0);
        ck_assert_msg(!was_known || r.side->at_rest(&r), "not at rest, panic at access %u",
                      (unsigned)k);
        expect_found_again(cfg);
        nics_close();
        expect_at_rest("closing");
        r.side->unplug(&r);
    }
}

TCase *conform_leave(void)
{
    TCase *tc = tcase_create("leaving");
    tcase_set_timeout(tc, 120);
    ADD_CASE(tc, warm_boot);
    ADD_CASE(tc, groups_left);
    ADD_CASE(tc, warm_boot_unclosed);
    ADD_CASE(tc, panic_at_work);
    ADD_CASE(tc, panic_while_searching);
    return tc;
}
