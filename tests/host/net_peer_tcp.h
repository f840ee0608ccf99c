/*
 * TCP of the other machines: just enough to be a client or a server of the box, to misbehave on
 * purpose, and to count by itself what the box reports.
 */
#ifndef TESTS_HOST_NET_PEER_TCP_H
#define TESTS_HOST_NET_PEER_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/net_peer.h"

enum { T_FIN = 1, T_SYN = 2, T_RST = 4, T_PSH = 8, T_ACK = 16, PEER_MSS = 1460 };

struct peer_tcp {
    const struct station *station;
    uint32_t box_ip;
    unsigned port, box_port;
    bool used;

    /* what to do */
    bool listening;      /* answers a SYN                                      */
    bool refusing;       /* ... with RST                                       */
    bool mute;           /* answers nothing any more                           */
    bool eager;          /* sends up to snd_end as soon as the box's window allows */
    bool close_back;     /* answers the box's FIN with its own                 */
    uint64_t stop_at;    /* takes so many bytes, then its window is closed; 0: never */
    unsigned call;       /* length of the box's writes, for checking: 0 = do not */
    const uint8_t *says; /* what our stream begins with */
    unsigned says_bytes;
    uint8_t *keeps; /* where the first keeps_room bytes of the box's stream go */
    unsigned keeps_room;
    unsigned hasty; /* set before connecting: bytes that go with the handshake's last segment */

    /* where it stands */
    bool open, fin_seen, fin_sent, fin_acked, reset_seen;
    uint32_t first_seq, first_box_seq; /* of the first byte each way */
    uint32_t snd_nxt, snd_end /* of all that is to be sent */, rcv_nxt, acked, box_window;
    uint64_t received; /* bytes, in order                                    */
    unsigned wrong_bytes;

    /* what passed, dropped or not */
    unsigned data_segments, repeated, segments, largest;
    uint32_t highest;
};

/* For net_peer.c: a segment of the box; `lost` ones are only counted. */
void peer_tcp_forget_all(void);
void peer_tcp_hear(const struct packet *p, bool lost);

/* A client of the box: SYN, and turn until the connection is open.  False if it does not open
 * within 4 s. */
bool peer_tcp_connect(struct peer_tcp *c, const struct station *s, unsigned port, uint32_t box_ip,
                      unsigned box_port);

/* A server on `port`; it takes the next connection. */
void peer_tcp_listen(struct peer_tcp *c, const struct station *s, unsigned port);

/* No longer there. */
void peer_tcp_forget(struct peer_tcp *c);

/* Send `n` more bytes, in the box's window, repeating what gets lost; returns when all are on the
 * cable.  False if the box takes nothing for 5 s. */
bool peer_tcp_send(struct peer_tcp *c, unsigned n);

/* As much of what is still to be sent (snd_end) as the box's window allows, without a turn. */
void peer_tcp_fill(struct peer_tcp *c);

/* One segment with bytes [offset, offset + n) of the stream, whatever the window says. */
void peer_tcp_segment(struct peer_tcp *c, uint32_t offset, unsigned n);

/* A segment without payload. */
void peer_tcp_flags(struct peer_tcp *c, unsigned flags);

/* FIN, and turn until everything is acknowledged, repeating what was lost. */
bool peer_tcp_finish(struct peer_tcp *c);

#endif
