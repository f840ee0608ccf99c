/*
 * Acknowledgements as a sender lives on them: a window that grows with each, one that never can,
 * and two frames' room in the ring that a window leaves to others.
 */
#include "tests/host/test_net.h"

#include "kernel/options.h"
#include "lwip/stats.h"
#include "lwip/tcp.h"
#include "net/net.h"
#include "tests/host/sim/bus.h"

enum {
    PORT = 7100, /* a sink of our own, that nobody counts */
    TTCP_PORT = 5001,
    SERVER_WINDOW = 8192,
    FROM = 40000,
    PROMPT_MS = 50, /* some ticks, and the frames' time on the wire */
    STALL_MS = 400, /* lwIP's 250, and more than one such look     */
};

static struct peer_tcp client;

static uint32_t taken(void)
{
    return client.acked - client.first_seq;
}

static bool all_acknowledged(void *arg)
{
    (void)arg;
    return client.acked == client.snd_nxt;
}

/* `n` full segments at once, and how long until the last is acknowledged; in simulated ms. */
static unsigned round_trip_ms(unsigned n)
{
    uint32_t offset = taken();
    uint64_t began = sim_now_ns();

    for (unsigned i = 0; i < n; i++) {
        peer_tcp_segment(&client, offset + i * PEER_MSS, PEER_MSS);
    }
    ck_assert(rig_until(all_acknowledged, NULL, STALL_MS));
    return (unsigned)((sim_now_ns() - began) / 1000000);
}

/* ---- a window that grows ---- */

static const unsigned first_windows[] = {1, 2, 3, 4};
static unsigned heard_acks;
static uint32_t last_ack;

/* Acknowledgements of something new, as a sender counts them. */
static void count_acks(const struct packet *p)
{
    uint32_t ack = get32(p->data + 8);

    if (p->protocol == PROTO_TCP && get16(p->data + 2) == FROM && ack != last_ack) {
        last_ack = ack;
        heard_acks++;
    }
}

/*
 * Slow start (RFC 5681 3.1): one segment more for each acknowledgement, up to what the box
 * announces.  However long the sequence of bursts, none waits; an acknowledgement for every second
 * segment, or every burst, makes the window half as large again each round at least.
 */
static void grow(unsigned window)
{
    unsigned most = net_tcp_wnd / PEER_MSS;

    peer_set_packet_hook(count_acks);
    for (unsigned round = 0; window < most; round++) {
        ck_assert_msg(round < 12, "still %u segments", window);
        heard_acks = 0;
        ck_assert_uint_le(round_trip_ms(window), window * 2 + PROMPT_MS);
        ck_assert_uint_ge(heard_acks, 1);
        window += heard_acks;
    }
    peer_set_packet_hook(NULL);
}

START_TEST(slow_start_grows)
{
    enum { IDLE_MS = 3000 };
    unsigned first = first_windows[_i / 2];

    options.batch = _i % 2 == 0;
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, TTCP_PORT));
    grow(first);
    rig_run_ms(IDLE_MS);
    grow(1); /* a sender that was idle, or has lost a window, begins again (4.1, 3.1) */
    ck_assert(peer_tcp_finish(&client));
}
END_TEST

/* ---- one that cannot ---- */

static err_t take(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    (void)arg;
    ck_assert_int_eq(error, ERR_OK);
    if (p == NULL) {
        ck_assert_int_eq(tcp_close(pcb), ERR_OK);
        return ERR_OK;
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accept_one(void *arg, struct tcp_pcb *pcb, err_t error)
{
    (void)arg;
    ck_assert_int_eq(error, ERR_OK);
    tcp_recv(pcb, take);
    return ERR_OK;
}

static struct tcp_pcb *open_sink(void)
{
    struct tcp_pcb *pcb = tcp_new();

    ck_assert_int_eq(tcp_bind(pcb, IP_ADDR_ANY, PORT), ERR_OK);
    pcb = tcp_listen(pcb);
    tcp_accept(pcb, accept_one);
    return pcb;
}

/* A sender with room for one or two segments only, far beyond a connection's quick beginning, with
 * our own application and with one that nobody counts. */
START_TEST(smallest_window_does_not_stall)
{
    unsigned window = 1 + (unsigned)_i / 2 % 2;
    struct tcp_pcb *sink = open_sink();

    options.batch = _i % 2 == 0;
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, _i / 4 == 0 ? TTCP_PORT : PORT));
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_uint_le(round_trip_ms(window), PROMPT_MS);
    }
    ck_assert(peer_tcp_finish(&client));
    ck_assert_int_eq(tcp_close(sink), ERR_OK);
}
END_TEST

/* Messages much smaller than a segment, each sent when the last has been acknowledged (Nagle). */
START_TEST(nagle_and_delay_do_not_wait_for_each_other)
{
    options.batch = _i % 2 == 0;
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, TTCP_PORT));
    for (unsigned i = 0; i < 100; i++) {
        peer_tcp_segment(&client, taken(), 1 + i);
        ck_assert(rig_until(all_acknowledged, NULL, PROMPT_MS));
    }
    ck_assert(peer_tcp_finish(&client));
}
END_TEST

/* While segments keep coming, one each 1230 us, there is an acknowledgement for every second and
 * no more: the tick finds nothing to do. */
START_TEST(steady_stream_is_acknowledged_in_pairs)
{
    enum { SEGMENTS = 400, YOUNG = 16, WIRE_US = 1231 };

    options.batch = _i % 2 == 0;
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, TTCP_PORT));
    for (unsigned i = 0; i < YOUNG; i++) {
        round_trip_ms(1);
    }
    peer_set_packet_hook(count_acks);
    heard_acks = 0;
    for (unsigned i = 0; i < SEGMENTS; i++) {
        uint64_t next = sim_now_ns() + WIRE_US * 1000;

        peer_tcp_segment(&client, client.snd_nxt - client.first_seq, PEER_MSS);
        while (sim_now_ns() < next) {
            rig_turn();
        }
    }
    ck_assert(rig_until(all_acknowledged, NULL, PROMPT_MS));
    ck_assert_uint_ge(heard_acks, SEGMENTS / 2);
    ck_assert_uint_le(heard_acks, SEGMENTS / 2 + SEGMENTS / 50);
    peer_set_packet_hook(NULL);
    ck_assert(peer_tcp_finish(&client));
}
END_TEST

/* ---- room for others ---- */

enum { LARGE = 1472 };

static unsigned echoes;

static void count_echoes(const struct packet *p)
{
    echoes += p->protocol == PROTO_ICMP && p->data[0] == 0 && p->length == ICMP_HEADER + LARGE;
}

/* A whole window arrives while the box looks elsewhere, and behind it two full frames of somebody
 * else: the ring has room for all (NEEDS 66). */
START_TEST(window_leaves_two_frames_of_the_ring)
{
    static uint8_t payload[LARGE];
    unsigned window = net_tcp_wnd / PEER_MSS;

    options.batch = _i % 2 == 0;
    ck_assert_uint_ge(window, 2);
    ck_assert_uint_le(window, (unsigned)nics[0].ring_kb * 1024 / 1536 - 2);
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, TTCP_PORT));
    ck_assert(peer_tcp_send(&client, 1)); /* opens the window */
    rig_run_ms(30);
    ck_assert_uint_eq(client.box_window, net_tcp_wnd);
    echoes = 0;
    peer_set_packet_hook(count_echoes);
    for (unsigned i = 0; i < window; i++) {
        peer_tcp_segment(&client, 1 + i * PEER_MSS, PEER_MSS);
    }
    peer_send_echo(&peer, BOX_IP, 1, payload, LARGE);
    peer_send_echo(&peer, BOX_IP, 2, payload, LARGE);
    sim_run_us((window + 2) * 1300);
    rig_run_ms(100);
    ck_assert_uint_eq(taken(), 1 + window * PEER_MSS);
    ck_assert_uint_eq(echoes, 2);
    ck_assert_uint_eq(nics[0].stats.rx_overrun, 0);
    ck_assert_uint_eq(nics[0].stats.rx_missed, 0);
    peer_set_packet_hook(NULL);
    ck_assert(peer_tcp_finish(&client));
}
END_TEST

/* ---- those we get, while sending ---- */

static void acknowledge(struct peer_tcp *c, uint32_t ack)
{
    uint8_t tcp[TCP_HEADER] = {0};

    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, c->snd_nxt);
    put32(tcp + 8, ack);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = T_ACK;
    put16(tcp + 14, SERVER_WINDOW);
    put16(tcp + 16, transport_checksum(peer.ip, BOX_IP, PROTO_TCP, tcp, TCP_HEADER));
    peer_send_ip(&peer, BOX_IP, PROTO_TCP, tcp, TCP_HEADER);
}

/* The later of two pure acknowledgements says all; the same one again is a duplicate, which counts
 * (RFC 5681). */
START_TEST(the_last_word_counts)
{
    struct peer_tcp *server = &client;
    uint32_t una;
    unsigned before;

    peer_tcp_listen(server, &peer, TTCP_PORT);
    rig_type("ttcp -t -l 1000 -n 1000 10.0.0.2\n");
    rig_run_ms(200);
    server->mute = true;
    rig_run_ms(50);
    una = server->rcv_nxt;
    before = lwip_stats.tcp.recv;
    acknowledge(server, una - 2000);
    acknowledge(server, una - 1000);
    acknowledge(server, una);
    sim_run_us(400);
    rig_run_ms(3);
    ck_assert_uint_eq(lwip_stats.tcp.recv - before, 1);
    before = lwip_stats.tcp.recv;
    for (unsigned i = 0; i < 3; i++) {
        acknowledge(server, una);
    }
    sim_run_us(400);
    rig_run_ms(3);
    ck_assert_uint_eq(lwip_stats.tcp.recv - before, 3);
    rig_type("\003");
    rig_run_ms(20);
    peer_tcp_forget(server);
}
END_TEST

/* ---- a young connection ---- */

static uint64_t last_frame_us;

static bool note_time(const struct heard *f)
{
    last_frame_us = f->us;
    return true;
}

/* Its first segments are acknowledged one by one and at once, whatever the peer's congestion window
 * begins with. */
START_TEST(first_segments_are_acknowledged_at_once)
{
    enum { FIRST = 16, AT_ONCE_US = 4000 };

    options.batch = _i % 2 == 0;
    ck_assert(peer_tcp_connect(&client, &peer, FROM, BOX_IP, TTCP_PORT));
    peer_set_hook(note_time);
    for (unsigned i = 0; i < FIRST; i++) {
        uint64_t began_us = sim_now_ns() / 1000;

        round_trip_ms(1);
        ck_assert_msg(last_frame_us - began_us <= AT_ONCE_US, "segment %u: %u us", i,
                      (unsigned)(last_frame_us - began_us));
    }
    peer_set_hook(NULL);
    ck_assert(peer_tcp_finish(&client));
}
END_TEST

Suite *net_acks_suite(void)
{
    Suite *suite = suite_create("net_acks");
    TCase *grows = rig_case(suite, "slow start");
    TCase *small = rig_case(suite, "small windows");
    TCase *sending = rig_case(suite, "sending");
    TCase *room = rig_case(suite, "room");

    tcase_add_loop_test(grows, slow_start_grows, 0, 8);
    tcase_add_loop_test(grows, first_segments_are_acknowledged_at_once, 0, 2);
    tcase_add_loop_test(small, smallest_window_does_not_stall, 0, 8);
    tcase_add_loop_test(small, nagle_and_delay_do_not_wait_for_each_other, 0, 2);
    tcase_add_loop_test(small, steady_stream_is_acknowledged_in_pairs, 0, 2);
    tcase_add_test(sending, the_last_word_counts);
    tcase_add_loop_test(room, window_leaves_two_frames_of_the_ring, 0, 2);
    return suite;
}
