/*
 * How TCP streams that run at the same time share a card: how much may come, and how much may be on
 * its way from us.
 *
 * What all of them together may send must fit into the card's ring, or the ring overflows: with a
 * window of a segment or two nothing but a time-out repairs a lost one, so a stream that loses one
 * starves.  Hence four rules, for all servers that receive:
 *
 *   - together they have the window that a single stream has alone, TCP_WND; half of it if we send
 *     as well, for the acknowledgements of that.  Each has an equal part, of two segments at least,
 *     for which one acknowledgement will do (and of a window of one Linux uses but half);
 *   - who has less than his part gets more as soon as it fits, the one whose last turn was longest
 *     ago first.  If there are fewer parts than streams that is taking turns;
 *   - nothing that was promised is taken back, but who leaves it unused (less than two segments
 *     come) while others wait, or for long, is no longer counted: he blocks nobody and has no part,
 *     but two segments, until he uses them;
 *   - a connection begins with room for one segment, if that is free, else with none (or with
 *     window_close(), where the client waits for a start), and has no more before it has sent.
 */
#ifndef NET_APPS_WINDOWS_H
#define NET_APPS_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/netif.h"
#include "lwip/tcp.h"

/* Of a receiving stream; all zeros: does not share.  The stream's own. */
struct window {
    struct window *next; /* of the same card */
    struct tcp_pcb *pcb; /* null: does not share */
    unsigned card;
    bool sends;  /* its test has us send as well */
    bool silent; /* has sent nothing yet                          */
    bool alone;  /* on its card, and it has all that it may have  */
    bool lapsed; /* not counted: it lay unused while others waited */
    uint32_t most;
    uint32_t used_at;  /* the sequence number at which it counts as used again */
    uint64_t moved_us; /* it was widened, or used                              */
};

/* Connections to `listener` begin narrow, from the SYN's answer on.  Then window_begin(). */
void windows_listen(struct tcp_pcb *listener);

/*
 * Before the first byte of payload: no data before the run begins; acknowledges what has come.
 * That takes back what was announced before, which RFC 9293 (3.8.6) advises against for the sake
 * of data on its way; but no client sends until all its streams are there.
 */
void window_close(struct tcp_pcb *pcb);

/* The stream of `pcb`, which came in by `netif`, shares from now on; `wish`: a limit asked for, in
 * bytes, or 0.  It gets its part with the next call of window_took() or windows_go(). */
void window_begin(struct window *w, struct tcp_pcb *pcb, const struct netif *netif, uint32_t wish);

/* Streams that begin together have begun. */
void windows_go(void);

/* For window_took(). */
void window_share(struct window *w);

/* So much has come on `pcb`: room for more, also if it does not share. */
static inline void window_took(struct window *w, struct tcp_pcb *pcb, uint16_t n)
{
    if (w->alone || w->pcb == NULL) {
        tcp_recved(pcb, n);
    } else {
        window_share(w);
    }
}

/* The stream is over, or its connection gone: the others move up. */
void window_lost(struct window *w);

/* All of the connection's window is given back, or lwIP would take the rest for data that nobody
 * has read.  Before it is closed. */
void window_free(struct tcp_pcb *pcb);

/* How many bytes one of `streams` sending streams may have on its way; `wish` is a limit asked
 * for, or 0. */
uint32_t flying_part(unsigned streams, uint32_t wish);

#endif
