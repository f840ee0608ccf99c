/*
 * The shortest frames at the full rate of the wire, 14,880 a second, for a minute of simulated time
 * (FLOOD_SECONDS: an hour in make test-long), at a machine that has something else to do as well.
 * Rings run over all the time.  At the end: every frame that the chip stored was handed up, in
 * order and undamaged; what is missing the wire overran; every answer went out once; and the box
 * still answers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/8390/dp8390.h"
#include "tests/host/conform.h"
#include "tests/host/run_suite.h"

enum {
    LENGTH = 60,
    GAP_NS = 9600,   /* IEEE 802.3: 96 bits */
    SLOT_NS = 51200, /* and 512 */
    SEQUENCE = 14,   /* of four bytes */
    ANSWER_EVERY = 16,
    THINK_US = 25, /* what the stack takes for a frame on a fast 386 */
    PAUSE_EVERY = 700,
    PAUSE_US = 9000, /* ... and the screen, now and then: twice what a ring holds */
    WIRE_A_SECOND = 14880,
    DEAF_FRAMES = 48, /* on the wire during one recovery: up to 2 ms of halt, 30 frames, and half
                         of a ring, 26 of a page each, read before the chip is let go */
    MINUTE = 60,
    SHARE = 20, /* the other boards get a 20th of the time */
};

static struct rig r;
static uint64_t end_ns;
static uint32_t on_wire; /* frames sent to us; the next one's number */
static uint64_t received, answered, refused, checked_sent;
static uint32_t next_number; /* at least this is the next to be handed up */

/* ---- the wire ---- */

static void number_into(uint8_t *frame, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) {
        frame[SEQUENCE + i] = (uint8_t)(number >> 8 * i);
    }
}

static uint32_t number_of(const uint8_t *frame)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++) {
        number |= (uint32_t)frame[SEQUENCE + i] << 8 * i;
    }
    return number;
}

/* The next frame begins as soon as the medium is free, and takes its time.  If the card wants to
 * send as well, the two collide, and the card wins every other time. */
static void flood(void *arg)
{
    static bool lost;
    static uint8_t frame[LENGTH];
    uint64_t now = sim_now_ns();
    uint64_t free_at =
        r.chip->rx_until_ns > r.chip->tx_free_ns ? r.chip->rx_until_ns : r.chip->tx_free_ns;
    if (now >= end_ns) {
        return;
    }
    if (free_at > now) {
        sim_at(free_at, flood, arg);
        return;
    }
    lost = r.chip->tx == TX_DEFERRING && !lost;
    if (lost) {
        sim_at(now + SLOT_NS, flood, arg);
        return;
    }
    rig_frame(frame, LENGTH, 1);
    number_into(frame, on_wire++);
    sim_receive_at(r.chip, now, frame, LENGTH);
    sim_at(now + wire_frame_ns(LENGTH) + GAP_NS, flood, arg);
}

/* ---- the box ---- */

static void take(struct frame *f)
{
    uint8_t expected[LENGTH];
    uint32_t number = number_of(f->packet);
    ck_assert_uint_eq(f->length, LENGTH);
    ck_assert_msg(number >= next_number && number < on_wire, "frame %u after %u", number,
                  next_number);
    rig_frame(expected, LENGTH, 1);
    number_into(expected, number);
    ck_assert_mem_eq(f->packet, expected, LENGTH);
    next_number = number + 1;
    received++;
    sim_run_us(received % PAUSE_EVERY == 0 ? PAUSE_US : THINK_US);
}

static void answer(uint32_t number)
{
    uint8_t frame[LENGTH];
    rig_frame_out(frame, LENGTH, 2);
    number_into(frame, number);
    struct slice slice = {frame, LENGTH};
    struct tx_frame tx = {&slice, 1, LENGTH};
    if (r.nic->ops->tx_burst(r.nic, &tx, 1) == 1) {
        answered++;
    } else {
        refused++;
    }
}

/* What went out: each answer once, in order.  The model keeps every frame; not for an hour. */
static void check_sent(void)
{
    static uint32_t last;
    uint8_t expected[LENGTH];
    rig_frame_out(expected, LENGTH, 2);
    if (checked_sent == 0) {
        last = 0;
    }
    for (unsigned i = 0; i < r.chip->sent_count; i++, checked_sent++) {
        const struct sim_frame *f = sim_sent(r.chip, i);
        uint32_t number = number_of(f->data);
        ck_assert_uint_eq(f->length, LENGTH);
        ck_assert_msg(checked_sent == 0 || number > last, "answer %u after %u", number, last);
        number_into(expected, number);
        ck_assert_mem_eq(f->data, expected, LENGTH);
        last = number;
    }
    r.chip->sent_count = 0;
}

static bool turn(void)
{
    struct frame *burst[RIG_BURST];
    struct nic *nic = r.nic;
    unsigned events = nic->ops->poll(nic), got = 0;
    if ((events & (EV_FAULT | EV_TX)) != 0) {
        nic->ops->service(nic, events);
    }
    if (time_us() >= r.next_service_us) {
        r.next_service_us += 1000000;
        nic->ops->service(nic, 0);
        check_sent();
    }
    if ((events & EV_RX) != 0) {
        got = nic->ops->rx_burst(nic, burst, RIG_BURST);
    }
    for (unsigned i = 0; i < got; i++) {
        uint32_t number = number_of(burst[i]->packet);
        take(burst[i]);
        frame_free(burst[i]);
        if (number % ANSWER_EVERY == 0) {
            answer(number);
        }
    }
    return events != 0;
}

static void still_answers(void)
{
    uint64_t before = received;
    uint8_t frame[LENGTH];
    rig_frame(frame, LENGTH, 1);
    number_into(frame, on_wire / ANSWER_EVERY * ANSWER_EVERY + ANSWER_EVERY);
    on_wire = number_of(frame) + 1;
    sim_receive(r.chip, frame, LENGTH);
    for (unsigned i = 0; i < 10; i++) {
        turn();
        sim_run_us(100);
    }
    ck_assert_uint_eq(received, before + 1);
    ck_assert_uint_eq(r.chip->sent_count, 1);
    ck_assert_uint_eq(number_of(sim_sent(r.chip, 0)->data), on_wire - 1);
}

static unsigned seconds(unsigned board)
{
    const char *given = getenv("FLOOD_SECONDS");
    unsigned whole = given != NULL ? (unsigned)strtoul(given, NULL, 10) : MINUTE;
    bool full = board < 2; /* ne2000 and ne1000 */
    return full ? whole : (whole + SHARE - 1) / SHARE;
}

START_TEST(flood_at_wire_speed)
{
    struct rig_card card = rig_card((unsigned)_i);
    unsigned s = seconds((unsigned)_i);
    rig_up(&r, &card);
    uint64_t begin = sim_now_ns();
    end_ns = begin + s * 1000000000ULL;
    flood(NULL);
    while (sim_now_ns() < end_ns) {
        if (!turn()) {
            rig_idle(&r);
        }
    }
    sim_run_us(200); /* the last one's end */
    while (turn()) {
    }
    ck_assert(rig_drain(&r));
    check_sent();
    r.nic->ops->service(r.nic, 0);

    const struct nic_stats *n = &r.nic->stats;
    const struct sim_chip *c = r.chip;
    uint64_t unheard = on_wire - received - c->missed;
    printf("%-20s %4u s: %u frames, %" PRIu64 " received, %u overruns, %u missed, %" PRIu64
           " while halted, %" PRIu64 " answers, %u of them cut and sent again\n",
           card.name, s, on_wire, received, c->overruns, c->missed, unheard, answered,
           n->tx_resent);
    ck_assert_uint_ge(on_wire + answered + 10, (uint64_t)s * (WIRE_A_SECOND - 1)); /* a full wire */
    ck_assert_uint_eq(received, c->stored);
    ck_assert_uint_eq(n->rx_frames, received);
    ck_assert_uint_eq(n->rx_missed, c->missed);
    ck_assert_uint_eq(n->rx_overrun, c->overruns);
    ck_assert_uint_eq(c->overruns_cured, c->overruns);
    ck_assert_uint_eq(n->rx_resync + n->rx_length + n->rx_error + n->rx_no_frame + n->tx_timeout +
                          n->dma_timeout,
                      0);
    ck_assert_uint_le(unheard, (uint64_t)c->overruns * DEAF_FRAMES);
    ck_assert_uint_eq(checked_sent, answered);
    ck_assert_uint_eq(n->tx_frames, answered);
    ck_assert_uint_eq(n->tx_resent, c->cut_short);
    ck_assert_msg(answered >= (received / ANSWER_EVERY) / 2, "%" PRIu64 " answers to %" PRIu64,
                  answered, received);
    still_answers();
    rig_down(&r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flood");
    TCase *tc = tcase_create("flood");
    tcase_set_timeout(tc, 0);
    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, flood_at_wire_speed, 0, (int)rig_8390_count());
    return run_suite(suite);
}
