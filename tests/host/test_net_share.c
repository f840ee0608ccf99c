/*
 * Streams that share a card (net/apps/windows.h): ttcp, iperf2 and the raw sink.  Clients send
 * whatever the box's windows allow, at the pace of the wire.
 */
#include "tests/host/test_net.h"

#include "lwip/opt.h"
#include "tests/host/sim/bus.h"

enum {
    FROM = 45000,
    MOST = 16,
    WARM_UP = 20 * PEER_MSS, /* first segments are acknowledged one by one */
    AMOUNT = 120 * PEER_MSS, /* of a stream, from then on */
    LONGEST_MS = 30000,
    NE2000 = 0, /* in sim_cards */
    NE1000 = 1,
    RATHER_LONG_US = 12000, /* more than a ring takes in that time */
    A_FRAME_MS = 3,         /* and more */
    WAKE_MS = 100,
    TRICKLE_MS = 15,
    FORGOTTEN_MS = 1000,
    WEB = 80, /* does not share */
};

static const unsigned ports[] = {5001, 2000, 7001};

static struct peer_tcp clients[MOST];
static unsigned streams;

static const struct setup {
    unsigned specimen;
    unsigned streams;
} setups[] = {{NE2000, 2}, {NE2000, 3}, {NE2000, 8}, {NE2000, 16}, {NE1000, 2}, {NE1000, 8}};

enum { SETUPS = sizeof(setups) / sizeof(setups[0]) };

static void up(const struct setup *setup)
{
    rig_specimen = setup->specimen;
    rig_up();
    streams = setup->streams;
}

static void connect_all(void)
{
    for (unsigned i = 0; i < streams; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, ports[i % 3]));
        clients[i].eager = true;
    }
}

/* Everybody has so much more to send, and begins if he may. */
static void let_send(unsigned n)
{
    for (unsigned i = 0; i < streams; i++) {
        clients[i].snd_end += n;
        peer_tcp_fill(&clients[i]);
    }
}

static uint32_t acked(unsigned i)
{
    return clients[i].acked - clients[i].first_seq;
}

static uint64_t acked_in_all(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < streams; i++) {
        sum += acked(i);
    }
    return sum;
}

static bool is_through(unsigned i)
{
    return clients[i].acked == clients[i].snd_end;
}

static bool one_is_through(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < streams; i++) {
        if (is_through(i)) {
            return true;
        }
    }
    return false;
}

static bool all_are_through(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < streams; i++) {
        if (!is_through(i)) {
            return false;
        }
    }
    return true;
}

static bool all_are_warm(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < streams; i++) {
        if (acked(i) < WARM_UP) {
            return false;
        }
    }
    return true;
}

static void nothing_was_lost(void)
{
    ck_assert_uint_eq(nics[0].stats.rx_overrun, 0);
    ck_assert_uint_eq(nics[0].stats.rx_missed, 0);
}

/* What the streams from `first` on have sent goes into results, to the byte. */
static void finish_from(unsigned first)
{
    unsigned before = rig_record_count("result");

    for (unsigned i = first; i < streams; i++) {
        uint32_t sent = clients[i].snd_end - clients[i].first_seq;
        const char *r;

        ck_assert(peer_tcp_finish(&clients[i]));
        r = rig_record("result", before++);
        ck_assert_int_eq(rig_number(r, "bytes"), sent);
        ck_assert_str_eq(rig_value(r, "end"), "\"ok\"");
        peer_tcp_forget(&clients[i]);
    }
}

/* From when all are under way until the first is through: bytes a second in all. */
static uint64_t run_all(unsigned amount)
{
    uint64_t begun, before;

    connect_all();
    let_send(WARM_UP + amount);
    ck_assert(rig_until(all_are_warm, NULL, LONGEST_MS));
    begun = sim_now_ns();
    before = acked_in_all();
    ck_assert(rig_until(one_is_through, NULL, LONGEST_MS));
    return (acked_in_all() - before) * 1000000 / ((sim_now_ns() - begun) / 1000);
}

/*
 * All at once: none loses a frame, when the first is through the others have at least 80 % as much,
 * and together they are no slower than one alone (95 %).
 */
START_TEST(all_get_the_same_and_nothing_is_lost)
{
    uint64_t alone, together;

    up(&setups[_i]);
    streams = 1;
    alone = run_all(AMOUNT * setups[_i].streams);
    finish_from(0);
    streams = setups[_i].streams;
    together = run_all(AMOUNT);
    for (unsigned i = 0; i < streams; i++) {
        ck_assert_uint_ge(acked(i), (WARM_UP + AMOUNT) / 5 * 4);
    }
    ck_assert_uint_ge(together * 100, alone * 95);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    nothing_was_lost();
    finish_from(0);
    rig_down();
}
END_TEST

static void send_to_a_busy_box(void)
{
    let_send(AMOUNT);
    for (unsigned turns = 0; !all_are_through(NULL); turns++) {
        ck_assert_uint_lt(turns, AMOUNT / PEER_MSS * streams * 4);
        rig_turn();
        sim_run_us(RATHER_LONG_US);
    }
    nothing_was_lost();
}

/* However late the box looks: what is on its way fits the ring. */
START_TEST(a_busy_box_loses_nothing)
{
    up(&setups[_i]);
    connect_all();
    send_to_a_busy_box();
    finish_from(0);
    rig_down();
}
END_TEST

/* Those that stop in the middle with their windows open keep nobody from going on. */
START_TEST(silent_streams_block_nobody)
{
    up(&setups[_i]);
    connect_all();
    let_send(WARM_UP);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    clients[0].snd_end += AMOUNT;
    peer_tcp_fill(&clients[0]);
    ck_assert(rig_until(all_are_through, NULL, AMOUNT / PEER_MSS * A_FRAME_MS + WAKE_MS));
    nothing_was_lost();
    finish_from(0);
    rig_down();
}
END_TEST

/* The last one left has the whole window, as one that was alone from the beginning. */
START_TEST(the_last_one_has_it_all)
{
    up(&setups[_i]);
    connect_all();
    let_send(WARM_UP);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    finish_from(1);
    streams = 1;
    let_send(WARM_UP);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    ck_assert_uint_eq(clients[0].box_window, TCP_WND);
    finish_from(0);
    rig_down();
}
END_TEST

/* One that had all and now sends a byte now and then: who comes later gets on as if it were idle.
 */
START_TEST(a_trickling_stream_starves_nobody)
{
    const struct setup two = {.specimen = _i == 0 ? NE2000 : NE1000, .streams = 2};
    unsigned ms = 0;

    up(&two);
    streams = 1;
    connect_all();
    let_send(WARM_UP);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    ck_assert(peer_tcp_connect(&clients[1], &peer, FROM + 1, BOX_IP, ports[1]));
    clients[1].eager = true;
    clients[1].snd_end += AMOUNT;
    peer_tcp_fill(&clients[1]);
    for (; !is_through(1); ms += TRICKLE_MS) {
        ck_assert_uint_lt(ms, AMOUNT / PEER_MSS * A_FRAME_MS + WAKE_MS);
        clients[0].snd_end++;
        peer_tcp_fill(&clients[0]);
        rig_run_ms(TRICKLE_MS);
    }
    streams = 2;
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    nothing_was_lost();
    finish_from(0);
    rig_down();
}
END_TEST

/* Who has said nothing yet, or nothing for long, does not make the window of another narrower. */
START_TEST(idle_streams_take_no_part)
{
    bool has_sent = _i != 0;

    up(&setups[0]);
    connect_all();
    if (has_sent) {
        let_send(WARM_UP);
        ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    }
    clients[0].snd_end += 5 * AMOUNT; /* for longer than the other may idle */
    peer_tcp_fill(&clients[0]);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    ck_assert_uint_ge(clients[0].box_window, TCP_WND - 2 * PEER_MSS);
    nothing_was_lost();
    rig_down();
}
END_TEST

/* All pause and go on together: each still has its part, and it fits (if there is one for each). */
START_TEST(a_pause_of_all_changes_nothing)
{
    up(&setups[_i]);
    connect_all();
    let_send(WARM_UP);
    ck_assert(rig_until(all_are_through, NULL, LONGEST_MS));
    rig_run_ms(FORGOTTEN_MS);
    send_to_a_busy_box();
    rig_down();
}
END_TEST

/* Half a connection to a server that does not share takes no room from those that do. */
START_TEST(half_a_connection_elsewhere_takes_no_room)
{
    struct peer_tcp half = {.station = &peer, .box_ip = BOX_IP, .port = FROM, .box_port = WEB};

    up(&setups[0]);
    peer_tcp_flags(&half, T_SYN);
    rig_run_ms(A_FRAME_MS);
    ck_assert(peer_tcp_connect(&clients[0], &peer, FROM, BOX_IP, ports[0]));
    ck_assert_uint_eq(clients[0].box_window, PEER_MSS);
    rig_down();
}
END_TEST

/* So many half-open connections that one begins without a window: it has one soon, by itself. */
START_TEST(a_flood_of_halves_delays_a_moment)
{
    enum { HALVES = 20, SOON_MS = 30 };

    up(&setups[0]);
    for (unsigned i = 0; i < HALVES; i++) {
        struct peer_tcp half = {.station = &peer,
                                .box_ip = BOX_IP,
                                .port = (uint16_t)(FROM + 100 + i),
                                .box_port = ports[0]};

        peer_tcp_flags(&half, T_SYN);
        rig_run_ms(A_FRAME_MS);
    }
    ck_assert(peer_tcp_connect(&clients[0], &peer, FROM, BOX_IP, ports[0]));
    rig_run_ms(SOON_MS);
    ck_assert_uint_eq(clients[0].box_window, PEER_MSS);
    rig_down();
}
END_TEST

Suite *net_share_suite(void)
{
    Suite *suite = suite_create("net_share");
    TCase *all = own_case(suite, "sharing");

    tcase_add_loop_test(all, all_get_the_same_and_nothing_is_lost, 0, SETUPS);
    tcase_add_loop_test(all, a_busy_box_loses_nothing, 0, SETUPS);
    tcase_add_loop_test(all, silent_streams_block_nobody, 0, SETUPS);
    tcase_add_loop_test(all, the_last_one_has_it_all, 0, SETUPS);
    tcase_add_loop_test(all, a_trickling_stream_starves_nobody, 0, 2);
    tcase_add_loop_test(all, idle_streams_take_no_part, 0, 2);
    tcase_add_loop_test(all, a_pause_of_all_changes_nothing, 0, 2);
    tcase_add_test(all, half_a_connection_elsewhere_takes_no_room);
    tcase_add_test(all, a_flood_of_halves_delays_a_moment);
    return suite;
}
