/*
 * The 8390 core: ring, transmit slots, interrupt status, overrun; for every board with this chip.
 *
 * Chip and board are apart.  The core owns all ring arithmetic and never asks on which bus it is;
 * a board only moves bytes between host and card memory and never sees a ring: the core splits
 * wraps, so a board's read never wraps.
 */
#ifndef DRIVERS_8390_DP8390_H
#define DRIVERS_8390_DP8390_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/8390/dp8390_regs.h"
#include "drivers/nic.h"

struct dp8390;
struct dp8390_board;

/* Another way to run the same board: its data port or memory in another width. */
struct dp8390_way {
    const struct dp8390_board *board;
    uint8_t dcr;
    uint8_t width; /* bits */
};

/* What is in a board's PROM, for selftest. */
enum { DP8390_PROM_BYTES = 16 };
struct dp8390_prom {
    uint8_t raw[DP8390_PROM_BYTES];
    unsigned n;        /* bytes in raw[]                           */
    uint8_t mac[6];    /* the station address                      */
    const char *words; /* what else it says, or what is wrong      */
};

/* What differs from board to board. */
struct dp8390_board {
    /* Pulse the board's reset line and wait for ISR_RST; E_TIMEOUT if it did not come. */
    int (*reset)(struct dp8390 *);

    /*
     * `n` bytes of card memory at `address`, a multiple of 4, into `to`; never across the end of
     * the ring.  Up to 3 bytes more may be written there: a data port moves whole double words.
     * Cannot fail: the bytes are counted, no completion is waited for (QUIRKS: RDC after reads).
     */
    void (*read)(struct dp8390 *, unsigned address, void *to, unsigned n);

    /* Gather a frame to the page at `address`, followed by zeros up to `padded` bytes (>=
     * frame->total). 0, or E_TIMEOUT if the card did not confirm that it has it all. */
    int (*write)(struct dp8390 *, unsigned address, const struct tx_frame *frame, unsigned padded);

    /* The board's own switches, or null if it has none.  On: memory and interrupt line usable; as
     * the chip goes on line, and after every reset.  Off: both given back, the rest as found; the
     * chip is stopped. */
    void (*enable)(struct dp8390 *, bool on);

    /* Left in the middle of anything, a copy or a probe: take the way to the memory off, so that
     * the chip can be touched and the card be found again.  What the chip itself does with the
     * memory goes on.  Null if there is nothing to take off. */
    void (*let_go)(struct dp8390 *);

    /* Nothing gets out: take the other connector, or null if there is none. */
    void (*other_media)(struct dp8390 *);

    /* ---- for selftest; all may be left out ---- */

    /* Memory is moved by the chip's remote DMA through d->data. */
    bool remote_dma;

    /* Narrower ways to run this board, ended by a null board. */
    const struct dp8390_way *narrower;

    /* Read the PROM; the chip is stopped.  False if it is garbage, or its checksum is wrong.  May
     * change d->board and d->dcr. */
    bool (*prom)(struct dp8390 *, struct dp8390_prom *);
};

enum dp8390_tx_state { TX_FREE, TX_FILLED, TX_SENDING };

struct dp8390_tx_slot {
    enum dp8390_tx_state state;
    uint16_t length;
};

enum {
    DP8390_TX_SLOTS = 2,
    DP8390_TX_PAGES = 6, /* per slot: 1536 bytes */
    DP8390_BOARD_BYTES = 16,
};

struct dp8390 {
    struct ioport reg;   /* the 16 chip registers                            */
    struct ioport data;  /* board's data port (data-port boards)             */
    struct ioport pulse; /* board's reset port                               */
    struct ioport asic;  /* board's own registers (shared-memory boards)     */
    struct iowin window; /* card memory (the same)                           */
    const struct dp8390_board *board;
    struct nic *nic;
    uint8_t dcr;          /* value for this board's width                     */
    uint8_t rcr;          /* receive configuration in force                   */
    uint32_t hash[2];     /* multicast hash in force                          */
    volatile uint8_t imr; /* what the chip's mask holds; also irq_ack's       */
    bool read_first;      /* a remote write must follow a remote read (QUIRKS) */
    bool word;            /* 16-bit memory (shared-memory boards)             */
    bool no_rdc;          /* the chip has no remote DMA at all                */
    uint8_t tx_page;      /* first page of slot 0                             */
    uint8_t rx_start;     /* PSTART                                           */
    uint8_t rx_stop;      /* PSTOP                                            */
    uint8_t next;         /* page of the next frame to read                   */
    struct dp8390_tx_slot slot[DP8390_TX_SLOTS];
    uint8_t tx_oldest;           /* slot sent or to be sent first                    */
    struct deadline tx_deadline; /* watchdog of the slot on its way           */
    bool more;                   /* the last burst left frames in the ring; PRX is clear  */
    uint8_t full_frames;         /* received lately, as far as it matters            */
    bool draining;               /* between the steps of the overrun procedure       */
    uint8_t drain_from;          /* ... the first page to be made free               */
    bool resend;                 /* ... and the frame it cut short must go again     */
    uint8_t tx_failures;         /* in a row: given up, or without a carrier         */
    bool tx_dead;                /* watchdog fired, nothing sent since: already said */
    bool open;
    uint8_t board_state[DP8390_BOARD_BYTES]; /* the board's own                   */
};

_Static_assert(sizeof(struct dp8390) <= NIC_STATE_BYTES, "the chip's state fits the card's");

/* The chip of a card. */
static inline struct dp8390 *dp8390_of(struct nic *nic)
{
    return (struct dp8390 *)(void *)nic->state;
}

/* The one way to a chip register. */
static inline uint8_t dp8390_get(const struct dp8390 *d, enum dp8390_reg reg)
{
    return io_in8(d->reg, reg);
}

static inline void dp8390_put(const struct dp8390 *d, enum dp8390_reg reg, unsigned value)
{
    io_out8(d->reg, reg, (uint8_t)value);
}

/* The ops of every 8390 board; boards put this into nic->ops. */
extern const struct nic_ops dp8390_ops;

/* Set-up for a probe: chip stopped, masked, DMA off, loopback, monitor (datasheet ch. 9 order).
 * Remote DMA works after it; nothing is received or sent. */
void dp8390_stop(struct dp8390 *);

/* ---- ring arithmetic, pure ---- */

/* The page after `page`, and the one before, in the ring [start, stop). */
unsigned ring_after(unsigned page, unsigned start, unsigned stop);
unsigned ring_before(unsigned page, unsigned start, unsigned stop);

/* Pages from `from` up to `to` (not included), going forward through the ring. */
unsigned ring_distance(unsigned from, unsigned to, unsigned start, unsigned stop);

/* Pages that a header and `length` bytes of frame with FCS occupy. */
unsigned ring_pages(unsigned length_with_fcs);

/*
 * The length (with FCS) of a frame that begins at `page` and whose header says `next` and `count`.
 * The high byte of the count is wrong on some clones, so it is worked out from the pages; only
 * where some chips skip a page (a frame ending exactly with its page) does it decide.  Returns 0 if
 * `next` and the low byte cannot belong together, or `next` is outside the ring.
 */
unsigned ring_length(unsigned page, unsigned next, unsigned count, unsigned start, unsigned stop);

#endif
