/*
 * Simulated 3Com EtherLink II boards: an 8390, its memory, and the gate array.
 *
 * Base + 0-F the chip, or the address PROM; base + 400-40F the gate array.  Registers and bits are
 * written down here a second time.  Sources as in drivers/8390/3c503_regs.h.
 */
#ifndef TESTS_SIM_3C503_H
#define TESTS_SIM_3C503_H

#include "tests/host/sim/dp8390.h"

enum sim_el2_cable { CABLE_ANY, CABLE_THIN, CABLE_AUI };

struct sim_el2_config {
    const char *name;
    bool wide;                /* EtherLink II/16: 16 KB, words                           */
    uint8_t memory;           /* PCFR: jumper of the memory, one bit or none             */
    uint8_t ports;            /* BCFR, if not what the place says                        */
    uint8_t oui[3];           /* of the PROM; 0: as in sim_card_mac, which is 3Com's      */
    bool dark;                /* the window never shows the memory                       */
    bool fifo_dead;           /* ... and neither does the FIFO                           */
    enum sim_el2_cable cable; /* where it is plugged in                                  */
};

struct sim_el2 {
    struct sim_el2_config cfg;
    struct sim_chip chip;
    unsigned base;
    int wired; /* the one line that reaches the machine; 0: all four do                    */
    uint8_t prom[16];
    uint8_t pstr, pspr, dqtr, gacfr, gacr, idcfr, vptr[3];
    uint16_t address; /* DAMSB, DALSB                                                      */
    unsigned fifo_at; /* next byte                                                         */
    unsigned fifo;    /* bytes it holds (reading), or has room for (writing)               */
    bool looked;      /* DPRDY was seen for them                                           */
    unsigned opened;
};

extern const struct sim_el2_config sim_el2s[];
extern const unsigned sim_el2_count;

void sim_el2_plug(struct sim_el2 *el2, const struct sim_el2_config *cfg, unsigned base, int irq);

/* From now on only this line reaches the machine. */
void sim_el2_wire(struct sim_el2 *el2, int line);

/* Where its window is; 0: nowhere. */
uint32_t sim_el2_window(const struct sim_el2 *el2);

/* Chip stopped and masked, boot ROM back in the window, no line driven. */
bool sim_el2_at_rest(const struct sim_el2 *el2);

void sim_el2_free(struct sim_el2 *el2);

#endif
