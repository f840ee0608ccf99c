/*
 * What net/names.c and its two protocols tell each other.
 */
#ifndef NET_NAMES_PARTS_H
#define NET_NAMES_PARTS_H

#include <stdbool.h>

#include "lwip/ip_addr.h"
#include "lwip/netif.h"
#include "lwip/udp.h"

/* ---- names.c, told by the protocols ---- */

/* Somebody at `who` has the name that is being asked about.  The consequence comes with the next
 * tick, since lwIP may be in the middle of a message. */
void names_conflict(const ip_addr_t *who);

/* A protocol has asked on this netif and nobody has the name. */
void names_mdns_free(const struct netif *netif);
void names_netbios_free(const struct netif *netif);

/* Is this an address of one of our own cards?  Two of them may share a wire. */
bool names_own_address(const ip_addr_t *address);

/* ---- names_mdns.c ---- */

void mdns_start(void);
void mdns_join(struct netif *netif, const char *name);   /* ask, then answer; once a netif */
void mdns_rename(struct netif *netif, const char *name); /* the same with another name     */

/* ---- names_netbios.c ---- */

void netbios_start(void);
void netbios_rename(const char *name);       /* of all cards; those that want it are to ask */
void netbios_ask(const struct netif *netif); /* from now on                                 */
void netbios_tick(void);

/* ---- names_held.c ---- */

/*
 * For the datagram being received right now, in its udp_recv callback; takes `p` over.  It is kept
 * until its sender has proven itself (net/proof.h) and then given to `deliver` as if it came only
 * now, else dropped: an answer that is longer than the question goes to nobody else (DESIGN 8).
 * At most four are kept, a second each.
 */
void hold_until_proven(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, uint16_t port,
                       udp_recv_fn deliver);

#endif
