/*
 * How each card comes by its address: ip= (DHCP, then link-local, or static), and the `ready`
 * records that say so.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>

struct netif;

/* Apply ip= to every card, and again whenever `set ip=` changes it. */
void address_init(void);

/* A dot a second while waiting, late events.  Once a main loop turn. */
void address_tick(void);

/* Has every card emitted `ready`?  True if there is none. */
bool address_all_ready(void);

/* "dhcp", "static", "linklocal" or "none". */
const char *address_how(struct netif *netif);

#endif
