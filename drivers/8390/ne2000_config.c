/*
 * What the chips of later NE2000 boards tell of themselves: line, medium, duplex.
 *
 * Hints, all of them: a line is proven before it is used, and no link is believed to be missing
 * (emulators and half-compatible chips answer anything).
 * Sources: RTL8019AS and RTL8029AS data sheets (Realtek, 1997), register page 3; DP83905 AT/LANTIC
 * data sheet (National Semiconductor, 1993), mode configuration registers A and B.
 */
#include "drivers/8390/ne2000.h"
#include "kernel/irq.h"

/* Read side of RBCR0/1 on Realtek's chips: an identity. */
enum { REALTEK_ID0 = 'P', REALTEK_ID1_ISA = 'p', REALTEK_ID1_PCI = 'C' };

/* Realtek, page 3. */
enum { CONFIG0 = 0x3, CONFIG1 = 0x4, CONFIG2 = 0x5, CONFIG3 = 0x6, CONFIGS = 4 };
enum {
    CONFIG0_BNC = 0x04,   /* on thin cable now                                  */
    CONFIG1_IRQEN = 0x80, /* RTL8019: drives its line                           */
    CONFIG1_IRQ_SHIFT = 4,
    CONFIG2_PL_SHIFT = 6, /* medium chosen: see realtek_medium()                */
    CONFIG3_FUDUP = 0x40, /* full duplex, twisted pair only                     */
};

/* AT/LANTIC: in place of the remote byte count's read side. */
enum { MCRA = 0xA, MCRB = 0xB };
enum {
    MCRA_IRQ_SHIFT = 3,
    MCRA_FREAD = 0x40, /* remote DMA reads ahead */
    MCRA_MEMIO = 0x80, /* shared memory instead of a data port */
    MCRB_PHYS = 0x03,  /* medium: see lantic_medium() */
    MCRB_GDLNK = 0x04, /* good link */
};

enum { CODES = 8 };

static uint8_t peek(const struct dp8390 *d, unsigned reg)
{
    return dp8390_get(d, (enum dp8390_reg)reg);
}

/* ---- which chip ---- */

/*
 * An AT/LANTIC takes a write to MCRA only if the access before it read MCRA; else it is one to
 * RBCR0, which nobody minds now.  So: a write that must not be seen, then one that must.
 */
static bool is_at_lantic(struct dp8390 *d)
{
    const uint8_t was = peek(d, MCRA);
    bool answer;

    if ((was & MCRA_MEMIO) != 0) {
        return false;
    }
    peek(d, ISR);
    dp8390_put(d, RBCR0, was ^ MCRA_FREAD);
    if (peek(d, MCRA) != was) {
        dp8390_put(d, RBCR0, 0);
        return false;
    }
    dp8390_put(d, RBCR0, was ^ MCRA_FREAD);
    answer = peek(d, MCRA) == (was ^ MCRA_FREAD);
    dp8390_put(d, RBCR0, was);
    peek(d, ISR);
    dp8390_put(d, RBCR0, 0);
    return answer;
}

enum ne2000_chip ne2000_ask_chip(struct dp8390 *d)
{
    const uint8_t id0 = peek(d, RBCR0);
    const uint8_t id1 = peek(d, RBCR1);

    if (id0 == REALTEK_ID0 && id1 == REALTEK_ID1_ISA) {
        return NE2000_RTL8019;
    }
    if (id0 == REALTEK_ID0 && id1 == REALTEK_ID1_PCI) {
        return NE2000_RTL8029;
    }
    return d->nic->place.bus == NIC_ISA && is_at_lantic(d) ? NE2000_AT_LANTIC : NE2000_ANY;
}

/* ---- what it tells ---- */

static const char *realtek_medium(uint8_t config0, uint8_t config2)
{
    static const char *const chosen[] = {NULL, "10BASE-T", "10BASE5", "10BASE2"};
    const char *medium = chosen[config2 >> CONFIG2_PL_SHIFT];

    if (medium != NULL) {
        return medium;
    }
    return (config0 & CONFIG0_BNC) != 0 ? "10BASE2 (twisted pair has no link)" : "10BASE-T";
}

static void read_realtek(struct dp8390 *d, struct nic *nic, bool isa)
{
    static const uint8_t lines[CODES] = {9, 3, 4, 5, 10, 11, 12, 15};
    uint8_t config[CONFIGS];
    unsigned all = 0xFF;

    dp8390_put(d, CR, CR_PAGE3 | CR_DMA_ABORT | CR_STOP);
    for (unsigned i = 0; i < CONFIGS; i++) {
        config[i] = peek(d, CONFIG0 + i);
        all &= config[i];
    }
    dp8390_put(d, CR, CR_PAGE0 | CR_DMA_ABORT | CR_STOP);
    if (all == 0xFF) {
        return; /* no page 3 */
    }
    nic->media = realtek_medium(config[0], config[CONFIG2 - CONFIG0]);
    nic->full_duplex = (config[CONFIG3 - CONFIG0] & CONFIG3_FUDUP) != 0;
    if (isa && nic->place.irq == IRQ_NONE && (config[CONFIG1 - CONFIG0] & CONFIG1_IRQEN) != 0) {
        nic->place.irq = lines[config[CONFIG1 - CONFIG0] >> CONFIG1_IRQ_SHIFT & (CODES - 1)];
    }
}

static const char *lantic_medium(uint8_t mcrb)
{
    static const char *const chosen[] = {"10BASE-T", "10BASE2", "10BASE5",
                                         "10BASE-T (reduced squelch)"};

    if ((mcrb & (MCRB_PHYS | MCRB_GDLNK)) == 0) {
        return "10BASE-T (no link)";
    }
    return chosen[mcrb & MCRB_PHYS];
}

static void read_at_lantic(struct dp8390 *d, struct nic *nic)
{
    static const uint8_t lines[CODES] = {3, 4, 5, 9, 10, 11, 12, 15};

    nic->media = lantic_medium(peek(d, MCRB));
    if (nic->place.irq == IRQ_NONE) {
        nic->place.irq = lines[peek(d, MCRA) >> MCRA_IRQ_SHIFT & (CODES - 1)];
    }
    peek(d, ISR); /* what is written to RBCR next is a byte count again */
}

void ne2000_read_config(struct dp8390 *d, enum ne2000_chip chip, struct nic *nic)
{
    switch (chip) {
    case NE2000_RTL8019: read_realtek(d, nic, true); break;
    case NE2000_RTL8029: read_realtek(d, nic, false); break;
    case NE2000_AT_LANTIC: read_at_lantic(d, nic); break;
    case NE2000_ANY: break;
    }
}
