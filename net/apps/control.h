/*
 * What the control connections of iperf3 and nuttcp have in common: how to leave one whose peer is
 * to read why, and how to notice that the peer is gone.
 */
#ifndef NET_APPS_CONTROL_H
#define NET_APPS_CONTROL_H

#include <stdbool.h>

#include "lwip/tcp.h"

enum { CONTROL_WATCH_HALF_SECONDS = 2 /* how often control_is_dead() wants to be called */ };

/*
 * Send FIN behind what was written, then let the peer close; after 5 s the connection is reset.
 * Closed at once it would be reset by the next thing the peer says, and that would overtake the
 * answer.  The pcb is not the caller's any more, its callbacks are replaced.
 */
void control_linger(struct tcp_pcb *pcb);

/*
 * Nothing has been heard for 8 s, though it was asked: during a test a control connection is
 * silent, and the acknowledgement of a keepalive segment (RFC 9293, 3.8.4) says that the peer is
 * still there.  For a poll callback.
 */
bool control_is_dead(struct tcp_pcb *pcb);

#endif
