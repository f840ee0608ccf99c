/*
 * Received frames on their way into lwIP: checked once, and merged where that changes nothing.
 *
 * The usual packet (to our own station address, IPv4 with a plain header, whole, TCP or UDP) has
 * its checksums verified here in one pass; lwIP is told not to look again, and the layers below IP
 * are passed by.  Everything else, and everything that fails, goes the long way and is judged
 * there.
 *
 * Consecutive segments of a connection in one burst become one (receive coalescing): only with
 * 20-byte TCP headers, the same acknowledgement and window, no flags but ACK and PSH, each one's
 * checksum right.  A pure acknowledgement gives way to a later one of the burst that acknowledges
 * more.  Segments of a connection stay in order, and a short one keeps its place among all that
 * came before; what cannot be merged ends all merging before it.
 */
#ifndef NET_INTAKE_H
#define NET_INTAKE_H

#include <stdbool.h>

#include "lwip/netif.h"
#include "lwip/pbuf.h"

/* What lwIP is told to check of all else; the netif has these switched off. */
enum {
    INTAKE_CHECKS = NETIF_CHECKSUM_CHECK_IP | NETIF_CHECKSUM_CHECK_TCP | NETIF_CHECKSUM_CHECK_UDP
};

/* Take a received frame, in one pbuf; lwIP has it, or it waits to be merged.  merge=false hands it
 * over at once. */
void intake(struct netif *netif, struct pbuf *p, bool merge);

/* The burst is over: whatever waits goes to lwIP. */
void intake_flush(struct netif *netif);

#endif
