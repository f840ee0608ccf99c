/*
 * Datagrams of tests.
 */
#include "net/apps/datagram.h"

#include "kernel/string.h"

enum { FRAGMENT_BYTES = 1480, IP_AND_UDP = 28 };

/* Up to `length` bytes in all.  False if memory is short. */
static bool add_payload(struct pbuf *p, const struct tcp_payload *payload, uint32_t length)
{
    while (p->tot_len < length) {
        uint32_t n = length - p->tot_len;
        struct pbuf *part;

        n = n < payload->bytes ? n : payload->bytes;
        part = pbuf_alloc(PBUF_RAW, (u16_t)n, PBUF_ROM);
        if (part == NULL) {
            return false;
        }
        part->payload = (void *)(uintptr_t)(payload->at + p->tot_len % payload->period);
        pbuf_cat(p, part);
    }
    return true;
}

struct pbuf *datagram_make(const struct tcp_payload *payload, uint32_t length, const void *header,
                           uint32_t header_bytes)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)header_bytes, PBUF_RAM);

    if (p == NULL) {
        return NULL;
    }
    memcpy(p->payload, header, header_bytes);
    if (!add_payload(p, payload, length)) {
        pbuf_free(p);
        return NULL;
    }
    return p;
}

unsigned datagram_frames(uint32_t length)
{
    return (length + IP_AND_UDP + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES;
}
