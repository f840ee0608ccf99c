/*
 * Between the files of the 8390 core only: dp8390.c, dp8390_rx.c and dp8390_tx.c.
 *
 * Source: DP8390D/NS32490D data sheet (National Semiconductor, July 1995), "DS" below.
 *
 * Every function of the core leaves the registers on page 0, started, with no remote DMA under
 * way: that is what irq_ack finds.
 */
#ifndef DRIVERS_8390_CORE_H
#define DRIVERS_8390_CORE_H

#include "drivers/8390/dp8390.h"
#include "drivers/selftest.h"

enum { TX_WATCHDOG_US = 500 * 1000 }; /* 16 collisions with their back-off take under 400 ms */

enum {
    CR_IDLE = CR_PAGE0 | CR_DMA_ABORT | CR_START,
    CR_IDLE_PAGE1 = CR_PAGE1 | CR_DMA_ABORT | CR_START,
    CR_HALT = CR_PAGE0 | CR_DMA_ABORT | CR_STOP,
    CR_HALT_PAGE1 = CR_PAGE1 | CR_DMA_ABORT | CR_STOP,
    CR_SEND = CR_IDLE | CR_TXP,
    CR_ZERO_READ = CR_PAGE0 | CR_DMA_READ | CR_START,

    ISR_RX = ISR_PRX | ISR_RXE,
    ISR_TX = ISR_PTX | ISR_TXE,
    ISR_RARE = ISR_OVW | ISR_CNT,
};

static inline uint8_t get(const struct dp8390 *d, enum dp8390_reg reg)
{
    return dp8390_get(d, reg);
}

static inline void put(const struct dp8390 *d, enum dp8390_reg reg, unsigned value)
{
    dp8390_put(d, reg, value);
}

/*
 * STOP, and until it has taken effect.  The reset bit may stay clear if a frame was on its way, so
 * the prescribed time comes first; then a moment for the bit, which is what the DM9008 asks for.
 */
void dp8390_halt(struct dp8390 *);

/* Last resort when the chip does not do what it should: reset, and all that is on the card is
 * given up. */
void dp8390_restart(struct dp8390 *);

/* Is a frame on its way? */
static inline bool dp8390_sending(const struct dp8390 *d)
{
    return d->slot[d->tx_oldest].state == TX_SENDING;
}

/* Is the other slot filled, to be started when that has left? */
static inline bool dp8390_another_waits(const struct dp8390 *d)
{
    return d->slot[d->tx_oldest ^ 1].state == TX_FILLED;
}

/*
 * Free the slot whose transmission has ended and start the next at once.  In the overrun
 * procedure the chip is in loopback: nothing is started, and a frame cut short has not ended.
 */
void dp8390_reclaim(struct dp8390 *);

/* Send the oldest slot if it is filled.  The transmitter is idle and PTX and TXE are clear. */
void dp8390_send_next(struct dp8390 *);

/* Send the oldest slot again: page and count are still in place. */
void dp8390_send_again(struct dp8390 *);

/* Restart a chip that has been sending one frame for TX_WATCHDOG_US. */
void dp8390_watch_transmitter(struct dp8390 *);

/* The overrun procedure (DS ch. 7): steps 1 to 7, and, after rx_burst made room, 9 to 11. */
void dp8390_overrun_halt(struct dp8390 *);
void dp8390_overrun_resume(struct dp8390 *);

/* Ops. */
unsigned dp8390_rx_burst(struct nic *, struct frame *out[], unsigned max);
unsigned dp8390_tx_burst(struct nic *, const struct tx_frame in[], unsigned n);
void dp8390_tx_reclaim(struct nic *);
bool dp8390_tx_idle(struct nic *);
extern const struct selftest_step dp8390_selftest[];

#endif
