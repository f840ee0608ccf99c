/*
 * RTL8139, transmit side: four descriptors, used strictly in turn, each with its own buffer into
 * which the frame is gathered (the chip wants one piece, aligned to 4).
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/copy.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    TX_WATCHDOG_US = 500 * 1000, /* 16 collisions with their back-off take under 400 ms */
    THRESHOLD_STEP = 2,          /* 64 bytes (NEEDS 52)                                 */
};

static unsigned next_slot(unsigned slot)
{
    return (slot + 1) % RTL8139_DESCRIPTORS;
}

/* ---- what became of a frame ---- */

/* Carrier lost and heartbeat mean nothing at 100 Mbit/s: the former is always set there (QUIRKS).
 */
static void count_sent(struct rtl8139 *d, uint32_t tsd)
{
    struct nic_stats *stats = &d->nic->stats;

    stats->tx_frames++;
    stats->tx_bytes += tsd & TSD_SIZE;
    stats->tx_collisions += tsd >> TSD_COLLISIONS_SHIFT & TSD_COLLISIONS;
    if ((tsd & TSD_OWC) != 0) {
        stats->tx_late++;
    }
    if (d->nic->link_kbit <= 10000) {
        stats->tx_carrier += (tsd & TSD_CRS) != 0;
        stats->tx_heartbeat += (tsd & TSD_CDH) != 0;
    }
    if ((tsd & TSD_TUN) != 0) {
        stats->tx_underrun++;
        if (d->threshold <= TSD_THRESHOLD_MAX - THRESHOLD_STEP) {
            d->threshold += THRESHOLD_STEP;
        }
    }
}

static void free_oldest(struct rtl8139 *d)
{
    d->slot[d->oldest].busy = false;
    d->oldest = (uint8_t)next_slot(d->oldest);
    d->in_use--;
}

/* 16 collisions: the transmitter stands still until told to send that frame again, which keeps
 * its descriptor.  The watchdog bounds how often. */
static void send_again(struct rtl8139 *d)
{
    d->nic->stats.tx_abort++;
    put32(d, TCR, TCR_IFG_NORMAL | TCR_MXDMA_1024 | TCR_CLRABT);
}

/* Has the oldest left, by a reading of TSAD?  Then it is counted. */
static bool has_left(struct rtl8139 *d, unsigned all)
{
    unsigned bit = 1u << d->oldest;

    if ((all >> TSAD_TABT_SHIFT & bit) != 0) {
        send_again(d);
        return false;
    }
    if (((all >> TSAD_TOK_SHIFT | all >> TSAD_TUN_SHIFT) & bit) == 0) {
        return false;
    }
    if (d->half_duplex || (all >> TSAD_TUN_SHIFT & bit) != 0) {
        count_sent(d, get32(d, TSD0 + 4u * d->oldest));
    } else {
        count_sent(d, d->slot[d->oldest].length); /* nothing can have gone wrong: no access */
    }
    return true;
}

void rtl8139_reclaim(struct rtl8139 *d)
{
    unsigned before = d->in_use, all;

    if (before == 0) {
        return;
    }
    put16(d, ISR, RTL8139_TX_BITS); /* acknowledged first, then looked */
    all = get16(d, TSAD);
    while (d->in_use > 0 && has_left(d, all)) {
        free_oldest(d);
    }
    if (d->in_use != 0 && d->in_use != before) { /* the next has its time from now on */
        d->tx_deadline = deadline_coarse_us(TX_WATCHDOG_US);
    }
}

/* ---- sending ---- */

static unsigned gather(uint8_t *to, const struct tx_frame *frame)
{
    uint8_t *at = to;

    for (unsigned i = 0; i < frame->n; i++) {
        at = copy_append(at, frame->v[i].at, frame->v[i].length);
    }
    if (frame->total < FRAME_MIN) { /* the chip does not pad (NEEDS 54) */
        memset(at, 0, FRAME_MIN - frame->total);
        return FRAME_MIN;
    }
    return frame->total;
}

unsigned rtl8139_tx_burst(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    struct rtl8139 *d = rtl8139_of(nic);
    unsigned taken = 0;

    if (options.txpoll) {
        rtl8139_reclaim(d);
    }
    while (taken < n && d->in_use < RTL8139_DESCRIPTORS) {
        struct rtl8139_slot *slot = &d->slot[d->next];

        slot->length = (uint16_t)gather(slot->buffer.cpu, &in[taken]);
        slot->busy = true;
        if (d->in_use == 0) {
            d->tx_deadline = deadline_coarse_us(TX_WATCHDOG_US);
        }
        dma_barrier();
        put32(d, TSD0 + 4u * d->next,
              (uint32_t)d->threshold << TSD_THRESHOLD_SHIFT | slot->length); /* OWN clear: go */
        d->next = (uint8_t)next_slot(d->next);
        d->in_use++;
        taken++;
        if (d->in_use == RTL8139_DESCRIPTORS && options.txpoll) {
            rtl8139_reclaim(d);
        }
    }
    return taken;
}

void rtl8139_tx_reclaim(struct nic *nic)
{
    bool guarded = nic_guard(); /* with txirq=1 the handler frees descriptors, too */

    rtl8139_reclaim(rtl8139_of(nic));
    nic_unguard(guarded);
}

bool rtl8139_tx_idle(struct nic *nic)
{
    rtl8139_tx_reclaim(nic);
    return rtl8139_of(nic)->in_use == 0;
}

void rtl8139_watch_transmitter(struct rtl8139 *d)
{
    rtl8139_reclaim(d);
    if (d->in_use == 0 || !expired(&d->tx_deadline)) {
        return;
    }
    d->nic->stats.tx_timeout++;
    nic_log(d->nic, "a frame was not sent in 500 ms, ISR %04x: check cable and hub; card restarted",
            get16(d, ISR));
    record_fault("tx_timeout", (int)d->nic->index);
    record_int("isr", get16(d, ISR));
    record_end();
    rtl8139_restart(d);
}
