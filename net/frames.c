/*
 * Wrapping frames, and keeping enough of them free.
 */
#include "net/frames.h"

#include "lwip/etharp.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "net/tcp_watch.h"

enum {
    RESERVE = 4, /* frames that must be free before a receive burst         */
    SPARE = 8,   /* frames that parked segments may never hold              */
};

/* The pbuf lies at the start of the room in front of the data, so that lwIP may prepend headers:
 * it checks only that they stay behind its struct pbuf.  The function pointer behind that is far
 * from the data: FRAME_ABOVE leaves 40 bytes, more than any header we prepend to a frame. */
_Static_assert(sizeof(struct pbuf_custom) + 18 <= FRAME_ABOVE, "room for a prepended header");

static unsigned reliefs;

static void release(struct pbuf *p)
{
    frame_free((struct frame *)(void *)((uint8_t *)p - offsetof(struct frame, above)));
}

/* Lent memory is volatile to lwIP: it copies what it queues, and does not prepend in place. */
struct pbuf *frames_wrap(struct frame *f)
{
    struct pbuf_custom *custom = (struct pbuf_custom *)(void *)f->above;

    custom->custom_free_function = release;
    return pbuf_alloced_custom(PBUF_RAW, f->length, frame_lent(f) ? PBUF_REF : PBUF_RAM, custom,
                               f->packet, FRAME_ROOM);
}

void frames_keep(struct frame *const burst[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct frame *f = burst[i];

        if (f->nic != FRAME_IN_POOL && frame_lent(f)) {
            struct pbuf *p = &((struct pbuf_custom *)(void *)f->above)->pbuf;
            ptrdiff_t moved = frame_keep(f);

            p->payload = (uint8_t *)p->payload + moved;
            tcp_watch_moved(p, moved);
        }
    }
}

static int reserve_free(void)
{
    return frame_pool_free() >= RESERVE;
}

/* Replies that wait for a neighbour's answer to ARP are received frames, too.  Known neighbours are
 * forgotten with them: they are asked again. */
static void drop_unresolved(void)
{
    struct netif *netif;

    NETIF_FOREACH (netif) {
        etharp_cleanup_netif(netif);
    }
}

void frames_keep_reserve(void)
{
    if (reserve_free()) {
        return;
    }
    reliefs++;
    tcp_watch_free_parked(reserve_free);
    if (!reserve_free()) {
        drop_unresolved();
    }
}

/*
 * lwipopts.h: how many pbufs `pcb` may have parked out of order.  What it has now, plus what the
 * pool can still spare, or less what the pool is short of.
 */
uint16_t net_ooseq_limit(const struct tcp_pcb *pcb)
{
    unsigned parked = frame_pool_free();

    for (const struct tcp_seg *seg = pcb->ooseq; seg != NULL; seg = seg->next) {
        parked += pbuf_clen(seg->p);
    }
    return parked > SPARE ? (uint16_t)(parked - SPARE) : 0;
}

unsigned frames_reliefs(void)
{
    return reliefs;
}
