/*
 * A TCP connection of the bench peer: what any ordinary machine does with one, and nothing sent
 * twice.
 *
 * Acknowledgements are those of any ordinary receiver: one for two segments, the odd one as soon as
 * there is nothing more.
 */
#ifndef TESTS_BENCH_PEER_LINK_H
#define TESTS_BENCH_PEER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/peer_frame.h"

struct peer_link {
    enum { CLOSED, SYN_SENT, OPEN, FIN_SENT } state;
    uint16_t box_port, our_port, window;
    uint32_t rcv_nxt, snd_nxt, snd_una, snd_wnd;
    uint32_t heard;          /* bytes of payload, in order        */
    unsigned unacknowledged; /* segments                          */
    bool box_finished;       /* its FIN has come                  */
};

/* Open one to the box: SYN. */
void peer_link_open(struct peer_link *l, uint16_t our_port, uint16_t box_port, uint16_t window);

/* The box's SYN: answer it. */
void peer_link_accept(struct peer_link *l, const struct peer_seen *seen, uint16_t window);

/* A segment of this connection, or none of it. */
void peer_link_take(struct peer_link *l, const struct peer_seen *seen);

/* One segment; `length` is 0 or what peer_payload() was told. */
void peer_link_send(struct peer_link *l, unsigned flags, unsigned length);

/* One segment with `n` bytes of our own, at most PEER_MSS. */
void peer_link_say(struct peer_link *l, const void *data, unsigned n);

/* Acknowledge what waits for a second segment. */
void peer_link_calm(struct peer_link *l);

/* Everything sent has been acknowledged, and both sides have finished. */
bool peer_link_over(const struct peer_link *l);

#endif
