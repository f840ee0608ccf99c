/*
 * Frames of the bench peer: the template lies in the card, only headers are made anew, so that
 * making one costs next to nothing on the host.
 */
#ifndef TESTS_BENCH_PEER_FRAME_H
#define TESTS_BENCH_PEER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FLAG_FIN = 1,
    FLAG_SYN = 2,
    FLAG_RST = 4,
    FLAG_PSH = 8,
    FLAG_ACK = 16,
    PEER_MSS = 1460,
    PEER_FRAME_MAX = 1514,
};

/* A received frame's fields that matter. */
struct peer_seen {
    enum { SEEN_OTHER, SEEN_ARP_REQUEST, SEEN_TCP } kind;
    uint16_t from_port, to_port, window, length; /* TCP; length of the payload */
    uint32_t seq, ack;
    unsigned flags;
    const uint8_t *head;
};

extern const uint8_t peer_mac[6];

struct peer_seen peer_take_apart(const uint8_t *head);

/* Answer an ARP request for our address; others' are ignored. */
void peer_answer_arp(const uint8_t *head);

/* Fill the card with payload for the segments or datagrams to come: classic ttcp's pattern. */
void peer_payload(unsigned length);

/* The same, beginning as iperf2's does when its client asks for nothing: NEEDS 3.2. */
void peer_payload_iperf2(unsigned length);

struct peer_segment {
    uint16_t from_port, to_port, window;
    uint32_t seq, ack;
    unsigned flags, length; /* of the payload; 0 or what peer_payload() was told ... */
    const uint8_t *data;    /* ... unless this is not null                           */
};

void peer_send_segment(const struct peer_segment *s);

/* The datagram of peer_payload() as a frame in `to` (PEER_FRAME_MAX bytes); its length. */
unsigned peer_build_datagram(uint8_t *to, uint16_t to_port);

/* A datagram of `length` payload bytes (0: the payload as stored, else a sentinel of 4). */
void peer_send_datagram(uint16_t to_port, unsigned length);

#endif
