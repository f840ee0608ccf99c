/*
 * State of one RTL8139, between the files of the driver: rtl8139.c (chip), rtl8139_rx.c,
 * rtl8139_tx.c (the two ways of a frame) and rtl8139_probe.c (bus glue).
 */
#ifndef DRIVERS_RTL8139_RTL8139_H
#define DRIVERS_RTL8139_RTL8139_H

#include "drivers/nic.h"
#include "drivers/rtl8139/rtl8139_regs.h"
#include "drivers/selftest.h"
#include "kernel/dma.h"

enum {
    RTL8139_FCS = 4,
    RTL8139_TX_BYTES = 1536, /* a frame, dword-aligned */
    RTL8139_RING_MOST = 65536,
};

struct rtl8139_slot {
    struct dma buffer;
    uint16_t length;
    bool busy;
};

struct rtl8139 {
    struct ioport reg;
    struct nic *nic;
    struct dma ring;
    uint32_t ring_bytes; /* 8, 16, 32 or 64 KB                            */
    uint32_t at;         /* offset of the next header                     */
    uint32_t released;   /* what CAPR says: from here to `at` is lent     */
    bool lost;           /* the header at `at` cannot be: restart         */
    bool stuck;          /* the header at `at` is unfinished, since ...   */
    struct deadline unstick;
    uint32_t rcr; /* receive configuration in force                */
    bool more;    /* frames left in the ring that ISR does not tell any more */
    uint32_t hash[2];
    volatile uint16_t imr; /* what the chip's mask holds; also irq_ack's    */
    uint16_t seen;         /* status of the last poll                       */
    struct rtl8139_slot slot[RTL8139_DESCRIPTORS];
    uint8_t oldest, next; /* strictly in turn                              */
    uint8_t in_use;       /* slots                                         */
    uint8_t threshold;    /* transmit threshold, units of 32 bytes         */
    struct deadline tx_deadline;
    bool half_duplex;
    bool provoked; /* the timer interrupt is on */
    bool open;
};

_Static_assert(sizeof(struct rtl8139) <= NIC_STATE_BYTES, "the chip's state fits the card's");

static inline struct rtl8139 *rtl8139_of(struct nic *nic)
{
    return (struct rtl8139 *)(void *)nic->state;
}

/* The one way to a register. */
static inline uint8_t get8(const struct rtl8139 *d, unsigned reg)
{
    return io_in8(d->reg, reg);
}

static inline uint16_t get16(const struct rtl8139 *d, unsigned reg)
{
    return io_in16(d->reg, reg);
}

static inline uint32_t get32(const struct rtl8139 *d, unsigned reg)
{
    return io_in32(d->reg, reg);
}

static inline void put8(const struct rtl8139 *d, unsigned reg, unsigned value)
{
    io_out8(d->reg, reg, (uint8_t)value);
}

static inline void put16(const struct rtl8139 *d, unsigned reg, unsigned value)
{
    io_out16(d->reg, reg, (uint16_t)value);
}

static inline void put32(const struct rtl8139 *d, unsigned reg, uint32_t value)
{
    io_out32(d->reg, reg, value);
}

enum {
    RTL8139_RX_BITS = ISR_ROK | ISR_RER | ISR_RXOVW | ISR_FOVW,
    RTL8139_OVERFLOW = ISR_RXOVW | ISR_FOVW,
    RTL8139_TX_BITS = ISR_TOK | ISR_TER,
    RTL8139_RARE_BITS = ISR_PUN | ISR_SERR,
};

/* Ring size for this card, KB: by RAM, and settable for tests (8, 16, 32, 64). */
extern unsigned rtl8139_ring_kb;

/* Software reset, bounded; 0 or E_TIMEOUT. */
int rtl8139_reset(struct rtl8139 *);

/* Everything again from reset; what is on the card is given up. */
void rtl8139_restart(struct rtl8139 *);

/* Receiver off and on, empty ring: the way back from a header that cannot be. */
void rtl8139_restart_receiver(struct rtl8139 *);

/* Free what has been sent; in main context, or in the handler with txirq=1. */
void rtl8139_reclaim(struct rtl8139 *);

unsigned rtl8139_rx_burst(struct nic *, struct frame *out[], unsigned max);
void rtl8139_rx_done(struct nic *);
unsigned rtl8139_tx_burst(struct nic *, const struct tx_frame in[], unsigned n);
void rtl8139_tx_reclaim(struct nic *);
bool rtl8139_tx_idle(struct nic *);
void rtl8139_watch_transmitter(struct rtl8139 *);

/* The first `n` words of the serial EEPROM; the chip is not running. */
void rtl8139_read_eeprom(const struct rtl8139 *, uint16_t *to, unsigned n);

extern const struct nic_ops rtl8139_ops;
extern const struct selftest_step rtl8139_selftest[];

#endif
