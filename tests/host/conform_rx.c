/*
 * Conformance: receiving.
 */
#include <string.h>

#include "tests/host/conform.h"

static struct rig r;

/* Receive and hand upwards one-page frames until the next one begins at `page`. */
static void move_ring_to(unsigned page)
{
    for (unsigned i = 0; r.chip->curr != page; i++) {
        ck_assert_uint_lt(i, 512);
        rig_receive(&r, 60, i);
        rig_pump(&r);
    }
    r.received = 0;
}

CASE(rx_every_length)
{
    rig_up(&r, cfg);
    for (unsigned length = FRAME_MIN; length <= FRAME_MAX; length++) {
        r.received = 0;
        rig_receive(&r, length, length);
        rig_pump(&r);
        rig_expect(&r, 0, length, length);
    }
    ck_assert_uint_eq(r.nic->stats.rx_frames, FRAME_MAX - FRAME_MIN + 1);
    rig_down(&r);
}

/* A frame of `length` with its header `back` pages before the end of the ring, and one behind it.
 */
static void wrap(unsigned back, unsigned length)
{
    if (length < FRAME_MIN || length > FRAME_MAX) {
        return;
    }
    move_ring_to(r.chip->pstop - back);
    rig_receive(&r, length, 7);
    rig_receive(&r, 61, 8);
    rig_pump(&r);
    rig_expect(&r, 0, length, 7);
    rig_expect(&r, 1, 61, 8);
    ck_assert_uint_eq(r.received, 2);
}

/* After many full frames the next is fetched as one: right or wrong, and near the ring's end. */
CASE(rx_others_after_full_frames)
{
    static const unsigned lengths[] = {FRAME_MIN, FRAME_MAX, 300, FRAME_MAX - 1, 61};
    enum { MANY = 20, KINDS = sizeof(lengths) / sizeof(lengths[0]) };

    rig_up(&r, cfg);
    for (unsigned back = 1; back <= 8; back++) {
        for (unsigned i = 0; i < MANY; i++) {
            r.received = 0;
            rig_receive(&r, FRAME_MAX, i);
            rig_pump(&r);
            rig_expect(&r, 0, FRAME_MAX, i);
        }
        move_ring_to(r.chip->pstop - back);
        for (unsigned i = 0; i < KINDS; i++) {
            rig_receive(&r, lengths[i], i);
        }
        rig_pump(&r);
        for (unsigned i = 0; i < KINDS; i++) {
            rig_expect(&r, i, lengths[i], i);
        }
        ck_assert_uint_eq(r.received, KINDS);
    }
    rig_down(&r);
}

/* Frames that end on the last byte of the ring, some bytes before it or after it, with and without
 * counting the FCS, which need not be read; and any frame with its header on the last page. */
CASE(rx_wraps_ring)
{
    rig_up(&r, cfg);
    for (unsigned back = 1; back <= 6; back++) {
        unsigned exact = back * SIM_PAGE - SIM_RING_HEADER - SIM_FCS;
        for (unsigned length = exact - 3; length <= exact + SIM_FCS + 3; length++) {
            wrap(back, length);
        }
        wrap(back, FRAME_MIN);
        wrap(back, FRAME_MAX);
    }
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

CASE(rx_burst_limit)
{
    enum { FRAMES = 17 }; /* what the smallest ring holds */
    struct frame *burst[3];
    rig_up(&r, cfg);
    for (unsigned i = 0; i < FRAMES; i++) {
        rig_receive(&r, 60 + i, i);
    }
    unsigned got = 0;
    for (unsigned n = 3; n != 0; got += n) {
        ck_assert_msg(got == FRAMES || (r.nic->ops->poll(r.nic) & EV_RX) != 0,
                      "EV_RX gone with frames left in the ring");
        n = r.nic->ops->rx_burst(r.nic, burst, 3);
        for (unsigned i = 0; i < n; i++) {
            ck_assert_uint_eq(burst[i]->length, 60 + got + i);
            frame_free(burst[i]);
        }
        rig_rx_done(r.nic);
    }
    ck_assert_uint_eq(got, FRAMES);
    ck_assert_uint_eq(r.nic->ops->poll(r.nic), 0);
    ck_assert_uint_eq(r.nic->stats.rx_burst[2], 5); /* five of 3, one of 2 */
    ck_assert_uint_eq(r.nic->stats.rx_burst[1], 1);
    rig_down(&r);
}

/* A ring header that lies: counted, resynchronised, nothing else lost afterwards, no loop. */
static void lying_header(const struct rig_card *cfg, struct sim_header_damage damage)
{
    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    sim_corrupt_header(r.chip, damage);
    rig_receive(&r, 100, 2);
    rig_pump(&r);
    rig_expect(&r, 0, 100, 1);
    ck_assert_uint_eq(r.received, 1);
    const struct nic_stats *s = &r.nic->stats;
    ck_assert_msg(s->rx_resync + s->rx_length + s->rx_error == 1,
                  "next %02x status %02x: resync %u length %u error %u",
                  (unsigned)damage.next & 0xFF, (unsigned)damage.status & 0xFF, s->rx_resync,
                  s->rx_length, s->rx_error);
    for (unsigned i = 0; i < 40; i++) {
        r.received = 0;
        rig_receive(&r, 300, i);
        rig_pump(&r);
        rig_expect(&r, 0, 300, i);
    }
    ck_assert_uint_eq(s->rx_resync + s->rx_length + s->rx_error, 1);
    rig_down(&r);
}

CASE(bad_next_page)
{
    for (int next = 0; next <= 0xFF; next++) {
        rig_up(&r, cfg);
        int right = r.chip->curr + 2; /* of the second one-page frame */
        r.side->unplug(&r);
        if (next != right && (next % 16 == 0 || next % 16 == 15 || next < right + 8)) {
            lying_header(cfg, (struct sim_header_damage){true, -1, next, -1, -1});
        }
    }
}

/* A bad header with good frames behind it: they may be lost, but only they. */
CASE(bad_next_page_among_others)
{
    rig_up(&r, cfg);
    for (unsigned round = 0; round < 60; round++) {
        r.received = 0;
        rig_receive(&r, 70, 1);
        sim_corrupt_header(r.chip, (struct sim_header_damage){true, -1, 0x00, -1, -1});
        rig_receive(&r, 70, 2);
        rig_receive(&r, 70, 3);
        rig_pump(&r);
        rig_expect(&r, 0, 70, 1);
        ck_assert_uint_eq(r.nic->stats.rx_resync, round + 1);
        ck_assert_uint_le(r.received, 2);
    }
    rig_down(&r);
}

CASE(bad_status)
{
    static const int statuses[] = {0x00, 0x02, 0x04, 0x06, 0xFF};
    for (unsigned i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        lying_header(cfg, (struct sim_header_damage){true, statuses[i], -1, -1, -1});
    }
    /* A header never written: what the memory held before. */
    lying_header(cfg, (struct sim_header_damage){true, 0xE7, 0xE7, 0xE7, 0xE7});
}

/* Too short, or not possible in the one page it takes. */
CASE(bad_length)
{
    static const int lows[] = {0, 1, 4, 40, 63, 253, 254, 255};
    for (unsigned i = 0; i < sizeof lows / sizeof lows[0]; i++) {
        lying_header(cfg, (struct sim_header_damage){true, -1, -1, lows[i], 0});
    }
}

/* The chip says it writes where it cannot: restarted, and the next frame comes. */
CASE(curr_outside_the_ring)
{
    rig_up(&r, cfg);
    rig_receive(&r, 200, 1);
    r.chip->fault.reg = 7;
    r.chip->fault.reg_low = 0xFF;
    rig_turn(&r);
    memset(&r.chip->fault, 0, sizeof r.chip->fault);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 1);
    ck_assert_uint_eq(r.received, 0);
    rig_pump(&r);
    rig_receive(&r, 201, 2);
    rig_pump(&r);
    rig_expect(&r, 0, 201, 2);
    rig_down(&r);
}

/* Giants on the wire: dropped and counted, not copied; the frame behind them is fine. */
CASE(rx_giants)
{
    rig_up(&r, cfg);
    unsigned giants = 0;
    for (unsigned length = FRAME_MAX + 1; length < 2000; length += 1 + giants / 8 * 20) {
        r.received = 0;
        rig_receive(&r, length, 3);
        rig_receive(&r, 60, 4);
        rig_pump(&r);
        ck_assert_uint_eq(r.received, 1);
        rig_expect(&r, 0, 60, 4);
        giants++;
    }
    ck_assert_uint_eq(r.nic->stats.rx_length, giants);
    rig_down(&r);
}

/* The high byte of the count means nothing on some clones: QUIRKS "garbled length". */
CASE(garbled_length_high_byte)
{
    rig_up(&r, cfg);
    for (unsigned length = FRAME_MIN; length <= FRAME_MAX; length += 13) {
        r.received = 0;
        sim_corrupt_header(r.chip,
                           (struct sim_header_damage){true, -1, -1, -1, (int)length & 0xFF});
        rig_receive(&r, length, length);
        rig_pump(&r);
        rig_expect(&r, 0, length, length);
    }
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

/* Frames handed upwards when one to `dst` comes: 0 or 1. */
static unsigned passes(const uint8_t *dst)
{
    uint8_t frame[60];
    unsigned before = r.received;
    rig_frame(frame, sizeof frame, 1);
    memcpy(frame, dst, 6);
    r.side->receive(&r, frame, sizeof frame, WIRE_OK);
    rig_pump(&r);
    return r.received - before;
}

CASE(filter_multicast)
{
    static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static const uint8_t all_hosts[6] = {0x01, 0x00, 0x5E, 0x00, 0x00, 0x01}; /* hash 31 */
    static const uint8_t all_nodes[6] = {0x33, 0x33, 0x00, 0x00, 0x00, 0x01}; /* hash 62 */
    static const uint8_t other[6] = {0x00, 0x20, 0xAF, 0x12, 0x34, 0x57};
    struct nic_filter filter = {0};
    rig_up(&r, cfg);
    ck_assert_uint_eq(passes(sim_card_mac), 1);
    ck_assert_uint_eq(passes(broadcast), 1);
    ck_assert_uint_eq(passes(other), 0);
    ck_assert_uint_eq(passes(all_hosts), 0);
    filter.hash[0] = 1U << 31;
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(all_hosts), 1);
    ck_assert_uint_eq(passes(all_nodes), 0);
    filter.hash[1] = 1U << (62 - 32);
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(all_nodes), 1);
    filter = (struct nic_filter){.all_multicast = true};
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(all_nodes) + passes(all_hosts), 2);
    ck_assert_uint_eq(passes(other), 0);
    filter = (struct nic_filter){.promiscuous = true};
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(other) + passes(all_nodes) + passes(broadcast), 3);
    filter = (struct nic_filter){0};
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(other) + passes(all_nodes) + passes(all_hosts), 0);
    ck_assert_uint_eq(passes(sim_card_mac) + passes(broadcast), 2);
    rig_down(&r);
}

/* Groups by their addresses: mDNS's is bit 15. */
CASE(filter_of_groups)
{
    static const uint8_t all_hosts[6] = {0x01, 0x00, 0x5E, 0x00, 0x00, 0x01};
    static const uint8_t mdns[6] = {0x01, 0x00, 0x5E, 0x00, 0x00, 0xFB};
    static const uint8_t all_nodes[6] = {0x33, 0x33, 0x00, 0x00, 0x00, 0x01};
    struct nic_filter filter = {0};
    rig_up(&r, cfg);
    ck_assert_uint_eq(passes(mdns), 0);
    nic_filter_add(&filter, mdns);
    ck_assert_uint_eq(filter.hash[0], 1U << 15);
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(mdns), 1);
    ck_assert_uint_eq(passes(all_hosts) + passes(all_nodes), 0);
    nic_filter_add(&filter, all_nodes);
    nic_filter_add(&filter, all_hosts);
    r.nic->ops->set_filter(r.nic, &filter);
    ck_assert_uint_eq(passes(mdns) + passes(all_hosts) + passes(all_nodes), 3);
    rig_down(&r);
}

/* What was chosen stays chosen over a restart of the card, and over close and open. */
CASE(filter_survives_restart)
{
    static const uint8_t all_hosts[6] = {0x01, 0x00, 0x5E, 0x00, 0x00, 0x01};
    struct nic_filter filter = {.hash = {1U << 31, 0}};
    rig_up(&r, cfg);
    r.nic->ops->set_filter(r.nic, &filter);
    unsigned resets = r.chip->hardware_resets;
    r.side->tx_fate(&r, FATE_NEVER, 0); /* the watchdog restarts it */
    rig_send(&r, 60, 1);
    for (unsigned i = 0; i < 4; i++) {
        sim_run_us(500000);
        rig_turn(&r);
    }
    ck_assert_uint_gt(r.chip->hardware_resets, resets);
    ck_assert_uint_eq(passes(all_hosts), 1);
    r.nic->ops->close(r.nic);
    ck_assert_int_eq(r.nic->ops->open(r.nic), 0);
    ck_assert_uint_eq(passes(all_hosts), 1);
    ck_assert_uint_eq(passes(sim_card_mac), 1);
    rig_down(&r);
}

CASE(rx_damaged_on_the_wire)
{
    uint8_t frame[64];
    rig_up(&r, cfg);
    rig_frame(frame, sizeof frame, 1);
    for (unsigned i = 0; i < 5; i++) {
        r.side->receive(&r, frame, sizeof frame, WIRE_CRC);
        r.side->receive(&r, frame, sizeof frame, i < 2 ? WIRE_ALIGN : WIRE_CRC);
        rig_pump(&r);
    }
    r.side->receive(&r, frame, 40, WIRE_OK); /* a fragment */
    rig_pump(&r);
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.received, 0);
    ck_assert_uint_eq(r.nic->stats.rx_crc, 8);
    ck_assert_uint_eq(r.nic->stats.rx_align, 2);
    ck_assert_uint_eq(r.nic->stats.rx_frames, 0);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

/* Read when CNT says so, or the interrupt would never clear; and once a second. */
CASE(tallies)
{
    rig_up(&r, cfg);
    sim_raise_tally(r.chip, TALLY_CRC, 130);
    rig_pump(&r);
    ck_assert_uint_eq(r.nic->stats.rx_crc, 130);
    ck_assert_uint_eq(r.chip->isr & N_CNT, 0);
    sim_raise_tally(r.chip, TALLY_MISSED, 5);
    sim_raise_tally(r.chip, TALLY_ALIGN, 6);
    rig_pump(&r);
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 5);
    ck_assert_uint_eq(r.nic->stats.rx_align, 6);
    sim_raise_tally(r.chip, TALLY_MISSED, 7);
    nic_stats_reset(r.nic);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 0);
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 0); /* read before zeroing */
    rig_down(&r);
}

/* No buffer: the frames stay in the ring, are counted, and come out whole later. */
CASE(pool_empty_backpressure)
{
    struct frame *all[RIG_POOL];
    rig_up(&r, cfg);
    for (unsigned i = 0; i < RIG_POOL; i++) {
        all[i] = frame_alloc();
        ck_assert_ptr_nonnull(all[i]);
    }
    for (unsigned i = 0; i < 5; i++) {
        rig_receive(&r, 200 + i, i);
    }
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 0);
    ck_assert_uint_ge(r.nic->stats.rx_no_frame, 1);
    frame_free(all[0]);
    frame_free(all[1]);
    r.hold_frames = true;
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 2);
    r.hold_frames = false;
    rig_release_frames(&r);
    rig_pump(&r);
    for (unsigned i = 0; i < 5; i++) {
        rig_expect(&r, i, 200 + i, i);
    }
    for (unsigned i = 2; i < RIG_POOL; i++) {
        frame_free(all[i]);
    }
    rig_down(&r);
}

TCase *conform_rx(void)
{
    TCase *tc = tcase_create("rx");
    tcase_set_timeout(tc, 60);
    ADD_CASE(tc, rx_every_length);
    ADD_CASE_8390(tc, rx_others_after_full_frames, "every frame is fetched from memory at once");
    ADD_CASE_8390(tc, rx_wraps_ring, "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE(tc, rx_burst_limit);
    ADD_CASE_8390(tc, bad_next_page, "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE_8390(tc, bad_next_page_among_others,
                  "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE_8390(tc, curr_outside_the_ring, "CBR is taken modulo the ring");
    ADD_CASE_8390(tc, bad_status, "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE_8390(tc, bad_length, "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE(tc, rx_giants);
    ADD_CASE_8390(tc, garbled_length_high_byte,
                  "a ring of pages with links; see wrap_*, bad_header_*");
    ADD_CASE(tc, filter_multicast);
    ADD_CASE(tc, filter_of_groups);
    ADD_CASE_8390(tc, filter_survives_restart,
                  "restarted by other causes; see filter_keeps_frames");
    ADD_CASE_8390(tc, rx_damaged_on_the_wire,
                  "no tallies but MPC; see damaged_on_the_wire, missed_counter");
    ADD_CASE_8390(tc, tallies, "no tallies but MPC; see damaged_on_the_wire, missed_counter");
    ADD_CASE(tc, pool_empty_backpressure);
    return tc;
}
