/*
 * Is the sender of a datagram who it says it is?  Before datagrams are sent towards a peer that
 * asked for them by a datagram, which anybody could have forged (DESIGN 8): it must be on-link, and
 * our own ARP request must be answered with the MAC that the datagram came from.
 */
#ifndef NET_PROOF_H
#define NET_PROOF_H

#include <stdbool.h>

#include "lwip/ip_addr.h"
#include "lwip/netif.h"

/* Called once, from the main loop, at most a second later. */
typedef void (*proof_done)(void *arg, bool proven);

/*
 * For the datagram being received right now, in its udp_recv callback.  False, and nothing will be
 * called: the sender is not on our network, the datagram came in fragments, or too many are being
 * asked already.
 */
bool proof_ask(const ip_addr_t *from, proof_done done, void *arg);

#endif
