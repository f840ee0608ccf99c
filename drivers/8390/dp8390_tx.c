/*
 * The 8390 core, transmit side: two slots in card memory, one filled while the other is sent.
 *
 * Source: DS (core.h) ch. 8 (transmission), ch. 10 (TSR, NCR).
 */
#include "drivers/8390/core.h"
#include "kernel/record.h"
#include "kernel/trap.h"

enum { MEDIA_FAILURES = 4 };

void dp8390_send_next(struct dp8390 *d)
{
    struct dp8390_tx_slot *slot = &d->slot[d->tx_oldest];

    if (slot->state != TX_FILLED) {
        return;
    }
    put(d, TPSR, (unsigned)d->tx_page + d->tx_oldest * DP8390_TX_PAGES);
    put(d, TBCR0, slot->length);
    put(d, TBCR1, slot->length >> 8);
    put(d, CR, CR_SEND);
    slot->state = TX_SENDING;
    d->tx_deadline = deadline_coarse_us(TX_WATCHDOG_US);
}

void dp8390_send_again(struct dp8390 *d)
{
    put(d, CR, CR_SEND);
    d->tx_deadline = deadline_coarse_us(TX_WATCHDOG_US);
}

/* A board with two connectors tries the other one after so many frames that were lost. */
static void watch_media(struct dp8390 *d)
{
    if (++d->tx_failures < MEDIA_FAILURES) {
        return;
    }
    d->tx_failures = 0;
    if (d->board->other_media != NULL) {
        d->board->other_media(d);
    }
}

/* How the oldest slot fared, each cause once. */
static void count_sent(struct dp8390 *d)
{
    struct nic_stats *stats = &d->nic->stats;
    const unsigned tsr = get(d, TSR);

    if ((tsr & TSR_PTX) != 0) {
        stats->tx_frames++;
        stats->tx_bytes += d->slot[d->tx_oldest].length;
        d->tx_dead = false;
    }
    if ((tsr & (TSR_ABT | TSR_CRS)) != 0) {
        watch_media(d);
    } else {
        d->tx_failures = 0;
    }
    if ((tsr & ~(unsigned)TSR_PTX) == 0) {
        return;
    }
    stats->tx_abort += (tsr & TSR_ABT) != 0;
    stats->tx_underrun += (tsr & TSR_FU) != 0;
    stats->tx_late += (tsr & TSR_OWC) != 0;
    stats->tx_carrier += (tsr & TSR_CRS) != 0;
    stats->tx_heartbeat += (tsr & TSR_CDH) != 0;
    if ((tsr & TSR_COL) != 0) {
        stats->tx_collisions += get(d, NCR);
    }
}

/* TXP, not the interrupt status, decides: while it is set TPSR and TBCR may not be touched. */
void dp8390_reclaim(struct dp8390 *d)
{
    if (!dp8390_sending(d) || d->resend || (get(d, CR) & CR_TXP) != 0) {
        return;
    }
    count_sent(d);
    put(d, ISR, ISR_TX);
    d->slot[d->tx_oldest].state = TX_FREE;
    d->tx_oldest ^= 1;
    if (!d->draining) {
        dp8390_send_next(d);
    }
}

/* The slot to fill, or null.  They are used in turn, so the free one follows the one in use. */
static struct dp8390_tx_slot *free_slot(struct dp8390 *d)
{
    struct dp8390_tx_slot *oldest = &d->slot[d->tx_oldest];
    struct dp8390_tx_slot *other = &d->slot[d->tx_oldest ^ 1];

    if (oldest->state == TX_FREE) {
        return oldest;
    }
    return other->state == TX_FREE ? other : NULL;
}

/* Copy a frame into a slot.  E_TIMEOUT: the card lost it, and has been restarted. */
static int fill_slot(struct dp8390 *d, struct dp8390_tx_slot *slot, const struct tx_frame *frame)
{
    const unsigned padded = frame->total < FRAME_MIN ? FRAME_MIN : frame->total;
    const unsigned page = (unsigned)d->tx_page + (unsigned)(slot - d->slot) * DP8390_TX_PAGES;
    int error;

    ASSERT(frame->total <= FRAME_MAX);
    error = d->board->write(d, page * DP8390_PAGE, frame, padded);
    if (error != 0) {
        d->nic->stats.dma_timeout++;
        dp8390_restart(d);
        return error;
    }
    slot->length = (uint16_t)padded;
    slot->state = TX_FILLED;
    return 0;
}

unsigned dp8390_tx_burst(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    struct dp8390 *d = dp8390_of(nic);
    unsigned taken = 0;

    dp8390_reclaim(d);
    while (taken < n && !d->draining) {
        struct dp8390_tx_slot *slot = free_slot(d);

        if (slot == NULL || fill_slot(d, slot, &in[taken]) != 0) {
            break;
        }
        taken++;
        if (dp8390_sending(d)) {
            dp8390_reclaim(d); /* may have ended while we copied: then this one starts now */
        } else {
            dp8390_send_next(d);
        }
    }
    return taken;
}

void dp8390_tx_reclaim(struct nic *nic)
{
    dp8390_reclaim(dp8390_of(nic));
}

bool dp8390_tx_idle(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);

    dp8390_reclaim(d);
    return d->slot[d->tx_oldest].state == TX_FREE;
}

/* TXP that never clears: no cable, no terminator, a dead transceiver.  Said once until a frame
 * gets out again. */
void dp8390_watch_transmitter(struct dp8390 *d)
{
    struct nic *nic = d->nic;

    dp8390_reclaim(d);
    if (!dp8390_sending(d) || d->draining || !expired(&d->tx_deadline)) {
        return;
    }
    nic->stats.tx_timeout++;
    if (!d->tx_dead) {
        d->tx_dead = true;
        nic_log(nic,
                "a frame was not sent within %u ms (ISR %02x, TSR %02x): "
                "check cable and transceiver",
                TX_WATCHDOG_US / 1000, get(d, ISR), get(d, TSR));
        record_fault("tx_timeout", (int)nic->index);
        record_end();
    }
    d->tx_failures = MEDIA_FAILURES;
    watch_media(d);
    dp8390_restart(d);
}
