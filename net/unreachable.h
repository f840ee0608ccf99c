/*
 * ICMP "destination unreachable" for datagrams we sent: lwIP throws the message away.
 */
#ifndef NET_UNREACHABLE_H
#define NET_UNREACHABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip_addr.h"

/* `to` cannot be reached at UDP port `port` with datagrams from our `from_port`. */
typedef void (*unreachable_heard)(const ip_addr_t *to, uint16_t from_port, uint16_t port);

/* Hear of them from now on, until the last that began has ended.  Everybody who listens gives the
 * same function: there is one sender of datagrams.  False: no memory. */
bool unreachable_begin(unreachable_heard heard);
void unreachable_end(void);

#endif
