/*
 * RTL8139, receive side: one ring of memory, frame after frame, each behind a header of 4 bytes and
 * aligned to 4.  The data sheet does not describe it; this is what all chips do (QUIRKS.md).
 *
 * The chip tells where it has written to (CBR), we tell where we have read to (CAPR, 16 behind by
 * a chip's own arithmetic).  Order for losing nothing: read all there is, acknowledge, look
 * again.  Overflow can only be acknowledged together with ROK and after CAPR made room, or the
 * chip stays deaf.
 *
 * Frames are not copied: the ring is lent to the layer above for the length of a burst, and CAPR
 * moves when it is done with them (rtl8139_rx_done).  Measured against copying (RESULTS.md), that
 * is 400 instructions a full frame less, and 40 a short one.
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/string.h"

enum {
    ALIGN = 4,
    RING_LENT_FRACTION = 2, /* a burst keeps about half of the ring from the chip, not more */
    UNSTICK_US = 20000,     /* a frame takes 1.2 ms at 10 Mbit/s                            */
};

static uint32_t after(const struct rtl8139 *d, uint32_t offset)
{
    return offset % d->ring_bytes; /* a power of two */
}

/* How far the chip has written. */
static uint32_t look(struct rtl8139 *d)
{
    return after(d, get16(d, CBR));
}

/* Only what was seen, and so counted: an error that came since the last poll stays for the next.
 * The chip does not tell how many damaged frames one ISR.RER stands for. */
static void acknowledge(struct rtl8139 *d)
{
    const unsigned seen = d->seen & (RTL8139_OVERFLOW | ISR_RER);

    if ((seen & RTL8139_OVERFLOW) != 0) {
        d->nic->stats.rx_overrun++;
    }
    if ((seen & ISR_RER) != 0) {
        d->nic->stats.rx_error++;
    }
    d->seen &= (uint16_t)~RTL8139_RX_BITS;
    put16(d, ISR, ISR_ROK | seen);
}

static uint32_t read_header(const struct rtl8139 *d)
{
    return *(const volatile uint32_t *)(const volatile void *)(d->ring.cpu + d->at);
}

/* Lend the frame that begins behind the header at d->at.  With 64 KB there is no room behind the
 * ring: a frame that goes on at its beginning is not in one piece, and copied. */
static void lend(const struct rtl8139 *d, struct frame *f, unsigned n)
{
    uint32_t from = d->at + HEADER_BYTES;
    uint32_t room = d->ring_bytes == RTL8139_RING_MOST ? d->ring_bytes - from : n;

    f->length = (uint16_t)n;
    f->nic = (uint8_t)d->nic->index;
    if (n <= room) {
        f->packet = d->ring.cpu + from;
        return;
    }
    memcpy(f->data, d->ring.cpu + from, room);
    memcpy(f->data + room, d->ring.cpu, n - room);
}

enum verdict { TAKEN, DROPPED, UNFINISHED, LOST };

/* A header of a frame still being written; give it 20 ms, then the receiver is stuck. */
static enum verdict wait_for_chip(struct rtl8139 *d)
{
    if (!d->stuck) {
        d->stuck = true;
        d->unstick = deadline_us(UNSTICK_US);
    }
    return expired(&d->unstick) ? LOST : UNFINISHED;
}

/* The frame at d->at, which must end by `limit`, into `f`; d->at moves on unless it is unfinished
 * or lost. */
static enum verdict take(struct rtl8139 *d, uint32_t limit, struct frame *f)
{
    struct nic_stats *stats = &d->nic->stats;
    uint32_t header = read_header(d);
    unsigned status = header & 0xFFFF;
    unsigned length = header >> 16;
    uint32_t next;

    if (length == LENGTH_UNFINISHED) {
        return wait_for_chip(d);
    }
    d->stuck = false;
    next = (d->at + HEADER_BYTES + length + ALIGN - 1) & ~(ALIGN - 1u);
    if ((status & STATUS_ROK) == 0 || length < FRAME_MIN + RTL8139_FCS ||
        next - d->at > after(d, limit - d->at)) {
        return LOST;
    }
    length -= RTL8139_FCS;
    if (length > FRAME_MAX) {
        stats->rx_length++; /* whole, only too long for us */
    } else {
        lend(d, f, length);
        stats->rx_frames++;
        stats->rx_bytes += length;
    }
    d->at = after(d, next);
    return length > FRAME_MAX ? DROPPED : TAKEN;
}

unsigned rtl8139_rx_burst(struct nic *nic, struct frame *out[], unsigned max)
{
    struct rtl8139 *d = rtl8139_of(nic);
    uint32_t limit = look(d);
    unsigned n = 0;

    while (n < max && after(d, d->at - d->released) < d->ring_bytes / RING_LENT_FRACTION) {
        struct frame *f;
        enum verdict verdict;

        if (d->at == limit) {
            if (d->at != d->released && (d->seen & RTL8139_OVERFLOW) != 0) {
                break; /* room first, then the acknowledgement: by the next burst */
            }
            acknowledge(d);
            limit = look(d); /* what came meanwhile joins the burst */
            if (d->at == limit) {
                break;
            }
        }
        f = frame_alloc();
        if (f == NULL) {
            nic->stats.rx_no_frame++;
            break;
        }
        verdict = take(d, limit, f);
        if (verdict == TAKEN) {
            out[n++] = f;
            continue;
        }
        frame_free(f);
        if (verdict != DROPPED) {
            d->lost = verdict == LOST;
            break;
        }
    }
    d->more = d->at != limit; /* perhaps acknowledged already: ISR.ROK will not be set for these */
    if (n > 0) {
        nic_count_burst(nic, n);
    }
    return n;
}

/* Give the chip what has been read.  A restart is put off until here, too: it empties the ring. */
void rtl8139_rx_done(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    if (d->lost) {
        nic->stats.rx_resync++;
        rtl8139_restart_receiver(d);
    } else if (d->released != d->at) {
        put16(d, CAPR, d->at - RTL8139_CAPR_BEHIND);
        d->released = d->at;
    }
}
