/*
 * Conformance: transmitting.
 */
#include <string.h>

#include "tests/host/conform.h"

static struct rig r;

enum { SLICES_MAX = 12 };

/* Offer one frame cut into slices, each in memory of its own at an odd or even address; the
 * lengths are in `cuts`, their sum is the frame's length. */
static void send_cut(const unsigned *cuts, unsigned n, unsigned odd, unsigned seed)
{
    static uint8_t memory[SLICES_MAX][FRAME_MAX + 2];
    uint8_t frame[FRAME_MAX];
    struct slice slices[SLICES_MAX];
    unsigned length = 0;
    for (unsigned i = 0; i < n; i++) {
        length += cuts[i];
    }
    rig_frame_out(frame, length, seed);
    for (unsigned i = 0, at = 0; i < n; at += cuts[i++]) {
        uint8_t *to = &memory[i][odd >> i & 1];
        memcpy(to, frame + at, cuts[i]);
        slices[i] = (struct slice){to, (uint16_t)cuts[i]};
    }
    struct tx_frame tx = {slices, (uint16_t)n, (uint16_t)length};
    unsigned before = r.side->sent_count(&r);
    ck_assert_uint_eq(r.nic->ops->tx_burst(r.nic, &tx, 1), 1);
    memset(memory, 0x99, sizeof memory);
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), before + 1);
    rig_expect_sent(&r, before, length, seed);
}

CASE(tx_every_length)
{
    rig_up(&r, cfg);
    uint64_t bytes = 0;
    for (unsigned length = 14; length <= FRAME_MAX;
         length += length < 80 || length > 1500 ? 1 : 7) {
        unsigned before = r.side->sent_count(&r);
        ck_assert(rig_send(&r, length, length));
        ck_assert(rig_drain(&r));
        rig_expect_sent(&r, before, length, length);
        bytes += length < FRAME_MIN ? FRAME_MIN : length;
    }
    ck_assert_uint_eq(r.nic->stats.tx_frames, r.side->sent_count(&r));
    ck_assert_uint_eq(r.nic->stats.tx_bytes, bytes);
    rig_down(&r);
}

/* Etherleak (CVE-2003-0001): the card's memory still holds an older, longer frame. */
CASE(padding_is_zero)
{
    rig_up(&r, cfg);
    for (unsigned length = 14; length < FRAME_MIN; length++) {
        for (unsigned slot = 0; slot < r.side->slots; slot++) { /* each holds a longer one */
            ck_assert(rig_send(&r, 128, 1000 + length));
            ck_assert(rig_drain(&r));
        }
        for (unsigned slot = 0; slot < r.side->slots; slot++) {
            unsigned before = r.side->sent_count(&r);
            ck_assert(rig_send(&r, length, length));
            ck_assert(rig_drain(&r));
            rig_expect_sent(&r, before, length, length);
        }
    }
    rig_down(&r);
}

CASE(tx_odd_slices)
{
    rig_up(&r, cfg);
    for (unsigned length = 59; length <= 62; length++) {
        for (unsigned first = 0; first <= length; first++) {
            send_cut((unsigned[]){first, length - first}, 2, first & 3, first);
        }
    }
    for (unsigned a = 1; a < 9; a++) { /* three slices, every parity of length and address */
        for (unsigned b = 0; b < 6; b++) {
            send_cut((unsigned[]){a, b, 70 - a - b}, 3, a ^ b, a * 9 + b);
        }
    }
    unsigned ones[SLICES_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 50};
    send_cut(ones, SLICES_MAX, 0xA5A, 3);
    unsigned state = 11;
    for (unsigned i = 0; i < 150; i++) {
        unsigned cuts[SLICES_MAX], n = 1 + rig_random(&state) % SLICES_MAX, left = FRAME_MAX;
        for (unsigned s = 0; s < n; s++) {
            cuts[s] = rig_random(&state) % (left / 2 + 1);
            left -= cuts[s];
        }
        cuts[0] += 14;
        cuts[0] -= left < 14 ? 14 : 0;
        send_cut(cuts, n, rig_random(&state), i);
    }
    rig_down(&r);
}

CASE(tx_slots_back_to_back)
{
    rig_up(&r, cfg);
    unsigned slots = r.side->slots;
    r.side->hold_tx(&r);
    ck_assert(r.nic->ops->tx_idle(r.nic));
    for (unsigned i = 0; i < slots; i++) {
        ck_assert(rig_send(&r, 400 + i, i));
    }
    ck_assert_msg(!rig_send(&r, 600, 9), "one frame more has no room");
    ck_assert(!r.nic->ops->tx_idle(r.nic));
    r.side->release_tx(&r);
    ck_assert(rig_drain(&r));
    ck_assert(rig_send(&r, 600, 9));
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), slots + 1);
    for (unsigned i = 0; i < slots; i++) {
        rig_expect_sent(&r, i, 400 + i, i);
    }
    rig_expect_sent(&r, slots, 600, 9);
    rig_down(&r);
}

/* A burst longer than the slots: accepted in part, in order; the rest later; the wire stays busy
 * while there is something to send. */
CASE(tx_burst_in_parts)
{
    enum { FRAMES = 20, LENGTH = 1000 };
    static uint8_t data[FRAMES][LENGTH];
    struct slice slices[FRAMES];
    struct tx_frame tx[FRAMES];
    rig_up(&r, cfg);
    for (unsigned i = 0; i < FRAMES; i++) {
        rig_frame_out(data[i], LENGTH, i);
        slices[i] = (struct slice){data[i], LENGTH};
        tx[i] = (struct tx_frame){&slices[i], 1, LENGTH};
    }
    uint64_t begin = sim_now_ns();
    for (unsigned done = 0; done < FRAMES;) {
        unsigned k = r.nic->ops->tx_burst(r.nic, &tx[done], FRAMES - done);
        ck_assert_uint_le(k, FRAMES - done);
        done += k;
        rig_turn(&r);
        ck_assert_uint_lt(sim_now_ns() - begin, 1000000000U);
    }
    ck_assert(rig_drain(&r));
    for (unsigned i = 0; i < FRAMES; i++) {
        rig_expect_sent(&r, i, LENGTH, i);
    }
    ck_assert_uint_eq(r.side->sent_count(&r), FRAMES);
    uint64_t alone = FRAMES * r.side->frame_ns(&r, LENGTH) * 101 / 100;
    uint64_t bus = FRAMES * rig_bus_ns(cfg, LENGTH);
    uint64_t bound = alone > bus ? alone : bus;
    ck_assert_msg(sim_now_ns() - begin < bound + bound / 4, "no overlap of copying and sending");
    rig_down(&r);
}

/* The RTL8139 sends again by itself after an underrun, and when told to after an abort; and there
 * are no collisions on a full-duplex link. */
static void ends_badly(const struct rig_card *cfg, enum sim_tx_fate fate, unsigned collisions,
                       bool sent, size_t counter, unsigned count)
{
    bool resends = cfg->rtl8139 != NULL;
    if (resends && !cfg->rtl8139->half && fate != FATE_UNDERRUN) {
        return;
    }
    sent |= resends;
    rig_up(&r, cfg);
    r.side->tx_fate(&r, fate, collisions);
    ck_assert(rig_send(&r, 300, 1));
    ck_assert(rig_send(&r, 301, 2));
    ck_assert(rig_drain(&r));
    ck_assert_uint_eq(r.side->sent_count(&r), sent + 1);
    rig_expect_sent(&r, sent, 301, 2);
    uint32_t value;
    memcpy(&value, (const char *)&r.nic->stats + counter, sizeof value);
    ck_assert_uint_eq(value, count);
    const struct nic_stats *s = &r.nic->stats;
    ck_assert_uint_eq(s->tx_frames + (resends ? 0 : s->tx_abort + s->tx_underrun), 2);
    ck_assert_uint_eq(s->tx_timeout, 0);
    rig_down(&r);
}

/* Carrier and heartbeat are of 10 Mbit/s. */
static bool is_slow(const struct rig_card *cfg)
{
    return cfg->rtl8139 == NULL || cfg->rtl8139->ten;
}

CASE(tx_collisions)
{
    ends_badly(cfg, FATE_COLLISIONS, 5, true, offsetof(struct nic_stats, tx_collisions), 5);
}

CASE(tx_abort)
{
    ends_badly(cfg, FATE_ABORT, 0, false, offsetof(struct nic_stats, tx_abort), 1);
}

CASE(tx_underrun)
{
    ends_badly(cfg, FATE_UNDERRUN, 0, false, offsetof(struct nic_stats, tx_underrun), 1);
}

CASE(tx_late)
{
    ends_badly(cfg, FATE_LATE, 0, true, offsetof(struct nic_stats, tx_late), 1);
}

CASE(tx_carrier)
{
    ends_badly(cfg, FATE_CARRIER, 0, true, offsetof(struct nic_stats, tx_carrier), is_slow(cfg));
}

CASE(tx_heartbeat)
{
    ends_badly(cfg, FATE_HEARTBEAT, 0, true, offsetof(struct nic_stats, tx_heartbeat),
               is_slow(cfg));
}

/* The transmitter never ends: noticed in time, counted, and the card works again. */
CASE(tx_timeout)
{
    rig_up(&r, cfg);
    r.side->tx_fate(&r, FATE_NEVER, 0);
    ck_assert(rig_send(&r, 300, 1));
    uint64_t until = sim_now_ns() + 5000000000ULL;
    while (r.nic->stats.tx_timeout == 0 && sim_now_ns() < until) {
        rig_turn(&r);
        sim_run_us(10000);
    }
    ck_assert_uint_eq(r.nic->stats.tx_timeout, 1);
    ck_assert_uint_eq(r.nic->stats.tx_frames, r.side->sent_count(&r));
    rig_pump(&r);
    ck_assert(rig_drain(&r));
    unsigned before = r.side->sent_count(&r);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(rig_send(&r, 400 + i, i));
        ck_assert(rig_drain(&r));
        rig_expect_sent(&r, before + i, 400 + i, i);
    }
    r.received = 0;
    rig_receive(&r, 99, 1);
    rig_pump(&r);
    rig_expect(&r, 0, 99, 1);
    ck_assert_uint_eq(r.nic->stats.tx_timeout, 1);
    rig_down(&r);
}

/* Remote DMA that never completes: bounded, counted, the card reset and working again. */
CASE(dma_timeout)
{
    rig_up(&r, cfg);
    rig_receive(&r, 333, 1);
    r.chip->dma_stuck = true;
    uint64_t begin = sim_now_ns();
    bool taken = rig_send(&r, 300, 1);
    ck_assert_uint_lt(sim_now_ns() - begin, 1000000000U);
    ck_assert_uint_eq(r.nic->stats.dma_timeout, 1);
    r.chip->dma_stuck = false;
    rig_pump(&r);
    ck_assert_msg(rig_drain(&r), "frame %s, then stuck", taken ? "taken" : "refused");
    unsigned before = r.side->sent_count(&r);
    ck_assert_uint_le(before, taken);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(rig_send(&r, 400 + i, i));
        ck_assert(rig_drain(&r));
        rig_expect_sent(&r, before + i, 400 + i, i);
    }
    r.received = 0;
    rig_receive(&r, 99, 1);
    rig_pump(&r);
    rig_expect(&r, 0, 99, 1);
    ck_assert_uint_eq(r.nic->stats.dma_timeout, 1);
    rig_down(&r);
}

/* A card that dies for good: every call stays bounded. */
CASE(dma_dead)
{
    rig_up(&r, cfg);
    r.chip->dma_stuck = true;
    uint64_t begin = sim_now_ns();
    for (unsigned i = 0; i < 10; i++) {
        rig_send(&r, 300, 1);
        rig_turn(&r);
    }
    ck_assert_uint_lt(sim_now_ns() - begin, 3000000000U);
    ck_assert_uint_ge(r.nic->stats.dma_timeout, 2);
    rig_down(&r);
}

TCase *conform_tx(void)
{
    TCase *tc = tcase_create("tx");
    tcase_set_timeout(tc, 60);
    ADD_CASE(tc, tx_every_length);
    ADD_CASE(tc, padding_is_zero);
    ADD_CASE(tc, tx_odd_slices);
    ADD_CASE(tc, tx_slots_back_to_back);
    ADD_CASE(tc, tx_burst_in_parts);
    ADD_CASE(tc, tx_collisions);
    ADD_CASE(tc, tx_abort);
    ADD_CASE(tc, tx_underrun);
    ADD_CASE(tc, tx_late);
    ADD_CASE(tc, tx_carrier);
    ADD_CASE(tc, tx_heartbeat);
    ADD_CASE(tc, tx_timeout);
    ADD_CASE_NE2000(tc, dma_timeout, "no remote DMA");
    ADD_CASE_NE2000(tc, dma_dead, "no remote DMA");
    return tc;
}
