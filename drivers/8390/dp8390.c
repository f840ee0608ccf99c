/*
 * The 8390 core: DP8390D / NS32490D and its many clones, on whatever board.
 *
 * Here: initialisation, overrun, status and interrupt.  dp8390_rx.c and dp8390_tx.c hold the two
 * ways of a frame, ring.c the arithmetic.  Source: DS (core.h) ch. 7 (overrun), ch. 9
 * (initialisation), ch. 10 (registers).  Known faults of the clones: drivers/QUIRKS.md.
 */
#include "drivers/8390/core.h"
#include "kernel/error.h"

enum {
    HALT_SETTLE_US = 1600, /* DS ch. 7: a longest frame, in or out, and some guard */
    HALT_LATE_US = 400,    /* ... and so much for a clone that is late             */
    MULTICAST_HASH_BYTES = 8,
};

/* ---- initialisation (DS ch. 9) ---- */

void dp8390_stop(struct dp8390 *d)
{
    put(d, CR, CR_HALT);
    put(d, DCR, d->dcr);
    put(d, RBCR0, 0);
    put(d, RBCR1, 0);
    put(d, RCR, RCR_MONITOR);
    put(d, TCR, TCR_LOOPBACK_INTERNAL);
    put(d, IMR, 0);
    put(d, ISR, ISR_ALL);
    d->imr = 0;
}

/* Multicast hash: page 1 in either run state.  Never read back: write-only on the 83C690. */
static void write_hash(struct dp8390 *d)
{
    for (unsigned i = 0; i < MULTICAST_HASH_BYTES; i++) {
        put(d, (enum dp8390_reg)(MAR0 + i), d->hash[i / 4] >> (i % 4 * 8));
    }
}

/* From any state to running with an empty ring, masked; slots and procedures forgotten. */
static void configure(struct dp8390 *d)
{
    dp8390_stop(d);
    d->slot[0].state = d->slot[1].state = TX_FREE;
    d->tx_oldest = 0;
    d->draining = d->resend = d->more = false;

    put(d, BNRY, d->rx_start); /* one page behind the next to read, so that full is not empty */
    put(d, PSTART, d->rx_start);
    put(d, PSTOP, d->rx_stop);
    d->next = (uint8_t)ring_after(d->rx_start, d->rx_start, d->rx_stop);

    put(d, CR, CR_HALT_PAGE1);
    for (unsigned i = 0; i < sizeof(d->nic->mac); i++) {
        put(d, (enum dp8390_reg)(PAR0 + i), d->nic->mac[i]);
    }
    write_hash(d);
    put(d, CURR, d->next);

    put(d, CR, CR_IDLE);
    put(d, RCR, d->rcr);
    put(d, TCR, TCR_NORMAL);
}

void dp8390_restart(struct dp8390 *d)
{
    if (d->board->reset(d) != 0) {
        nic_log(d->nic, "no reset acknowledge, ISR %02x", get(d, ISR));
    }
    configure(d);
}

static __attribute__((cold)) int dp8390_open(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);

    d->rcr |= RCR_BROADCAST; /* what set_filter chose stays */
    if (d->board->enable != NULL) {
        d->board->enable(d, true);
    }
    configure(d);
    if ((get(d, CR) & (CR_START | CR_STOP)) != CR_START) {
        nic_log(nic, "does not start, command register %02x", get(d, CR));
        dp8390_stop(d);
        return E_HARDWARE;
    }
    d->open = true;
    return 0;
}

void dp8390_halt(struct dp8390 *d)
{
    struct deadline limit;

    put(d, CR, CR_HALT);
    delay_us(HALT_SETTLE_US);
    limit = deadline_us(HALT_LATE_US);
    while ((get(d, ISR) & ISR_RST) == 0 && !expired(&limit)) {
    }
}

/* A frame on its way is let go first; what ends meanwhile would keep some cards' line up. */
static __attribute__((cold)) void dp8390_close(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);

    if (d->board->let_go != NULL) {
        d->board->let_go(d);
    }
    put(d, CR, CR_HALT);
    put(d, IMR, 0);
    dp8390_halt(d);
    dp8390_stop(d);
    if (d->board->enable != NULL) {
        d->board->enable(d, false);
    }
    d->open = false;
}

static __attribute__((cold)) void dp8390_set_filter(struct nic *nic,
                                                    const struct nic_filter *filter)
{
    struct dp8390 *d = dp8390_of(nic);
    const bool all = filter->promiscuous || filter->all_multicast;

    for (unsigned i = 0; i < 2; i++) {
        d->hash[i] = all ? UINT32_MAX : filter->hash[i];
    }
    d->rcr = RCR_BROADCAST;
    if ((d->hash[0] | d->hash[1]) != 0) {
        d->rcr |= RCR_MULTICAST;
    }
    if (filter->promiscuous) {
        d->rcr |= RCR_PROMISCUOUS;
    }
    if (!d->open) {
        return;
    }
    put(d, CR, CR_IDLE_PAGE1);
    write_hash(d);
    put(d, CR, CR_IDLE);
    put(d, RCR, d->rcr);
}

/* ---- overrun: DS ch. 7, "buffer ring overflow", its steps in its order ---- */

/* Steps 1 to 7: halt, let the wire fall silent, run again in loopback. */
__attribute__((cold)) void dp8390_overrun_halt(struct dp8390 *d)
{
    bool was_sending;

    dp8390_reclaim(d);
    d->nic->stats.rx_overrun++;
    d->draining = true; /* from here dp8390_reclaim() starts nothing */
    d->drain_from = d->next;

    was_sending = (get(d, CR) & CR_TXP) != 0; /* 1 */
    dp8390_halt(d);                           /* 2, 3 */
    put(d, RBCR0, 0);                         /* 4 */
    put(d, RBCR1, 0);
    d->resend = was_sending && (get(d, ISR) & ISR_TX) == 0; /* 5 */
    put(d, TCR, TCR_LOOPBACK_INTERNAL);                     /* 6 */
    put(d, CR, CR_IDLE);                                    /* 7 */
}

/* Steps 9 to 11, once step 8 (rx_burst) has made room: back onto the wire. */
__attribute__((cold)) void dp8390_overrun_resume(struct dp8390 *d)
{
    put(d, ISR, ISR_OVW);    /* 9 */
    put(d, TCR, TCR_NORMAL); /* 10 */
    d->draining = false;
    if (d->resend) {
        d->resend = false;
        d->nic->stats.tx_resent++;
        dp8390_send_again(d); /* 11 */
        return;
    }
    dp8390_reclaim(d);
    if (!dp8390_sending(d)) {
        dp8390_send_next(d);
    }
}

/* ---- status, tallies, interrupt ---- */

_Static_assert(ISR_RX == (EV_RX | EV_RX << 2) && ISR_TX == (EV_TX | EV_TX << 2) &&
                   ISR_RARE == (EV_FAULT << 2 | EV_FAULT << 3),
               "the bits of an event's causes are moved onto the event's");

/* In every interrupt and every look: no jumps. */
static unsigned events_of(unsigned isr)
{
    return ((isr | isr >> 2) & (EV_RX | EV_TX)) | ((isr >> 2 | isr >> 3) & EV_FAULT);
}

/* The tallies stop at 192 and keep the interrupt asserted until read; reading clears them. */
static void read_tallies(struct dp8390 *d)
{
    struct nic_stats *stats = &d->nic->stats;

    stats->rx_align += get(d, CNTR0);
    stats->rx_crc += get(d, CNTR1);
    stats->rx_missed += get(d, CNTR2);
    put(d, ISR, ISR_CNT);
}

static unsigned dp8390_poll(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);
    const unsigned isr = get(d, ISR);

    nic->stats.polls++;
    if (d->draining) {
        return (events_of(isr) & ~(unsigned)EV_FAULT) | EV_RX; /* rx_burst ends the procedure */
    }
    return events_of(isr) | (d->more ? EV_RX : 0U);
}

static void dp8390_service(struct nic *nic, unsigned events)
{
    struct dp8390 *d = dp8390_of(nic);

    if ((events & EV_FAULT) != 0) {
        const unsigned isr = get(d, ISR);

        if ((isr & (ISR_CNT | ISR_OVW)) != 0) {
            read_tallies(d); /* deaf until now: one more such time would be too many for them */
        }
        if ((isr & ISR_OVW) != 0 && !d->draining) {
            dp8390_overrun_halt(d);
        }
    }
    if ((events & EV_TX) != 0) {
        if (dp8390_sending(d)) {
            dp8390_reclaim(d);
        } else {
            put(d, ISR, ISR_TX); /* nothing of ours: do not report it for ever */
        }
    }
    if (events == 0) {
        read_tallies(d);
        dp8390_watch_transmitter(d);
        nic_report_faults(nic);
    }
}

/* Sends what slot 0 holds from the chip to itself: DS ch. 12, mode 1, nothing gets onto the wire.
 */
static void send_to_self(struct dp8390 *d)
{
    put(d, TCR, TCR_LOOPBACK_INTERNAL);
    put(d, TPSR, d->tx_page);
    put(d, TBCR0, FRAME_MIN);
    put(d, TBCR1, 0);
    put(d, CR, CR_SEND);
}

static void end_send_to_self(struct dp8390 *d)
{
    struct deadline limit = deadline_us(HALT_SETTLE_US);

    while ((get(d, CR) & CR_TXP) != 0 && !expired(&limit)) {
    }
    put(d, ISR, ISR_TX);
    put(d, TCR, TCR_NORMAL);
}

static unsigned dp8390_irq_ack(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);
    const unsigned asked = get(d, ISR) & d->imr;

    if (asked == 0) {
        return 0;
    }
    put(d, IMR, 0);
    d->imr = 0;
    return events_of(asked) | ((asked & ISR_RDC) != 0 ? EV_FAULT : 0); /* irq_provoke's is ours */
}

static void dp8390_irq_disarm(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);
    const unsigned was = d->imr;

    if (was == 0) {
        return; /* irq_ack was first, or a refused rearm */
    }
    put(d, IMR, 0);
    d->imr = 0;
    if ((was & ISR_RDC) != 0) { /* end of irq_provoke */
        put(d, CR, CR_IDLE);
        put(d, ISR, ISR_RDC);
        if ((was & ISR_TX) != 0) {
            end_send_to_self(d);
        }
    }
}

/* Unmasking with a bit already set raises the line, so nothing is lost after the look. */
static bool dp8390_irq_rearm(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);
    unsigned wanted = ISR_RX | ISR_RARE;

    if (dp8390_another_waits(d)) {
        nic->tx_wanted = true;
    }
    if (nic->tx_wanted && dp8390_sending(d)) {
        wanted |= ISR_TX;
    }
    if (d->more || (get(d, ISR) & wanted) != 0) {
        return false;
    }
    d->imr = (uint8_t)wanted;
    put(d, IMR, wanted);
    return true;
}

static void dp8390_irq_unmask(struct nic *nic, unsigned events)
{
    struct dp8390 *d = dp8390_of(nic);

    d->imr = (uint8_t)(((events & EV_RX) != 0 ? ISR_RX : 0) | ((events & EV_TX) != 0 ? ISR_TX : 0) |
                       ((events & EV_FAULT) != 0 ? ISR_RARE : 0));
    put(d, IMR, d->imr);
}

/*
 * A remote read of no bytes is complete at once: the gentlest way to an interrupt.  The 83C690 and
 * its successors have no remote DMA; there a transmission to itself makes one.
 */
static void dp8390_irq_provoke(struct nic *nic)
{
    struct dp8390 *d = dp8390_of(nic);
    const bool to_self = d->no_rdc && d->slot[d->tx_oldest].state == TX_FREE;

    put(d, ISR, ISR_RDC);
    put(d, RBCR0, 0);
    put(d, RBCR1, 0);
    d->imr = to_self ? ISR_RDC | ISR_TX : ISR_RDC;
    put(d, IMR, d->imr);
    put(d, CR, CR_ZERO_READ);
    if (to_self) {
        send_to_self(d);
    }
}

const struct nic_ops dp8390_ops = {
    .open = dp8390_open,
    .close = dp8390_close,
    .poll = dp8390_poll,
    .rx_burst = dp8390_rx_burst,
    .tx_burst = dp8390_tx_burst,
    .service = dp8390_service,
    .irq_ack = dp8390_irq_ack,
    .irq_disarm = dp8390_irq_disarm,
    .irq_rearm = dp8390_irq_rearm,
    .irq_unmask = dp8390_irq_unmask,
    .irq_provoke = dp8390_irq_provoke,
    .set_filter = dp8390_set_filter,
    .tx_reclaim = dp8390_tx_reclaim,
    .tx_idle = dp8390_tx_idle,
    .selftest = dp8390_selftest,
};
