/*
 * May a datagram be answered at all?  Not if it came from, or was sent to, more than one host, nor
 * if its source port is that of a service that would answer our answer (DESIGN 8, NEEDS 3.6).
 */
#ifndef NET_ANSWER_H
#define NET_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip_addr.h"

/* For the datagram being received right now, in its udp_recv callback. */
bool may_answer(const ip_addr_t *from, uint16_t from_port);

#endif
