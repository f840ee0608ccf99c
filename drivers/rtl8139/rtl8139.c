/*
 * RTL8139 and what behaves like it (8139A/B/C/D, 8100, 8139C+ in its plain mode).
 *
 * Here: reset, initialisation, status, interrupt, link.  Source: RTL8139C(L) data sheet (Realtek,
 * rev. 1.4, 2002) and "RTL8139(A/B) Programming Guide" (Realtek, 1999); QUIRKS.md for the rest.
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/error.h"
#include "kernel/record.h"

enum {
    RESET_US = 20000,
    THRESHOLD_FIRST = 8,   /* 256 bytes: 20 us of wire at 100 Mbit/s to fetch the next */
    PROVOKE_CLOCKS = 3300, /* 100 us of PCI clock */
    MULINT_KEEP = 0xF000,
    RING_TAIL =
        16 + 4096, /* WRAP=1: the last frame, the longest there is, runs on behind the ring */
    /* Multicast by hash always: a group joined later then leaves RCR alone. */
    CONFIGURED_RX = RCR_APM | RCR_AB | RCR_AM | RCR_MXDMA_1024 | RCR_RXFTH_NONE,
};

/* ---- reset and initialisation ---- */

int rtl8139_reset(struct rtl8139 *d)
{
    struct deadline limit = deadline_us(RESET_US);

    put16(d, IMR, 0);
    d->imr = 0;
    put8(d, CR, CR_RST);
    while ((get8(d, CR) & CR_RST) != 0) {
        if (expired(&limit)) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

static uint32_t ring_bits(const struct rtl8139 *d)
{
    unsigned n = 0;

    while (8192u << n < d->ring_bytes) {
        n++;
    }
    return n << RCR_RBLEN_SHIFT | (d->ring_bytes < RTL8139_RING_MOST ? RCR_WRAP : 0);
}

static void start_receiver(struct rtl8139 *d)
{
    put32(d, RCR, d->rcr | ring_bits(d)); /* only sticks once RE is set */
    d->at = d->released = 0;
    d->stuck = d->more = d->lost = false;
    put16(d, CAPR, 0u - RTL8139_CAPR_BEHIND);
}

static void configure(struct rtl8139 *d)
{
    d->oldest = d->next = d->in_use = 0;
    for (unsigned i = 0; i < RTL8139_DESCRIPTORS; i++) {
        d->slot[i].busy = false;
    }
    put32(d, RBSTART, d->ring.bus);
    put8(d, CR, CR_TE | CR_RE);
    put32(d, TCR, TCR_IFG_NORMAL | TCR_MXDMA_1024);
    start_receiver(d);
    put32(d, MAR0, d->hash[0]);
    put32(d, MAR0 + 4, d->hash[1]);
    put32(d, MPC, 0);
    put16(d, MULINT, get16(d, MULINT) & MULINT_KEEP);
    for (unsigned i = 0; i < RTL8139_DESCRIPTORS; i++) {
        put32(d, TSAD0 + 4 * i, d->slot[i].buffer.bus);
    }
    put16(d, ISR, ISR_PUN); /* of CAPR; all else was reset, or tells of a frame just received */
}

void rtl8139_restart(struct rtl8139 *d)
{
    if (rtl8139_reset(d) != 0) {
        nic_log(d->nic, "does not come out of reset, command register %02x", get8(d, CR));
    }
    configure(d);
}

void rtl8139_restart_receiver(struct rtl8139 *d)
{
    put8(d, CR, CR_TE);
    put16(d, ISR, RTL8139_RX_BITS); /* while nothing can come that would be forgotten by it */
    d->seen &= (uint16_t)~RTL8139_RX_BITS;
    put8(d, CR, CR_TE | CR_RE);
    start_receiver(d);
}

/* ---- link ---- */

/* Speed and duplex as the card reports them; a line and a record when the link comes or goes. */
static void read_link(struct rtl8139 *d)
{
    struct nic *nic = d->nic;
    unsigned msr = get8(d, MSR);
    bool up = (msr & MSR_LINKB) == 0;

    nic->link_kbit = (msr & MSR_SPEED_10) != 0 ? 10000 : 100000;
    d->half_duplex = (get16(d, BMCR) & BMCR_DUPLEX) == 0;
    nic->full_duplex = !d->half_duplex;
    if (up == nic->link) {
        return;
    }
    nic->link = up;
    if (up) {
        nic_log(nic, "link up, %u Mbit/s, %s duplex", (unsigned)nic->link_kbit / 1000,
                d->half_duplex ? "half" : "full");
        return;
    }
    nic_log(nic, "link down: no cable, or the other end is off");
    record_fault("link_down", (int)nic->index);
    record_end();
}

/* ---- open, close, filter ---- */

static int rtl8139_open(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    if (d->ring.cpu == NULL) {
        d->ring = dma_alloc(d->ring_bytes + RING_TAIL, 256);
        for (unsigned i = 0; i < RTL8139_DESCRIPTORS; i++) {
            d->slot[i].buffer = dma_alloc(RTL8139_TX_BYTES, 4);
        }
        if (d->ring.cpu == NULL || d->slot[RTL8139_DESCRIPTORS - 1].buffer.cpu == NULL) {
            return E_NO_MEMORY;
        }
    }
    if (rtl8139_reset(d) != 0) {
        nic_log(nic, "does not come out of reset, command register %02x", get8(d, CR));
        return E_TIMEOUT;
    }
    d->rcr |= CONFIGURED_RX; /* the filter may have been set before */
    d->threshold = THRESHOLD_FIRST;
    configure(d);
    if ((get8(d, CR) & (CR_TE | CR_RE)) != (CR_TE | CR_RE)) {
        nic_log(nic, "does not start, command register %02x", get8(d, CR));
        return E_HARDWARE;
    }
    read_link(d);
    d->open = true;
    return 0;
}

static void rtl8139_close(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    put16(d, IMR, 0);
    d->imr = 0;
    put8(d, CR, 0);
    (void)rtl8139_reset(d); /* ends any DMA; if it does not, there is no more to be done */
    put16(d, ISR, ISR_GONE);
    d->open = false;
}

static void rtl8139_set_filter(struct nic *nic, const struct nic_filter *filter)
{
    struct rtl8139 *d = rtl8139_of(nic);
    bool all = filter->promiscuous || filter->all_multicast;
    uint32_t rcr;

    for (unsigned i = 0; i < 2; i++) {
        d->hash[i] = all ? UINT32_MAX : filter->hash[i];
    }
    rcr = CONFIGURED_RX | (filter->promiscuous ? RCR_AAP : 0u);
    if (d->open) {
        put32(d, MAR0, d->hash[0]);
        put32(d, MAR0 + 4, d->hash[1]);
    }
    if (rcr != d->rcr) {
        d->rcr = rcr;
        if (d->open) {
            rtl8139_restart_receiver(d); /* writing RCR empties the ring of some (QUIRKS) */
        }
    }
}

/* ---- status and interrupt ---- */

static unsigned events_of(unsigned isr)
{
    return ((isr & RTL8139_RX_BITS) != 0 ? EV_RX : 0u) |
           ((isr & RTL8139_TX_BITS) != 0 ? EV_TX : 0u) | ((isr & ISR_SERR) != 0 ? EV_FAULT : 0u) |
           ((isr & ISR_PUN) != 0 ? EV_LINK : 0u);
}

static unsigned rtl8139_poll(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);
    unsigned isr = get16(d, ISR);

    nic->stats.polls++;
    if (isr == ISR_GONE) {
        return 0;
    }
    d->seen |= (uint16_t)isr;
    /* A stuck frame may never be finished, nor tell; what a burst left was acknowledged. */
    return events_of(isr) | (d->stuck || d->more ? EV_RX : 0u);
}

static void rtl8139_service(struct nic *nic, unsigned events)
{
    struct rtl8139 *d = rtl8139_of(nic);

    if ((events & EV_TX) != 0) {
        if (d->in_use == 0) {
            put16(d, ISR, RTL8139_TX_BITS); /* reclaimed before */
        }
        rtl8139_reclaim(d);
    }
    if ((events & EV_LINK) != 0) {
        put16(d, ISR, ISR_PUN);
        read_link(d);
    }
    if ((events & EV_FAULT) != 0) {
        nic_log(nic, "PCI system error, card restarted");
        rtl8139_restart(d);
    }
    if (events == 0) {
        nic->stats.rx_missed += get32(d, MPC) & 0xFFFFFF;
        put32(d, MPC, 0);
        read_link(d);
        rtl8139_watch_transmitter(d);
        nic_report_faults(nic);
    }
}

static unsigned rtl8139_irq_ack(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);
    unsigned isr = get16(d, ISR);
    unsigned asked = isr & d->imr;

    if (asked == 0 || isr == ISR_GONE) {
        return 0;
    }
    put16(d, IMR, 0);
    d->imr = 0;
    return events_of(asked) | ((asked & ISR_TIMEOUT) != 0 ? EV_FAULT : 0u);
}

static void rtl8139_irq_disarm(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    if (d->imr != 0) {
        put16(d, IMR, 0);
        d->imr = 0;
    }
    if (d->provoked) {
        d->provoked = false;
        put32(d, TIMER_INT, 0);
        put16(d, ISR, ISR_TIMEOUT);
    }
}

/* Unmasking with a bit already set raises the line, so nothing is lost after the look. */
static bool rtl8139_irq_rearm(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);
    unsigned wanted = RTL8139_RX_BITS | RTL8139_RARE_BITS |
                      (d->in_use > 0 && nic->tx_wanted ? (unsigned)RTL8139_TX_BITS : 0u);

    if (d->stuck || d->more || (get16(d, ISR) & wanted) != 0) {
        return false;
    }
    d->imr = (uint16_t)wanted;
    put16(d, IMR, wanted);
    return true;
}

static void rtl8139_irq_unmask(struct nic *nic, unsigned events)
{
    struct rtl8139 *d = rtl8139_of(nic);

    d->imr = (uint16_t)(((events & EV_RX) != 0 ? RTL8139_RX_BITS : 0) |
                        ((events & EV_TX) != 0 ? RTL8139_TX_BITS : 0) |
                        ((events & EV_FAULT) != 0 ? ISR_SERR : 0) |
                        ((events & EV_LINK) != 0 ? ISR_PUN : 0));
    put16(d, IMR, d->imr);
}

/* The chip's own timer: it interrupts without a frame having to go anywhere. */
static void rtl8139_irq_provoke(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    d->provoked = true;
    put16(d, ISR, ISR_TIMEOUT);
    put32(d, TIMER_INT, PROVOKE_CLOCKS);
    put32(d, TCTR, 0);
    d->imr = ISR_TIMEOUT;
    put16(d, IMR, ISR_TIMEOUT);
}

const struct nic_ops rtl8139_ops = {
    .open = rtl8139_open,
    .close = rtl8139_close,
    .poll = rtl8139_poll,
    .rx_burst = rtl8139_rx_burst,
    .rx_done = rtl8139_rx_done,
    .tx_burst = rtl8139_tx_burst,
    .service = rtl8139_service,
    .irq_ack = rtl8139_irq_ack,
    .irq_disarm = rtl8139_irq_disarm,
    .irq_rearm = rtl8139_irq_rearm,
    .irq_unmask = rtl8139_irq_unmask,
    .irq_provoke = rtl8139_irq_provoke,
    .set_filter = rtl8139_set_filter,
    .tx_reclaim = rtl8139_tx_reclaim,
    .tx_idle = rtl8139_tx_idle,
    .selftest = rtl8139_selftest,
};
