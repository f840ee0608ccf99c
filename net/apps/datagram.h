/*
 * Datagrams of tests: a header that is copied, and a constant payload that goes by reference.
 * Inline, for what is constant in a call saves 40 instructions a datagram.
 */
#ifndef NET_APPS_DATAGRAM_H
#define NET_APPS_DATAGRAM_H

#include <stdint.h>

#include "kernel/string.h"
#include "lwip/pbuf.h"
#include "net/apps/tcp_stream.h"

/*
 * A datagram of `length` bytes for udp_sendto(): `header_bytes` of `header`, no more than `length`,
 * and the payload from there on, as if it had begun with the datagram; header may be null if it has
 * no bytes.  Null: memory is short.
 */
static inline __attribute__((always_inline)) struct pbuf *datagram_make(
    const struct tcp_payload *payload, uint32_t length, const void *header, uint32_t header_bytes)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)header_bytes, PBUF_RAM);

    if (p != NULL && header_bytes != 0) {
        memcpy(p->payload, header, header_bytes);
    }
    for (uint32_t at = header_bytes; p != NULL && at < length; at += payload->bytes) {
        uint32_t n = length - at < payload->bytes ? length - at : payload->bytes;
        struct pbuf *part = pbuf_alloc(PBUF_RAW, (u16_t)n, PBUF_ROM);

        if (part == NULL) {
            pbuf_free(p);
            return NULL;
        }
        part->payload = (void *)(uintptr_t)(payload->at + at % payload->period);
        pbuf_cat(p, part);
    }
    return p;
}

/* How many frames one of `length` bytes takes on the wire. */
static inline unsigned datagram_frames(uint32_t length)
{
    enum { FRAGMENT_BYTES = 1480, UDP_HEADER_BYTES = 8 };

    return (length + UDP_HEADER_BYTES + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES;
}

#endif
