/*
 * Datagrams of tests: a header that is copied, and a constant payload that goes by reference.
 */
#ifndef NET_APPS_DATAGRAM_H
#define NET_APPS_DATAGRAM_H

#include "lwip/pbuf.h"
#include "net/apps/tcp_stream.h"

/*
 * A datagram of `length` bytes for udp_sendto(): `header_bytes` of `header`, no more than `length`,
 * and the payload from there on, as if it had begun with the datagram.  Null: memory is short.
 */
struct pbuf *datagram_make(const struct tcp_payload *payload, uint32_t length, const void *header,
                           uint32_t header_bytes);

/* How many frames it takes on the wire. */
unsigned datagram_frames(uint32_t length);

#endif
