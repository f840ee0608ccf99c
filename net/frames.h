/*
 * Frames of drivers/frame.h as lwIP sees them: each wrapped in place in a custom pbuf.  Memory that
 * a card lends is wrapped, too; what lwIP still holds when the burst is over is copied then.
 *
 * lwIP may keep such a pbuf: parked out of order, in reassembly, in a transmit queue, waiting for
 * ARP.  Custom pbufs do not trigger lwIP's own relief when memory runs short, so the bounds are
 * kept here: segments parked out of order never hold more than the pool less eight, and below four
 * free frames all of them go, or the missing segment could not get in (DESIGN 2); if that is not
 * enough, so do the replies that wait for ARP.
 */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include "drivers/frame.h"
#include "lwip/pbuf.h"

/* The frame as a pbuf with one reference; the last pbuf_free() returns it to the pool. */
struct pbuf *frames_wrap(struct frame *f);

/* After a burst was handed to lwIP: what it kept of lent frames is copied into their own data. */
void frames_keep(struct frame *const burst[], unsigned n);

/* Before a receive burst: relieve the pool if it is nearly empty. */
void frames_keep_reserve(void);

/* Times that what was parked had to go. */
unsigned frames_reliefs(void);

#endif
