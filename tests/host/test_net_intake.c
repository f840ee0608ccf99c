/*
 * What net/intake.c may merge and what not, counted by the segments that reach lwIP.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "kernel/options.h"
#include "lwip/stats.h"
#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "tests/host/sim/bus.h"

enum {
    PORT = 5001,
    FROM = 40000,
    SMALL = 600, /* payload of a segment here: a burst of ten fits the ring */
    OPTIONS = 4,
    WINDOW = 8192,
    SETTLE_MS = 300,
    MERGED = 8,      /* the most segments that become one */
    CONNECTIONS = 6, /* more than are merged at a time    */
    FIRST = 1,       /* bytes that open a connection's window */
};

static struct peer_tcp clients[CONNECTIONS];

/* A segment of 600 bytes, its position counted in segments; all else as the next in line. */
struct segment {
    unsigned at;
    unsigned flags;    /* beside ACK                        */
    unsigned window;   /* 0: WINDOW                         */
    unsigned options;  /* bytes, no-operations              */
    unsigned odd;      /* bytes less                        */
    unsigned reserved; /* bits beside the header's length  */
    unsigned behind;   /* bytes that are acknowledged less */
};

static unsigned build(uint8_t *tcp, const struct peer_tcp *c, uint32_t base,
                      const struct segment *s)
{
    unsigned header = TCP_HEADER + s->options, n = SMALL - s->odd;

    memset(tcp, 0, TCP_HEADER);
    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, base + s->at * SMALL);
    put32(tcp + 8, c->rcv_nxt - s->behind);
    tcp[12] = (uint8_t)(header / 4 << 4 | s->reserved);
    tcp[13] = (uint8_t)(T_ACK | s->flags);
    put16(tcp + 14, s->window != 0 ? s->window : WINDOW);
    memset(tcp + TCP_HEADER, 1, s->options);
    memset(tcp + header, 'x', n);
    put16(tcp + 16, transport_checksum(peer.ip, BOX_IP, PROTO_TCP, tcp, header + n));
    return header + n;
}

static void send_it(struct peer_tcp *c, uint32_t base, const struct segment *s)
{
    uint8_t tcp[TCP_HEADER + OPTIONS + SMALL];
    unsigned n = build(tcp, c, base, s);

    peer_send_ip(&peer, BOX_IP, PROTO_TCP, tcp, n);
}

static void connect_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, PORT));
        ck_assert(peer_tcp_send(&clients[i], FIRST));
    }
    rig_run_ms(SETTLE_MS);
}

/* All in one burst; how many segments lwIP sees. */
static unsigned burst(struct peer_tcp *c, const struct segment s[], unsigned n)
{
    uint32_t base = c->snd_nxt;
    unsigned before = lwip_stats.tcp.recv;

    for (unsigned i = 0; i < n; i++) {
        send_it(c, base, &s[i]);
    }
    sim_run_us(n * 700);
    rig_run_ms(5);
    return lwip_stats.tcp.recv - before;
}

static void leave(struct peer_tcp *c)
{
    c->snd_nxt = c->acked; /* where the box expects it */
    peer_tcp_flags(c, T_RST | T_ACK);
    rig_run_ms(5);
    peer_tcp_forget(c);
}

static void in_a_row(struct segment s[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        s[i] = (struct segment){.at = i};
    }
}

START_TEST(segments_in_a_row_become_one)
{
    struct segment s[10];
    static const unsigned seen[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2};
    unsigned n = (unsigned)_i;

    connect_all(1);
    in_a_row(s, n);
    ck_assert_uint_eq(burst(&clients[0], s, n), seen[n]);
    rig_run_ms(SETTLE_MS);
    ck_assert_uint_eq(clients[0].acked - clients[0].snd_nxt, n * SMALL);
    leave(&clients[0]);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), FIRST + n * SMALL);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 1 + n);
}
END_TEST

/* One of three that is not like the others: handed over by itself, in its place. */
START_TEST(what_differs_is_not_merged)
{
    static const struct {
        struct segment odd_one;
        unsigned seen;
    } cases[] = {
        {{.at = 1}, 1},
        {{.at = 1, .flags = T_PSH}, 1},
        {{.at = 1, .window = 4096}, 3},
        {{.at = 1, .options = OPTIONS}, 3},
        {{.at = 1, .flags = 0x20}, 3}, /* URG */
        {{.at = 1, .flags = 0x40}, 3}, /* ECE */
        {{.at = 1, .flags = 0x80}, 3}, /* CWR */
        {{.at = 1, .reserved = 1}, 3}, /* once NS */
        {{.at = 1, .behind = 1}, 3},   /* acknowledges something else */
        {{.at = 0}, 2},                /* the first again, then what does not follow it: 0, 0+... */
    };
    struct segment s[3];

    connect_all(1);
    in_a_row(s, 3);
    s[1] = cases[_i].odd_one;
    if (s[1].at == 0) { /* 0, 0, 1 */
        s[2].at = 1;
    }
    ck_assert_uint_eq(burst(&clients[0], s, 3), cases[_i].seen);
    rig_run_ms(SETTLE_MS);
    ck_assert_uint_eq(clients[0].acked - clients[0].snd_nxt, (s[2].at + 1) * SMALL);
    leave(&clients[0]);
}
END_TEST

/* The middle one of three in a packet that is not the usual one: IP options, fragments, one that
 * would be a whole packet, an IP header that is wrong or said to be longer (the sum of the usual 20
 * bytes is right); only what lies behind the packet in its frame makes no difference. */
enum way {
    USUAL,
    IP_OPTIONS,
    FRAGMENTS,
    LONE_FRAGMENT,
    WRONG_HEADER,
    LONG_HEADER,
    TRAILER,
    WAYS,
};

static void send_this_way(enum way way, const uint8_t *tcp, unsigned n)
{
    enum { CUT = 320, ID = 99, TRAIL = 6 };
    uint8_t frame[ETH_HEADER + MTU] = {0}, *ip = frame + ETH_HEADER;
    unsigned first = way == FRAGMENTS ? CUT : n;
    bool more = way == FRAGMENTS || way == LONE_FRAGMENT;
    unsigned length = build_fragment(frame, &peer, BOX_IP, PROTO_TCP, ID, 0, more, tcp, first);

    if (way == IP_OPTIONS) {
        memmove(ip + IP_HEADER + OPTIONS, ip + IP_HEADER, n);
        memset(ip + IP_HEADER, 1, OPTIONS); /* no-operations */
        ip[0] = 0x46;
        put16(ip + 2, IP_HEADER + OPTIONS + n);
        put16(ip + 10, 0);
        put16(ip + 10, (uint16_t)~reference_sum(ip, IP_HEADER + OPTIONS));
        length += OPTIONS;
    } else if (way == WRONG_HEADER) {
        ip[8]--;
    } else if (way == LONG_HEADER) {
        ip[0] = 0x46;
        put16(ip + 10, 0);
        put16(ip + 10, (uint16_t)~reference_sum(ip, IP_HEADER));
    } else if (way == TRAILER) {
        memset(frame + length, 0xEE, TRAIL);
        length += TRAIL;
    }
    peer_send_frame(0, frame, length);
    if (way == FRAGMENTS) {
        length =
            build_fragment(frame, &peer, BOX_IP, PROTO_TCP, ID, CUT, false, tcp + CUT, n - CUT);
        peer_send_frame(0, frame, length);
    }
}

START_TEST(packets_that_differ_are_not_merged)
{
    static const struct {
        unsigned seen, taken;
    } ways[WAYS] = {[USUAL] = {1, 3},         [IP_OPTIONS] = {3, 3},   [FRAGMENTS] = {3, 3},
                    [LONE_FRAGMENT] = {2, 1}, [WRONG_HEADER] = {2, 1}, [LONG_HEADER] = {2, 1},
                    [TRAILER] = {1, 3}};
    struct peer_tcp *c = &clients[0];
    uint8_t tcp[TCP_HEADER + SMALL];
    uint32_t base;
    unsigned before;

    connect_all(1);
    base = c->snd_nxt;
    before = lwip_stats.tcp.recv;
    send_it(c, base, &(struct segment){.at = 0});
    send_this_way((enum way)_i, tcp, build(tcp, c, base, &(struct segment){.at = 1}));
    send_it(c, base, &(struct segment){.at = 2});
    sim_run_us(3 * 700);
    rig_run_ms(5);
    ck_assert_uint_eq(lwip_stats.tcp.recv - before, ways[_i].seen);
    rig_run_ms(SETTLE_MS);
    ck_assert_uint_eq(c->acked - base, ways[_i].taken * SMALL);
    leave(c);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), FIRST + ways[_i].taken * SMALL);
}
END_TEST

/* The end of a stream is no part of what came before. */
START_TEST(fin_is_not_merged)
{
    struct segment s[3];

    connect_all(1);
    in_a_row(s, 3);
    s[2].flags = T_FIN;
    /* two as one, the third, and what acknowledges the box's own FIN */
    ck_assert_uint_eq(burst(&clients[0], s, 3), 3);
    ck_assert_uint_eq(clients[0].acked - clients[0].snd_nxt, 3 * SMALL + 1);
    ck_assert(clients[0].fin_seen);
    leave(&clients[0]);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), FIRST + 3 * SMALL);
}
END_TEST

/* An odd length in the middle: the bytes of the next lie an address further, and count all the
 * same. */
START_TEST(odd_lengths)
{
    struct segment s[2] = {{.at = 0, .odd = 1}, {.at = 1}};
    uint32_t base;

    connect_all(1);
    base = clients[0].snd_nxt;
    unsigned before = lwip_stats.tcp.recv;
    send_it(&clients[0], base, &s[0]);
    send_it(&clients[0], base - 1, &s[1]);
    sim_run_us(1400);
    rig_run_ms(5);
    ck_assert_uint_eq(lwip_stats.tcp.recv - before, 1);
    ck_assert_uint_eq(clients[0].acked - base, 2 * SMALL - 1);
    leave(&clients[0]);
}
END_TEST

START_TEST(nothing_is_merged_without_batching)
{
    struct segment s[4];

    options.batch = false;
    connect_all(1);
    in_a_row(s, 4);
    ck_assert_uint_eq(burst(&clients[0], s, 4), 4);
    leave(&clients[0]);
}
END_TEST

/* Connections in turn: each has its own, as long as there are not too many. */
START_TEST(connections_in_turn)
{
    unsigned n = _i == 0 ? 4 : CONNECTIONS;
    unsigned before;

    connect_all(n);
    before = lwip_stats.tcp.recv;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < n; i++) {
            send_it(&clients[i], clients[i].snd_nxt, &(struct segment){.at = k});
        }
    }
    sim_run_us(2 * n * 700);
    rig_run_ms(5);
    if (n == 4) {
        ck_assert_uint_eq(lwip_stats.tcp.recv - before, n);
    } else {
        ck_assert_uint_gt(lwip_stats.tcp.recv - before, n);
    }
    rig_run_ms(SETTLE_MS);
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_eq(clients[i].acked - clients[i].snd_nxt, 2 * SMALL);
        leave(&clients[i]);
    }
}
END_TEST

/* The next segment in line, but of another machine with the same ports: none of the connection's.
 */
START_TEST(strangers_are_not_merged)
{
    struct station *other = peer_plug(0, RIG_IP4(10, 0, 0, 3));
    struct peer_tcp *c = &clients[0];
    uint8_t tcp[TCP_HEADER + SMALL];
    unsigned n;

    connect_all(1);
    n = build(tcp, c, c->snd_nxt, &(struct segment){.at = 1});
    put16(tcp + 16, 0);
    put16(tcp + 16, transport_checksum(other->ip, BOX_IP, PROTO_TCP, tcp, n));
    send_it(c, c->snd_nxt, &(struct segment){.at = 0});
    peer_send_ip(other, BOX_IP, PROTO_TCP, tcp, n);
    sim_run_us(1400);
    rig_run_ms(SETTLE_MS);
    ck_assert_uint_eq(c->acked - c->snd_nxt, SMALL);
    leave(c);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), FIRST + SMALL);
}
END_TEST

/* A message on one connection stays behind the data that came before it on another, also when its
 * own connection had something in the burst before. */
static unsigned order[3], deliveries;

static err_t note_order(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    ck_assert_int_eq(error, ERR_OK);
    if (p == NULL) {
        return tcp_close(pcb);
    }
    if (deliveries < 3) {
        order[deliveries] = *(unsigned *)arg;
    }
    deliveries++;
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accept_in_turn(void *arg, struct tcp_pcb *pcb, err_t error)
{
    static unsigned number[] = {0, 1};
    static unsigned next;

    (void)arg;
    ck_assert_int_eq(error, ERR_OK);
    tcp_arg(pcb, &number[next++ % 2]);
    tcp_recv(pcb, note_order);
    return ERR_OK;
}

enum { OWN_PORT = 7200 };

static struct tcp_pcb *listen_and_note(unsigned connections)
{
    struct tcp_pcb *listener = tcp_new();

    ck_assert_int_eq(tcp_bind(listener, IP_ADDR_ANY, OWN_PORT), ERR_OK);
    listener = tcp_listen(listener);
    tcp_accept(listener, accept_in_turn);
    for (unsigned i = 0; i < connections; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, OWN_PORT));
    }
    rig_run_ms(SETTLE_MS);
    return listener;
}

START_TEST(messages_keep_their_place)
{
    static const struct segment message = {.at = 0, .odd = SMALL - 1}; /* one byte */
    struct tcp_pcb *listener = listen_and_note(2);

    send_it(&clients[0], clients[0].snd_nxt, &message);
    send_it(&clients[1], clients[1].snd_nxt, &(struct segment){.at = 0});
    send_it(&clients[0], clients[0].snd_nxt + 1, &message);
    sim_run_us(1400);
    rig_run_ms(5);
    ck_assert_uint_eq(deliveries, 3);
    ck_assert(order[0] == 0 && order[1] == 1 && order[2] == 0);
    rig_run_ms(SETTLE_MS);
    leave(&clients[0]);
    leave(&clients[1]);
    ck_assert_int_eq(tcp_close(listener), ERR_OK);
}
END_TEST

static void note_datagram(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                          u16_t port)
{
    (void)pcb;
    (void)from;
    (void)port;
    order[deliveries++ % 3] = *(unsigned *)arg;
    pbuf_free(p);
}

/* So does a datagram, be it the usual one or (without a checksum) one for the long way. */
START_TEST(datagrams_keep_their_place)
{
    static unsigned datagram = 2;
    struct tcp_pcb *listener = listen_and_note(1);
    struct udp_pcb *pcb = udp_new();
    uint8_t udp[UDP_HEADER + 20] = {0};

    ck_assert_int_eq(udp_bind(pcb, IP_ADDR_ANY, OWN_PORT), ERR_OK);
    udp_recv(pcb, note_datagram, &datagram);
    put16(udp, FROM);
    put16(udp + 2, OWN_PORT);
    put16(udp + 4, sizeof(udp));
    if (_i == 0) {
        put16(udp + 6, transport_checksum(peer.ip, BOX_IP, PROTO_UDP, udp, sizeof(udp)));
    }
    send_it(&clients[0], clients[0].snd_nxt, &(struct segment){.at = 0});
    peer_send_ip(&peer, BOX_IP, PROTO_UDP, udp, sizeof(udp));
    send_it(&clients[0], clients[0].snd_nxt, &(struct segment){.at = 1});
    sim_run_us(2000);
    rig_run_ms(5);
    ck_assert_uint_eq(deliveries, 3);
    ck_assert(order[0] == 0 && order[1] == datagram && order[2] == 0);
    rig_run_ms(SETTLE_MS);
    leave(&clients[0]);
    udp_remove(pcb);
    ck_assert_int_eq(tcp_close(listener), ERR_OK);
}
END_TEST

Suite *net_intake_suite(void)
{
    Suite *suite = suite_create("net_intake");
    TCase *merging = rig_case(suite, "merging");

    tcase_add_loop_test(merging, segments_in_a_row_become_one, 1, 11);
    tcase_add_loop_test(merging, what_differs_is_not_merged, 0, 10);
    tcase_add_loop_test(merging, packets_that_differ_are_not_merged, 0, WAYS);
    tcase_add_test(merging, fin_is_not_merged);
    tcase_add_test(merging, odd_lengths);
    tcase_add_test(merging, nothing_is_merged_without_batching);
    tcase_add_loop_test(merging, connections_in_turn, 0, 2);
    tcase_add_test(merging, strangers_are_not_merged);
    tcase_add_test(merging, messages_keep_their_place);
    tcase_add_loop_test(merging, datagrams_keep_their_place, 0, 2);
    return suite;
}
