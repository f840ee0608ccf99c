/*
 * Receiving iperf2's datagrams: flows by their numbers, the server's report, and what to do when
 * the end is lost.  NEEDS.md 3.2.
 */
#ifndef NET_APPS_IPERF2_UDP_H
#define NET_APPS_IPERF2_UDP_H

#include <stdbool.h>

#include "lwip/udp.h"
#include "net/meter.h"

/* How the flow ended, and what was measured. */
typedef void (*iperf2_flow_ended)(void *arg, const char *how, const struct meter *m);

/*
 * A datagram from `peer`: true if it belongs to a flow of iperf2 or begins one, and is counted;
 * the pbuf remains the caller's.
 */
bool iperf2_udp_take(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port);

/* Is a flow from there under way?  Then even its shortest datagrams are its own. */
bool iperf2_udp_is_open(const struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port);

/*
 * Our client waits for a flow from `peer` to `pcb` (its -R): the clock runs, nothing is answered,
 * and `ended` is called once at its end.  False: no room.
 */
bool iperf2_udp_expect(struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port,
                       struct netif *netif, iperf2_flow_ended ended, void *arg);

/* Every flow to `pcb` ends as "abort", without a call. */
void iperf2_udp_forget(struct udp_pcb *pcb);

#endif
