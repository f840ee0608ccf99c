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
#include "net/sequence.h"
#include "net/tcp_watch.h"

enum meter_dir { METER_RX, METER_TX }; /* our side */

/* What numbered datagrams came to; -1: not known, or not applicable. */
struct meter_loss {
    int64_t lost, dup, ooo, jitter_us;
};

/*
 * The application may set what stands under "its own" at any time before the end; all else goes
 * through the functions below.
 */
struct meter {
    struct meter *next; /* list of open meters */
    enum meter_dir dir;
    bool udp;
    bool open;
    struct netif *netif;
    ip_addr_t peer;
    uint16_t peer_port;

    /* its own */
    const char *test;       /* "ttcp", ...                                      */
    unsigned streams;       /* 1, unless the meter sums over several            */
    uint64_t bytes;         /* counted by meter_add(); what is reported         */
    uint64_t datagrams;     /* UDP                                              */
    struct tcp_count tcp;   /* segments of a single connection: attach this one */
    uint64_t asked_bit_s;   /* a requested rate, in payload bits; 0: none       */
    uint64_t held_us;       /* our own rate timer held data back for so long    */
    struct meter_loss loss; /* by meter_add_sequence(), or what the peer tells  */

    uint64_t calls;            /* application writes (tx) or deliveries (rx) */
    struct tcp_count tcp_more; /* of further connections: sent, resent, received */
    unsigned sequences;        /* added up in `loss` */
    uint64_t jitter_sum_us;    /* of those           */
    uint64_t start_us, last_us;
    uint64_t gap_us;        /* longest time without progress */
    uint64_t idle_at_start; /* load_idle_us() */
    uint64_t wire_at_start; /* nicif_wire_bytes() */
    uint64_t stopped_us;    /* 0: it runs; else the same at that time: */
    uint64_t idle_at_stop;
    uint64_t wire_at_stop;
    uint64_t shown_bytes;  /* at the last progress line */
    uint64_t next_line_us; /* when the next is due      */
};

/* What a transfer was, as far as its sum is concerned. */
struct meter_run {
    uint64_t us, bytes, calls;
    uint64_t idle_us;    /* of the machine meanwhile                         */
    uint64_t wire_bytes; /* on the medium in its direction, overhead included */
    uint32_t link_kbit;  /* 0: not known                                     */
    uint64_t asked_bit_s, held_us;
};

/* What it comes to. */
struct meter_sum {
    uint64_t us;
    uint64_t kb_s_milli;   /* 1024-byte units a second, times 1000 */
    uint64_t mbit_s_milli; /* decimal                              */
    uint64_t calls_s_milli;
    unsigned cpu_permille;
    const char *bound; /* "wire", "cpu", "pacing", "peer"; null when too short to say */
};

/* Clear `m` and start its clock: one stream, nothing known of losses. */
void meter_start(struct meter *m, const char *test, enum meter_dir dir, bool udp,
                 struct netif *netif, const ip_addr_t *peer, uint16_t port);

/* Progress: one application call of `bytes`. */
void meter_add(struct meter *m, uint32_t bytes);

/* Progress without a call of its own (part of a large write was taken). */
void meter_touch(struct meter *m);

/*
 * It is over now, but will be ended later: of several meters of one test the first report must not
 * make the machine busy for the second.
 */
void meter_stop(struct meter *m);

/* It was over earlier than it was stopped: the wait in between is not in it. */
void meter_stopped_at(struct meter *m, uint64_t us);

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

/*
 * Count from here on: bytes, calls, datagrams, segments, gap, loss and clock begin anew, what was
 * asked stays (iperf3's omitted seconds).  Segments of further connections: meter_less_tcp().
 */
void meter_restart(struct meter *m);

/* A meter that will not be reported after all. */
void meter_drop(struct meter *m);

/* Add the segments of one of several connections, once each, before the end; or take off what they
 * had counted when the meter was restarted. */
void meter_add_tcp(struct meter *m, const struct tcp_count *count);
void meter_less_tcp(struct meter *m, const struct tcp_count *count);

/* Add the losses of a flow, once each, before the end; the jitter is the mean of all flows'. */
void meter_add_sequence(struct meter *m, const struct sequence *s);

/* Segments with payload in the meter's direction, and those sent again, all connections added so
 * far. */
uint32_t meter_segments(const struct meter *m);
uint32_t meter_resent(const struct meter *m);

/* What the transfer comes to if it ended at `end_us`; for what protocols tell their peers. */
struct meter_sum meter_sum_at(const struct meter *m, uint64_t end_us);

/* Pure arithmetic; unit-tested. */
struct meter_sum meter_compute(const struct meter_run *run);

#endif
