/*
 * Between wd80x3.c (the board at work), wd80x3_look.c (which one it is) and wd80x3_probe.c (where
 * its memory is).
 */
#ifndef DRIVERS_8390_WD80X3_H
#define DRIVERS_8390_WD80X3_H

#include "drivers/8390/dp8390.h"
#include "drivers/8390/shmem.h"
#include "drivers/8390/wd80x3_regs.h"

enum wd_kind {
    WD_JUMPERS,   /* WD8003E: an MSR and nothing else                              */
    WD_JUMPERS16, /* WD8013EBT: and a LAAR                                         */
    WD_SOFT,      /* 83C583 or 83C584                                              */
    WD_ULTRA,     /* 83C790 or 83C795                                              */
};

/* The board's part of the chip's state. */
struct wd {
    uint8_t kind; /* enum wd_kind                                                 */
    uint8_t gate; /* register that opens the memory for a copy, and its values    */
    uint8_t gate_open, gate_shut;
    uint8_t msr; /* registers while the card runs, gate shut                     */
    uint8_t laar;
    uint8_t rar;
    uint8_t found_msr, found_laar, found_rar; /* ... and as they were found       */
};

_Static_assert(sizeof(struct wd) <= DP8390_BOARD_BYTES, "the board's state fits");

static inline struct wd *wd_of(struct dp8390 *d)
{
    return (struct wd *)(void *)d->board_state;
}

extern const struct dp8390_board wd_board;      /* memory on the bus               */
extern const struct dp8390_board wd_pipe_board; /* 83C790 set up for its I/O pipe  */

/* Registers for memory at d->window in d->word; nothing is written yet. */
void wd_set_window(struct dp8390 *d);

/* The chip's reset line, and time for the board to recover; 0, or E_TIMEOUT. */
int wd_pulse(struct dp8390 *d);

/* Give the host what U_HWR_SWH hides, and hide it again. */
uint8_t wd_read_hidden(const struct dp8390 *d, enum wd_reg reg);

/* ---- the look ---- */

struct wd_model {
    uint8_t id;
    uint8_t kind; /* enum wd_kind */
    bool wide;    /* 16 bits in a 16-bit slot */
    const char *name;
};

enum { WD_LAN_BYTES = 8 /* station address, board id, checksum */ };

/* What is found out step by step. */
struct wd_look {
    const struct wd_model *model;
    uint8_t lan[WD_LAN_BYTES];
    uint32_t own; /* where its configuration puts the memory; 0: it has none */
    unsigned chip_bytes;
    enum shmem_state state; /* of the first place that was no good */
    uint32_t bad;           /* that place; 0: none was tried        */
};

/* Is there one?  Reads alone, but where the user sent us.  Fills in model and lan; else `why`. */
bool wd_look_at(const struct dp8390 *d, struct wd_look *look, char *why, size_t why_size);

/* What its address PROM says, for the selftest. */
bool wd_prom(struct dp8390 *d, struct dp8390_prom *prom);

/* Its kind, width, line, and where its memory is set up to be. */
void wd_read_configuration(struct dp8390 *d, struct wd_look *look);

#endif
