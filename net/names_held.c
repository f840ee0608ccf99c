/*
 * Datagrams whose sender is still to prove itself.
 */
#include "lwip/ip.h"
#include "lwip/pbuf.h"
#include "net/names_parts.h"
#include "net/proof.h"

enum {
    HELD = 4,
    LONGEST = 512, /* of a question; each held one may be a frame of the pool */
};

static struct held {
    struct pbuf *p; /* null: free */
    struct udp_pcb *pcb;
    struct netif *netif;
    ip_addr_t from, to;
    uint16_t port;
    udp_recv_fn deliver;
} held[HELD];

static struct held *free_place(void)
{
    for (unsigned i = 0; i < HELD; i++) {
        if (held[i].p == NULL) {
            return &held[i];
        }
    }
    return NULL;
}

/* lwIP's applications ask where the datagram under their hands came from. */
static void pretend(struct netif *netif, const ip_addr_t *from, const ip_addr_t *to)
{
    ip_data.current_netif = ip_data.current_input_netif = netif;
    ip_addr_copy(ip_data.current_iphdr_src, *from);
    ip_addr_copy(ip_data.current_iphdr_dest, *to);
}

static void judged(void *arg, bool proven)
{
    struct held *h = arg;
    struct pbuf *p = h->p;

    h->p = NULL;
    if (!proven) {
        pbuf_free(p);
        return;
    }
    pretend(h->netif, &h->from, &h->to);
    h->deliver(NULL, h->pcb, p, &h->from, h->port);
    pretend(NULL, IP4_ADDR_ANY, IP4_ADDR_ANY);
}

void hold_until_proven(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, uint16_t port,
                       udp_recv_fn deliver)
{
    struct held *h = free_place();

    if (h == NULL || p->tot_len > LONGEST || port == 0 || !proof_ask(from, judged, h)) {
        pbuf_free(p);
        return;
    }
    h->p = p;
    h->pcb = pcb;
    h->netif = ip_current_input_netif();
    ip_addr_copy(h->from, *from);
    ip_addr_copy(h->to, *ip_current_dest_addr());
    h->port = port;
    h->deliver = deliver;
}
