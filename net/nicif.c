/*
 * The seam itself: frames to pbufs, queued pbufs to slices.  See nicif.h for the idea and
 * DATAPATH.md for the way of one frame.
 */
#include "net/nicif.h"

#include "kernel/options.h"
#include "kernel/string.h"
#include "kernel/trap.h"
#include "lwip/etharp.h"
#include "lwip/igmp.h"
#include "lwip/pbuf.h"
#include "lwip/prot/ethernet.h"
#include "lwip/prot/ip.h"
#include "lwip/prot/ip4.h"
#include "net/clock.h"
#include "net/frames.h"
#include "net/intake.h"
#include "net/neighbour.h"
#include "net/packet_sum.h"
#include "net/tcp_watch.h"
#include "netif/ethernet.h"

enum {
    QUEUE = 64,         /* frames waiting for a slot of the card: the largest datagram is 45 */
    BURST = 16,         /* frames handed to or taken from a driver at a time              */
    SLICES = 6,         /* pieces of a frame; a longer chain is copied into one           */
    WIRE_OVERHEAD = 24, /* preamble 8, FCS 4, gap 12: IEEE 802.3 clause 4.4.2      */
    SERVICE_US = 1000000,
    NICIF_BYTES = sizeof(void *) == 4 ? 512 : 1024,
};

struct nicif {
    struct netif netif;
    struct nic *nic;
    struct pbuf *queue[QUEUE];
    unsigned head, count;
    bool starved; /* lwIP was refused a slot: tcp_watch_retry() when one is free */
    struct neighbours neighbours;
    const ip4_addr_t *resolving; /* etharp is writing a header for this address; else null */
    uint64_t next_service_us;
} __attribute__((aligned(NICIF_BYTES)));

_Static_assert(sizeof(struct nicif) == NICIF_BYTES, "found by a shift, not by a product");

static struct nicif nicifs[NIC_MAX];

static struct nicif *nicif_of(const struct nic *nic)
{
    return &nicifs[nic->index];
}

struct nic *nicif_nic(const struct netif *netif)
{
    return ((struct nicif *)netif->state)->nic;
}

struct netif *nicif_netif(const struct nic *nic)
{
    return &nicif_of(nic)->netif;
}

/* ---- transmit ---- */

static const uint8_t zeros[FRAME_MIN];

/* Describe one pbuf chain as slices; with pad=stack the padding is a slice of its own. */
static void slice_up(const struct pbuf *p, struct slice *v, struct tx_frame *out)
{
    unsigned n = 0;

    out->v = v;
    out->total = p->tot_len;
    for (; p != NULL; p = p->next) {
        if (p->len != 0) {
            v[n++] = (struct slice){.at = p->payload, .length = p->len};
        }
    }
    if (options.pad_stack && out->total < FRAME_MIN) {
        v[n++] = (struct slice){.at = zeros, .length = (uint16_t)(FRAME_MIN - out->total)};
        out->total = FRAME_MIN;
    }
    out->n = (uint16_t)n;
}

static void drop_head(struct nicif *n)
{
    pbuf_free(n->queue[n->head]);
    n->head = (n->head + 1) % QUEUE;
    n->count--;
}

static unsigned send_queued(struct nicif *n)
{
    const struct nic_ops *ops = n->nic->ops;
    unsigned limit = options.batch ? BURST : 1;
    unsigned sent = 0, taken, burst;
    bool guarded;

    do {
        struct tx_frame frames[BURST];
        static struct slice slices[BURST][SLICES + 1];

        burst = n->count < limit ? n->count : limit;
        if (burst == 0) {
            break;
        }
        for (unsigned i = 0; i < burst; i++) {
            slice_up(n->queue[(n->head + i) % QUEUE], slices[i], &frames[i]);
        }
        guarded = nic_guard();
        taken = ops->tx_burst(n->nic, frames, burst);
        nic_unguard(guarded);
        for (unsigned i = 0; i < taken; i++) {
            drop_head(n);
        }
        sent += taken;
    } while (taken == burst && n->count != 0);
    return sent;
}

/* Only here, between two works of lwIP: called back while it hands over a segment, it would send
 * that segment a second time and tangle its lists. */
unsigned nicif_tx(struct nic *nic)
{
    struct nicif *n = nicif_of(nic);
    unsigned sent = n->count == 0 ? 0 : send_queued(n);

    nic->tx_wanted = n->count != 0; /* a slot that becomes free is news only then */
    if (n->starved && n->count < QUEUE) {
        n->starved = false;
        tcp_watch_retry();
    }
    return sent;
}

/* Not now: lwIP keeps it and is told when there is room. */
static err_t refuse(struct nicif *n, const struct pbuf *p)
{
    n->starved = true;
    tcp_watch_refused(p);
    return ERR_MEM;
}

/* What etharp put in front of a packet to the address it was asked for; the question it may send
 * first is a frame, too. */
static void learn(struct nicif *n, const struct pbuf *p)
{
    if (n->resolving != NULL &&
        ((const struct eth_hdr *)p->payload)->type == PP_HTONS(ETHTYPE_IP)) {
        neighbour_learn(&n->neighbours, p, n->resolving);
    }
}

/* More than a driver is given?  Nearly every frame has one or two: seen without a count. */
static bool has_many_pieces(const struct pbuf *p)
{
    return p->next != NULL && p->next->next != NULL && pbuf_clen(p) > SLICES;
}

/* lwIP hands us a complete frame.  We keep a reference; the card copies it when it leaves. */
static err_t linkoutput(struct netif *netif, struct pbuf *p)
{
    struct nicif *n = netif->state;
    struct pbuf *whole = p;

    if (p->tot_len > FRAME_MAX) {
        return ERR_BUF;
    }
    learn(n, p);
    if (n->count == QUEUE) {
        send_queued(n);
    }
    if (n->count == QUEUE) {
        return refuse(n, p);
    }
    if (has_many_pieces(p)) {
        whole = pbuf_clone(PBUF_RAW, PBUF_RAM, p);
        if (whole == NULL) {
            return refuse(n, p);
        }
    } else {
        pbuf_ref(p);
    }
    n->queue[(n->head + n->count) % QUEUE] = whole;
    n->count++;
    if (!options.batch) {
        send_queued(n);
    }
    return ERR_OK;
}

/* A whole datagram whose checksum was left to us.  (One without any is nothing that we send.) */
static bool lacks_udp_sum(const struct ip_hdr *ip)
{
    return IPH_PROTO(ip) == IP_PROTO_UDP && (IPH_OFFSET(ip) & PP_HTONS(IP_MF | IP_OFFMASK)) == 0 &&
           ((const struct udp_hdr *)(const void *)(ip + 1))->chksum == 0;
}

/* lwIP hands us an IP packet.  The TCP checksum is left to us (CHECKSUM_GEN_TCP is off), UDP's by
 * nicif_udp_send(). */
static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to)
{
    struct nicif *n = netif->state;
    const struct ip_hdr *ip = p->payload;
    err_t err;

    if (IPH_PROTO(ip) == IP_PROTO_TCP) {
        packet_sum_tcp(p);
    } else if (lacks_udp_sum(ip)) {
        packet_sum_udp(p);
    }
    if (neighbour_prepend(&n->neighbours, p, to)) {
        return linkoutput(netif, p);
    }
    n->resolving = to;
    err = etharp_output(netif, p, to);
    n->resolving = NULL;
    return err;
}

err_t nicif_udp_send(struct netif *netif, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *to,
                     uint16_t port)
{
    uint16_t checks = netif->chksum_flags;
    bool whole = p->tot_len + (unsigned)(IP_HLEN + UDP_HLEN) <= netif->mtu;
    err_t err;

    if (whole) {
        NETIF_SET_CHECKSUM_CTRL(netif, (uint16_t)(checks & ~(unsigned)NETIF_CHECKSUM_GEN_UDP));
    }
    err = udp_sendto_if(pcb, p, to, port, netif);
    NETIF_SET_CHECKSUM_CTRL(netif, checks);
    return err;
}

unsigned nicif_tx_room(const struct netif *netif)
{
    return QUEUE - ((const struct nicif *)netif->state)->count;
}

/* ---- receive ---- */

/* A burst is over: what the card lent is its own again. */
static void take_back(struct nic *nic, struct frame *const burst[], unsigned n)
{
    if (nic->ops->rx_done != NULL) {
        bool guarded;

        frames_keep(burst, n);
        guarded = nic_guard();
        nic->ops->rx_done(nic);
        nic_unguard(guarded);
    }
}

unsigned nicif_rx(struct nic *nic, unsigned budget)
{
    struct frame *burst[BURST];
    struct netif *netif = nicif_netif(nic);
    unsigned limit = options.batch ? BURST : 1;
    bool guarded;
    unsigned got;

    frames_keep_reserve();
    limit = budget < limit ? budget : limit;
    guarded = nic_guard();
    got = nic->ops->rx_burst(nic, burst, limit);
    nic_received(nic, got < limit && frame_pool_free() != 0);
    nic_unguard(guarded);
    for (unsigned i = 0; i < got; i++) {
        intake(netif, frames_wrap(burst[i]), options.batch && got > 1);
    }
    if (got > 1) {
        intake_flush(netif);
    }
    take_back(nic, burst, got);
    return got;
}

/* ---- turn ---- */

/* DHCP starts afresh when the link comes back. */
static void follow_link(struct nicif *n)
{
    if (n->nic->link) {
        netif_set_link_up(&n->netif);
    } else {
        netif_set_link_down(&n->netif);
    }
}

unsigned nicif_poll(struct nic *nic)
{
    bool guarded = nic_guard();
    unsigned events = nic_events(nic);

    if ((events & (EV_FAULT | EV_LINK)) != 0 || ((events & EV_TX) != 0 && nic->tx_wanted)) {
        nic->ops->service(nic, events);
    }
    nic_unguard(guarded);
    return events;
}

void nicif_tick(struct nic *nic)
{
    struct nicif *n = nicif_of(nic);

    if (clock_due(&n->next_service_us, SERVICE_US)) {
        bool guarded = nic_guard();

        nic->ops->service(nic, 0);
        nic_retry_irq(nic);
        nic_unguard(guarded);
    }
    if (nic->link != netif_is_link_up(&n->netif)) {
        follow_link(n);
    }
}

bool nicif_quiet(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (nicifs[i].count != 0 && nics[i].ops->tx_idle(&nics[i])) {
            return false;
        }
    }
    return true;
}

bool nicif_tx_empty(const struct netif *netif)
{
    const struct nicif *n = netif->state;
    bool empty = n->count == 0 && n->nic->ops->tx_idle(n->nic);

    n->nic->tx_wanted = !empty; /* the caller waits for it */
    return empty;
}

uint64_t nicif_wire_bytes(struct nic *nic, bool tx)
{
    const struct nic_stats *s = &nic->stats;

    nic->ops->tx_reclaim(nic);
    return tx ? s->tx_bytes + WIRE_OVERHEAD * s->tx_frames
              : s->rx_bytes + WIRE_OVERHEAD * s->rx_frames;
}

/* ---- groups ---- */

/* RFC 1112 section 6.4: the low 23 bits of the group's address. */
static void group_mac(uint8_t mac[ETH_HWADDR_LEN], const ip4_addr_t *group)
{
    mac[0] = LL_IP4_MULTICAST_ADDR_0;
    mac[1] = LL_IP4_MULTICAST_ADDR_1;
    mac[2] = LL_IP4_MULTICAST_ADDR_2;
    mac[3] = ip4_addr2(group) & 0x7F;
    mac[4] = ip4_addr3(group);
    mac[5] = ip4_addr4(group);
}

/* lwIP calls this when a group was joined or left: the card's filter is made afresh from all that
 * the netif is in, since two groups may share a bit. */
static err_t follow_groups(struct netif *netif, const ip4_addr_t *changed,
                           enum netif_mac_filter_action action)
{
    struct nic *nic = nicif_nic(netif);
    struct nic_filter filter = {0};
    bool guarded;

    (void)changed;
    (void)action;
    for (const struct igmp_group *g = netif_igmp_data(netif); g != NULL; g = g->next) {
        uint8_t mac[ETH_HWADDR_LEN];

        group_mac(mac, &g->group_address);
        nic_filter_add(&filter, mac);
    }
    guarded = nic_guard();
    nic->ops->set_filter(nic, &filter);
    nic_unguard(guarded);
    return ERR_OK;
}

/* ---- set-up ---- */

static __attribute__((cold)) err_t netif_setup(struct netif *netif)
{
    struct nicif *n = netif->state;

    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->hostname = options.name;
    netif->output = output;
    netif->linkoutput = linkoutput;
    netif->mtu = 1500;
    netif->hwaddr_len = ETH_HWADDR_LEN;
    memcpy(netif->hwaddr, n->nic->mac, ETH_HWADDR_LEN);
    NETIF_SET_CHECKSUM_CTRL(netif, NETIF_CHECKSUM_ENABLE_ALL &
                                       ~(NETIF_CHECKSUM_GEN_TCP | (unsigned)INTAKE_CHECKS));
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_IGMP;
    netif_set_igmp_mac_filter(netif, follow_groups);
    return ERR_OK;
}

__attribute__((cold)) struct netif *nicif_open(struct nic *nic)
{
    struct nicif *n = nicif_of(nic);

    n->nic = nic;
    n->next_service_us = clock_us() + SERVICE_US;
    if (netif_add(&n->netif, NULL, NULL, NULL, n, netif_setup, ethernet_input) == NULL) {
        panic("netif_add failed for card %u", nic->index);
    }
    if (nic->link) {
        netif_set_link_up(&n->netif);
    }
    netif_set_up(&n->netif);
    if (netif_default == NULL) {
        netif_set_default(&n->netif);
    }
    return &n->netif;
}
