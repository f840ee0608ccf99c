/*
 * Received frames: a fixed pool of equal blocks, made once at boot.
 *
 * A frame is handed from pool to driver (rx_burst), to the layer above, and back with
 * frame_free().  A driver whose card stores frames in main memory may lend that memory instead of
 * copying: `packet` then lies in it, and stays good until rx_done (nic.h); who keeps the frame
 * longer calls frame_keep().  The layer above gets FRAME_ABOVE bytes directly in front of the data
 * for its own bookkeeping (net keeps its custom pbuf there, so that lwIP may prepend headers in
 * place).
 */
#ifndef DRIVERS_FRAME_H
#define DRIVERS_FRAME_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_MIN = 60,    /* IEEE 802.3 minimum, without FCS               */
    FRAME_MAX = 1514,  /* IEEE 802.3 maximum, without FCS, untagged     */
    FRAME_ROOM = 1520, /* FRAME_MAX, FCS and a last odd word            */
    FRAME_ABOVE = 64,
    FRAME_ALIGN_SHIFT = 2, /* 14-byte header + 2: the IP header is aligned */
    FRAME_LEAD = 4         /* see frame_lead()                             */
};

/* Values of frame.nic beside a card's index. */
enum { FRAME_UNUSED = 0xFE, FRAME_IN_POOL = 0xFF };

struct frame {
    struct frame *next; /* free list; the holder may use it meanwhile             */
    uint8_t *packet;    /* the first byte: in data[], or in memory of the card    */
    uint16_t length;    /* bytes at `packet`, without FCS                         */
    uint8_t nic;        /* index of the card it came from                         */
    alignas(16) uint8_t above[FRAME_ABOVE];
    uint8_t shift[FRAME_ALIGN_SHIFT];
    uint8_t data[FRAME_ROOM];
};

/*
 * Scratch in front of data[] for the driver while it fills the frame: a chip that puts its own
 * header before the packet can be read in one go, no byte moved.  The layer above takes the same
 * bytes (the tail of above[]) only later.
 */
static inline uint8_t *frame_lead(struct frame *f)
{
    return (uint8_t *)f + offsetof(struct frame, data) - FRAME_LEAD;
}

/* Make the pool: `count` frames in `memory` (count * sizeof(struct frame) bytes, aligned 16). */
void frame_pool_init(void *memory, unsigned count);

/* Does its packet lie in memory lent by the card? */
static inline bool frame_lent(const struct frame *f)
{
    return f->packet != f->data;
}

/* Copy a lent packet into the frame's own data[]; returns how far it moved, to correct pointers
 * into it. */
ptrdiff_t frame_keep(struct frame *f);

/* Take one, its packet in data[]; null when the pool is empty.  Main context only. */
struct frame *frame_alloc(void);

/* Give one back.  Main context only.  Giving back twice, or what is not of the pool, panics. */
void frame_free(struct frame *f);

unsigned frame_pool_size(void);
unsigned frame_pool_free(void);

/* The fewest that were ever free, and how often the pool was found empty. */
unsigned frame_pool_low(void);
unsigned frame_pool_dry(void);

#endif
