/*
 * More than the machine can take: nobody starves, timers run, and what is done stays what it was.
 *
 * Computing takes no simulated time, port accesses do; what else a frame costs is played by the
 * receiving application, which is busy for WORK_US.  With the 643 us of copying a full frame the
 * box then takes some 700 full frames a second, of the 813 the wire of each card carries.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "kernel/options.h"
#include "lwip/timeouts.h"
#include "lwip/udp.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/wire.h"

enum {
    PORT = 7200,
    FROM = 40000,
    SMALL = 18,
    LARGE = 1472,
    WORK_US = 700,
    WIRE_LARGE_US = 1231, /* a full frame on the wire, and a short one */
    WIRE_SMALL_US = 68,
    SECOND_MS = 1000,
};

/* ---- the application ---- */

static unsigned taken[RIG_CARDS];
static struct udp_pcb *sink;

static void take(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port)
{
    (void)arg;
    (void)pcb;
    (void)from;
    taken[port - FROM]++;
    sim_run_us(WORK_US);
    pbuf_free(p);
}

static void open_application(void)
{
    memset(taken, 0, sizeof(taken));
    sink = udp_new();
    ck_assert_int_eq(udp_bind(sink, IP_ADDR_ANY, PORT), ERR_OK);
    udp_recv(sink, take, NULL);
}

static void close_application(void)
{
    udp_remove(sink);
}

/* ---- the flood: datagrams at a rate, whatever becomes of them ---- */

static struct flood {
    const struct station *from;
    unsigned every_us, length;
    bool on;
} floods[RIG_CARDS];

static void next_datagram(void *arg)
{
    static uint8_t data[LARGE];
    struct flood *f = arg;
    uint8_t frame[ETH_HEADER + MTU], udp[UDP_HEADER + LARGE] = {0};
    unsigned nic = f->from->nic;
    uint32_t box_ip = nic == 0 ? BOX_IP : RIG_IP4(10, 1, 0, 1);

    if (!f->on) {
        return;
    }
    put16(udp, FROM + nic);
    put16(udp + 2, PORT);
    put16(udp + 4, UDP_HEADER + f->length);
    memcpy(udp + UDP_HEADER, data, f->length);
    put16(udp + 6, transport_checksum(f->from->ip, box_ip, PROTO_UDP, udp, UDP_HEADER + f->length));
    peer_send_frame(nic, frame,
                    build_fragment(frame, f->from, box_ip, PROTO_UDP, 1, 0, false, udp,
                                   UDP_HEADER + f->length));
    sim_at(sim_now_ns() + f->every_us * 1000ull, next_datagram, f);
}

static void start_flood(const struct station *from, unsigned length, unsigned every_us)
{
    struct flood *f = &floods[from->nic];

    *f = (struct flood){.from = from, .every_us = every_us, .length = length, .on = true};
    next_datagram(f);
}

static void stop_floods(void)
{
    for (unsigned i = 0; i < RIG_CARDS; i++) {
        floods[i].on = false;
    }
    rig_run_ms(200);
}

/* Datagrams that reached the application in a second, once the flood is well under way. */
static unsigned taken_in_a_second(unsigned nic)
{
    unsigned before;

    rig_run_ms(SECOND_MS / 4);
    before = taken[nic];
    rig_run_ms(SECOND_MS);
    return taken[nic] - before;
}

static struct station *up_with_two_cards(void)
{
    rig_up_with("ip=10.0.0.1/24 ip=10.1.0.1/24", 2, RIG_MEMORY_KB);
    open_application();
    return peer_plug(1, RIG_IP4(10, 1, 0, 2));
}

/* ---- livelock ---- */

/*
 * From below what the box can take to many times that, small and large frames: at every overload
 * 80 % of the peak, also one frame at a time.
 */
static void climb(unsigned length, unsigned wire_us, unsigned first_us)
{
    unsigned peak = 0;

    for (unsigned every_us = first_us; every_us >= wire_us; every_us = every_us * 2 / 3) {
        unsigned got;

        start_flood(&peer, length, every_us);
        got = taken_in_a_second(0);
        stop_floods();
        peak = got > peak ? got : peak;
        ck_assert_msg(got * 10 >= peak * 8, "%u bytes every %u us: %u a second of %u", length,
                      every_us, got, peak);
    }
    ck_assert_uint_gt(peak, 500);
}

START_TEST(overload_is_no_livelock)
{
    options.batch = _i % 2 == 0;
    open_application();
    climb(SMALL, WIRE_SMALL_US, 2000);
    climb(LARGE, WIRE_LARGE_US, 2800);
    ck_assert_uint_gt(nics[0].stats.rx_overrun, 10); /* it was more than it could take */
    close_application();
}
END_TEST

/* ---- fairness ---- */

START_TEST(two_flooded_cards_are_served_alike)
{
    struct station *second = up_with_two_cards();
    unsigned got[RIG_CARDS];

    options.batch = _i % 2 == 0;
    start_flood(&peer, _i / 2 == 0 ? LARGE : SMALL, WIRE_LARGE_US);
    start_flood(second, _i / 2 == 0 ? LARGE : SMALL, WIRE_LARGE_US);
    rig_run_ms(2 * SECOND_MS);
    memcpy(got, taken, sizeof(got));
    ck_assert_uint_gt(got[0] + got[1], 1000);
    ck_assert_uint_gt(got[0] * 10, got[1] * 8);
    ck_assert_uint_gt(got[1] * 10, got[0] * 8);
    stop_floods();
    close_application();
    rig_down();
}
END_TEST

/* One card is flooded, the other has little to do: what comes there is served nevertheless. */
START_TEST(a_flooded_card_leaves_the_other_its_share)
{
    enum { SLOW_US = 10000 };
    struct station *second = up_with_two_cards();

    options.batch = _i % 2 == 0;
    start_flood(&peer, SMALL, WIRE_SMALL_US);
    start_flood(second, LARGE, SLOW_US);
    rig_run_ms(SECOND_MS);
    ck_assert_uint_ge(taken[1], SECOND_MS * 1000 / SLOW_US * 95 / 100);
    ck_assert_uint_gt(taken[0], 300);
    stop_floods();
    close_application();
    rig_down();
}
END_TEST

/* What the second card gets when the first is flooded as fast as its wire can: near to half of what
 * it gets when it is alone, be the flood's frames small or large. */
START_TEST(second_card_has_half_of_the_machine)
{
    struct station *second = up_with_two_cards();
    unsigned alone, beside;

    options.batch = _i % 2 == 0;
    start_flood(second, LARGE, WIRE_LARGE_US);
    alone = taken_in_a_second(1);
    start_flood(&peer, _i / 2 == 0 ? SMALL : LARGE, _i / 2 == 0 ? WIRE_SMALL_US : WIRE_LARGE_US);
    beside = taken_in_a_second(1);
    ck_assert_uint_gt(alone, 500);
    ck_assert_msg(beside * 10 >= alone * 4, "%u a second, alone %u", beside, alone);
    stop_floods();
    close_application();
    rig_down();
}
END_TEST

static unsigned sent_by_box;

static bool count_sent(const struct heard *f)
{
    sent_by_box += f->length > 1000;
    return true;
}

static unsigned sent_in_a_second(void)
{
    unsigned before;

    rig_run_ms(SECOND_MS / 4);
    before = sent_by_box;
    rig_run_ms(SECOND_MS);
    return sent_by_box - before;
}

/* Sending while more comes in than can be taken, at the other card or at the same (whose medium
 * must have a gap sometimes): both get near to half of what they get alone. */
START_TEST(sending_goes_on_under_flood)
{
    enum { GAPS_US = 3 * WIRE_SMALL_US };
    struct station *second = up_with_two_cards();
    struct station *from = _i / 2 == 0 ? second : &peer;
    unsigned every_us = from == second ? WIRE_SMALL_US : GAPS_US;
    unsigned sending, taking, before;

    options.batch = _i % 2 == 0;
    sent_by_box = 0;
    peer_set_hook(count_sent);
    start_flood(from, SMALL, every_us);
    taking = taken_in_a_second(from->nic);
    stop_floods();
    rig_type("ttcp -t -u -l 1000 -n 100000 10.0.0.2\n");
    sending = sent_in_a_second();
    start_flood(from, SMALL, every_us);
    rig_run_ms(SECOND_MS / 4);
    before = taken[from->nic];
    ck_assert_uint_ge(sent_in_a_second() * 10, sending * (from == second ? 4 : 1));
    ck_assert_uint_ge((taken[from->nic] - before) * 10, taking * 4);
    rig_type("\003");
    stop_floods();
    close_application();
    rig_down();
}
END_TEST

/* ---- timers ---- */

enum { TIMER_MS = 20 };

static uint64_t timer_before_ns, timer_worst_ns;
static unsigned timer_runs;

static void on_timer(void *arg)
{
    uint64_t now = sim_now_ns();

    (void)arg;
    if (timer_runs++ != 0 && now - timer_before_ns > timer_worst_ns) {
        timer_worst_ns = now - timer_before_ns;
    }
    timer_before_ns = now;
    sys_timeout(TIMER_MS, on_timer, NULL);
}

/* At most a turn's budget of frames lies between two looks at the timers. */
START_TEST(timers_run_under_flood)
{
    enum { TURN_MS_PER_FRAME = 2 };

    options.batch = _i % 2 == 0;
    open_application();
    start_flood(&peer, SMALL, WIRE_SMALL_US);
    on_timer(NULL);
    rig_run_ms(3 * SECOND_MS);
    ck_assert_uint_gt(timer_runs, 20);
    ck_assert_uint_lt(timer_worst_ns / 1000000,
                      TIMER_MS + options.rxbudget * TURN_MS_PER_FRAME + TIMER_MS);
    stop_floods();
    sys_untimeout(on_timer, NULL);
    close_application();
}
END_TEST

/* A segment that got lost is sent again though the other card is flooded. */
START_TEST(lost_segment_is_repeated_under_flood)
{
    static struct peer_tcp server;
    struct station *second = up_with_two_cards();

    options.batch = _i % 2 == 0;
    peer_tcp_listen(&server, &peer, 5001);
    rig_type("ttcp -t -n 4000 10.0.0.2\n");
    rig_run_ms(100);
    server.mute = true;
    rig_run_ms(50);
    start_flood(second, SMALL, WIRE_SMALL_US);
    rig_run_ms(4 * SECOND_MS);
    ck_assert_uint_ge(server.repeated, 1);
    stop_floods();
    rig_type("\003");
    rig_run_ms(100);
    close_application();
    rig_down();
}
END_TEST

Suite *net_overload_suite(void)
{
    Suite *suite = suite_create("net_overload");
    TCase *one = rig_case(suite, "one card");
    TCase *two = own_case(suite, "two cards");

    tcase_add_loop_test(one, overload_is_no_livelock, 0, 2);
    tcase_add_loop_test(one, timers_run_under_flood, 0, 2);
    tcase_add_loop_test(two, two_flooded_cards_are_served_alike, 0, 4);
    tcase_add_loop_test(two, a_flooded_card_leaves_the_other_its_share, 0, 2);
    tcase_add_loop_test(two, second_card_has_half_of_the_machine, 0, 4);
    tcase_add_loop_test(two, sending_goes_on_under_flood, 0, 4);
    tcase_add_loop_test(two, lost_segment_is_repeated_under_flood, 0, 2);
    return suite;
}
