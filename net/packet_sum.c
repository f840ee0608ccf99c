/*
 * Whole-packet checksums: pseudo-header, header and data (RFC 768, RFC 9293 3.1, RFC 1071).
 */
#include "net/packet_sum.h"

#include "lwip/def.h"
#include "lwip/prot/tcp.h"
#include "lwip/prot/udp.h"
#include "net/port/checksum.h"

enum {
    GOOD = 0xFFFF,
    ZERO_SENT = 0xFFFF, /* a zero in a datagram means that it has no checksum */
    HEADERS = IP_HLEN + TCP_HLEN,
    UDP_HEADERS = IP_HLEN + UDP_HLEN,
};

/* Addresses, protocol, and the length of what follows the IP header. */
static uint32_t pseudo_header(const struct ip_hdr *ip, unsigned length)
{
    uint32_t sum = checksum_add32(ip->src.addr, ip->dest.addr);

    return checksum_add32(sum, lwip_htons((uint16_t)(IPH_PROTO(ip) + length)));
}

/* What follows an odd piece lies one address further in the packet than in memory. */
static uint32_t add_chain(uint32_t sum, const struct pbuf *p, bool odd)
{
    for (; p != NULL; p = p->next) {
        if (odd) {
            sum = checksum_swap(checksum_add(checksum_swap(sum), p->payload, p->len));
        } else {
            sum = checksum_add(sum, p->payload, p->len);
        }
        odd ^= p->len % 2;
    }
    return sum;
}

void packet_sum_tcp(struct pbuf *p)
{
    const struct ip_hdr *ip = p->payload;
    struct tcp_hdr *tcp = (struct tcp_hdr *)(void *)((uint8_t *)p->payload + IP_HLEN);
    uint32_t sum = checksum_add20(pseudo_header(ip, p->tot_len - (unsigned)IP_HLEN), tcp);

    if (p->len > HEADERS) { /* options, or data in the same piece */
        sum = checksum_add(sum, tcp + 1, p->len - (unsigned)HEADERS);
    }
    tcp->chksum = (uint16_t)~checksum_fold(add_chain(sum, p->next, p->len % 2));
}

void packet_sum_udp(struct pbuf *p)
{
    const struct ip_hdr *ip = p->payload;
    struct udp_hdr *udp = (struct udp_hdr *)(void *)((uint8_t *)p->payload + IP_HLEN);
    uint32_t sum = pseudo_header(ip, p->tot_len - (unsigned)IP_HLEN);
    uint32_t words[UDP_HLEN / sizeof(uint32_t)];
    uint16_t inverse;

    __builtin_memcpy(words, udp, sizeof(words));
    sum = checksum_add32(checksum_add32(sum, words[0]), words[1]);
    if (p->len > UDP_HEADERS) { /* data in the same piece */
        sum = checksum_add(sum, udp + 1, p->len - (unsigned)UDP_HEADERS);
    }
    inverse = (uint16_t)~checksum_fold(add_chain(sum, p->next, p->len % 2));
    udp->chksum = inverse != 0 ? inverse : ZERO_SENT;
}

bool packet_sum_good(const struct ip_hdr *ip, unsigned length)
{
    const uint8_t *data = (const uint8_t *)ip + IP_HLEN;

    if (checksum_fold(checksum_add20(0, ip)) != GOOD) {
        return false;
    }
    length -= IP_HLEN;
    return checksum_fold(checksum_add(pseudo_header(ip, length), data, length)) == GOOD;
}
