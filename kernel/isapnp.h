/*
 * ISA Plug and Play: find the cards that wait for a key, read what they need, switch them on.
 * Source: Plug and Play ISA Specification 1.0a (Intel and Microsoft, 1994).
 *
 * Harmless where there are no such cards: what is written goes to a printer's status port (279h),
 * which cannot be written, and to its alias A79h.  Whatever happens, the cards are left waiting for
 * the key.
 */
#ifndef KERNEL_ISAPNP_H
#define KERNEL_ISAPNP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ISAPNP_ADDRESS_PORT = 0x279, /* written only */
    ISAPNP_WRITE_PORT = 0xA79,   /* written only */
    ISAPNP_CARDS = 16,           /* on one bus, numbered from 1           */
    ISAPNP_DEVICES = 8,          /* on one card, numbered from 0          */
    ISAPNP_ID_BYTES = 8,         /* "PNP80D6" and a zero                  */
    ISAPNP_COMPATIBLE = 3,
    ISAPNP_RANGES = 16, /* I/O ranges a device can be set to     */
    ISAPNP_NAME_BYTES = 32,
};

/* I/O bases a device can be set to: from `first` to `last` in steps, each of so many ports. */
struct isapnp_range {
    uint16_t first, last;
    uint8_t step, ports;
};

/* One logical device of a card. */
struct isapnp_device {
    uint8_t csn;    /* card select number, in the order of isolation               */
    uint8_t number; /* of the device on that card                                  */
    char id[ISAPNP_ID_BYTES];
    char compatible[ISAPNP_COMPATIBLE][ISAPNP_ID_BYTES]; /* "" behind the last     */
    char name[ISAPNP_NAME_BYTES];                        /* as the card has it, or "" */
    uint8_t commands;                                    /* bit n: it has register 30h + n */
    uint16_t irqs;                                       /* lines it can drive, a bit each */
    struct isapnp_range range[ISAPNP_RANGES];            /* in the card's order   */
    uint8_t ranges;
    bool active;  /* and so it is set now:                                          */
    uint16_t io;  /* 0: none                                                        */
    int irq;      /* IRQ_NONE: none                                                 */
    uint32_t mem; /* 0: none                                                       */
};

/*
 * Isolate and number the cards, and call `found` for every logical device, until it returns false;
 * it may call the functions below.  Reads of a stranger's port are avoided: `port_free` says which
 * may be used at all.  Returns the number of cards.  25 ms without cards, 50 ms for each.
 */
unsigned isapnp_scan(bool (*port_free)(uint16_t port),
                     bool (*found)(const struct isapnp_device *device, void *arg), void *arg);

/*
 * Set an inactive device to `io` (one of its ranges, of `ports` ports) and `irq` (IRQ_NONE: none),
 * and switch it on.  E_BUSY if somebody answers in that range, E_HARDWARE if the device does not
 * take the setting; then it is off, and set as before.
 */
int isapnp_activate(const struct isapnp_device *device, uint16_t io, unsigned ports, int irq);

/* Switch off what isapnp_activate() switched on, and set it as before.  No waiting. */
void isapnp_deactivate(const struct isapnp_device *device);

/* ---- pure (kernel/isapnp_resources.c) ---- */

/*
 * Read the resource data of a card (chapter 6), from behind its serial identifier, byte by byte
 * from `next`, which returns -1 at the end, and describe logical device `number`.  False if there
 * is none such; a card without any counts as one device.  `csn` and the present setting are not
 * touched.
 */
bool isapnp_describe(int (*next)(void *arg), void *arg, unsigned number,
                     struct isapnp_device *device);

/* Four bytes of compressed EISA identifier (6.1) as "PNP80D6". */
void isapnp_id(const uint8_t raw[4], char text[ISAPNP_ID_BYTES]);

/* The next state of the shift register that makes the key and the checksum (appendix B); for the
 * key, `bit` is 0. */
uint8_t isapnp_lfsr(uint8_t state, unsigned bit);

enum { ISAPNP_LFSR_SEED = 0x6A };

#endif
