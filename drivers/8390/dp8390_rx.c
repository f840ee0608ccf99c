/*
 * The 8390 core, receive side: from the ring of pages in card memory into frames of the pool.
 *
 * A burst shares its register accesses: one acknowledge and one read of CURR for all frames that
 * are there, and one move of the boundary for all that were read.  Source: DS (core.h) ch. 7.
 */
#include "drivers/8390/core.h"

enum {
    RELEASE_EVERY = 4,      /* frames of a long burst: of full ones half of a 16 KB card's ring */
    RING_ROOM_FRACTION = 2, /* of the ring is free when an overrun has been dealt with          */
    SHORT = DP8390_HEADER + FRAME_MIN,
    FULL = DP8390_HEADER + FRAME_MAX,
    FULL_PAGES = (FULL + DP8390_FCS + DP8390_PAGE - 1) / DP8390_PAGE,
    FULL_EXPECTED = 16, /* full frames without a wrong guess, and the next is fetched as one: a
                           wrong guess costs as much as so many right ones save */
};

static unsigned read_curr(struct dp8390 *d)
{
    unsigned curr;

    put(d, CR, CR_IDLE_PAGE1);
    curr = get(d, CURR);
    put(d, CR, CR_IDLE);
    return curr;
}

/*
 * The page up to which frames are complete.  Acknowledged first, then looked: a frame that comes
 * in between sets the bit again.  OVW is left alone, it belongs to the overrun procedure.
 */
static unsigned look(struct dp8390 *d)
{
    unsigned curr;

    put(d, ISR, ISR_RX);
    curr = read_curr(d);
    if (curr < d->rx_start || curr >= d->rx_stop) {
        d->nic->stats.rx_resync++;
        dp8390_restart(d);
        return d->next;
    }
    return curr;
}

/* Give the chip the pages before d->next: the boundary stays one page behind. */
static void release(struct dp8390 *d)
{
    put(d, BNRY, ring_before(d->next, d->rx_start, d->rx_stop));
}

/* What follows the first FRAME_MIN bytes; the chip wraps the frame at the end of the ring. */
static void fetch_rest(struct dp8390 *d, unsigned page, struct frame *f, unsigned length)
{
    const unsigned address = page * DP8390_PAGE + DP8390_HEADER + FRAME_MIN;
    const unsigned room = (unsigned)d->rx_stop * DP8390_PAGE - address;
    const unsigned rest = length - FRAME_MIN;
    uint8_t *to = f->data + FRAME_MIN;

    if (rest <= room) {
        d->board->read(d, address, to, rest);
        return;
    }
    d->board->read(d, address, to, room);
    d->board->read(d, (unsigned)d->rx_start * DP8390_PAGE, to + room, rest - room);
}

/*
 * What to fetch with the header, before it tells the length.  FRAME_MIN bytes are a whole short
 * frame, and never leave the page; after full frames, where there is room for another before both
 * `curr` and the end of the ring, as much as a full one has.
 */
static unsigned first_part(const struct dp8390 *d, unsigned curr)
{
    const unsigned behind = d->next + (unsigned)FULL_PAGES;

    if (d->full_frames < FULL_EXPECTED || behind > d->rx_stop ||
        (curr > d->next && curr < behind)) {
        return SHORT;
    }
    return FULL;
}

/* What comes next, by what came: a short frame says nothing. */
static void note_length(struct dp8390 *d, unsigned length)
{
    if (length != FRAME_MAX) {
        d->full_frames = 0;
    } else if (d->full_frames < FULL_EXPECTED) {
        d->full_frames++;
    }
}

/*
 * The frame at d->next into `f`; false if there is none to hand up, which is counted.  d->next
 * moves on either way.
 */
static bool take(struct dp8390 *d, unsigned curr, struct frame *f)
{
    struct nic_stats *stats = &d->nic->stats;
    const uint8_t *header = frame_lead(f);
    const unsigned page = d->next;
    const unsigned fetched = first_part(d, curr);
    unsigned next, length;

    d->board->read(d, page * DP8390_PAGE, frame_lead(f), fetched);
    next = header[HEADER_NEXT] == d->rx_stop ? d->rx_start : header[HEADER_NEXT];
    length = ring_length(page, next,
                         header[HEADER_COUNT0] + (unsigned)header[HEADER_COUNT1] * DP8390_PAGE,
                         d->rx_start, d->rx_stop);
    if (length == 0 || ring_distance(page, next, d->rx_start, d->rx_stop) >
                           ring_distance(page, curr, d->rx_start, d->rx_stop)) {
        stats->rx_resync++;
        d->next = (uint8_t)curr;
        return false;
    }
    d->next = (uint8_t)next;
    if ((header[HEADER_STATUS] & RSR_JUDGE) != RSR_PRX) {
        stats->rx_error++;
        return false;
    }
    if (length < FRAME_MIN + DP8390_FCS || length > FRAME_MAX + DP8390_FCS) {
        stats->rx_length++;
        return false;
    }
    length -= DP8390_FCS;
    if (DP8390_HEADER + length > fetched) {
        note_length(d, length);
        fetch_rest(d, page, f, length);
    } else if (fetched != SHORT) {
        note_length(d, length);
    }
    f->length = (uint16_t)length;
    f->nic = (uint8_t)d->nic->index;
    stats->rx_frames++;
    stats->rx_bytes += length;
    return true;
}

/*
 * Step 8 of the overrun procedure: is there room again?  One frame's would be used up while the
 * next is read, and the procedure takes 1.6 ms each time; so half of the ring, or all that is
 * there.
 */
static bool has_room_again(const struct dp8390 *d, unsigned curr)
{
    const unsigned pages = (unsigned)(d->rx_stop - d->rx_start) / RING_ROOM_FRACTION;

    return d->next == curr ||
           ring_distance(d->drain_from, d->next, d->rx_start, d->rx_stop) >= pages;
}

unsigned dp8390_rx_burst(struct nic *nic, struct frame *out[], unsigned max)
{
    struct dp8390 *d = dp8390_of(nic);
    unsigned curr = look(d);
    unsigned released = d->next;
    unsigned left = max;
    unsigned n = 0;

    while (left > 0 && d->next != curr) {
        struct frame *f = frame_alloc();

        if (f == NULL) {
            nic->stats.rx_no_frame++;
            break;
        }
        left--;
        if (take(d, curr, f)) {
            out[n++] = f;
        } else {
            frame_free(f);
        }
        if ((max - left) % RELEASE_EVERY == 0) {
            release(d);
            released = d->next;
        }
        if (left > 0 && d->next == curr && (get(d, ISR) & ISR_RX) != 0) {
            curr = look(d); /* what came meanwhile joins the burst */
        }
    }
    if (released != d->next) {
        release(d);
    }
    d->more = d->next != curr; /* PRX will not be set again for these */
    if (d->draining && has_room_again(d, curr)) {
        dp8390_overrun_resume(d);
    }
    if (n > 0) {
        nic_count_burst(nic, n);
    }
    return n;
}
