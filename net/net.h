/*
 * The network as the main loop sees it.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>

/* Pools sized from RAM and the cards' rings, lwIP, one netif a card, addresses, applications. */
void net_init(void);

/* What a turn did.  NET_WORKED: all that was to be seen is done, and the halt may follow, since it
 * looks at the cards once more.  NET_MORE: there is more, turn again first. */
enum net_turn { NET_NOTHING, NET_WORKED, NET_MORE };

/* One turn: timers, rare events, bursts while work and budget last, applications.  The time of the
 * turn is the clock's last reading. */
enum net_turn net_turn(void);

/* Applications may have got work: they are asked in the next turn.  Without this it takes up to
 * APP_TICK_MS. */
void net_wake(void);

/* May the machine halt now?  No frame is queued that a card could take, none is due within a tick
 * (net/pace.h). */
bool net_may_halt(void);

/* Has every card emitted `ready`?  (run= starts then; at once without a card.) */
bool net_all_ready(void);

#endif
