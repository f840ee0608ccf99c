/*
 * Batching may change no byte: order, completeness and acknowledgements at any batch size, switched
 * under load, with damaged frames anywhere in a burst.
 *
 * The receiving application is the test's own, on lwIP's raw interface: it sees every byte in the
 * order it is delivered, and says itself what is wrong.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/options.h"
#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "net/net.h"
#include "net/nicif.h"
#include "tests/host/sim/bus.h"

enum {
    PORT = 7100,
    FROM = 40000,
    STREAMS = 2,
    IN_FLIGHT = 3 * PEER_MSS, /* of each stream: the ring of 16 KB never overruns */
    BURST = 6,                /* a window: the ring holds eight, two are for others */
    DATAGRAM = 700,
    LATEST_ACK_MS = 60, /* some ticks (tcp_watch_tick) */
    AT_ONCE_MS = 4,
    LARGE_WINDOW = 32 * PEER_MSS,
    PATTERN = 7, /* peer_tcp_segment(): byte i of a stream is 7 i */
};

/* ---- the application ---- */

struct stream {
    uint32_t taken;
    unsigned wrong;
    bool ended;
};

static struct stream streams[STREAMS];
static unsigned accepted;
static struct tcp_pcb *listener;

static struct {
    struct udp_pcb *pcb;
    uint32_t next, wrong;
} datagrams;

static err_t take(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct stream *s = arg;

    ck_assert_int_eq(error, ERR_OK);
    if (p == NULL) {
        s->ended = true;
        ck_assert_int_eq(tcp_close(pcb), ERR_OK);
        return ERR_OK;
    }
    for (const struct pbuf *q = p; q != NULL; q = q->next) {
        for (unsigned i = 0; i < q->len; i++) {
            s->wrong += ((const uint8_t *)q->payload)[i] != (uint8_t)(s->taken * PATTERN);
            s->taken++;
        }
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accept_one(void *arg, struct tcp_pcb *pcb, err_t error)
{
    (void)arg;
    ck_assert_int_eq(error, ERR_OK);
    ck_assert_uint_lt(accepted, STREAMS);
    tcp_arg(pcb, &streams[accepted++]);
    tcp_recv(pcb, take);
    return ERR_OK;
}

static void take_datagram(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                          u16_t port)
{
    uint8_t number[4];

    (void)arg;
    (void)pcb;
    (void)from;
    (void)port;
    ck_assert_uint_eq(pbuf_copy_partial(p, number, 4, 0), 4);
    datagrams.wrong += get32(number) != datagrams.next || p->tot_len != DATAGRAM;
    datagrams.next = get32(number) + 1;
    pbuf_free(p);
}

static void open_application(void)
{
    struct tcp_pcb *pcb = tcp_new();

    memset(streams, 0, sizeof(streams));
    memset(&datagrams, 0, sizeof(datagrams));
    accepted = 0;
    ck_assert_int_eq(tcp_bind(pcb, IP_ADDR_ANY, PORT), ERR_OK);
    listener = tcp_listen(pcb);
    tcp_accept(listener, accept_one);
    datagrams.pcb = udp_new();
    ck_assert_int_eq(udp_bind(datagrams.pcb, IP_ADDR_ANY, PORT), ERR_OK);
    udp_recv(datagrams.pcb, take_datagram, NULL);
}

static void close_application(void)
{
    ck_assert_int_eq(tcp_close(listener), ERR_OK);
    udp_remove(datagrams.pcb);
}

/* ---- load ---- */

static struct peer_tcp clients[STREAMS];
static uint32_t sent[STREAMS];
static uint32_t datagrams_sent;

static void connect_clients(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, PORT));
        sent[i] = 0;
    }
    datagrams_sent = 0;
}

static unsigned dice(unsigned sides)
{
    static uint32_t state = 86;

    state = state * 1664525 + 1013904223;
    return (state >> 16) % sides;
}

enum kind { FULL, ANY_SIZE, DOUBLED_AND_SWAPPED, KINDS };

static void send_some(unsigned i, enum kind kind)
{
    struct peer_tcp *c = &clients[i];
    unsigned n = kind == FULL ? PEER_MSS : 1 + dice(PEER_MSS);
    unsigned more = kind == DOUBLED_AND_SWAPPED ? 1 + dice(400) : 0;

    if (c->first_seq + sent[i] + n + more - c->acked > IN_FLIGHT) {
        return;
    }
    if (more != 0) {
        peer_tcp_segment(c, sent[i] + n, more);
    }
    peer_tcp_segment(c, sent[i], n);
    if (more != 0 && dice(2) == 0) {
        peer_tcp_segment(c, sent[i], n);
    }
    sent[i] += n + more;
}

static void send_datagram(void)
{
    uint8_t data[DATAGRAM] = {0};

    put32(data, datagrams_sent++);
    peer_send_udp(&peer, BOX_IP, FROM, PORT, data, sizeof(data));
}

static void choose_batch(void)
{
    options.batch = dice(2) == 0;
    options.rxbudget = 1 + dice(20);
}

static void everything_arrived(void)
{
    rig_run_ms(600);
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert_uint_gt(sent[i], 100000);
        ck_assert_uint_eq(streams[i].taken, sent[i]);
        ck_assert_uint_eq(streams[i].wrong, 0);
        ck_assert_uint_eq(clients[i].acked - clients[i].first_seq, sent[i]);
        ck_assert(peer_tcp_finish(&clients[i]));
        ck_assert(streams[i].ended);
    }
    ck_assert_uint_eq(datagrams.next, datagrams_sent);
    ck_assert_uint_eq(datagrams.wrong, 0);
    ck_assert_uint_eq(nics[0].stats.rx_overrun, 0);
}

/* Two streams and datagrams in, one stream out, while batch and budget change all the time. */
START_TEST(switched_under_load)
{
    enum { ROUNDS = 500, CALL = 300, CALLS = 800 };
    static struct peer_tcp server;

    open_application();
    connect_clients();
    peer_tcp_listen(&server, &peer, 5001);
    server.call = CALL;
    rig_type("ttcp -t -l 300 -n 800 10.0.0.2\n");
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned k = dice(5); k != 0; k--) {
            send_some(dice(STREAMS), (enum kind)_i);
        }
        if (dice(3) == 0) {
            send_datagram();
        }
        sim_run_us(dice(2) * dice(6000)); /* the box is busy elsewhere: they pile up */
        choose_batch();
        rig_run_ms(1 + dice(6));
    }
    everything_arrived();
    ck_assert_int_eq(rig_number(rig_record("done", 0), "status"), 0);
    ck_assert_uint_eq(server.received, CALL * CALLS);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    ck_assert_uint_eq(server.repeated, 0);
    close_application();
}
END_TEST

/* As a person does it, at the keyboard. */
START_TEST(switched_at_the_keyboard)
{
    open_application();
    connect_clients();
    for (unsigned round = 0; round < 400; round++) {
        for (unsigned i = 0; i < STREAMS; i++) {
            send_some(i, FULL);
            send_some(i, FULL);
        }
        if (round % 5 == 0) {
            rig_type(options.batch ? "set batch=off\n" : "set batch=on\n");
        }
        rig_run_ms(6);
    }
    ck_assert_uint_eq(rig_record_count("done"), 80);
    everything_arrived();
    close_application();
}
END_TEST

/* ---- damage ---- */

/* The IP packet `data`, then its payload damaged: bit `bit` is another. */
static void send_damaged(const void *data, unsigned n, unsigned protocol, unsigned bit)
{
    uint8_t frame[ETH_HEADER + MTU];
    unsigned length =
        build_fragment(frame, &peer, BOX_IP, protocol, 0x4000 + bit, 0, false, data, n);

    frame[ETH_HEADER + IP_HEADER + bit / 8 % n] ^= (uint8_t)(1u << bit % 8);
    peer_send_frame(0, frame, length);
}

/* As peer_tcp_segment(), for one that is to be damaged. */
static void damaged_segment(struct peer_tcp *c, uint32_t offset, unsigned bit)
{
    uint8_t tcp[TCP_HEADER + PEER_MSS] = {0};

    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, c->first_seq + offset);
    put32(tcp + 8, c->rcv_nxt);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = T_ACK;
    put16(tcp + 14, 8192);
    for (unsigned i = 0; i < PEER_MSS; i++) {
        tcp[TCP_HEADER + i] = (uint8_t)((offset + i) * PATTERN);
    }
    put16(tcp + 16, transport_checksum(peer.ip, BOX_IP, PROTO_TCP, tcp, sizeof(tcp)));
    send_damaged(tcp, sizeof(tcp), PROTO_TCP, bit);
}

/* Past the first segments, which are acknowledged one by one (slow start). */
static void past_slow_start(struct peer_tcp *c)
{
    ck_assert(peer_tcp_send(c, 24 * PEER_MSS));
    rig_run_ms(300);
    ck_assert_uint_eq(c->acked, c->snd_nxt);
}

/* A burst of BURST full segments, the bad-th damaged, waiting in the ring when the box looks. */
static void burst_with_damage(struct peer_tcp *c, uint32_t offset, unsigned bad, unsigned bit)
{
    for (unsigned k = 0; k < BURST; k++) {
        if (k == bad) {
            damaged_segment(c, offset + k * PEER_MSS, bit);
        } else {
            peer_tcp_segment(c, offset + k * PEER_MSS, PEER_MSS);
        }
    }
    sim_run_us(BURST * 1300);
    rig_run_ms(10);
}

/* Whatever bit is wrong, wherever the frame lies in the burst: it is not delivered, the gap is
 * told at once, and when the segment has come again all is there. */
static void damage(unsigned bad, unsigned bit)
{
    struct peer_tcp *c = &clients[0];
    uint32_t offset = c->acked - c->first_seq;
    unsigned before = c->segments;

    burst_with_damage(c, offset, bad, bit);
    if (bad + 1 == BURST) {
        rig_run_ms(LATEST_ACK_MS); /* nothing behind it that would tell of the gap */
    }
    ck_assert_uint_ge(c->segments, before + 1);
    ck_assert_uint_eq(c->acked - c->first_seq, offset + bad * PEER_MSS);
    ck_assert_uint_eq(streams[0].taken, offset + bad * PEER_MSS);
    peer_tcp_segment(c, offset + bad * PEER_MSS, PEER_MSS);
    rig_run_ms(300);
    ck_assert_uint_eq(c->acked - c->first_seq, offset + BURST * PEER_MSS);
    ck_assert_uint_eq(streams[0].taken, offset + BURST * PEER_MSS);
    ck_assert_uint_eq(streams[0].wrong, 0);
}

START_TEST(damaged_segment_in_a_burst)
{
    enum { CHECKSUM_BIT = 16 * 8, SEQUENCE_BIT = 7 * 8, ACK_BIT = 11 * 8, BITS = 11680 };

    options.batch = _i % 2 == 0;
    open_application();
    connect_clients();
    past_slow_start(&clients[0]);
    for (unsigned bad = 0; bad < BURST; bad++) {
        damage(bad, CHECKSUM_BIT);
        damage(bad, SEQUENCE_BIT);
        damage(bad, ACK_BIT);
        for (unsigned n = 0; n < 20; n++) {
            damage(bad, TCP_HEADER * 8 + dice(BITS));
        }
    }
    ck_assert(peer_tcp_finish(&clients[0]));
    ck_assert(peer_tcp_finish(&clients[1]));
    close_application();
}
END_TEST

START_TEST(damaged_datagram_in_a_burst)
{
    uint8_t udp[UDP_HEADER + DATAGRAM] = {0};

    options.batch = _i % 2 == 0;
    open_application();
    put16(udp, FROM);
    put16(udp + 2, PORT);
    put16(udp + 4, sizeof(udp));
    for (unsigned bad = 0; bad < BURST; bad++) {
        uint32_t before = datagrams_sent;

        for (unsigned k = 0; k < BURST; k++) {
            if (k != bad) {
                send_datagram();
                continue;
            }
            put32(udp + UDP_HEADER, before);
            put16(udp + 6, 0);
            put16(udp + 6, transport_checksum(peer.ip, BOX_IP, PROTO_UDP, udp, sizeof(udp)));
            send_damaged(udp, sizeof(udp), PROTO_UDP, UDP_HEADER * 8 + dice(DATAGRAM * 8));
        }
        sim_run_us(BURST * 800);
        rig_run_ms(10);
        ck_assert_uint_eq(datagrams.next, before + BURST - 1);
        ck_assert_uint_eq(datagrams.wrong, 0);
    }
    close_application();
}
END_TEST

/* ---- transmit ---- */

static unsigned most_waiting, largest_burst;

/* A card that takes whatever it is offered; the wire loses it. */
static unsigned take_all(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    enum { QUEUE = 64 };
    unsigned waiting = QUEUE - nicif_tx_room(nicif_netif(nic));

    (void)in;
    most_waiting = waiting > most_waiting ? waiting : most_waiting;
    largest_burst = n > largest_burst ? n : largest_burst;
    return n;
}

/* With batching what is made at a time (the fragments of a datagram) leaves in one burst; without,
 * each frame before the next is made. */
START_TEST(frames_leave_together_or_one_at_a_time)
{
    enum { FRAGMENTS = 6 };
    static struct nic_ops roomy;
    const struct nic_ops *real = nics[0].ops;

    options.batch = _i % 2 == 0;
    ck_assert_int_eq(rig_command("ttcp -t -u -l 8000 -n 1 10.0.0.2", 2000), 0); /* ARP is done */
    roomy = *real;
    roomy.tx_burst = take_all;
    nics[0].ops = &roomy;
    ck_assert_int_eq(rig_command("ttcp -t -u -l 8000 -n 10 10.0.0.2", 2000), 0);
    nics[0].ops = real;
    ck_assert_uint_ge(most_waiting, options.batch ? FRAGMENTS : 1);
    ck_assert_uint_ge(largest_burst, options.batch ? FRAGMENTS : 1);
    ck_assert(options.batch || (most_waiting == 1 && largest_burst == 1));
}
END_TEST

/* ---- acknowledgements ---- */

/* A burst brings an acknowledgement at once, that leaves one segment out at most (the first of the
 * next two); that one has not long to wait. */
START_TEST(each_burst_is_acknowledged)
{
    struct peer_tcp *c = &clients[0];

    if (_i == 1) {
        net_tcp_wnd = LARGE_WINDOW; /* of which lwIP announces no new part before four segments */
    }
    open_application();
    connect_clients();
    past_slow_start(c);
    for (unsigned n = 2; n <= BURST; n++) {
        for (unsigned round = 0; round < 3; round++) {
            uint32_t offset = c->acked - c->first_seq;
            unsigned before = c->segments;

            for (unsigned k = 0; k < n; k++) {
                peer_tcp_segment(c, offset + k * PEER_MSS, PEER_MSS);
            }
            sim_run_us(n * 1300);
            rig_run_ms(2 + n);
            ck_assert_uint_gt(c->segments, before);
            ck_assert_uint_le(c->snd_nxt - c->acked, PEER_MSS);
            rig_run_ms(LATEST_ACK_MS);
            ck_assert_uint_eq(c->acked, c->snd_nxt);
        }
    }
    ck_assert(peer_tcp_finish(&clients[0]));
    ck_assert(peer_tcp_finish(&clients[1]));
    close_application();
}
END_TEST

/* Segments of one connection with a hole between: the acknowledgement names the hole, at once, and
 * what fills it is acknowledged at once, too (RFC 5681 4.2). */
START_TEST(gap_is_told_at_once)
{
    struct peer_tcp *c = &clients[0];

    if (_i == 1) {
        net_tcp_wnd = LARGE_WINDOW;
    }
    open_application();
    connect_clients();
    past_slow_start(c);
    for (unsigned hole = 0; hole + 1 < BURST; hole++) {
        uint32_t offset = c->acked - c->first_seq;
        unsigned before = c->segments;

        for (unsigned k = 0; k < BURST; k++) {
            if (k != hole) {
                peer_tcp_segment(c, offset + k * PEER_MSS, PEER_MSS);
            }
        }
        sim_run_us(BURST * 1300);
        rig_run_ms(8);
        ck_assert_uint_gt(c->segments, before);
        ck_assert_uint_eq(c->acked - c->first_seq, offset + hole * PEER_MSS);
        peer_tcp_segment(c, offset + hole * PEER_MSS, PEER_MSS);
        rig_run_ms(AT_ONCE_MS);
        ck_assert_uint_eq(c->acked - c->first_seq, offset + BURST * PEER_MSS);
    }
    ck_assert(peer_tcp_finish(&clients[0]));
    ck_assert(peer_tcp_finish(&clients[1]));
    close_application();
}
END_TEST

Suite *net_batch_suite(void)
{
    Suite *suite = suite_create("net_batch");
    TCase *load = rig_case(suite, "load");
    TCase *damaged = rig_case(suite, "damage");
    TCase *transmit = rig_case(suite, "transmit");
    TCase *acks = rig_case(suite, "acknowledgements");

    tcase_add_loop_test(load, switched_under_load, 0, KINDS);
    tcase_add_test(load, switched_at_the_keyboard);
    tcase_add_loop_test(damaged, damaged_segment_in_a_burst, 0, 2);
    tcase_add_loop_test(damaged, damaged_datagram_in_a_burst, 0, 2);
    tcase_add_loop_test(transmit, frames_leave_together_or_one_at_a_time, 0, 2);
    tcase_add_loop_test(acks, each_burst_is_acknowledged, 0, 2);
    tcase_add_loop_test(acks, gap_is_told_at_once, 0, 2);
    return suite;
}
