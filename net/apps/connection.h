/*
 * TCP connections with the data of a session, as iperf3 and nuttcp open several of: their
 * callbacks, their segments' count, their part of the windows.
 */
#ifndef NET_APPS_CONNECTION_H
#define NET_APPS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"
#include "net/apps/windows.h"
#include "net/tcp_watch.h"

/* From now on nobody is called for this pcb, nor are its segments counted. */
void tcp_let_go(struct tcp_pcb *pcb);

/*
 * For a peer that is to read what was written: let go, send FIN behind it, then let the peer close;
 * after 5 s the connection is reset.  Closed at once it would be reset by the next thing the peer
 * says, and that would overtake the answer.
 */
void tcp_linger(struct tcp_pcb *pcb);

/* The session's own; all zeros: none. */
struct connection {
    struct tcp_pcb *pcb;    /* null: not connected (any more)         */
    struct tcp_count tcp;   /* its segments                           */
    struct window window;   /* of a receiver                          */
    uint64_t queued, acked; /* bytes given to lwIP, and acknowledged  */
};

struct connection_calls {
    tcp_recv_fn receive;
    tcp_sent_fn sent;
    tcp_err_fn error; /* calls connection_lost() */
};

void connection_adopt(struct connection *c, struct tcp_pcb *pcb,
                      const struct connection_calls *calls, void *arg);

/* lwIP has freed the pcb already. */
void connection_lost(struct connection *c);

/* Its window grows no more: for all that are to be left together, before the first is, or the
 * others would get its part. */
void connection_stop_growing(struct connection *c);

/* The pcb, which is the caller's then, with all of its window; the peer is not told of that. */
struct tcp_pcb *connection_let_go(struct connection *c);

/* Close it, or reset it: what lwIP's callbacks return. */
err_t connection_leave(struct connection *c, bool reset);

/*
 * How many bytes may be written now of a write of which `left` are still to come, in whole segments
 * where that is possible; no more than `part` may be on their way (net/apps/windows.h).
 */
uint32_t connection_room(const struct connection *c, uint32_t left, uint32_t part);

/* Write `n` bytes by reference; copied, so as to fill segments, if the application's writes of
 * `length` bytes are short. */
err_t connection_write(struct connection *c, const void *data, uint32_t n, uint32_t length);

#endif
