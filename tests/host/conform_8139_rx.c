/*
 * Conformance: the receive ring of the RTL8139.
 */
#include <string.h>

#include "tests/host/conform.h"

enum { STUCK_US = 20000, AROUND = RIG_POOL };

static struct rig r;

/* Bytes a frame of `length` takes in the ring. */
static unsigned takes(unsigned length)
{
    return (L_HEADER + length + SIM_FCS + 3) & ~3U;
}

/* Receive and hand upwards frames until the next header is at `offset`. */
static void move_ring_to(uint32_t offset)
{
    enum { SMALL = 72, MOST = 1024 };
    for (unsigned i = 0; r.rtl.cbr != offset; i++) {
        uint32_t gap = (offset - r.rtl.cbr) & (r.rtl.ring - 1);
        ck_assert_uint_lt(i, 2000);
        unsigned size = gap > 2 * MOST ? MOST : gap >= 2 * SMALL + 4 ? gap - SMALL : gap;
        size = size > MOST ? MOST : size;
        ck_assert_uint_ge(size, SMALL - 4);
        rig_receive(&r, size - L_HEADER - SIM_FCS, i);
        rig_pump(&r);
    }
    r.received = 0;
}

static void expect_working(void)
{
    for (unsigned i = 0; i < AROUND; i++) {
        r.received = 0;
        rig_receive(&r, 700 + i, i);
        rig_pump(&r);
        rig_expect(&r, 0, 700 + i, i);
    }
}

/* ---- receive ring ---- */

/* Every way to meet the end: the frame ends exactly there, a byte over, a byte short; the header is
 * the last dword; the data begins the ring. */
CASE(wrap_everywhere)
{
    static const unsigned lengths[] = {60, 61, 63, 64, 1000, FRAME_MAX};
    rig_up(&r, cfg);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        unsigned size = takes(lengths[i]);
        unsigned backs[] = {4, 8, 12, size - 8, size - 4, size, size + 4, size + 64 + L_HEADER};
        for (unsigned k = 0; k < sizeof backs / sizeof backs[0]; k++) {
            move_ring_to(r.rtl.ring - backs[k]);
            rig_receive(&r, lengths[i], 7);
            rig_receive(&r, 61, 8);
            rig_pump(&r);
            ck_assert_uint_eq(r.received, 2);
            rig_expect(&r, 0, lengths[i], 7);
            rig_expect(&r, 1, 61, 8);
        }
    }
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    ck_assert_uint_eq(r.rtl.starts, 1U + cfg->rtl8139->rcr_empties_ring);
    rig_down(&r);
}

/* The longest frame there is, a giant, beginning in the last dword: nothing behind the ring's
 * memory is written (the model has no other memory). */
CASE(wrap_giant)
{
    uint8_t frame[L_FRAME_MOST];
    rig_up(&r, cfg);
    move_ring_to(r.rtl.ring - 4);
    memset(frame, 0x5A, sizeof frame);
    memcpy(frame, sim_rtl_mac, 6);
    r.side->receive(&r, frame, L_FRAME_MOST, WIRE_OK);
    rig_receive(&r, 99, 1);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 1);
    rig_expect(&r, 0, 99, 1);
    ck_assert_uint_eq(r.nic->stats.rx_length, 1);
    rig_down(&r);
}

/* The read pointer is 16 behind, in the whole 16 bits: FFF0h at the ring's beginning. */
CASE(capr_is_16_behind)
{
    rig_up(&r, cfg);
    ck_assert_uint_eq(r.rtl.capr, 0xFFF0);
    rig_receive(&r, 60, 1);
    rig_pump(&r);
    ck_assert_uint_eq(r.rtl.capr, (uint16_t)(takes(60) - 16));
    move_ring_to(0);
    ck_assert_uint_eq(r.rtl.capr, 0xFFF0);
    rig_down(&r);
}

/* A burst lends about half of the ring, in place; the chip gets it back when that is done with. */
CASE(burst_lends_half_the_ring)
{
    struct frame *out[RIG_POOL];
    uint32_t lent = 0;

    rig_up(&r, cfg);
    ck_assert_uint_ge(sim_rtl_fill_ring(&r.rtl, FRAME_MAX), 4);
    r.nic->ops->poll(r.nic);
    unsigned n = r.nic->ops->rx_burst(r.nic, out, RIG_POOL);
    for (unsigned i = 0; i < n; i++) {
        ck_assert(frame_lent(out[i]));
        ck_assert_uint_eq(out[i]->length, FRAME_MAX);
        lent += takes(FRAME_MAX);
        frame_free(out[i]);
    }
    ck_assert_uint_ge(lent, r.rtl.ring / 2 < RIG_POOL * takes(FRAME_MAX) ? r.rtl.ring / 2
                                                                         : n * takes(FRAME_MAX));
    ck_assert_uint_lt(lent, r.rtl.ring / 2 + takes(FRAME_MAX));
    ck_assert_uint_eq(r.rtl.read_at, 0);
    ck_assert_uint_eq(r.rtl.capr_writes, 1); /* of the start */
    rig_rx_done(r.nic);
    ck_assert_uint_eq(r.rtl.read_at, lent);
    ck_assert_uint_eq(r.rtl.capr_writes, 2);
    rig_rx_done(r.nic);
    ck_assert_uint_eq(r.rtl.capr_writes, 2); /* nothing to say */
    rig_pump(&r);
    rig_down(&r);
}

/* What is kept is copied first: the chip writes over the ring, the kept frame stays whole. */
CASE(kept_frame_outlives_the_ring)
{
    struct frame *out[1];

    rig_up(&r, cfg);
    rig_receive(&r, 700, 5);
    r.nic->ops->poll(r.nic);
    ck_assert_uint_eq(r.nic->ops->rx_burst(r.nic, out, 1), 1);
    const uint8_t *was = out[0]->packet;
    ck_assert_ptr_eq(was + frame_keep(out[0]), out[0]->data);
    ck_assert(!frame_lent(out[0]));
    rig_rx_done(r.nic);
    move_ring_to(0);
    memcpy(r.kept[0].data, out[0]->packet, out[0]->length);
    r.kept[0].length = out[0]->length;
    r.received = 1;
    rig_expect(&r, 0, 700, 5);
    frame_free(out[0]);
    rig_down(&r);
}

/* A header that cannot be ends the burst, but the receiver is restarted only when what the burst
 * lent is done with. */
CASE(restart_waits_for_what_is_lent)
{
    struct frame *out[4];

    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    sim_rtl_garble(&r.rtl, -1, 3);
    rig_receive(&r, 200, 2);
    unsigned starts = r.rtl.starts;
    r.nic->ops->poll(r.nic);
    ck_assert_uint_eq(r.nic->ops->rx_burst(r.nic, out, 4), 1);
    ck_assert_uint_eq(r.rtl.starts, starts);
    ck_assert_uint_eq(out[0]->length, 100);
    frame_free(out[0]);
    rig_rx_done(r.nic);
    ck_assert_uint_gt(r.rtl.starts, starts);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 1);
    expect_working();
    rig_down(&r);
}

/* The chip is still writing: left alone, and nothing behind it is taken first. */
CASE(rx_unfinished_header)
{
    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    sim_rtl_unfinished(&r.rtl, 5000000);
    rig_receive(&r, 200, 2);
    rig_receive(&r, 300, 3);
    for (uint64_t end = sim_now_ns() + 4000000; sim_now_ns() < end;) {
        rig_turn(&r);
        ck_assert_msg(!rig_idle(&r), "halted with a frame under way");
    }
    ck_assert_uint_eq(r.received, 1);
    sim_run_us(2000);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 3);
    rig_expect(&r, 0, 100, 1);
    rig_expect(&r, 1, 200, 2);
    rig_expect(&r, 2, 300, 3);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

/* ... for ever: 20 ms, then the receiver is started again. */
CASE(rx_unfinished_for_ever)
{
    rig_up(&r, cfg);
    unsigned starts = r.rtl.starts;
    rig_receive(&r, 100, 1);
    sim_rtl_unfinished(&r.rtl, SIM_RTL_NEVER);
    rig_receive(&r, 200, 2);
    uint64_t begin = sim_now_ns();
    while (r.nic->stats.rx_resync == 0) {
        rig_turn(&r);
        rig_idle(&r);
        ck_assert_uint_lt(sim_now_ns() - begin, 2ULL * STUCK_US * 1000);
    }
    ck_assert_uint_ge(sim_now_ns() - begin, STUCK_US * 1000ULL);
    ck_assert_uint_gt(r.rtl.starts, starts);
    expect_working();
    ck_assert_uint_eq(r.nic->stats.rx_resync, 1);
    rig_down(&r);
}

static void bad_header(const struct rig_card *cfg, int status, int length)
{
    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    sim_rtl_garble(&r.rtl, status, length);
    rig_receive(&r, 100, 2);
    rig_receive(&r, 100, 3);
    rig_pump(&r);
    rig_expect(&r, 0, 100, 1);
    ck_assert_msg(r.nic->stats.rx_resync == 1, "status %x length %x: not noticed", (unsigned)status,
                  (unsigned)length);
    ck_assert_uint_eq(r.received, 1);
    expect_working();
    ck_assert_uint_eq(r.nic->stats.rx_resync, 1);
    rig_down(&r);
}

CASE(bad_header_restart)
{
    static const int lengths[] = {0, 1, 4, 63, 256, 4000, 0x7FFF, 0xFFEF, 0xFFF1, 0xFFFF};
    static const int statuses[] = {0x0000, 0x0002, 0x0004, 0xFFFE};
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bad_header(cfg, -1, lengths[i]);
    }
    for (unsigned i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        bad_header(cfg, statuses[i], -1);
    }
}

/* A frame that comes at any access of the restart is not forgotten. */
static void frame_comes(void *arg)
{
    (void)arg;
    rig_receive(&r, 77, 5);
}

CASE(bad_header_then_frame)
{
    for (uint64_t k = 0, used = 1; k < used; k++) {
        rig_up(&r, cfg);
        sim_rtl_garble(&r.rtl, -1, 3);
        rig_receive(&r, 100, 2);
        uint64_t begin = sim_accesses();
        unsigned before = r.rtl.stored, starts = r.rtl.starts;
        sim_at_access(begin + k, frame_comes, NULL);
        rig_pump(&r);
        used = sim_accesses() - begin;
        bool kept = r.rtl.stored > before && r.rtl.starts > starts;
        rig_pump(&r);
        ck_assert_msg(r.received <= 1 && (!kept || r.received == 1 || r.rtl.cbr == r.rtl.read_at),
                      "frame at access %u is forgotten in the ring", (unsigned)k);
        ck_assert_uint_eq(r.rtl.cbr, r.rtl.read_at);
        rig_down(&r);
    }
}

/* Every kind of garbage mixed with good frames: no loop, no leak, no misuse, and it works then. */
CASE(bad_headers_soak)
{
    unsigned state = 99;
    rig_up(&r, cfg);
    for (unsigned i = 0; i < 1500; i++) {
        if (rig_random(&state) % 3 == 0) {
            sim_rtl_garble(&r.rtl, (int)(rig_random(&state) & 0xFFFF),
                           rig_random(&state) % 2 == 0 ? -1 : (int)(rig_random(&state) & 0xFFFF));
        }
        rig_receive(&r, 60 + rig_random(&state) % 1455, i);
        if (rig_random(&state) % 4 == 0) {
            rig_pump(&r);
        }
        r.received = 0;
    }
    r.rtl.damage.on = false;
    rig_pump(&r);
    ck_assert_uint_gt(r.nic->stats.rx_resync, 50);
    expect_working();
    rig_down(&r);
}

/* ---- overflow ---- */

/* The chip is deaf until overflow and ROK are acknowledged together, after CAPR made room. */
CASE(overflow_ack_order)
{
    static const unsigned lengths[] = {60, 300, 700, FRAME_MAX};
    rig_up(&r, cfg);
    for (unsigned i = 0; i < 4; i++) {
        r.received = 0;
        unsigned stored = sim_rtl_fill_ring(&r.rtl, lengths[i]);
        rig_receive(&r, 60, 0); /* missed, though there is room for it */
        rig_pump(&r);
        ck_assert_uint_eq(r.received, stored);
        ck_assert_uint_eq(r.nic->stats.rx_overrun, i + 1);
        ck_assert_uint_eq(r.rtl.isr & (L_RXOVW | L_FOVW), 0);
        expect_working();
    }
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, r.rtl.missed);
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

static void ring_overflows(void *arg)
{
    (void)arg;
    sim_rtl_fill_ring(&r.rtl, 1000);
}

/* At any access of a receive burst. */
CASE(overflow_any_time)
{
    for (uint64_t k = 0, used = 1; k < used; k++) {
        rig_up(&r, cfg);
        rig_receive(&r, 100, 2);
        uint64_t begin = sim_accesses();
        sim_at_access(begin + k, ring_overflows, NULL);
        rig_turn(&r);
        rig_turn(&r);
        used = sim_accesses() - begin < 60 ? sim_accesses() - begin : 60;
        rig_pump(&r);
        ck_assert_uint_eq(r.received, r.rtl.stored);
        ck_assert_uint_eq(r.nic->stats.rx_overrun, r.rtl.overruns);
        expect_working();
        rig_down(&r);
    }
}

CASE(fifo_overflow)
{
    rig_up(&r, cfg);
    sim_rtl_fifo_overflow(&r.rtl); /* with nothing in the ring */
    rig_receive(&r, 60, 0);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 0);
    expect_working();
    rig_receive(&r, 200, 1);
    r.received = 0;
    sim_rtl_fifo_overflow(&r.rtl);
    rig_pump(&r);
    rig_expect(&r, 0, 200, 1);
    expect_working();
    ck_assert_uint_eq(r.nic->stats.rx_overrun, 2);
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 3);
    ck_assert_uint_eq(r.rtl.mpc, 0);
    rig_down(&r);
}

/* No buffer to drain into: the overflow stays until there is one. */
CASE(overflow_with_pool_empty)
{
    struct frame *all[RIG_POOL];
    rig_up(&r, cfg);
    for (unsigned i = 0; i < RIG_POOL; i++) {
        all[i] = frame_alloc();
    }
    unsigned stored = sim_rtl_fill_ring(&r.rtl, 1000);
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 0);
    ck_assert(!rig_idle(&r));
    for (unsigned i = 0; i < RIG_POOL; i++) {
        frame_free(all[i]);
    }
    rig_pump(&r);
    ck_assert_uint_eq(r.received, stored);
    ck_assert_uint_eq(r.nic->stats.rx_overrun, 1);
    expect_working();
    rig_down(&r);
}

CASE(damaged_on_the_wire)
{
    uint8_t frame[64];
    rig_up(&r, cfg);
    rig_frame(frame, sizeof frame, 1);
    r.side->receive(&r, frame, sizeof frame, WIRE_CRC);
    rig_pump(&r);
    r.side->receive(&r, frame, sizeof frame, WIRE_ALIGN);
    rig_pump(&r);
    r.side->receive(&r, frame, 40, WIRE_OK); /* a fragment */
    rig_pump(&r);
    ck_assert_uint_eq(r.received, 0);
    ck_assert_uint_eq(r.nic->stats.rx_error, 2);
    ck_assert_uint_eq(r.rtl.isr, 0);
    rig_down(&r);
}

CASE(missed_counter)
{
    rig_up(&r, cfg);
    r.rtl.mpc = 0xFFFFFF;
    r.nic->ops->service(r.nic, 0);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 0xFFFFFF);
    ck_assert_uint_eq(r.rtl.mpc, 0);
    r.rtl.mpc = 7;
    nic_stats_reset(r.nic);
    ck_assert_uint_eq(r.nic->stats.rx_missed, 0);
    rig_down(&r);
}

/* Joining a group while frames wait loses none, on chips, too, that empty the ring at RCR. */
CASE(filter_keeps_frames)
{
    struct nic_filter filter = {.hash = {1, 0}};
    rig_up(&r, cfg);
    rig_receive(&r, 100, 1);
    r.nic->ops->set_filter(r.nic, &filter);
    filter.all_multicast = true;
    r.nic->ops->set_filter(r.nic, &filter);
    rig_receive(&r, 101, 2);
    rig_pump(&r);
    rig_expect(&r, 0, 100, 1);
    rig_expect(&r, 1, 101, 2);
    filter.promiscuous = true; /* this may cost what waits, but no more */
    rig_receive(&r, 102, 3);
    r.nic->ops->set_filter(r.nic, &filter);
    rig_pump(&r);
    expect_working();
    ck_assert_uint_eq(r.nic->stats.rx_resync, 0);
    rig_down(&r);
}

TCase *conform_8139_rx(void)
{
    TCase *tc = tcase_create("8139 rx");
    tcase_set_timeout(tc, 120);
    const char *why = "no ring of bytes with CAPR and CBR";
    ADD_CASE_8139(tc, wrap_everywhere, why);
    ADD_CASE_8139(tc, wrap_giant, why);
    ADD_CASE_8139(tc, capr_is_16_behind, why);
    ADD_CASE_8139(tc, burst_lends_half_the_ring, why);
    ADD_CASE_8139(tc, kept_frame_outlives_the_ring, why);
    ADD_CASE_8139(tc, restart_waits_for_what_is_lent, why);
    ADD_CASE_8139(tc, rx_unfinished_header, "its headers are written last");
    ADD_CASE_8139(tc, rx_unfinished_for_ever, "its headers are written last");
    ADD_CASE_8139(tc, bad_header_restart, "see bad_next_page, bad_length, bad_status");
    ADD_CASE_8139(tc, bad_header_then_frame, "no receiver to start again: see bad_next_page");
    ADD_CASE_8139(tc, bad_headers_soak, "see soak_bad_headers");
    ADD_CASE_8139(tc, overflow_ack_order, "see overrun_*");
    ADD_CASE_8139(tc, overflow_any_time, "see overrun_*");
    ADD_CASE_8139(tc, fifo_overflow, "no such cause");
    ADD_CASE_8139(tc, overflow_with_pool_empty, "see overrun_with_pool_empty");
    ADD_CASE_8139(tc, damaged_on_the_wire, "see rx_damaged_on_the_wire");
    ADD_CASE_8139(tc, missed_counter, "see tallies");
    ADD_CASE_8139(tc, filter_keeps_frames, "the filter is not in the way of the ring");
    return tc;
}
