/*
 * mDNS (RFC 6762) by lwIP's responder, and a guard in front of it.
 *
 * The guard drops what our own cards send each other (lwIP would take it for a conflict), has
 * questions for a unicast answer answered by multicast, which section 5.4 leaves to us, and keeps
 * legacy and direct questions, whose answers go to their sender alone (sections 5.5, 6.7), until
 * that sender is proven.  With that an address that was forged gets nothing.
 */
#include "lwip/apps/mdns.h"
#include "lwip/apps/mdns_priv.h"
#include "lwip/ip.h"
#include "lwip/prot/dns.h"
#include "lwip/prot/iana.h"
#include "net/names_parts.h"

enum {
    TTL = 255, /* of unicast answers, too: section 11 */
    COUNT_AT = 4,
    LABEL_KIND = 0xC0,
    POINTER_BYTES = 2,
    TYPE_BYTES = 2,
    TYPE_AND_CLASS_BYTES = 4,
    UNICAST_BIT = 0x80, /* of a question's class, its upper byte */
};

static udp_recv_fn lwip_receive;

/* ---- the guard ---- */

/* The offset behind the name at `at`, or 0 if it does not end within the message. */
static uint16_t skip_name(const struct pbuf *p, uint16_t at)
{
    while (at < p->tot_len) {
        uint8_t n = pbuf_get_at(p, at);

        if (n == 0) {
            return (uint16_t)(at + 1);
        }
        if ((n & LABEL_KIND) == LABEL_KIND) {
            return (uint16_t)(at + POINTER_BYTES);
        }
        if ((n & LABEL_KIND) != 0) {
            return 0;
        }
        at = (uint16_t)(at + 1 + n);
    }
    return 0;
}

static void ask_for_multicast(struct pbuf *p)
{
    unsigned questions = (unsigned)pbuf_get_at(p, COUNT_AT) << 8 | pbuf_get_at(p, COUNT_AT + 1);
    uint16_t at = SIZEOF_DNS_HDR;

    while (questions-- > 0 && (at = skip_name(p, at)) != 0 &&
           at + TYPE_AND_CLASS_BYTES <= p->tot_len) {
        uint16_t class_at = (uint16_t)(at + TYPE_BYTES);

        pbuf_put_at(p, class_at, (uint8_t)(pbuf_get_at(p, class_at) & ~UNICAST_BIT));
        at = (uint16_t)(at + TYPE_AND_CLASS_BYTES);
    }
}

static bool is_question(const struct pbuf *p)
{
    return (pbuf_get_at(p, offsetof(struct dns_hdr, flags1)) & DNS_FLAG1_RESPONSE) == 0;
}

static void receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                    u16_t port)
{
    bool to_all = ip_addr_ismulticast(ip_current_dest_addr());

    if (p->tot_len < SIZEOF_DNS_HDR || names_own_address(from)) {
        pbuf_free(p);
        return;
    }
    if (is_question(p) && (!to_all || port != LWIP_IANA_PORT_MDNS)) {
        hold_until_proven(pcb, p, from, port, lwip_receive);
        return;
    }
    if (is_question(p)) {
        ask_for_multicast(p);
    }
    lwip_receive(arg, pcb, p, from, port);
}

/* ---- lwIP ---- */

static void on_result(struct netif *netif, uint8_t result, int8_t service)
{
    (void)service;
    if (result == MDNS_PROBING_CONFLICT) {
        names_conflict(ip_current_src_addr());
    } else {
        names_mdns_free(netif);
    }
}

void mdns_start(void)
{
    struct udp_pcb *pcb;

    mdns_resp_init();
    mdns_resp_register_name_result_cb(on_result);
    pcb = get_mdns_pcb();
    pcb->ttl = TTL;
    lwip_receive = pcb->recv;
    udp_recv(pcb, receive, NULL);
}

void mdns_join(struct netif *netif, const char *name)
{
    if (!mdns_resp_netif_active(netif)) {
        mdns_resp_add_netif(netif, name); /* without memory: again with the next address or name */
    }
}

void mdns_rename(struct netif *netif, const char *name)
{
    if (mdns_resp_netif_active(netif)) {
        mdns_resp_rename_netif(netif, name);
    }
}
