/*
 * Simulated WD8003, WD8013, SMC Elite and SMC Ultra boards: an 8390 and its memory behind a window.
 *
 * Ports 0-7 board registers, 8-F address PROM (whose sum is FFh), 10-1F the chip.  Register names
 * and bits are written down here a second time: a mistake in the driver's header must not be
 * repeated by the model.  Sources as named there.  Ends the test where a real board hangs, disturbs
 * others, or would be lost to the next driver.
 */
#ifndef TESTS_SIM_WD80X3_H
#define TESTS_SIM_WD80X3_H

#include "tests/host/sim/dp8390.h"

enum sim_wd_board {
    WD_BOARD_8003,  /* MSR alone, write-only; the other registers repeat the PROM     */
    WD_BOARD_8013J, /* jumpers, 16 bits: MSR, slot detection, LAAR                    */
    WD_BOARD_584,   /* 83C584 with EEPROM                                             */
    WD_BOARD_790,   /* 83C790                                                         */
};

struct sim_wd_config {
    const char *name;
    enum sim_wd_board board;
    uint8_t id;          /* PROM byte 6                                              */
    bool slot16;         /* in a 16-bit slot                                         */
    bool large;          /* 32 KB chips                                              */
    bool pipe;           /* 83C790 set up for its I/O pipe                           */
    uint32_t eeprom_mem; /* where its configuration puts the memory; 0: nowhere      */
    bool dark;           /* its memory never gets onto the bus: reads FF             */
    bool no_words;       /* 16-bit cycles read garbage (half in the slot)            */
    bool bad_sum;        /* PROM without a checksum                                  */
    bool left_switched;  /* a driver left the 83C790's second register set on        */
    unsigned ram_size;   /* 0: as much as the window                                 */
    bool dp8390;         /* National's chip, not the 83C690                          */
};

struct sim_wd {
    struct sim_wd_config cfg;
    struct sim_chip chip;
    unsigned base;
    int jumper; /* line by jumper or EEPROM                                            */
    int broken; /* test side: the line it reaches instead, if not 0                    */
    uint8_t prom[8];
    uint8_t msr, icr, irr, laar, icr_found;        /* 83C584                           */
    uint8_t hwr, bpr, icr790, rar, gcr, gcr2, iar; /* 83C790                           */
    unsigned pipe_at, pipe_bytes;                  /* I/O pipe: address, bytes of it written */
    unsigned pipe_way;                             /* 0 fresh, 1 reading, 2 writing    */
    unsigned opened;                               /* how often the gate was opened    */
};

extern const struct sim_wd_config sim_wds[];
extern const unsigned sim_wd_count;

void sim_wd_plug(struct sim_wd *wd, const struct sim_wd_config *cfg, unsigned base, int irq);

/* Where its memory is now, and how much the host sees of it. */
uint32_t sim_wd_window(const struct sim_wd *wd);
unsigned sim_wd_window_size(const struct sim_wd *wd);

/* Chip stopped and masked, memory off the bus and narrow, line not driven. */
bool sim_wd_at_rest(const struct sim_wd *wd);

void sim_wd_free(struct sim_wd *wd);

#endif
