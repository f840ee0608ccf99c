/*
 * iperf2 over TCP where we do more than count: sending (our own client; -R, -r, -d of others), and
 * the receiving half of our client's -R.
 */
#ifndef NET_APPS_IPERF2_TCP_H
#define NET_APPS_IPERF2_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "net/apps/iperf2_wire.h"
#include "net/meter.h"

enum { IPERF2_TCP_LENGTH = 8192, IPERF2_STREAMS = 16 };

/* `why` is one line for people, null if all went well; `m` what was measured, without bytes if
 * nothing moved. */
typedef void (*iperf2_tcp_done)(void *arg, const char *how, const char *why, const struct meter *m);

struct iperf2_tcp_job {
    struct netif *netif;
    ip_addr_t host;
    uint16_t port;
    struct iperf2_request request; /* length, rate, bytes or us                             */
    bool header;                   /* send the request first: we are a client               */
    bool receive;                  /* ... and then receive                                  */
    bool patient;                  /* a refused connection is tried again for some seconds  */
    iperf2_tcp_done done;          /* called once, at the end, unless iperf2_tcp_stop() was */
    void *arg;
};

/* Connect, and do the job: OK or E_NO_MEMORY. */
int iperf2_tcp_start(const struct iperf2_tcp_job *job);

/* The same on a connection that exists (-R); the caller has let go of it.  E_NO_MEMORY: it is still
 * the caller's. */
int iperf2_tcp_take_over(const struct iperf2_tcp_job *job, struct tcp_pcb *pcb);

/* End every stream with this `arg` as "abort", without a call. */
void iperf2_tcp_stop(void *arg);

#endif
