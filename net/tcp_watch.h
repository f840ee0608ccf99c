/*
 * What lwIP does not count or bound by itself: segments sent and sent again per connection, and
 * half-open connections.
 */
#ifndef NET_TCP_WATCH_H
#define NET_TCP_WATCH_H

#include <stdint.h>

#include "lwip/tcp.h"

/* Segments with payload of one connection.  Owned by the application's connection. */
struct tcp_count {
    uint32_t sent;   /* first transmissions and repeats; not probes of a closed window */
    uint32_t resent; /* those that began below the highest sequence number sent before */
    uint32_t received;
    uint32_t ticked;  /* of them, when tcp_watch_tick() last looked */
    uint32_t highest; /* sequence number behind all that was sent */
};

/* Once, after lwip_init(). */
void tcp_watch_init(void);

/* Count the segments of `pcb` in `count` from now on; `count` must outlive the pcb or be taken
 * off with a null pointer. */
void tcp_watch_attach(struct tcp_pcb *pcb, struct tcp_count *count);

/* lwIP's callbacks of the slot in which tcp_watch_attach() keeps `count`; for the life of `pcb`. */
void tcp_watch_callbacks(struct tcp_pcb *pcb, const struct tcp_ext_arg_callbacks *callbacks);

/* Every APP_TICK_MS: acknowledgements that wait for a second segment in vain. */
void tcp_watch_tick(void);

/* For nicif: the frame `p` was refused, so if it is the segment just counted it was not sent. */
void tcp_watch_refused(const struct pbuf *p);

/* For nicif: there is room again.  Segments and acknowledgements that were refused go now; lwIP by
 * itself would wait up to 250 ms. */
void tcp_watch_retry(void);

/* The payload of `p` was moved `by` bytes in memory: correct what else points into it. */
void tcp_watch_moved(const struct pbuf *p, ptrdiff_t by);

/* Segments dropped so far that went on beyond the window ahead of their turn. */
unsigned tcp_watch_beyond_window(void);

/* Half-open connections dropped so far because they were half of all that can be open. */
unsigned tcp_watch_half_open_dropped(void);

/* Let go of every segment parked out of order, oldest connection first, until `enough()` says so.
 * The peers send them again. */
void tcp_watch_free_parked(int (*enough)(void));

#endif
