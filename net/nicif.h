/*
 * The batched seam between cards and lwIP; the only file that sees both worlds.
 *
 * Received: one burst from the card into frames of the pool; each frame is wrapped in place as a
 * custom pbuf (no allocation, no copy) and handed to lwIP.  Sent: lwIP's linkoutput queues a
 * reference; the queue leaves as one burst a turn, gathered by the driver straight from the pbuf
 * chains.  batch=off makes both bursts one frame long and sends from linkoutput at once.
 */
#ifndef NET_NICIF_H
#define NET_NICIF_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/nic.h"
#include "lwip/netif.h"
#include "lwip/udp.h"

/* Make the netif of a card and add it to lwIP, up but without an address. */
struct netif *nicif_open(struct nic *nic);

/* The card behind a netif, and the netif of a card. */
struct nic *nicif_nic(const struct netif *netif);
struct netif *nicif_netif(const struct nic *nic);

/* Look at a card (one status read) and serve its rare events: overrun, link.  Returns the nic_event
 * bits seen; EV_RX says that nicif_rx() is worth calling. */
unsigned nicif_poll(struct nic *nic);

/* Every NET_TICK_MS: once a second the driver's tallies and watchdog; the link, if it changed. */
void nicif_tick(struct nic *nic);

/* One receive burst of at most `budget` frames into lwIP; returns how many. */
unsigned nicif_rx(struct nic *nic, unsigned budget);

/* One transmit burst from the queue; returns how many frames the card took. */
unsigned nicif_tx(struct nic *nic);

/* Nothing queued for any card that it could take now: the machine may halt. */
bool nicif_quiet(void);

/* Free slots in the transmit queue of a netif: what a UDP sender may send without ERR_MEM. */
unsigned nicif_tx_room(const struct netif *netif);

/* lwIP's udp_sendto_if() for streams of datagrams.  Of one that needs no fragments the checksum is
 * made where all of it lies in front of us, as TCP's is, and costs a fifth less. */
err_t nicif_udp_send(struct netif *netif, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *to,
                     uint16_t port);

/* Everything sent through this netif has left the card. */
bool nicif_tx_empty(const struct netif *netif);

/* Bytes a card put on / took from its medium so far, 24 bytes of overhead a frame included
 * (preamble, FCS, gap): what a wire limit is computed from. */
uint64_t nicif_wire_bytes(struct nic *nic, bool tx);

#endif
