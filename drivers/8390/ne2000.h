/*
 * Between the files of the data-port boards only.  ne2000.c finds them, ne2000_identity.c knows
 * them, ne2000_memory.c tries their memory, ne2000_config.c reads what their chips tell of
 * themselves, ne2000_data.c moves the bytes, ne2000_selftest.c is for the selftest.
 */
#ifndef DRIVERS_8390_NE2000_H
#define DRIVERS_8390_NE2000_H

#include "drivers/8390/dp8390.h"

enum {
    NE2000_WAIT_US = 20 * 1000, /* for a reset or a remote DMA, which takes under 2 ms */
    NE2000_PROM = 32,           /* bytes; each of 16 twice on most 16-bit boards       */
};

/* ---- ne2000_data.c ---- */

/* The same board, its data port used in bytes, words or double words. */
extern const struct dp8390_board ne2000_in_bytes, ne2000_in_words, ne2000_in_dwords;

/* Plug and Play cards that are such boards.  (ne2000_pnp.c) */
extern const struct nic_pnp_id ne2000_pnp_ids[];

/* Does the chip count the cycles of the data port as we do?  True also if it does not let us see
 * its count.  The chip is left stopped; `seen` and `wanted` tell the address in its registers. */
bool ne2000_counts_right(struct dp8390 *d, unsigned *seen, unsigned *wanted);

/* ---- ne2000_memory.c ---- */

/* A way the card's RAM may be laid out and reached: pages [first, stop). */
struct ne2000_layout {
    const struct dp8390_board *board;
    uint8_t dcr;
    uint8_t width; /* bits */
    uint8_t first, stop;
};

/* What speaks against a layout before it is tried. */
struct ne2000_limits {
    bool isa;         /* no 32-bit data port                       */
    bool bytes_only;  /* the PROM says so                          */
    bool realtek_isa; /* in bytes, no memory above page 60h        */
};

/* For the boards' selftest. */
extern const struct dp8390_way ne2000_below_words[], ne2000_below_dwords[];
bool ne2000_prom(struct dp8390 *d, struct dp8390_prom *prom);

/* Stopped, with the data port in bytes: any board's PROM can be read. */
void ne2000_use_bytes(struct dp8390 *d);

/* The best layout whose memory answers, in force, chip stopped; null if none does. */
const struct ne2000_layout *ne2000_find_memory(struct dp8390 *d,
                                               const struct ne2000_limits *limits);

/* ---- ne2000_config.c ---- */

enum ne2000_chip {
    NE2000_ANY,       /* a DP8390, or one that does not tell     */
    NE2000_RTL8019,   /* Realtek's for ISA                       */
    NE2000_RTL8029,   /* Realtek's for PCI; also QEMU's for ISA  */
    NE2000_AT_LANTIC, /* National's DP83905                      */
};

/* Which chip it is, by its own word; DMA is idle, the chip stopped. */
enum ne2000_chip ne2000_ask_chip(struct dp8390 *d);

/* Line, medium and duplex into *nic, as far as the chip tells. */
void ne2000_read_config(struct dp8390 *d, enum ne2000_chip chip, struct nic *nic);

/* ---- ne2000_identity.c ---- */

struct ne2000_identity {
    uint8_t raw[NE2000_PROM];
    enum ne2000_chip chip;
};

/* Read the PROM with the board in force.  The chip is set up, or it reads as garbage. */
void ne2000_read_prom(struct dp8390 *d, struct ne2000_identity *id);

/* May the data port be used in bytes only?  Garbage has no say. */
bool ne2000_says_bytes(const struct ne2000_identity *id);

/* The address in it; false if it cannot be one. */
bool ne2000_address(const struct ne2000_identity *id, uint8_t mac[6]);

/* What to call the board. */
void ne2000_name(const struct ne2000_identity *id, const struct ne2000_layout *l, struct nic *nic);

#endif
