/*
 * TCP watched from outside, through lwIP's hooks.
 *
 * Retransmissions: a segment is one if it begins below the highest sequence number sent before.
 * lwIP's snd_nxt will not do for that: a probe of a closed window moves it, and a segment that
 * grew after its first transmission ends above it.
 *
 * A peer in slow start may send one segment and wait; a delayed acknowledgement (250 ms) would be a
 * stall.  So the first segments are acknowledged one by one, and none waits longer than two ticks.
 *
 * Half-open connections: lwIP keeps one for 20 s and never evicts an equal, so a few dozen SYNs
 * from nowhere would lock everybody out.  At most half of the pcbs may be half-open; the oldest
 * goes first (DESIGN 2).
 */
#include "net/tcp_watch.h"

#include <stdbool.h>

#include "kernel/trap.h"
#include "lwip/priv/tcp_priv.h"
#include "net/port/hooks.h"

enum {
    HALF_OPEN_MAX = MEMP_NUM_TCP_PCB / 2,
    QUICK_ACKS = 16, /* segments of a young connection that are acknowledged at once */
};

static uint8_t ext_id;
static unsigned half_open_dropped;
static unsigned beyond_window;

/* Segments with payload that came with the handshake's last acknowledgement, before the
 * application could attach its counts. */
static struct {
    const struct tcp_pcb *pcb;
    unsigned segments;
} early;

/* The segment counted last, and what its counts were before. */
static struct {
    const struct pbuf *segment;
    struct tcp_count *count;
    uint32_t sent, resent, highest;
} last;

void tcp_watch_init(void)
{
    ext_id = tcp_ext_arg_alloc_id();
}

/* The segment that opens a connection, and is seen before anybody could attach, may have payload.
 */
void tcp_watch_attach(struct tcp_pcb *pcb, struct tcp_count *count)
{
    tcp_ext_arg_set(pcb, ext_id, count);
    last.segment = NULL;
    if (count != NULL && pcb == early.pcb) {
        count->received += early.segments;
    }
    early.pcb = NULL;
}

void tcp_watch_callbacks(struct tcp_pcb *pcb, const struct tcp_ext_arg_callbacks *callbacks)
{
    tcp_ext_arg_set_callbacks(pcb, ext_id, callbacks);
}

unsigned tcp_watch_half_open_dropped(void)
{
    return half_open_dropped;
}

unsigned tcp_watch_beyond_window(void)
{
    return beyond_window;
}

/* One byte that the peer has no room for, to make it say when it has (RFC 9293, 3.8.6.1). */
static bool is_probe(const struct tcp_pcb *pcb)
{
    return pcb->persist_backoff != 0 && pcb->snd_wnd == 0;
}

static void count_sent(struct tcp_count *count, uint32_t begin, uint32_t end)
{
    if (count->sent++ == 0) {
        count->highest = begin;
    }
    if (TCP_SEQ_LT(begin, count->highest)) {
        count->resent++;
    }
    if (TCP_SEQ_GT(end, count->highest)) {
        count->highest = end;
    }
}

uint32_t *tcp_watch_out(struct pbuf *p, const struct tcp_hdr *hdr, const struct tcp_pcb *pcb,
                        uint32_t *opts)
{
    struct tcp_count *count = pcb == NULL ? NULL : pcb->ext_args[ext_id].data;
    unsigned payload = p->tot_len - TCPH_HDRLEN_BYTES(hdr);

    if (count != NULL && payload != 0 && !is_probe(pcb)) {
        last.segment = p;
        last.count = count;
        last.sent = count->sent;
        last.resent = count->resent;
        last.highest = count->highest;
        count_sent(count, lwip_ntohl(hdr->seqno), lwip_ntohl(hdr->seqno) + payload);
    }
    return opts;
}

void tcp_watch_refused(const struct pbuf *p)
{
    if (last.segment == p) {
        last.count->sent = last.sent;
        last.count->resent = last.resent;
        last.count->highest = last.highest;
        last.segment = NULL;
    }
}

/* As tcp_txnow(), which looks at refused segments only. */
void tcp_watch_retry(void)
{
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        if ((pcb->flags & (TF_NAGLEMEMERR | TF_ACK_NOW)) != 0) {
            tcp_output(pcb);
        }
    }
}

static struct tcp_pcb *oldest_half_open(unsigned *how_many)
{
    struct tcp_pcb *oldest = NULL;

    *how_many = 0;
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        if (pcb->state == SYN_RCVD) {
            ++*how_many;
            if (oldest == NULL || tcp_ticks - pcb->tmr > tcp_ticks - oldest->tmr) {
                oldest = pcb;
            }
        }
    }
    return oldest;
}

/* Make room before one more is let in. */
static void bound_half_open(void)
{
    for (unsigned n = 0; n < MEMP_NUM_TCP_PCB; n++) {
        unsigned half_open;
        struct tcp_pcb *oldest = oldest_half_open(&half_open);

        if (half_open < HALF_OPEN_MAX) {
            return;
        }
        tcp_abandon(oldest, 0);
        half_open_dropped++;
    }
}

/*
 * A delayed acknowledgement waits for the second segment.  Several at once (merged by net/intake.c)
 * are acknowledged at once, and so are a young connection's every segment and one that may fill a
 * gap (RFC 5681 4.2): this is the flag by which lwIP knows the second of two.
 */
static void hold_back(struct tcp_pcb *pcb, const struct tcp_count *count, const struct pbuf *p)
{
    if (p->next != NULL || pcb->ooseq != NULL || (count != NULL && count->received < QUICK_ACKS)) {
        tcp_set_flags(pcb, TF_ACK_DELAY);
    }
}

/*
 * A peer that has only one segment to send, or only room for one, waits for its acknowledgement:
 * lwIP's 250 ms would be a stall each time.  So one that is held back goes when a tick has seen
 * nothing more of its connection.
 */
void tcp_watch_tick(void)
{
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        struct tcp_count *count = pcb->ext_args[ext_id].data;
        bool quiet = count == NULL || count->received == count->ticked;

        if (quiet && (pcb->flags & TF_ACK_DELAY) != 0) {
            tcp_ack_now(pcb);
            tcp_output(pcb);
        }
        if (count != NULL) {
            count->ticked = count->received;
        }
    }
}

/*
 * A segment ahead of its turn that goes on beyond the window.  lwIP parks the first such one as it
 * is (2.2.1, tcp_receive: only later ones are trimmed) and, when the gap is filled, takes more from
 * the window than there is: rcv_wnd passes below 0 and is huge.  RFC 9293, 3.10.7.4, has the end
 * cut off; no honest peer sends it, so it is dropped whole.
 */
static bool overhangs(const struct tcp_pcb *pcb, const struct tcp_hdr *hdr, const struct pbuf *p)
{
    uint32_t end = hdr->seqno + p->tot_len + ((TCPH_FLAGS(hdr) & TCP_FIN) != 0 ? 1 : 0);

    return TCP_SEQ_GT(hdr->seqno, pcb->rcv_nxt) && pcb->state >= SYN_RCVD &&
           TCP_SEQ_GT(end, pcb->rcv_nxt + pcb->rcv_wnd);
}

err_t tcp_watch_in(struct tcp_pcb *pcb, const struct tcp_hdr *hdr, struct pbuf *p)
{
    if (pcb->state == LISTEN) {
        if ((TCPH_FLAGS(hdr) & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
            bound_half_open();
        }
    } else if (pcb->state != TIME_WAIT && overhangs(pcb, hdr, p)) {
        beyond_window++;
        return ERR_VAL;
    } else if (pcb->state != TIME_WAIT && p->tot_len != 0) {
        struct tcp_count *count = pcb->ext_args[ext_id].data;

        hold_back(pcb, count, p);
        if (count != NULL) {
            count->received += p->next == NULL ? 1u : pbuf_clen(p); /* one pbuf a segment */
        } else {
            early.pcb = pcb->state == SYN_RCVD ? pcb : NULL;
            early.segments = pbuf_clen(p);
        }
    }
    return ERR_OK;
}

void tcp_watch_moved(const struct pbuf *p, ptrdiff_t by)
{
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        for (struct tcp_seg *seg = pcb->ooseq; seg != NULL; seg = seg->next) {
            if (seg->p == p) {
                seg->tcphdr = (struct tcp_hdr *)(void *)((uint8_t *)seg->tcphdr + by);
            }
        }
    }
}

void tcp_watch_free_parked(int (*enough)(void))
{
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL && !enough(); pcb = pcb->next) {
        if (pcb->ooseq != NULL) {
            tcp_free_ooseq(pcb);
        }
    }
}
