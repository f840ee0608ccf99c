/*
 * The Ethernet header that goes in front of a packet to an address, remembered.
 *
 * Asking lwIP's ARP table for every packet costs more than the header is long.  What etharp wrote
 * in front of the last packet to an address is used again for a tenth of a second; then etharp is
 * asked anew, so that it sees its entries in use, asks for them again in time, and a neighbour that
 * moved is followed.
 */
#ifndef NET_NEIGHBOUR_H
#define NET_NEIGHBOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip4_addr.h"
#include "lwip/pbuf.h"

enum { NEIGHBOURS = 4 };

struct neighbours {
    struct neighbour {
        uint32_t ip; /* 0: none */
        uint64_t until_us;
        uint8_t header[20]; /* 14 are used: with 32 bytes an entry is found by a shift */
    } of[NEIGHBOURS];
};

/* Put the header of `to` in front of `p`.  False if none is remembered (or `p` has no room): p is
 * unchanged. */
bool neighbour_prepend(const struct neighbours *n, struct pbuf *p, const ip4_addr_t *to);

/* Remember the header that begins the complete frame `p`, which goes to `to`; not if that is a
 * group. */
void neighbour_learn(struct neighbours *n, const struct pbuf *p, const ip4_addr_t *to);

#endif
