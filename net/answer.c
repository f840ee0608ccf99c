/*
 * Who gets no answer.
 */
#include "net/answer.h"

#include "lwip/ip.h"

/* The small services, those of ours that listen for datagrams, and DNS, NTP, mDNS. */
static const uint16_t talkative[] = {7,    9,    13,   17,   19,   53,  123,
                                     2000, 5001, 5010, 5201, 5353, 137, 138};

bool may_answer(const ip_addr_t *from, uint16_t from_port)
{
    struct netif *netif = ip_current_input_netif();
    const ip4_addr_t *to = ip4_current_dest_addr();

    for (unsigned i = 0; i < sizeof(talkative) / sizeof(talkative[0]); i++) {
        if (talkative[i] == from_port) {
            return false;
        }
    }
    return from_port != 0 && !ip4_addr_ismulticast(to) && !ip4_addr_isbroadcast(to, netif) &&
           !ip_addr_isany_val(*from) && !ip_addr_ismulticast(from) &&
           !ip4_addr_isbroadcast(ip_2_ip4(from), netif);
}
