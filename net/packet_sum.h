/*
 * Checksums of whole TCP and UDP packets over IPv4, as a card with checksum offload would do them:
 * once, over all that lies in one piece, instead of piece by piece on lwIP's way through the
 * layers.
 */
#ifndef NET_PACKET_SUM_H
#define NET_PACKET_SUM_H

#include <stdbool.h>

#include "lwip/pbuf.h"
#include "lwip/prot/ip4.h"

/* Fill in the checksum of an outgoing TCP segment.  `p` begins with a 20-byte IP header; the TCP
 * header follows in the same pbuf, its checksum field zero.  RFC 9293 3.1. */
void packet_sum_tcp(struct pbuf *p);

/* The same for a whole UDP datagram; RFC 768: a sum of zero is sent as FFFFh. */
void packet_sum_udp(struct pbuf *p);

/* Are the checksums of the 20-byte IP header and of all that follows it right?  `length` is the
 * packet's, and there; the protocol is TCP, or UDP with a checksum. */
bool packet_sum_good(const struct ip_hdr *ip, unsigned length);

#endif
