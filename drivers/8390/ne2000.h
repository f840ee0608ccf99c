/*
 * Between the files of the data-port boards only: ne2000.c finds and names them, ne2000_memory.c
 * tries their memory, ne2000_data.c moves the bytes, ne2000_selftest.c is for the selftest.
 */
#ifndef DRIVERS_8390_NE2000_H
#define DRIVERS_8390_NE2000_H

#include "drivers/8390/dp8390.h"

enum { NE2000_WAIT_US = 20 * 1000 }; /* for a reset or a remote DMA, which takes under 2 ms */

/* The same board, its data port used in bytes, words or double words. */
extern const struct dp8390_board ne2000_in_bytes, ne2000_in_words, ne2000_in_dwords;

/* Plug and Play cards that are such boards.  (ne2000_pnp.c) */
extern const struct nic_pnp_id ne2000_pnp_ids[];

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

#endif
