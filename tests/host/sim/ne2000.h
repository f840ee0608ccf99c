/*
 * Simulated NE2000-style boards: a DP8390D, a data port, a reset port, an address PROM.
 *
 * I/O map (NE2000 manual): 00h-0Fh chip, 10h data port, 1Fh reset port.  Every other port of the
 * 32 is an alias that a driver has no business with.
 */
#ifndef TESTS_SIM_NE2000_H
#define TESTS_SIM_NE2000_H

#include "tests/host/sim/dp8390.h"

enum sim_prom {
    PROM_DOUBLED, /* 16-bit board: every byte twice                          */
    PROM_PLAIN,   /* NE1000: each once                                       */
    PROM_ONES,
    PROM_ZEROS,
    PROM_RANDOM,
    PROM_TAIL,  /* doubled, but only as far as somebody looked               */
    PROM_GROUP, /* right form, but a group address                         */
};

struct sim_card_config {
    const char *name;
    enum sim_prom prom;
    uint8_t signature; /* PROM bytes 14 and 15: 'W', 'B', or something else  */
    bool slot8;        /* 8-bit card or slot: 16-bit cycles are split        */
    bool no_ram;       /* nothing behind the data port                       */
    uint32_t pci;      /* vendor and device on PCI; 0: an ISA card           */
    struct sim_chip_config chip;
};

struct sim_card {
    struct sim_card_config cfg;
    struct sim_chip chip;
    unsigned base;
};

enum { SIM_CARD_DEVICE = 9 };

extern const uint8_t sim_card_mac[6];

/* The specimens every conformance case runs on. */
extern const struct sim_card_config sim_cards[];
extern const unsigned sim_card_count;

/* Put a card into the machine: power on, at `base`, jumpered to `irq`.  One for PCI gets that from
 * the firmware; it is the first free device from SIM_CARD_DEVICE on. */
void sim_card_plug(struct sim_card *card, const struct sim_card_config *cfg, unsigned base,
                   int irq);

/* The state an operating system leaves behind on a warm reboot: running, unmasked, receiving. */
void sim_card_left_running(struct sim_card *card);

void sim_card_free(struct sim_card *card);

#endif
