/*
 * The machine around a simulated card.
 */
#include "tests/host/rig.h"

#include <stdio.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "tests/host/host_support.h"
#include "tests/host/quick_check.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"

enum { SERVICE_US = 1000000, TURNS_MAX = 10000, DRAIN_US = 100000, QUIET_TURNS = 2 };

static struct frame pool[RIG_POOL];
static struct sim_frame received[RIG_KEPT]; /* of the one machine there is at a time */

void rig_machine(struct rig *r, const struct rig_card *cfg)
{
    memset(r, 0, sizeof *r);
    r->kept = received;
    r->cfg = *cfg;
    r->side = rig_side(cfg);
    sim_reset();
    sim_dma_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, RIG_POOL);
    memset(nics, 0, sizeof nics);
    nic_count = 0;
    r->side->plug(r);
}

void rig_reboot(struct rig *r)
{
    sim_irq_forget_handlers();
    sim_dma_reset();
    frame_pool_init(pool, RIG_POOL);
    memset(nics, 0, sizeof nics);
    nic_count = 0;
    r->received = r->holding = 0;
    host_capture_clear();
}

void rig_find(struct rig *r)
{
    nics_init();
    r->nic = &nics[0];
    r->next_service_us = time_us() + SERVICE_US;
}

void rig_up(struct rig *r, const struct rig_card *cfg)
{
    rig_machine(r, cfg);
    rig_find(r);
    ck_assert_msg(nic_count == 1, "%s not found: %s", cfg->name, host_text());
    ck_assert_msg(r->nic->mode == NIC_MODE_IRQ && r->nic->irq == RIG_IRQ, "%s: interrupt: %s",
                  cfg->name, host_text());
    ck_assert(r->side->online(r));
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high after open");
}

void rig_down(struct rig *r)
{
    rig_release_frames(r);
    nics_close();
    ck_assert_msg(frame_pool_free() == frame_pool_size(), "%u frames leaked",
                  frame_pool_size() - frame_pool_free());
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high after close");
    ck_assert_msg(r->side->at_rest(r), "chip not at rest after close");
    sim_run_us(10000);
    ck_assert_msg(!sim_irq_line(RIG_IRQ), "interrupt line high long after close");
    r->side->unplug(r);
}

/* ---- main loop ---- */

static void keep(struct rig *r, struct frame *f)
{
    ck_assert_uint_le(f->length, FRAME_MAX);
    ck_assert_uint_eq(f->nic, r->nic->index);
    if (r->received < RIG_KEPT) {
        struct sim_frame *k = &r->kept[r->received];
        k->length = f->length;
        memcpy(k->data, f->packet, f->length);
    }
    r->received++;
    r->received_bytes += f->length;
    if (r->hold_frames) {
        frame_keep(f);
        r->held[r->holding++] = f;
    } else {
        frame_free(f);
    }
}

void rig_rx_done(struct nic *nic)
{
    if (nic->ops->rx_done != NULL) {
        nic->ops->rx_done(nic);
    }
}

bool rig_turn(struct rig *r)
{
    struct frame *burst[RIG_BURST];
    struct nic *nic = r->nic;
    bool guarded = nic_guard();
    unsigned events = nic_events(nic), got = 0;
    if ((events & (EV_FAULT | EV_LINK | EV_TX)) != 0) {
        nic->ops->service(nic, events);
    }
    if (time_us() >= r->next_service_us) {
        r->next_service_us = time_us() + SERVICE_US;
        nic->ops->service(nic, 0);
        nic_retry_irq(nic);
    }
    if ((events & EV_RX) != 0) {
        got = nic->ops->rx_burst(nic, burst, RIG_BURST);
        nic_received(nic, got < RIG_BURST);
        ck_assert_uint_le(got, RIG_BURST);
    }
    nic_unguard(guarded);
    for (unsigned i = 0; i < got; i++) {
        keep(r, burst[i]);
    }
    if ((events & EV_RX) != 0) {
        guarded = nic_guard();
        rig_rx_done(nic);
        nic_unguard(guarded);
    }
    return events != 0 || got != 0;
}

void rig_pump(struct rig *r)
{
    unsigned quiet = 0;
    for (unsigned turns = 0; quiet < QUIET_TURNS; turns++) {
        ck_assert_msg(turns < TURNS_MAX, "the main loop does not come to rest");
        unsigned before = r->received;
        bool busy = rig_turn(r);
        /* Frames kept back for want of buffers stay pending: that is rest, too. */
        bool starved = frame_pool_free() == 0 && r->received == before;
        quiet = busy && !starved ? 0 : quiet + 1;
    }
}

bool rig_drain(struct rig *r)
{
    uint64_t until = time_us() + DRAIN_US;
    while (!r->nic->ops->tx_idle(r->nic) && time_us() < until) {
        rig_turn(r);
    }
    rig_pump(r);
    return r->nic->ops->tx_idle(r->nic);
}

bool rig_idle(struct rig *r)
{
    (void)r;
    unsigned ticks = irq_count(0);
    cpu_cli();
    bool armed = nics_arm();
    if (armed) {
        cpu_sti_hlt();
        cpu_cli();
        if (irq_count(0) != ticks) {
            nics_check_lost();
        }
        nics_disarm();
    }
    cpu_sti();
    return armed;
}

void rig_release_frames(struct rig *r)
{
    while (r->holding > 0) {
        frame_free(r->held[--r->holding]);
    }
}

/* ---- frames ---- */

unsigned rig_random(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U; /* Numerical Recipes, ch. 7.1 */
    return *state >> 8;
}

static const uint8_t peer[6] = {0x02, 0xC0, 0xFF, 0xEE, 0x00, 0x01};

static void fill(uint8_t *to, const uint8_t *dst, const uint8_t *src, unsigned length,
                 unsigned seed)
{
    memcpy(to, dst, 6);
    memcpy(to + 6, src, 6);
    to[12] = 0x88;
    to[13] = 0xB5;
    unsigned state = seed * 2654435761U + length;
    for (unsigned i = 14; i < length; i++) {
        to[i] = (uint8_t)(rig_random(&state) | 1); /* never 0: padding can be told */
    }
}

void rig_frame(uint8_t *to, unsigned length, unsigned seed)
{
    fill(to, sim_card_mac, peer, length, seed);
}

void rig_frame_out(uint8_t *to, unsigned length, unsigned seed)
{
    fill(to, peer, sim_card_mac, length, seed);
}

void rig_receive(struct rig *r, unsigned length, unsigned seed)
{
    uint8_t frame[2048];
    rig_frame(frame, length, seed);
    r->side->receive(r, frame, length, WIRE_OK);
}

void rig_expect(struct rig *r, unsigned index, unsigned length, unsigned seed)
{
    uint8_t frame[2048];
    ck_assert_msg(index < r->received, "frame %u missing, %u received", index, r->received);
    ck_assert_uint_lt(index, RIG_KEPT);
    rig_frame(frame, length, seed);
    ck_assert_uint_eq(r->kept[index].length, length);
    ck_assert_msg(memcmp(r->kept[index].data, frame, length) == 0,
                  "frame %u (length %u, seed %u) is damaged", index, length, seed);
}

bool rig_send(struct rig *r, unsigned length, unsigned seed)
{
    uint8_t frame[2048];
    rig_frame_out(frame, length, seed);
    struct slice slice = {frame, (uint16_t)length};
    struct tx_frame tx = {&slice, 1, (uint16_t)length};
    bool guarded = nic_guard();
    bool taken = r->nic->ops->tx_burst(r->nic, &tx, 1) == 1;
    nic_unguard(guarded);
    memset(frame, 0xDD, sizeof frame); /* taken = already copied */
    return taken;
}

void rig_expect_sent(struct rig *r, unsigned index, unsigned length, unsigned seed)
{
    uint8_t frame[2048] = {0};
    ck_assert_uint_lt(index, r->side->sent_count(r));
    const struct sim_frame *sent = r->side->sent(r, index);
    unsigned padded = length < FRAME_MIN ? FRAME_MIN : length;
    rig_frame_out(frame, length, seed);
    ck_assert_uint_eq(sent->length, padded);
    ck_assert_msg(memcmp(sent->data, frame, padded) == 0,
                  "sent frame %u (length %u, seed %u) is damaged", index, length, seed);
}
