/*
 * A measured transfer: what was moved, how long it took, how busy the machine was, what bounded
 * it.  Every responder and client has one per connection or flow; the report, the progress lines
 * and the `result` record come from here (DESIGN 4).
 *
 * Time: TCP from accept/connect to FIN received or our FIN acknowledged.  Idle time-outs are not
 * in it: a test that dies ends with its last progress.
 */
#ifndef NET_METER_H
#define NET_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip_addr.h"
#include "lwip/netif.h"
#include "net/tcp_watch.h"

enum meter_dir { METER_RX, METER_TX }; /* our side */

struct meter {
    struct meter *next; /* list of open meters */
    const char *test;   /* "ttcp", ...         */
    enum meter_dir dir;
    bool udp;
    bool open;
    struct netif *netif;
    ip_addr_t peer;
    uint16_t peer_port;
    uint64_t bytes;
    uint64_t calls;       /* application writes (tx) or deliveries (rx) */
    uint64_t datagrams;   /* UDP */
    struct tcp_count tcp; /* TCP segments with payload */
    uint64_t start_us, last_us;
    uint64_t gap_us;        /* longest time without progress */
    uint64_t idle_at_start; /* load_idle_us() */
    uint64_t wire_at_start; /* nicif_wire_bytes() */
    uint64_t shown_bytes;   /* at the last progress line */
    uint64_t next_line_us;  /* when the next is due      */
};

/* What a finished transfer comes to.  Pure arithmetic on a meter; unit-tested. */
struct meter_sum {
    uint64_t us;
    uint64_t kb_s_milli;   /* 1024-byte units a second, times 1000 */
    uint64_t mbit_s_milli; /* decimal                              */
    uint64_t calls_s_milli;
    unsigned cpu_permille;
    const char *bound; /* "wire", "cpu", "pacing", "peer"; null when too short to say */
};

/* Clear `m` and start its clock. */
void meter_start(struct meter *m, const char *test, enum meter_dir dir, bool udp,
                 struct netif *netif, const ip_addr_t *peer, uint16_t port);

/* Progress: one application call of `bytes`. */
void meter_add(struct meter *m, uint32_t bytes);

/* Progress without a call of its own (part of a large write was taken). */
void meter_touch(struct meter *m);

/*
 * The end: "ok", "timeout", "reset", "refused" or "abort".  Prints the report and emits `result`;
 * nothing if there was no payload.  With "ok" the clock stops now, else at the last progress.
 */
void meter_end(struct meter *m, const char *how);

/* The same with an explicit end, for protocols whose end is known later than it happened. */
void meter_end_at(struct meter *m, const char *how, uint64_t end_us);

/* A progress line for every open meter whose second is over.  Once a main loop turn. */
void meter_show_progress(void);

/* Microseconds without progress so far. */
uint64_t meter_idle_us(const struct meter *m);

/* wire_bytes: on the medium during the transfer; idle_us: of the machine meanwhile. */
struct meter_sum meter_compute(uint64_t us, uint64_t bytes, uint64_t calls, uint64_t idle_us,
                               uint64_t wire_bytes, uint32_t link_kbit);

#endif
