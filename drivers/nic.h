/*
 * The contract between a network card driver and the rest, and the registry of cards.
 *
 * A driver is one const struct nic_driver, put into a table by the linker (NIC_DRIVER): linking
 * the object is enabling it.  Everything runs in main context with the card masked at the chip,
 * except irq_ack.  A card is armed only between irq_rearm and the wake-up.
 */
#ifndef DRIVERS_NIC_H
#define DRIVERS_NIC_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/frame.h"
#include "kernel/io.h"
#include "kernel/time.h"

enum {
    NIC_MAX = 4,
    NIC_STATE_BYTES = 512,
    NIC_BURST_BUCKETS = 8, /* receive bursts of 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, more frames */
};

enum nic_bus { NIC_ISA, NIC_PCI };

/* Where to look for a card: from a match table, PCI, PnP or a boot option. */
struct nic_place {
    enum nic_bus bus;
    struct ioport io;
    int irq;                 /* IRQ_NONE: not known                        */
    uint32_t mem;            /* card memory, 0: none or not known          */
    uint16_t pci;            /* bus << 8 | device << 3 | function          */
    bool given;              /* the user named it: look harder, explain    */
    uint8_t changed;         /* PCI: what the firmware had left off (nic_pci.h) */
    uint8_t pnp, pnp_device; /* ISA Plug and Play: card, from 1, and device on it; 0: is none */
};

/* What a card wants from the main loop. */
enum nic_event {
    EV_RX = 1,    /* frames may be waiting: rx_burst              */
    EV_TX = 2,    /* a transmission ended: reclaim                */
    EV_FAULT = 4, /* overrun, tally, error: service               */
    EV_LINK = 8,  /* link came or went: service                   */
};

/* A piece of memory, and a frame to send as a list of pieces (a pbuf chain). */
struct slice {
    const void *at;
    uint16_t length;
};

struct tx_frame {
    const struct slice *v;
    uint16_t n;
    uint16_t total; /* sum of the lengths, 14 to FRAME_MAX; the driver pads to FRAME_MIN */
};

/* Counted once each, where it becomes true.  Reset only by nic_stats_reset(). */
struct nic_stats {
    uint64_t rx_frames, rx_bytes;         /* handed upwards; bytes without FCS               */
    uint64_t tx_frames, tx_bytes;         /* left the card without error; padding included   */
    uint32_t irqs;                        /* interrupts this card claimed                    */
    uint32_t polls;                       /* looks at the status register from the main loop */
    uint32_t rx_crc, rx_align, rx_missed; /* chip tallies                            */
    uint32_t rx_length;                   /* status good, length outside 60..1518: dropped   */
    uint32_t rx_error;                    /* header says not received intact                 */
    uint32_t rx_overrun;                  /* ring overruns recovered from                    */
    uint32_t rx_resync;                   /* bad ring header: ring pointer taken afresh      */
    uint32_t rx_no_frame;                 /* pool empty: left in the ring                    */
    uint32_t tx_collisions, tx_abort, tx_underrun, tx_late, tx_carrier, tx_heartbeat;
    uint32_t tx_resent;   /* cut short by an overrun and sent again          */
    uint32_t tx_timeout;  /* transmit watchdog resets                        */
    uint32_t dma_timeout; /* remote DMA did not complete                     */
    uint32_t irq_lost;    /* status set, no interrupt                        */
    uint32_t rx_burst[NIC_BURST_BUCKETS];
};

struct nic;
struct selftest_step;

struct nic_filter {
    bool promiscuous;
    bool all_multicast;
    uint32_t hash[2]; /* 64-bit multicast hash, bit n = upper 6 bits of the CRC */
};

struct nic_ops {
    /* Chip running, still masked.  0, or E_HARDWARE / E_TIMEOUT with the reason logged. */
    int (*open)(struct nic *);

    /* Quiet: no DMA, no interrupt, ready for a warm reboot.  Safe in any state. */
    void (*close)(struct nic *);

    /* What is pending: nic_event bits.  Reads the status, acknowledges nothing. */
    unsigned (*poll)(struct nic *);

    /* Up to `max` frames, oldest first, each from the pool; the caller owns them.  Leaves frames
     * in the card's ring when the pool is empty.  Their packets may be lent (frame.h). */
    unsigned (*rx_burst)(struct nic *, struct frame *out[], unsigned max);

    /* Null if this driver never lends.  After every rx_burst, once its frames are given back or
     * kept: what it lent may be overwritten from now on. */
    void (*rx_done)(struct nic *);

    /* Take up to `n` frames in order; returns k <= n.  Taken = already copied: the caller may
     * reuse the memory at once.  Reclaims finished transmissions itself. */
    unsigned (*tx_burst)(struct nic *, const struct tx_frame in[], unsigned n);

    /* Rare events named by poll: overrun recovery, tallies, transmit errors, watchdog.  Also
     * called once a second with 0. */
    void (*service)(struct nic *, unsigned events);

    /* INTERRUPT CONTEXT.  Mask at the chip; nic_event bits, 0 = not mine. */
    unsigned (*irq_ack)(struct nic *);

    /* Mask at the chip: first thing after every wake-up and any refused rearm. */
    void (*irq_disarm)(struct nic *);

    /* Unmask for the halt, the end of transmissions only if nic->tx_wanted or if the card needs it
     * to go on.  False = something is pending, poll again.  Interrupts disabled. */
    bool (*irq_rearm)(struct nic *);

    /* Unmask just these events, without a look; 0 masks all.  For txirq=1, where the card stays
     * unmasked while the main loop runs. */
    void (*irq_unmask)(struct nic *, unsigned events);

    /* Make the card interrupt now, for finding its line; irq_disarm ends it. */
    void (*irq_provoke)(struct nic *);

    void (*set_filter)(struct nic *, const struct nic_filter *);

    /* Take note of what has been sent: statistics are up to date, its room is free. */
    void (*tx_reclaim)(struct nic *);

    /* The same, and then: nothing accepted is still to be sent. */
    bool (*tx_idle)(struct nic *);

    /* Steps of the card's selftest, ended by a null run (drivers/selftest.h); null: none. */
    const struct selftest_step *selftest;
};

enum nic_irq_mode { NIC_MODE_IRQ, NIC_MODE_POLL };

struct nic {
    const struct nic_driver *driver;
    const struct nic_ops *ops;
    unsigned index; /* 0.. in probe order                        */
    char model[40]; /* "RTL8019AS", "NE2000 clone (no signature)" */
    struct nic_place place;
    uint8_t mac[6];
    uint8_t width;                      /* data path in bits: 8, 16, 32              */
    uint16_t ring_kb;                   /* receive ring, KB                          */
    uint32_t link_kbit;                 /* link rate in kbit/s                       */
    uint32_t bus_in_kb_s, bus_out_kb_s; /* as selftest measured, times 10; 0: not yet */
    bool link;                          /* as far as the card can tell; else true    */
    bool full_duplex;
    const char *media; /* "10BASE-T"; null: the card does not tell  */
    int irq;           /* IRQ_NONE when polling                     */
    bool irq_proven;
    enum nic_irq_mode mode;
    bool tx_wanted;            /* the end of a transmission is worth a wake-up: set from above */
    volatile unsigned pending; /* events noted by the interrupt handler */
    volatile bool armed;
    volatile unsigned unmasked;         /* txirq=1: events that may interrupt          */
    bool fallen_back;                   /* polling because the line was not to be trusted, ... */
    uint32_t retry_s;                   /* ... tried again after so long; 0 once good for as long */
    struct deadline retry;              /* ... of that, or of the time it must stay good          */
    bool heard;                         /* an interrupt came since the line is trusted again      */
    uint8_t silent_wakes;               /* wake-ups with status set since the last interrupt */
    uint32_t told_overrun, told_resync; /* already in a fault record */
    struct nic_stats stats;
    alignas(16) uint8_t state[NIC_STATE_BYTES]; /* the driver's */
};

/* A PCI card that a driver knows; a table ends with a null name. */
struct nic_pci_id {
    uint16_t vendor, device;
    const char *name;
};

/* A Plug and Play device that a driver knows, "PNP80D6"; a table ends with an empty id. */
struct nic_pnp_id {
    char id[8];
    const char *name;
};

/*
 * How much a driver's look disturbs a stranger at the same ports: ISA places are tried in this
 * order, and within a step in that of the linker.
 */
enum nic_order {
    NIC_ORDER_MEMORY, /* told by reads alone: boards with an address PROM and its checksum */
    NIC_ORDER_3C503,  /* read far from the base, then at the base */
    NIC_ORDER_PORT,   /* NE2000 and the like: only writing tells */
    NIC_ORDERS,
};

struct nic_driver {
    const char *name;                 /* as in nic= and records */
    const uint16_t *isa_candidates;   /* I/O bases to try, ended by 0; null: none */
    uint16_t isa_ports;               /* decoded from the base on; 0: 32 */
    enum nic_order order;             /* of those with isa_candidates */
    const struct nic_pci_id *pci_ids; /* null: not on PCI */
    const struct nic_pnp_id *pnp_ids; /* null: not Plug and Play */
    /*
     * 0: ours; model, mac, width, ring_kb, link_kbit, ops and state are filled in and the chip is
     * stopped and masked; place.irq and place.mem corrected where the card tells them.  Else a
     * reason code with one line in `why` (at least 80 bytes) that says what was seen, as in "port
     * reads 7f", and everything touched is put back.  E_NOT_FOUND: no card of ours is there; only
     * `probe` shows the line.  Any other: one that cannot be used; the line says what to change.
     * Looks first, by reads alone; waits at most 200 ms in all.  May set nic->ops as soon as what
     * it does to the card must be undone: close() is called then if the machine is left here.
     */
    int (*probe)(const struct nic_place *, struct nic *, char *why, size_t why_size);
};

#define NIC_DRIVER(symbol)                                                                         \
    const struct nic_driver symbol                                                                 \
        __attribute__((used, section("nic_drivers"), aligned(sizeof(void *))))

/* ---- registry (drivers/nic.c, nic_look.c) ---- */

/* Cards found, in probe order. */
extern struct nic nics[NIC_MAX];
extern unsigned nic_count;

/*
 * Search (nic= places, else everywhere less noprobe=), open what is found, prove the interrupt,
 * print one line and emit one `nic` record a card; `fault nic_missing` if there is none.  At most
 * 3 s in all.
 */
void nics_init(void);

/* Stop every card and leave it as it was found: off, its interrupt off, its window closed.  For
 * every way out, a panic too: safe in any state, and a second time. */
void nics_close(void);

/* All cards of the halt: called with interrupts disabled.  False if any had work: all are masked
 * again and the caller must poll. */
bool nics_arm(void);

/* First thing after every wake. */
void nics_disarm(void);

/* Notice cards whose status is set while no interrupt came: after 3 wake-ups in a row fall back to
 * polling, with a `fault irq_lost`.  Call when a tick ended the halt, interrupts disabled, before
 * nics_disarm(): an interrupt that is under way is let in, and not lost. */
void nics_check_lost(void);

/* What is pending: by a look at the status or, with txirq=1, by what the handler noted. */
unsigned nic_events(struct nic *);

/* A receive burst is over: with txirq=1, unmask if the ring is empty, else remember that it is not.
 */
void nic_received(struct nic *, bool drained);

/* Around every other use of a card by the main loop: with txirq=1 the handler uses it too, and is
 * kept out meanwhile. */
bool nic_guard(void);
void nic_unguard(bool enabled);

/* Once a second: trust a line again that has been polled long enough. */
void nic_retry_irq(struct nic *);

/* An interrupt storm on `line`, which is masked now: its cards are polled. */
void nics_line_dead(int line);

/* True if every card is in interrupt mode: only then may the machine halt. */
bool nics_may_halt(void);

/* irq=poll / irq=auto at run time. */
void nics_set_polling(bool poll);

/* Zero the counters of a card; the chip's tallies are read first. */
void nic_stats_reset(struct nic *);

/* Emit the `counters` record of a card. */
void nic_counters_record(struct nic *);

/* For the layer above, once: `keys` adds its own counters to that record, `lines` to the text of
 * the command, `reset` zeroes them. */
struct nic_more_counters {
    void (*keys)(void);
    void (*lines)(void);
    void (*reset)(void);
};
void nic_add_counters(const struct nic_more_counters *more);

/* Find and prove the card's interrupt line and take it, or fall back to polling; says so.  The
 * card is open.  (drivers/nic_prove.c) */
void nic_prove_irq(struct nic *);

/* For drivers, from service(nic, 0): fault records of ring overruns and resyncs since the last
 * call, so that a flood of them is one record a second. */
void nic_report_faults(struct nic *);

/* Let the frames for a group address through: adds its hash, the upper 6 bits of the CRC-32 of the
 * address (DP8390D chapter 7, "multicast"; RTL8139 MAR0-7 the same).  Others with that hash come
 * too. */
void nic_filter_add(struct nic_filter *, const uint8_t mac[6]);

/* For drivers: count a receive burst of n > 0 frames in the histogram. */
void nic_count_burst(struct nic *, unsigned n);

/* For drivers: can `mac` be a station's?  All zero, all ones and every group address have no
 * business in a PROM. */
bool nic_address_usable(const uint8_t mac[6]);

/* For drivers: one greppable log line "ne2000 at 0x300: ...". */
void nic_log(const struct nic *, const char *fmt, ...);

#endif
