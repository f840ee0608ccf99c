/*
 * iperf2's UDP sender: numbered datagrams at a rate, then the final one, again until it is
 * answered.  For our own client, and for servers' tests towards a client (-R, -r, -d), for which
 * whoever starts it must have proven the peer (net/proof.h).
 */
#ifndef NET_APPS_IPERF2_SEND_UDP_H
#define NET_APPS_IPERF2_SEND_UDP_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/netif.h"
#include "lwip/udp.h"
#include "net/apps/iperf2_wire.h"
#include "net/meter.h"

enum {
    IPERF2_UDP_LENGTH = 1470, /* a datagram; what iperf2 takes       */
    IPERF2_UDP_RATE = 1048576,
    IPERF2_UDP_LENGTH_MAX = 65507,
    IPERF2_SENDERS = 8,
};

/* `report` is null if none came, or none was waited for. */
typedef void (*iperf2_udp_done)(void *arg, const char *how, const struct iperf2_report *report,
                                const struct meter *m);

struct iperf2_udp_job {
    struct netif *netif;
    ip_addr_t host;
    uint16_t port;
    struct udp_pcb *from;          /* send from this pcb; null: from one of its own            */
    struct iperf2_request request; /* length, rate, bytes or us; goes into each datagram       */
    uint64_t clock_us;             /* what the peer's clock is ahead of ours, modulo 2^64      */
    bool wants_report;             /* the peer is a server                                     */
    iperf2_udp_done done;          /* called once, at the end, unless iperf2_udp_stop() was    */
    void *arg;
};

/* Start: OK or E_NO_MEMORY. */
int iperf2_udp_send(const struct iperf2_udp_job *job);

/* End every sender with this `arg` as "abort", without a call. */
void iperf2_udp_stop(void *arg);

#endif
