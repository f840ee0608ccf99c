/*
 * Several cards: a packet leaves by the card that owns its source address, also when two cards
 * share a subnet (DESIGN 3).  lwIP by itself goes by destination only.
 */
#include "lwip/netif.h"

struct netif *route_by_source(const struct ip4_addr *src, const struct ip4_addr *dest)
{
    struct netif *netif;

    (void)dest;
    if (src == NULL || ip4_addr_isany(src)) {
        return NULL;
    }
    NETIF_FOREACH (netif) {
        if (netif_is_up(netif) && ip4_addr_eq(netif_ip4_addr(netif), src)) {
            return netif;
        }
    }
    return NULL;
}
