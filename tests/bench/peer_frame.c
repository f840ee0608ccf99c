/*
 * See peer_frame.h.  The payload's checksum is summed once, headers are summed for each frame:
 * every frame is right to the last bit, as the box checks them all.
 */
#include "tests/bench/peer_frame.h"

#include <stddef.h>

#include "tests/bench/peer_card.h"

enum {
    ETHERNET = 14,
    IP_HEADER = 20,
    UDP_HEADER = 8,
    TCP_HEADER = 20,
    MSS_OPTION = 4,
    UDP_HEAD = ETHERNET + IP_HEADER + UDP_HEADER,
    TCP_HEAD = ETHERNET + IP_HEADER + TCP_HEADER,
    FRAME_SHORTEST = 60,
    PAYLOAD_MAX = 1472,
    TYPE_IP = 0x0800,
    TYPE_ARP = 0x0806,
    ARP_REPLY = 2,
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    UDP_FROM_PORT = 40000,
};

const uint8_t peer_mac[6] = {0x52, 0x54, 0x00, 0x00, 0x00, 0x02};
static const uint8_t box_mac[6] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};
static const uint8_t peer_ip[4] = {10, 0, 2, 2};
static const uint8_t box_ip[4] = {10, 0, 2, 15};

static uint8_t pattern[PAYLOAD_MAX];
static uint32_t payload_sum;
static unsigned payload_length;
static unsigned payload_at; /* where in the card it lies; 0: not at all */
static uint16_t ip_id;
static uint8_t frame[UDP_HEAD + PAYLOAD_MAX]; /* its head, and room for what goes with it */

/* ---- bytes ---- */

static void copy(uint8_t *to, const uint8_t *from, unsigned n)
{
    while (n-- != 0) {
        *to++ = *from++;
    }
}

static void put16(unsigned at, unsigned value)
{
    frame[at] = (uint8_t)(value >> 8);
    frame[at + 1] = (uint8_t)value;
}

static void put32(unsigned at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xFFFF);
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* RFC 1071. */
static uint32_t sum_of(const uint8_t *p, unsigned n)
{
    uint32_t sum = n % 2 == 0 ? 0 : (uint32_t)p[n - 1] << 8;

    for (unsigned i = 0; i + 1 < n; i += 2) {
        sum += get16(p + i);
    }
    return sum;
}

static unsigned folded(uint32_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return ~sum & 0xFFFF;
}

/* ---- receiving ---- */

struct peer_seen peer_take_apart(const uint8_t *head)
{
    const uint8_t *ip = head + ETHERNET;
    const uint8_t *tcp = ip + IP_HEADER;
    struct peer_seen seen = {.kind = SEEN_OTHER, .head = head};

    if (get16(head + 12) == TYPE_ARP && get16(ip + 6) != ARP_REPLY) {
        seen.kind = SEEN_ARP_REQUEST;
    } else if (get16(head + 12) == TYPE_IP && ip[9] == PROTO_TCP) {
        seen.kind = SEEN_TCP;
        seen.from_port = (uint16_t)get16(tcp);
        seen.to_port = (uint16_t)get16(tcp + 2);
        seen.seq = get32(tcp + 4);
        seen.ack = get32(tcp + 8);
        seen.flags = tcp[13];
        seen.window = (uint16_t)get16(tcp + 14);
        seen.length = (uint16_t)(get16(ip + 2) - IP_HEADER - (tcp[12] >> 4) * 4u);
    }
    return seen;
}

/* ---- sending ---- */

static void put_ethernet(unsigned type)
{
    copy(frame, box_mac, 6);
    copy(frame + 6, peer_mac, 6);
    put16(12, type);
}

/* Headers up to IP, and the pseudo header's sum. */
static uint32_t put_ip(unsigned proto, unsigned length)
{
    put_ethernet(TYPE_IP);
    put16(ETHERNET, 0x4500);
    put16(ETHERNET + 2, IP_HEADER + length);
    put16(ETHERNET + 4, ip_id++);
    put16(ETHERNET + 6, 0);
    put16(ETHERNET + 8, 64u << 8 | proto);
    put16(ETHERNET + 10, 0);
    copy(frame + ETHERNET + 12, peer_ip, 4);
    copy(frame + ETHERNET + 16, box_ip, 4);
    put16(ETHERNET + 10, folded(sum_of(frame + ETHERNET, IP_HEADER)));
    return sum_of(peer_ip, 4) + sum_of(box_ip, 4) + proto + length;
}

/* `head` bytes of the frame are made; behind them the payload, or nothing, up to `total`. */
static void send(unsigned head, unsigned total, bool with_payload)
{
    unsigned stored = head;

    if (with_payload && payload_at != head) {
        copy(frame + head, pattern, payload_length);
        payload_at = head;
        stored = head + payload_length;
    } else if (!with_payload && total < FRAME_SHORTEST) {
        for (unsigned i = total; i < FRAME_SHORTEST; i++) {
            frame[i] = 0;
        }
        stored = FRAME_SHORTEST;
        payload_at = 0; /* its first bytes are gone */
    } else if (!with_payload) {
        payload_at = 0;
    }
    peer_card_store(frame, (stored + 1) / 2 * 2);
    peer_card_send(total < FRAME_SHORTEST ? FRAME_SHORTEST : total);
}

void peer_answer_arp(const uint8_t *head)
{
    enum { ARP = ETHERNET, SENDER = ARP + 8, TARGET = ARP + 18, ARP_END = ARP + 28 };

    for (unsigned i = 0; i < sizeof peer_ip; i++) {
        if (head[TARGET + 6 + i] != peer_ip[i]) {
            return;
        }
    }
    put_ethernet(TYPE_ARP);
    copy(frame + ARP, head + ARP, 6);
    put16(ARP + 6, ARP_REPLY);
    copy(frame + SENDER, peer_mac, 6);
    copy(frame + SENDER + 6, peer_ip, 4);
    copy(frame + TARGET, head + SENDER, 10);
    send(ARP_END, ARP_END, false);
}

static void keep_payload(unsigned length)
{
    payload_length = length;
    payload_sum = sum_of(pattern, length);
    payload_at = 0;
}

void peer_payload(unsigned length)
{
    for (unsigned i = 0; i < PAYLOAD_MAX; i++) {
        pattern[i] = (uint8_t)(' ' + i % 95); /* as classic ttcp's */
    }
    keep_payload(length);
}

void peer_payload_iperf2(unsigned length)
{
    /* flags, threads, port */
    static const uint8_t header[24] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5001 >> 8, 5001 & 0xFF};

    peer_payload(length);
    copy(pattern, header, sizeof header);
    keep_payload(length);
}

void peer_send_segment(const struct peer_segment *s)
{
    unsigned options = (s->flags & FLAG_SYN) != 0 ? MSS_OPTION : 0;
    unsigned header = TCP_HEADER + options;
    uint32_t sum = put_ip(PROTO_TCP, header + s->length);
    enum { AT = ETHERNET + IP_HEADER };

    put16(AT, s->from_port);
    put16(AT + 2, s->to_port);
    put32(AT + 4, s->seq);
    put32(AT + 8, s->ack);
    put16(AT + 12, header / 4 << 12 | s->flags);
    put16(AT + 14, s->window);
    put32(AT + 16, 0);
    if (options != 0) {
        put32(AT + TCP_HEADER, 0x02040000u | PEER_MSS);
    }
    sum += sum_of(frame + AT, header);
    if (s->data != NULL) {
        copy(frame + TCP_HEAD, s->data, s->length);
        put16(AT + 16, folded(sum + sum_of(s->data, s->length)));
        send(TCP_HEAD + s->length, TCP_HEAD + s->length, false);
        return;
    }
    put16(AT + 16, folded(sum + (s->length != 0 ? payload_sum : 0)));
    send(TCP_HEAD + options, TCP_HEAD + options + s->length, s->length != 0);
}

/* Its head in `frame`; its whole length. */
static unsigned put_datagram(uint16_t to_port, unsigned n, uint32_t data_sum)
{
    uint32_t sum = put_ip(PROTO_UDP, UDP_HEADER + n);
    enum { AT = ETHERNET + IP_HEADER };

    put16(AT, UDP_FROM_PORT);
    put16(AT + 2, to_port);
    put16(AT + 4, UDP_HEADER + n);
    put16(AT + 6, 0);
    put16(AT + 6, folded(sum + sum_of(frame + AT, UDP_HEADER) + data_sum));
    return UDP_HEAD + n;
}

void peer_send_datagram(uint16_t to_port, unsigned length)
{
    bool data = length == 0;
    unsigned n = data ? payload_length : length;
    unsigned total = put_datagram(to_port, n, data ? payload_sum : sum_of(pattern, n));

    if (!data) {
        copy(frame + UDP_HEAD, pattern, n);
    }
    send(UDP_HEAD, total, data);
}

unsigned peer_build_datagram(uint8_t *to, uint16_t to_port)
{
    unsigned total = put_datagram(to_port, payload_length, payload_sum);

    copy(to, frame, UDP_HEAD);
    copy(to + UDP_HEAD, pattern, payload_length);
    return total;
}
