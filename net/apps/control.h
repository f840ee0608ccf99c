/*
 * The control connection of a protocol that has one beside its data, as iperf3 and nuttcp: one
 * client at a time.  Whoever comes meanwhile is told that the box is busy; a client that is gone,
 * or says nothing, is noticed.
 */
#ifndef NET_APPS_CONTROL_H
#define NET_APPS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"

enum { CONTROL_ANSWER_US = 5000000 /* for what a client says by itself */ };

/* The protocol's own; all zeros: nobody is there. */
struct control {
    struct tcp_pcb *pcb;
    struct netif *netif; /* where the client came in ... */
    ip_addr_t peer;      /* ... and who it is            */
    uint64_t limit_us;   /* the step under way may not last beyond this; see control_limit() */
};

/* A constant of the protocol. */
struct control_protocol {
    const char *name;
    uint16_t port;
    struct control *control;
    const void *busy; /* what is said to whoever comes while it is taken */
    uint16_t busy_bytes;

    /* A client has come, to say something within CONTROL_ANSWER_US.  Before *control is filled. */
    void (*begin)(void);

    /* Another one has: true takes the connection, with all its callbacks.  May be null. */
    bool (*claim)(struct tcp_pcb *pcb);

    /* What the client says; the pbuf stays the caller's.  What lwIP's callback returns. */
    err_t (*hear)(const struct pbuf *p);

    /* It has closed its half.  Likewise. */
    err_t (*hung_up)(void);

    /* The session ends: nothing may be left of it but the connection itself.  `how`: words of
     * net/meter.h. */
    void (*over)(const char *how);
};

/* At start: listen. */
void control_listen(const struct control_protocol *p);

/* The step that begins now may last so long. */
void control_limit(struct control *c, uint64_t us);

/* The end of the session; over() is called first.  Close the connection, or reset it: what lwIP's
 * callbacks return. */
err_t control_close(const struct control_protocol *p, const char *how);
err_t control_abort(const struct control_protocol *p, const char *how);

/* The same with tcp_linger(): the client reads what was written. */
void control_linger(const struct control_protocol *p, const char *how);

/* Tell this one, whose callbacks are nobody's, that the box is busy, and linger. */
void control_refuse(const struct control_protocol *p, struct tcp_pcb *pcb);

#endif
