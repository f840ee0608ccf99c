/*
 * RTL8139, receive side: one ring of memory, frame after frame, each behind a header of 4 bytes and
 * aligned to 4.  The data sheet does not describe it; this is what all chips do (QUIRKS.md).
 *
 * The chip tells where it has written to (CBR), we tell where we have read to (CAPR, 16 behind by
 * a chip's own arithmetic).  Order for losing nothing: read all there is, acknowledge, look
 * again.  Overflow can only be acknowledged together with ROK and after CAPR made room, or the
 * chip stays deaf.
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/string.h"

enum {
    ALIGN = 4,
    RING_HELD_FRACTION = 4, /* a long burst keeps at most 1/4 of the ring from the chip */
    UNSTICK_US = 20000,     /* a frame takes 1.2 ms at 10 Mbit/s                        */
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

/* Give the chip what has been read. */
static void release(struct rtl8139 *d)
{
    put16(d, CAPR, d->at - RTL8139_CAPR_BEHIND);
}

static uint32_t read_header(const struct rtl8139 *d)
{
    return *(const volatile uint32_t *)(const volatile void *)(d->ring.cpu + d->at);
}

/* With 64 KB there is no room behind the ring: the frame may go on at its beginning. */
static void copy_out(const struct rtl8139 *d, uint8_t *to, unsigned n)
{
    uint32_t from = d->at + HEADER_BYTES;
    uint32_t room = d->ring_bytes == 65536 ? d->ring_bytes - from : n;

    if (n <= room) {
        memcpy(to, d->ring.cpu + from, n);
        return;
    }
    memcpy(to, d->ring.cpu + from, room);
    memcpy(to + room, d->ring.cpu, n - room);
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
        copy_out(d, f->data, length);
        f->length = (uint16_t)length;
        f->nic = (uint8_t)d->nic->index;
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
    uint32_t released = d->at;
    unsigned n = 0;

    for (unsigned left = max; left > 0; left--) {
        struct frame *f;
        enum verdict verdict;

        if (d->at == limit) {
            if (released != d->at && (d->seen & RTL8139_OVERFLOW) != 0) {
                release(d); /* room first, then the acknowledgement */
                released = d->at;
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
        } else {
            frame_free(f);
        }
        if (verdict == UNFINISHED) {
            break;
        }
        if (verdict == LOST) {
            nic->stats.rx_resync++;
            rtl8139_restart_receiver(d);
            released = limit = d->at;
            break;
        }
        if (after(d, d->at - released) >= d->ring_bytes / RING_HELD_FRACTION) {
            release(d);
            released = d->at;
        }
    }
    if (released != d->at) {
        release(d);
    }
    d->more = d->at != limit; /* perhaps acknowledged already: ISR.ROK will not be set for these */
    if (n > 0) {
        nic_count_burst(nic, n);
    }
    return n;
}
