/*
 * Simulated ISA Plug and Play cards (Plug and Play ISA Specification 1.0a), as many on one bus as a
 * test wants, all listening at 279h and A79h and answering at the read port they are told.
 *
 * Strict: a key broken off, a register written with no card selected or in the wrong state, pairs
 * of isolation read too fast, resource data read before it is ready, a setting the card cannot have
 * or changed while the device is active, two cards with one number, and a reset end the test.
 */
#ifndef TESTS_SIM_ISAPNP_H
#define TESTS_SIM_ISAPNP_H

#include <stdbool.h>
#include <stdint.h>

enum sim_pnp_state { PNP_WAITS_FOR_KEY, PNP_SLEEPS, PNP_ISOLATION, PNP_CONFIG };

enum { SIM_PNP_CARDS = 20, SIM_PNP_DEVICES = 3, SIM_PNP_RESOURCES = 256, SIM_PNP_PORTS = 0x20 };

/* What a logical device can be set to, from which the resource data is made. */
struct sim_pnp_device_config {
    const char *id;         /* "RTL8019"                                 */
    const char *compatible; /* or null                                   */
    uint16_t first, last;   /* I/O bases, 20h apart; 0: no I/O item      */
    uint16_t alternative;   /* a second one, in a dependent function; 0: none */
    uint16_t irqs;          /* mask                                      */
    bool no_range_check;
};

struct sim_pnp_card_config {
    const char *name; /* also in the resource data                          */
    const char *id;
    uint32_t serial;
    struct sim_pnp_device_config device[SIM_PNP_DEVICES]; /* ends with a null id */
    unsigned byte_us;  /* until the next byte of resource data is ready      */
    bool bad_checksum; /* in the serial identifier                           */
    bool ignores_io;   /* the base registers keep nothing                    */
    bool stays_off;    /* the activate register keeps nothing                */
};

struct sim_pnp_device {
    bool active;
    uint16_t io;
    uint8_t irq, irq_type, check;
    void (*on)(void *self, unsigned io, int irq); /* the card appears ...   */
    void (*off)(void *self);                      /* ... and is gone        */
    void *self;
};

struct sim_pnp_card {
    struct sim_pnp_card_config cfg;
    enum sim_pnp_state state;
    uint8_t id[9];
    uint8_t resources[SIM_PNP_RESOURCES];
    unsigned resource_bytes, at;
    uint64_t ready_ns;
    bool data_seen_ready;
    uint8_t key_state;
    unsigned key_bytes;
    uint8_t csn, selected;
    unsigned bit; /* of the identifier, next to be sent                     */
    bool second;  /* of its pair of reads                                   */
    struct sim_pnp_device device[SIM_PNP_DEVICES];
    unsigned devices;
    /* what happened, for the tests */
    unsigned activations, deactivations;
};

/* No card; call after sim_reset(). */
void sim_pnp_reset(void);

/* Put a card in: power on, waiting for the key, every device off and without a setting. */
void sim_pnp_plug(struct sim_pnp_card *card, const struct sim_pnp_card_config *cfg);

/* What becomes of device `number` when it is switched on and off. */
void sim_pnp_connect(struct sim_pnp_card *card, unsigned number,
                     void (*on)(void *self, unsigned io, int irq), void (*off)(void *self),
                     void *self);

/* The firmware has set and switched on device `number`, and numbered the card. */
void sim_pnp_set_active(struct sim_pnp_card *card, unsigned number, unsigned csn, uint16_t io,
                        int irq);

/* Do all cards wait for the key? */
bool sim_pnp_all_wait(void);

/* Between the two files of the model: serial identifier and resource data, and the shift register.
 */
void sim_pnp_make_data(struct sim_pnp_card *card);
uint8_t sim_pnp_shift(uint8_t state, unsigned data);

/* Writes to 279h and A79h, and reads of the read port, so far. */
unsigned sim_pnp_accesses(void);

#endif
