/*
 * A UDP port that says whom it expects next is found first.
 */
#ifndef NET_APPS_UDP_EXPECT_H
#define NET_APPS_UDP_EXPECT_H

#include "lwip/udp.h"

/*
 * The next datagram for `pcb` probably comes from port `peer_port` again.  lwIP walks its whole
 * list of ports for each datagram, some 11 instructions a port, unless one names the sender's
 * port: that one moves to the front and ends the walk (udp_input).  The port stays unconnected:
 * everybody else's datagrams reach it as before.
 */
static inline void udp_expect(struct udp_pcb *pcb, uint16_t peer_port)
{
    pcb->remote_port = peer_port;
}

#endif
