/*
 * A small TCP: in-order receive, go-back-N send.
 */
#include "tests/host/net_peer_tcp.h"

#include <stddef.h>
#include <string.h>

#include "tests/host/net_rig.h"
#include "tests/host/sim/bus.h"

enum { CONNECTIONS = 80, OPEN_MS = 4000, WINDOW = 0xFFFF };

static const uint64_t RETRY_NS = 300000000, GIVE_UP_NS = 5000000000;

static struct peer_tcp *connections[CONNECTIONS];

static uint32_t next_seq = 0xFFFFF000u; /* the first connection soon wraps */

void peer_tcp_forget_all(void)
{
    memset(connections, 0, sizeof(connections));
}

void peer_tcp_forget(struct peer_tcp *c)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (connections[i] == c) {
            connections[i] = NULL;
        }
    }
}

static void remember(struct peer_tcp *c)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (connections[i] == NULL) {
            connections[i] = c;
            return;
        }
    }
}

static void start(struct peer_tcp *c, const struct station *s, unsigned port)
{
    unsigned hasty = c->hasty;

    memset(c, 0, sizeof(*c));
    c->hasty = hasty;
    c->station = s;
    c->port = port;
    c->used = true;
    c->snd_nxt = next_seq;
    c->first_seq = next_seq + 1;
    next_seq += 0x01234567;
    remember(c);
}

/* ---- sending ---- */

static unsigned window(const struct peer_tcp *c)
{
    uint64_t left = c->stop_at - c->received;

    return c->stop_at == 0 || left > WINDOW ? WINDOW : (unsigned)left;
}

static void send_segment(struct peer_tcp *c, uint32_t seq, unsigned flags, const uint8_t *data,
                         unsigned n)
{
    uint8_t tcp[TCP_HEADER + 4 + PEER_MSS] = {0};
    unsigned header = (flags & T_SYN) != 0 ? TCP_HEADER + 4 : TCP_HEADER;

    put16(tcp, c->port);
    put16(tcp + 2, c->box_port);
    put32(tcp + 4, seq);
    put32(tcp + 8, (flags & T_ACK) != 0 ? c->rcv_nxt : 0);
    tcp[12] = (uint8_t)(header / 4 << 4);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, window(c));
    if ((flags & T_SYN) != 0) {
        tcp[TCP_HEADER] = 2; /* maximum segment size */
        tcp[TCP_HEADER + 1] = 4;
        put16(tcp + TCP_HEADER + 2, PEER_MSS);
    }
    if (n != 0) {
        memcpy(tcp + header, data, n);
    }
    put16(tcp + 16, transport_checksum(c->station->ip, c->box_ip, PROTO_TCP, tcp, header + n));
    peer_send_ip(c->station, c->box_ip, PROTO_TCP, tcp, header + n);
}

void peer_tcp_flags(struct peer_tcp *c, unsigned flags)
{
    send_segment(c, c->snd_nxt, flags, NULL, 0);
    c->snd_nxt += (flags & (T_SYN | T_FIN)) != 0;
    c->fin_sent |= (flags & T_FIN) != 0;
}

void peer_tcp_segment(struct peer_tcp *c, uint32_t offset, unsigned n)
{
    uint8_t data[PEER_MSS];

    for (unsigned i = 0; i < n; i++) {
        data[i] = offset + i < c->says_bytes ? c->says[offset + i] : (uint8_t)((offset + i) * 7);
    }
    send_segment(c, c->first_seq + offset, T_ACK | T_PSH, data, n);
    if ((int32_t)(c->first_seq + offset + n - c->snd_nxt) > 0) {
        c->snd_nxt = c->first_seq + offset + n;
    }
    if ((int32_t)(c->snd_nxt - c->snd_end) > 0) {
        c->snd_end = c->snd_nxt;
    }
}

static unsigned room(const struct peer_tcp *c)
{
    uint32_t flying = c->snd_nxt - c->acked;

    return flying < c->box_window ? c->box_window - flying : 0;
}

void peer_tcp_fill(struct peer_tcp *c)
{
    while ((int32_t)(c->snd_end - c->snd_nxt) > 0) {
        unsigned n = c->snd_end - c->snd_nxt < PEER_MSS ? c->snd_end - c->snd_nxt : PEER_MSS;

        if (room(c) < n) {
            return;
        }
        peer_tcp_segment(c, c->snd_nxt - c->first_seq, n);
    }
}

/* Begin again behind what was acknowledged. */
static void go_back(struct peer_tcp *c)
{
    c->snd_nxt = c->acked;
    peer_tcp_fill(c);
    if (c->fin_sent && c->snd_nxt == c->snd_end) {
        peer_tcp_flags(c, T_FIN | T_ACK);
    }
}

/* Send and repeat until done(c).  False if the box takes nothing any more. */
static bool push(struct peer_tcp *c, bool (*done)(const struct peer_tcp *c))
{
    uint32_t acked = c->acked;
    uint64_t since = sim_now_ns(), gone_back = since;

    while (!done(c) && !c->reset_seen) {
        uint64_t now;

        peer_tcp_fill(c);
        rig_turn();
        now = sim_now_ns();
        if (c->acked != acked) {
            acked = c->acked;
            since = gone_back = now;
        }
        if (now - since > GIVE_UP_NS) {
            return false;
        }
        if (now - gone_back > RETRY_NS) {
            gone_back = now;
            go_back(c);
        }
    }
    return !c->reset_seen;
}

static bool all_sent(const struct peer_tcp *c)
{
    return c->snd_nxt == c->snd_end;
}

bool peer_tcp_send(struct peer_tcp *c, unsigned n)
{
    c->snd_end += n;
    return push(c, all_sent);
}

static bool all_acked(const struct peer_tcp *c)
{
    return c->acked == c->snd_end + 1;
}

bool peer_tcp_finish(struct peer_tcp *c)
{
    peer_tcp_flags(c, T_FIN | T_ACK);
    return push(c, all_acked);
}

/* ---- opening and closing ---- */

static bool is_open(void *arg)
{
    const struct peer_tcp *c = arg;

    return c->open || c->reset_seen;
}

bool peer_tcp_connect(struct peer_tcp *c, const struct station *s, unsigned port, uint32_t box_ip,
                      unsigned box_port)
{
    start(c, s, port);
    c->box_ip = box_ip;
    c->box_port = box_port;
    peer_tcp_flags(c, T_SYN);
    if (!rig_until(is_open, c, OPEN_MS / 2)) {
        c->snd_nxt--;
        peer_tcp_flags(c, T_SYN);
    }
    return rig_until(is_open, c, OPEN_MS / 2) && c->open;
}

void peer_tcp_listen(struct peer_tcp *c, const struct station *s, unsigned port)
{
    start(c, s, port);
    c->listening = true;
    c->close_back = true;
}

/* ---- hearing ---- */

static struct peer_tcp *find(const struct packet *p)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct peer_tcp *c = connections[i];

        if (c != NULL && c->station->ip == p->to && c->port == get16(p->data + 2) &&
            (c->listening || (c->box_ip == p->from && c->box_port == get16(p->data)))) {
            return c;
        }
    }
    return NULL;
}

static void answer_syn(struct peer_tcp *c, const struct packet *p)
{
    c->box_ip = p->from;
    c->box_port = get16(p->data);
    c->rcv_nxt = get32(p->data + 4) + 1;
    c->first_box_seq = c->rcv_nxt;
    if (c->refusing) {
        send_segment(c, 0, T_RST | T_ACK, NULL, 0);
        return;
    }
    c->listening = false;
    c->open = true;
    c->box_window = get16(p->data + 14);
    c->acked = c->snd_nxt;
    peer_tcp_flags(c, T_SYN | T_ACK);
    c->snd_end = c->snd_nxt;
}

static void take_syn_ack(struct peer_tcp *c, const struct packet *p)
{
    c->rcv_nxt = get32(p->data + 4) + 1;
    c->first_box_seq = c->rcv_nxt;
    c->acked = get32(p->data + 8);
    c->snd_nxt = c->snd_end = c->acked;
    c->box_window = get16(p->data + 14);
    c->open = true;
    if (c->hasty != 0) {
        peer_tcp_segment(c, 0, c->hasty);
    } else {
        peer_tcp_flags(c, T_ACK);
    }
}

/* The box's own ttcp pattern: printable characters, afresh with every call and every 8 KB. */
static uint8_t expected_byte(const struct peer_tcp *c, uint64_t at)
{
    return (uint8_t)(' ' + at % c->call % 95);
}

static void take_data(struct peer_tcp *c, const uint8_t *data, unsigned n)
{
    for (unsigned i = 0; i < n && c->call != 0; i++) {
        c->wrong_bytes += data[i] != expected_byte(c, c->received + i);
    }
    for (unsigned i = 0; i < n && c->received + i < c->keeps_room; i++) {
        c->keeps[c->received + i] = data[i];
    }
    c->received += n;
    c->rcv_nxt += n;
}

static void count_segment(struct peer_tcp *c, uint32_t seq, unsigned n)
{
    if (c->data_segments == 0) {
        c->highest = seq;
    }
    c->data_segments++;
    if ((int32_t)(seq - c->highest) < 0) {
        c->repeated++;
    }
    if ((int32_t)(seq + n - c->highest) > 0) {
        c->highest = seq + n;
    }
    c->largest = n > c->largest ? n : c->largest;
}

static void take_fin(struct peer_tcp *c)
{
    c->fin_seen = true;
    c->rcv_nxt++;
    peer_tcp_flags(c, c->close_back && !c->fin_sent ? T_FIN | T_ACK : T_ACK);
}

static void take_segment(struct peer_tcp *c, const struct packet *p)
{
    unsigned header = p->data[12] / 16u * 4;
    unsigned n = p->length - header;
    uint32_t seq = get32(p->data + 4);
    uint32_t ack = get32(p->data + 8);

    if ((int32_t)(ack - c->acked) > 0) {
        c->acked = ack;
    }
    c->box_window = get16(p->data + 14);
    if (c->eager) {
        peer_tcp_fill(c);
    }
    c->fin_acked = c->fin_sent && c->acked == c->snd_nxt;
    if (n == 0 && (p->data[13] & T_FIN) == 0 && seq + 1 != c->rcv_nxt) {
        return; /* what is left is a keepalive probe, below what was acknowledged: answered */
    }
    /* A probe of a closed window is answered, not taken. */
    if (seq == c->rcv_nxt && n <= window(c)) {
        take_data(c, p->data + header, n);
    }
    if ((p->data[13] & T_FIN) != 0 && seq + n == c->rcv_nxt) {
        take_fin(c);
    } else {
        send_segment(c, c->snd_nxt, T_ACK, NULL, 0);
    }
}

void peer_tcp_hear(const struct packet *p, bool lost)
{
    struct peer_tcp *c = find(p);
    unsigned flags = p->data[13];
    unsigned n = p->length - p->data[12] / 16u * 4;

    if (c == NULL) {
        return;
    }
    c->segments++;
    if (n != 0) {
        count_segment(c, get32(p->data + 4), n);
    }
    if (c->mute || lost) {
        return;
    }
    if ((flags & T_RST) != 0) {
        c->reset_seen = true;
    } else if (c->listening) {
        if ((flags & T_SYN) != 0) {
            answer_syn(c, p);
        }
    } else if ((flags & T_SYN) != 0) {
        take_syn_ack(c, p);
    } else {
        take_segment(c, p);
    }
}
