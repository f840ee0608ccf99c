/*
 * Checking and merging; intake.h says what and why.
 */
#include "net/intake.h"

#include <stdint.h>

#include "lwip/ip4.h"
#include "lwip/prot/ethernet.h"
#include "lwip/prot/icmp.h"
#include "lwip/prot/ip.h"
#include "lwip/prot/tcp.h"
#include "lwip/prot/udp.h"
#include "lwip/stats.h"
#include "net/packet_sum.h"
#include "netif/ethernet.h"

enum {
    TRAINS = 4,         /* connections merged at a time                                      */
    SEGMENTS = 8,       /* in a train: then lwIP acknowledges it (a few of these fill a window) */
    BULK = 512,         /* payload of a segment that is no message                           */
    PLAIN_VHL = 0x45,   /* version 4, 20-byte header                   */
    PLAIN_TCP = 0x5010, /* 20-byte header, ACK and no flag but PSH     */
    TCP_HEADERS = IP_HLEN + TCP_HLEN,
};

/* Segments of one connection that follow each other. */
struct train {
    struct pbuf *head, *tail;
    struct ip_hdr *ip; /* of the first, which becomes that of all */
    struct tcp_hdr *tcp;
    uint32_t next_seqno; /* host order */
    uint16_t bytes;      /* payload; 0: a pure acknowledgement */
    uint16_t segments;
};

static struct train trains[TRAINS];
static unsigned train_count;

static uint16_t ip_length(const struct ip_hdr *ip)
{
    return lwip_ntohs(IPH_LEN(ip));
}

static struct tcp_hdr *tcp_of(struct ip_hdr *ip)
{
    return (struct tcp_hdr *)(void *)((uint8_t *)ip + IP_HLEN);
}

/* ---- checking ---- */

/* The usual packet: what its layers would be asked about, at a glance. */
static bool is_plain(const struct pbuf *p, const struct ip_hdr *ip)
{
    const struct eth_hdr *eth = p->payload;
    unsigned length;

    if (p->len < SIZEOF_ETH_HDR + TCP_HEADERS || eth->type != PP_HTONS(ETHTYPE_IP) ||
        (eth->dest.addr[0] & 1) != 0 || ip->_v_hl != PLAIN_VHL ||
        (IPH_OFFSET(ip) & PP_HTONS(IP_MF | IP_OFFMASK)) != 0) {
        return false;
    }
    length = ip_length(ip);
    if (length > p->len - (unsigned)SIZEOF_ETH_HDR) {
        return false;
    }
    if (IPH_PROTO(ip) == IP_PROTO_TCP) {
        return length >= TCP_HEADERS;
    }
    if (IPH_PROTO(ip) == IP_PROTO_UDP && length >= IP_HLEN + UDP_HLEN) {
        const struct udp_hdr *udp = (const void *)(ip + 1);

        return udp->chksum != 0 && udp->len == lwip_htons((uint16_t)(length - IP_HLEN));
    }
    return false;
}

/*
 * A whole datagram whose header does not tell the length that its packet has (RFC 768).  lwIP does
 * not ask; it would take what stands behind, or miss what is not there.
 */
static bool misstated(const struct pbuf *p, const struct ip_hdr *ip)
{
    const struct eth_hdr *eth = p->payload;
    const struct udp_hdr *udp = (const void *)((const uint8_t *)ip + IPH_HL_BYTES(ip));

    return p->len >= SIZEOF_ETH_HDR + IP_HLEN && eth->type == PP_HTONS(ETHTYPE_IP) &&
           IPH_PROTO(ip) == IP_PROTO_UDP && (IPH_OFFSET(ip) & PP_HTONS(IP_MF | IP_OFFMASK)) == 0 &&
           p->len >= SIZEOF_ETH_HDR + IPH_HL_BYTES(ip) + UDP_HLEN &&
           p->tot_len >= SIZEOF_ETH_HDR + ip_length(ip) && /* else that is wrong first */
           lwip_ntohs(udp->len) + IPH_HL_BYTES(ip) != ip_length(ip);
}

/* ---- fragments ---- */

static netif_output_fn output; /* of every card */

static bool is_fragment(const struct pbuf *p, const struct ip_hdr *ip)
{
    const struct eth_hdr *eth = p->payload;

    return p->len >= SIZEOF_ETH_HDR + IP_HLEN && eth->type == PP_HTONS(ETHTYPE_IP) &&
           (IPH_OFFSET(ip) & PP_HTONS(IP_MF | IP_OFFMASK)) != 0;
}

static err_t output_but_time_exceeded(struct netif *netif, struct pbuf *p, const ip4_addr_t *to)
{
    const struct ip_hdr *ip = p->payload;

    if (IPH_PROTO(ip) == IP_PROTO_ICMP && (IPH_OFFSET(ip) & PP_HTONS(IP_OFFMASK)) == 0 &&
        pbuf_get_at(p, IPH_HL_BYTES(ip)) == ICMP_TE) {
        IPFRAG_STATS_INC(ip_frag.drop);
        return ERR_OK;
    }
    return output(netif, p, to);
}

/*
 * A fragment may push out an older datagram that waits for its rest, and lwIP would tell the sender
 * of that (RFC 792, time exceeded): a flood of first fragments would be answered one by one, to
 * whoever they say they are from.  What is refused is counted, and nobody hears of it.
 */
static bool fragment_in(struct netif *netif, struct pbuf *p)
{
    struct netif *each;
    err_t err;

    output = netif->output;
    NETIF_FOREACH (each) {
        each->output = output_but_time_exceeded;
    }
    err = netif->input(p, netif);
    NETIF_FOREACH (each) {
        each->output = output;
    }
    return err == ERR_OK;
}

/* Not the usual packet: lwIP asks all its questions, and looks at the checksums itself. */
static void to_ethernet(struct netif *netif, struct pbuf *p, const struct ip_hdr *ip)
{
    uint16_t checks = netif->chksum_flags;
    bool taken;

    if (misstated(p, ip)) {
        UDP_STATS_INC(udp.lenerr);
        UDP_STATS_INC(udp.drop);
        pbuf_free(p);
        return;
    }
    NETIF_SET_CHECKSUM_CTRL(netif, (uint16_t)(checks | INTAKE_CHECKS));
    taken = is_fragment(p, ip) ? fragment_in(netif, p) : netif->input(p, netif) == ERR_OK;
    NETIF_SET_CHECKSUM_CTRL(netif, checks);
    if (!taken) {
        pbuf_free(p);
    }
}

/* Leave the Ethernet header and the padding behind. */
static void strip(struct netif *netif, struct pbuf *p, struct ip_hdr *ip)
{
    p->payload = ip;
    p->len = p->tot_len = ip_length(ip);
    p->if_idx = netif_get_index(netif);
}

/* ---- merging ---- */

static bool mergeable(const struct tcp_hdr *tcp)
{
    return (tcp->_hdrlen_rsvd_flags & PP_HTONS(~TCP_PSH & 0xFFFF)) == PP_HTONS(PLAIN_TCP);
}

/* Both at once. */
static uint32_t ports(const struct tcp_hdr *tcp)
{
    uint32_t both;

    __builtin_memcpy(&both, tcp, sizeof(both));
    return both;
}

static bool same_connection(const struct train *t, const struct ip_hdr *ip,
                            const struct tcp_hdr *tcp)
{
    return ports(t->tcp) == ports(tcp) && t->ip->src.addr == ip->src.addr &&
           t->ip->dest.addr == ip->dest.addr;
}

static void start(struct train *t, struct pbuf *p, struct ip_hdr *ip)
{
    t->head = t->tail = p;
    t->ip = ip;
    t->tcp = tcp_of(ip);
    t->bytes = (uint16_t)(p->len - TCP_HEADERS);
    t->next_seqno = lwip_ntohl(t->tcp->seqno) + t->bytes;
    t->segments = 1;
}

/* The next data segment joins. */
static void join(struct train *t, struct pbuf *p, const struct tcp_hdr *tcp, unsigned bytes)
{
    p->payload = (uint8_t *)p->payload + TCP_HEADERS;
    p->len = (uint16_t)bytes;
    t->tail->next = p;
    t->tail = p;
    t->bytes = (uint16_t)(t->bytes + bytes);
    t->next_seqno += bytes;
    t->segments++;
    t->tcp->_hdrlen_rsvd_flags |= tcp->_hdrlen_rsvd_flags; /* PSH */
}

/* A pure acknowledgement of more: the earlier one says nothing any more. */
static void supersede(struct train *t, struct pbuf *p, struct ip_hdr *ip)
{
    pbuf_free(t->head);
    start(t, p, ip);
}

static bool merge_into(struct train *t, struct pbuf *p, struct ip_hdr *ip)
{
    struct tcp_hdr *tcp = tcp_of(ip);
    unsigned bytes = p->len - (unsigned)TCP_HEADERS;

    if (lwip_ntohl(tcp->seqno) != t->next_seqno) {
        return false;
    }
    if (bytes == 0) {
        if (t->bytes != 0) {
            return false;
        }
        if ((int32_t)(lwip_ntohl(tcp->ackno) - lwip_ntohl(t->tcp->ackno)) <= 0) {
            return false; /* the same again: a duplicate that counts */
        }
        supersede(t, p, ip);
        return true;
    }
    if (t->bytes == 0 || t->segments == SEGMENTS || tcp->ackno != t->tcp->ackno ||
        tcp->wnd != t->tcp->wnd) {
        return false;
    }
    join(t, p, tcp, bytes);
    return true;
}

/* One header for all: the first's, with the length of all. */
static void depart(struct netif *netif, const struct train *t)
{
    if (t->segments > 1) {
        unsigned left = t->bytes + (unsigned)TCP_HEADERS;

        IPH_LEN_SET(t->ip, lwip_htons((uint16_t)left));
        for (struct pbuf *p = t->head; p != NULL; p = p->next) {
            p->tot_len = (uint16_t)left;
            left -= p->len;
        }
    }
    ip4_input(t->head, netif);
}

void intake_flush(struct netif *netif)
{
    unsigned n = train_count;

    train_count = 0;
    for (unsigned i = 0; i < n; i++) {
        depart(netif, &trains[i]);
    }
}

/*
 * May a segment go with an earlier train of its connection, before others that came in between?  A
 * message may not: on another connection it may be the end of what lies between (iperf3's control
 * connection).
 */
static bool may_overtake(const struct pbuf *p)
{
    unsigned bytes = p->len - (unsigned)TCP_HEADERS;

    return bytes == 0 || bytes >= BULK;
}

/* Join the connection's train, or begin one. */
static void merge(struct netif *netif, struct pbuf *p, struct ip_hdr *ip)
{
    for (unsigned i = 0; i < train_count; i++) {
        struct train *t = &trains[i];

        if (same_connection(t, ip, tcp_of(ip))) {
            if ((i + 1 == train_count || may_overtake(p)) && merge_into(t, p, ip)) {
                return;
            }
            intake_flush(netif);
            break;
        }
    }
    if (train_count == TRAINS) {
        intake_flush(netif);
    }
    start(&trains[train_count++], p, ip);
}

void intake(struct netif *netif, struct pbuf *p, bool may_merge)
{
    struct ip_hdr *ip = (struct ip_hdr *)(void *)((uint8_t *)p->payload + SIZEOF_ETH_HDR);

    if (!is_plain(p, ip) || !packet_sum_good(ip, ip_length(ip))) {
        intake_flush(netif);
        to_ethernet(netif, p, ip);
        return;
    }
    strip(netif, p, ip);
    if (IPH_PROTO(ip) == IP_PROTO_TCP && may_merge && mergeable(tcp_of(ip))) {
        merge(netif, p, ip);
        return;
    }
    if (train_count != 0) {
        intake_flush(netif); /* whatever came before goes before */
    }
    ip4_input(p, netif);
}
