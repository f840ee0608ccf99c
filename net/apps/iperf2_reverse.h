/*
 * What a client of our iperf2 server wants back: -R on its own connection, -d at once, -r when its
 * own test is over.
 */
#ifndef NET_APPS_IPERF2_REVERSE_H
#define NET_APPS_IPERF2_REVERSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "net/apps/iperf2_wire.h"

/* -R: send on `pcb`, whose callbacks are no longer the caller's.  False: no room, it still is. */
bool iperf2_reverse_tcp(const struct iperf2_request *request, struct netif *netif,
                        struct tcp_pcb *pcb);

/* -r, -d: connect to the client's own server. */
void iperf2_answer_tcp(const struct iperf2_request *request, struct netif *netif,
                       const ip_addr_t *client);

/*
 * -R (request->reverse: from `pcb` to the client's port), -r, -d over UDP.  For the datagram being
 * received right now.  A datagram proves nothing, so (DESIGN 8): only to a neighbour that proves
 * itself, one test at a time, at most 60 s.  `clock_us`: what the client's clock is ahead of ours.
 */
void iperf2_answer_udp(const struct iperf2_request *request, struct udp_pcb *pcb,
                       const ip_addr_t *client, uint16_t port, uint64_t clock_us);

#endif
