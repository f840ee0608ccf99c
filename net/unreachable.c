/*
 * A raw pcb for ICMP while somebody cares.  RFC 792: the message carries the IP header and the
 * first 8 bytes of what could not be delivered.
 */
#include "net/unreachable.h"

#include "kernel/string.h"
#include "lwip/prot/icmp.h"
#include "lwip/prot/ip4.h"
#include "lwip/prot/udp.h"
#include "lwip/raw.h"

enum { ICMP_BYTES = 8, PORTS_BYTES = 4 };

static struct raw_pcb *pcb;
static unsigned users;
static unreachable_heard hear;

/* Never takes the packet: lwIP looks at it as well. */
static u8_t on_icmp(void *arg, struct raw_pcb *raw, struct pbuf *p, const ip_addr_t *from)
{
    unsigned at = IPH_HL_BYTES((const struct ip_hdr *)p->payload);
    struct ip_hdr inner;
    struct udp_hdr udp;
    ip_addr_t to;

    (void)arg;
    (void)raw;
    (void)from;
    if (pbuf_try_get_at(p, (u16_t)at) != ICMP_DUR ||
        pbuf_copy_partial(p, &inner, sizeof(inner), (u16_t)(at + ICMP_BYTES)) != sizeof(inner) ||
        IPH_V(&inner) != 4 || IPH_PROTO(&inner) != IP_PROTO_UDP) {
        return 0;
    }
    at += ICMP_BYTES + IPH_HL_BYTES(&inner);
    if (pbuf_copy_partial(p, &udp, PORTS_BYTES, (u16_t)at) == PORTS_BYTES) {
        ip_addr_copy_from_ip4(to, inner.dest);
        hear(&to, lwip_ntohs(udp.src), lwip_ntohs(udp.dest));
    }
    return 0;
}

bool unreachable_begin(unreachable_heard heard)
{
    if (users == 0) {
        pcb = raw_new(IP_PROTO_ICMP);
        if (pcb == NULL) {
            return false;
        }
        raw_recv(pcb, on_icmp, NULL);
        raw_bind(pcb, IP_ADDR_ANY);
        hear = heard;
    }
    users++;
    return true;
}

void unreachable_end(void)
{
    if (--users == 0) {
        raw_remove(pcb);
        pcb = NULL;
    }
}
