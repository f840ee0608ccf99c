/*
 * What net/intake.c may merge and what not, counted by the segments that reach lwIP; the header of
 * the last packet to a neighbour; lwIP's heap.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/options.h"
#include "lwip/stats.h"
#include "lwip/tcp.h"
#include "net/port/heap.h"
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
};

static void send_it(struct peer_tcp *c, uint32_t base, const struct segment *s)
{
    uint8_t tcp[TCP_HEADER + OPTIONS + SMALL] = {0};
    unsigned header = TCP_HEADER + s->options, n = SMALL - s->odd;

    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, base + s->at * SMALL);
    put32(tcp + 8, c->rcv_nxt);
    tcp[12] = (uint8_t)(header / 4 << 4 | s->reserved);
    tcp[13] = (uint8_t)(T_ACK | s->flags);
    put16(tcp + 14, s->window != 0 ? s->window : WINDOW);
    memset(tcp + TCP_HEADER, 1, s->options);
    memset(tcp + header, 'x', n);
    put16(tcp + 16, transport_checksum(peer.ip, BOX_IP, PROTO_TCP, tcp, header + n));
    peer_send_ip(&peer, BOX_IP, PROTO_TCP, tcp, header + n);
}

static void connect_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, PORT));
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
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), n * SMALL);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), n);
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

START_TEST(messages_keep_their_place)
{
    enum { OWN_PORT = 7200 };
    static const struct segment message = {.at = 0, .odd = SMALL - 1}; /* one byte */
    struct tcp_pcb *listener = tcp_new();

    ck_assert_int_eq(tcp_bind(listener, IP_ADDR_ANY, OWN_PORT), ERR_OK);
    listener = tcp_listen(listener);
    tcp_accept(listener, accept_in_turn);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(peer_tcp_connect(&clients[i], &peer, FROM + i, BOX_IP, OWN_PORT));
    }
    rig_run_ms(SETTLE_MS);
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

/* ---- acknowledgements ---- */

static void acknowledge(struct peer_tcp *c, uint32_t ack)
{
    uint8_t tcp[TCP_HEADER] = {0};

    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, c->snd_nxt);
    put32(tcp + 8, ack);
    tcp[12] = TCP_HEADER / 4 << 4;
    tcp[13] = T_ACK;
    put16(tcp + 14, WINDOW);
    put16(tcp + 16, transport_checksum(peer.ip, BOX_IP, PROTO_TCP, tcp, TCP_HEADER));
    peer_send_ip(&peer, BOX_IP, PROTO_TCP, tcp, TCP_HEADER);
}

/* The later of two pure acknowledgements says all; the same one again is a duplicate, which counts
 * (RFC 5681). */
START_TEST(acknowledgements)
{
    struct peer_tcp *server = &clients[0];
    uint32_t una;
    unsigned before;

    peer_tcp_listen(server, &peer, PORT);
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

/* ---- lwIP's heap ---- */

static _Alignas(16) unsigned char memory[HEAP_MIN];

START_TEST(heap_gives_what_was_asked)
{
    enum { SIZES = 6, MOST = 2000 };
    static const size_t sizes[SIZES] = {1, 128, 129, 512, 1600, 20000};
    static unsigned char *blocks[MOST];
    unsigned n = 0;

    heap_init(memory, sizeof(memory));
    ck_assert_ptr_null(heap_take(100000));
    ck_assert_ptr_null(heap_take_zeroed(SIZE_MAX / 2, 3));
    for (unsigned failed = 0; failed < SIZES && n < MOST;) {
        size_t size = sizes[n % SIZES];

        blocks[n] = heap_take(size);
        if (blocks[n] == NULL) {
            break;
        }
        ck_assert_uint_eq((uintptr_t)blocks[n] % sizeof(void *), 0);
        ck_assert(blocks[n] > memory && blocks[n] + size <= memory + sizeof(memory));
        memset(blocks[n], (int)n, size);
        n++;
    }
    ck_assert_uint_gt(n, 3);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < sizes[i % SIZES]; k++) {
            ck_assert_uint_eq(blocks[i][k], (unsigned char)i);
        }
        heap_give(blocks[i]);
    }
    heap_give(NULL);
    unsigned char *zeroed = heap_take_zeroed(10, 12);
    for (unsigned k = 0; k < 120; k++) {
        ck_assert_uint_eq(zeroed[k], 0);
    }
    heap_give(zeroed);
}
END_TEST

/* An empty list helps itself from the next size; in the end there is nothing, and all comes back.
 */
START_TEST(heap_runs_out_and_recovers)
{
    static void *blocks[2000];
    unsigned first = 0;

    heap_init(memory, sizeof(memory));
    for (unsigned round = 0; round < 3; round++) {
        unsigned n = 0;

        while ((blocks[n] = heap_take(64)) != NULL) {
            n++;
        }
        ck_assert_uint_gt(n, 100);
        ck_assert(round == 0 || n == first);
        first = n;
        while (n > 0) {
            heap_give(blocks[--n]);
        }
        ck_assert_ptr_nonnull(blocks[0] = heap_take(20000));
        heap_give(blocks[0]);
    }
}
END_TEST

static unsigned answers;

static void count_udp(const struct packet *p)
{
    answers += p->protocol == PROTO_UDP;
}

/* One datagram to the echo port, its header telling `told` bytes of payload; `sum`: with a right
 * checksum over all of the packet, as it would be for that length, or with none. */
static void send_misstated(unsigned payload, unsigned told, bool sum)
{
    uint8_t udp[UDP_HEADER + 64] = {0};

    put16(udp, FROM);
    put16(udp + 2, 7);
    put16(udp + 4, UDP_HEADER + told);
    if (sum) {
        put16(udp + 6, transport_checksum(peer.ip, BOX_IP, PROTO_UDP, udp, UDP_HEADER + payload));
    }
    peer_send_ip(&peer, BOX_IP, PROTO_UDP, udp, UDP_HEADER + payload);
    rig_run_ms(5);
}

/* RFC 768: neither what stands behind a datagram nor what is missing of it is taken. */
START_TEST(datagrams_are_as_long_as_they_say)
{
    static const unsigned told[] = {0, 19, 21, 64, 1400, 0xFFFF - UDP_HEADER};

    peer_set_packet_hook(count_udp);
    for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        for (unsigned sum = 0; sum < 2; sum++) {
            send_misstated(20, told[i], sum);
        }
    }
    ck_assert_uint_eq(answers, 0);
    ck_assert_uint_eq(lwip_stats.udp.lenerr, 12);
    send_misstated(20, 20, true);
    send_misstated(20, 20, false);
    ck_assert_uint_eq(answers, 2);
}
END_TEST

START_TEST(heap_notices_a_block_given_twice)
{
    void *block;

    heap_init(memory, sizeof(memory));
    block = heap_take(64);
    heap_give(block);
    heap_give(block); /* panics */
}
END_TEST

Suite *net_intake_suite(void)
{
    Suite *suite = suite_create("net_intake");
    TCase *merging = rig_case(suite, "merging");
    TCase *heap = own_case(suite, "heap");

    tcase_add_loop_test(merging, segments_in_a_row_become_one, 1, 11);
    tcase_add_loop_test(merging, what_differs_is_not_merged, 0, 9);
    tcase_add_test(merging, odd_lengths);
    tcase_add_test(merging, nothing_is_merged_without_batching);
    tcase_add_loop_test(merging, connections_in_turn, 0, 2);
    tcase_add_test(merging, messages_keep_their_place);
    tcase_add_test(merging, acknowledgements);
    tcase_add_test(merging, datagrams_are_as_long_as_they_say);
    tcase_add_test(heap, heap_gives_what_was_asked);
    tcase_add_test(heap, heap_runs_out_and_recovers);
    tcase_add_test_raise_signal(heap, heap_notices_a_block_given_twice, 6);
    return suite;
}
