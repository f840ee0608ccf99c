/*
 * The network as the main loop sees it.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>

/* Pools sized from RAM, lwIP, one netif a card, addresses, applications. */
void net_init(void);

/* One turn: timers, rare events, bursts while work and budget last, applications.  True if there
 * was any work. */
bool net_turn(void);

/* May the machine halt now?  (Nothing queued, no application waiting for the CPU.) */
bool net_may_halt(void);

#endif
