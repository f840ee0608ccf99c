/*
 * The ttcp receiver: TCP and UDP sinks, on the fixed ports and wherever `ttcp -r` asks.
 * NEEDS.md 3.1; classic ttcp clients unmodified.
 */
#ifndef NET_APPS_TTCP_SERVE_H
#define NET_APPS_TTCP_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"
#include "lwip/udp.h"

/* Where ttcp clients knock: the common port, and two that other builds use; and where raw bytes
 * come (`nc`, mTCP's SPDTEST -send; TCP only). */
enum { TTCP_PORT = 5001, TTCP_PORT_OLD = 5010, TTCP_PORT_BRL = 2000, SINK_PORT = 7001 };

/*
 * These ports are shared (NEEDS.md 3.0): ttcp's, iperf2's and nuttcp's data come to them.  ttcp and
 * iperf2 are told apart here by what they send.  A protocol that knows beforehand what will come
 * puts a claim on it.
 */
struct ttcp_claim {
    /* A connection just accepted, in its accept callback: true takes it, with all its callbacks. */
    bool (*tcp)(struct tcp_pcb *pcb);
    /* A datagram: true takes it; the pbuf stays the caller's. */
    bool (*udp)(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port);
};

/* At start; one claim. */
void ttcp_put_claim(const struct ttcp_claim *claim);

/* Is this one of the ports above? */
bool ttcp_has_port(uint16_t port);

/* For ttcp_udp.c: is it claimed? */
bool ttcp_claimed_udp(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port);

/* Called when a test on the watched port has ended; ok = it ended as it should. */
typedef void (*ttcp_watcher)(bool ok);

/*
 * Report the end of the next test on `port`; opens the port if it is not one of the fixed ones.
 * 0, or E_NO_MEMORY.  One watcher at a time: E_BUSY.
 */
int ttcp_watch(uint16_t port, bool udp, ttcp_watcher watcher);

/* Stop watching; closes a port that ttcp_watch() opened. */
void ttcp_unwatch(void);

#endif
