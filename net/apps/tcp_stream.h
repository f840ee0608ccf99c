/*
 * Measured TCP streams of ours: everything that sends (`ttcp -t`, `iperf`, iperf2's -R, -r and -d
 * of others, the raw source), and the receiving half of our iperf client's -R.  The payload is
 * constant and goes by reference: the only copy is the driver's, into the card.
 */
#ifndef NET_APPS_TCP_STREAM_H
#define NET_APPS_TCP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "net/meter.h"

enum {
    TCP_STREAMS = 24,
    TCP_STREAMS_KEPT = 8, /* of them, for what the console asks for */
    TCP_STREAM_HEADER = 60,
};

/* Bytes that repeat every `period`: `bytes` of them may be taken from each of the first `period`.
 */
struct tcp_payload {
    const uint8_t *at;
    uint32_t bytes, period;
};

/* `why` is one line for people, null if all went well; `m` what was measured, without bytes if
 * nothing moved. */
typedef void (*tcp_stream_done)(void *arg, const char *how, const char *why, const struct meter *m);

struct tcp_stream_job {
    const char *test; /* of the result; a constant */
    struct netif *netif;
    ip_addr_t host;
    uint16_t port;
    struct tcp_payload payload;
    uint32_t length;                   /* bytes a call, each from the payload's beginning       */
    uint64_t bytes, us;                /* how much: bytes, or if that is 0, time                */
    uint64_t rate;                     /* payload bits a second; 0: as fast as it goes          */
    bool nodelay;                      /* a write leaves at once, alone if the window allows    */
    uint8_t header[TCP_STREAM_HEADER]; /* goes first; what we send counts with it               */
    unsigned header_bytes;
    bool receive;                 /* after the header we receive, and end with the peer    */
    bool patient;                 /* a refused connection is tried again for some seconds  */
    bool console;                 /* somebody at the console wants it                      */
    void (*connected)(void *arg); /* may be null                                           */
    tcp_stream_done done;         /* called once, at the end, unless tcp_stream_stop() was */
    void *arg;
};

/* Connect, and do the job: OK or E_NO_MEMORY. */
int tcp_stream_start(const struct tcp_stream_job *job);

/* The same on a connection that exists; the caller has let go of it.  E_NO_MEMORY: it is still the
 * caller's. */
int tcp_stream_take_over(const struct tcp_stream_job *job, struct tcp_pcb *pcb);

/* End every stream with this `arg` as "abort", without a call. */
void tcp_stream_stop(void *arg);

#endif
