/*
 * NE1000 and NE2000 boards and what is compatible with them (RTL8019, RTL8019AS, UM9008, DM9008,
 * RTL8029 in QEMU's ISA guise): an 8390 whose memory is reached through a data port by remote DMA.
 *
 * Ports: 00-0F the chip, 10 the data port, 1F reset (a read asserts, a write releases).  Memory:
 * a PROM of 32 bytes at 0 with address and signature, RAM at 4000h (NE1000: 2000h).
 * Sources: Novell NE2000 board as described in National's application note AN-874 for the
 * DP83905 ("NE2000 mode"), RTL8019AS data sheet (Realtek, 1997), drivers/QUIRKS.md.
 */
#include "drivers/8390/ne2000.h"
#include "kernel/error.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    DATA_PORT = 0x10,
    RESET_PORT = 0x1F,

    LINK_KBIT = 10000,

    FLOATING = 0xFF, /* a port nobody answers */

    /* QEMU's identity: Realtek's for PCI, in the page selected after power-on */
    QEMU_ID0 = 'P',
    QEMU_ID1 = 'C',
};

/* ---- is it one? ---- */

/*
 * Is nobody there, as far as an 8390 would be?  Of many strangers the port at the base loses
 * something when it is read (a byte of a disk or CD-ROM controller), and few have more than four.
 * ISR, and CURR in its place on page 1, never read as ones.
 */
static bool is_empty(const struct dp8390 *d)
{
    return dp8390_get(d, TSR) == FLOATING && dp8390_get(d, NCR) == FLOATING &&
           dp8390_get(d, ISR) == FLOATING;
}

/* Reading alone: could this be a command register?  QEMU's reads 0 until it is first written; then
 * only its identity, in the page that 0 selects, is reason to go on.  NCR, on page 0, counts to
 * 16. */
static bool looks_like_8390(const struct dp8390 *d, uint8_t cr)
{
    const unsigned run = cr & (CR_START | CR_STOP);

    if ((cr & CR_PAGE_FIELD) == CR_PAGE0 && dp8390_get(d, NCR) == FLOATING) {
        return false;
    }
    if (cr == 0) {
        return dp8390_get(d, RBCR0) == QEMU_ID0 && dp8390_get(d, RBCR1) == QEMU_ID1;
    }
    return cr != FLOATING && (cr & CR_DMA_FIELD) != 0 && run != 0 && run != (CR_START | CR_STOP);
}

static bool holds(const struct dp8390 *d, enum dp8390_reg reg, uint8_t value)
{
    dp8390_put(d, reg, value);
    return dp8390_get(d, reg) == value;
}

/*
 * Writing, as little as possible: CR must keep page and stop bits, and offset 3 must be two
 * registers, BNRY or PAR2 by the page.  Memory or latches of another card are one.  Everything is
 * put back if not.
 */
static bool pages_answer(const struct dp8390 *d, uint8_t cr)
{
    enum { OFFSET = BNRY, SOME = 0x55, OTHER = 0x6A };
    const unsigned page0 = CR_PAGE0 | CR_DMA_ABORT | CR_STOP;
    const unsigned page1 = CR_PAGE1 | CR_DMA_ABORT | CR_STOP;
    uint8_t bnry, par;
    bool answer;

    if (!holds(d, CR, (uint8_t)page0)) {
        dp8390_put(d, CR, cr);
        return false;
    }
    bnry = dp8390_get(d, (enum dp8390_reg)OFFSET);
    if (!holds(d, CR, (uint8_t)page1)) {
        dp8390_put(d, CR, cr);
        return false;
    }
    par = dp8390_get(d, (enum dp8390_reg)OFFSET);
    answer = holds(d, (enum dp8390_reg)OFFSET, OTHER);
    dp8390_put(d, CR, page0);
    answer = answer && holds(d, (enum dp8390_reg)OFFSET, SOME);
    dp8390_put(d, CR, page1);
    answer = answer && dp8390_get(d, (enum dp8390_reg)OFFSET) == OTHER;
    dp8390_put(d, (enum dp8390_reg)OFFSET, par);
    dp8390_put(d, CR, page0);
    dp8390_put(d, (enum dp8390_reg)OFFSET, bnry);
    if (!answer) {
        dp8390_put(d, CR, cr);
    }
    return answer;
}

/* ---- probe ---- */

/*
 * The station address.  Garbage is refused, since any address would be a guess; but who names the
 * card's place (nic=) wants it used: then a locally administered address is made up from it.
 */
static int station_address(struct nic *nic, const struct ne2000_identity *id, char *why,
                           size_t why_size)
{
    const uint16_t io = nic->place.io.base;
    const uint8_t made_up[6] = {0x02, 0x00, 0x00, 0x00, (uint8_t)(io >> 8), (uint8_t)io};

    if (ne2000_address(id, nic->mac)) {
        return 0;
    }
    record_fault("prom", -1);
    record_int("io", io);
    record_end();
    if (!nic->place.given) {
        format(why, why_size,
               "card found, but its PROM is garbage (address %M); "
               "nic=ne2000:0x%x uses it all the same",
               nic->mac, io);
        return E_HARDWARE;
    }
    nic_log(nic, "its PROM is garbage (address %M); using %M", nic->mac, made_up);
    memcpy(nic->mac, made_up, sizeof(nic->mac));
    return 0;
}

/*
 * The memory, whatever the width.  A chip whose data port knows double words only has shown garbage
 * so far: then the PROM is read once more.
 */
static const struct ne2000_layout *find_memory(struct dp8390 *d, struct ne2000_identity *id)
{
    const struct ne2000_limits limits = {
        .isa = d->nic->place.bus == NIC_ISA,
        .bytes_only = ne2000_says_bytes(id),
        .realtek_isa = id->chip == NE2000_RTL8019,
    };
    const struct ne2000_layout *l = ne2000_find_memory(d, &limits);
    uint8_t mac[6];

    if (l != NULL && l->width == 32 && !ne2000_address(id, mac)) {
        ne2000_read_prom(d, id);
        dp8390_stop(d);
    }
    return l;
}

/* No memory answers: because it is not there, or because the bus loses or doubles cycles? */
static void explain_memory(struct dp8390 *d, char *why, size_t why_size)
{
    unsigned seen, wanted;

    d->read_first = false;
    ne2000_use_bytes(d);
    if (ne2000_counts_right(d, &seen, &wanted)) {
        format(why, why_size, "an 8390 answers, but no card memory, in %s16 bits or 8",
               d->nic->place.bus == NIC_PCI ? "32, " : "");
    } else {
        format(why, why_size,
               "an 8390 answers, but its remote DMA address is wrong (%04x, not %04x): bus cycles "
               "are lost or doubled; is the bus too fast?",
               seen, wanted);
    }
}

/* Oddities of a card that works all the same. */
static void warn(struct dp8390 *d, bool reset_seen, unsigned isr)
{
    unsigned seen, wanted;

    if (!reset_seen) {
        nic_log(d->nic, "no reset acknowledge (ISR %02x after %u ms); the rest works, going on",
                isr, NE2000_WAIT_US / 1000);
    }
    if (!ne2000_counts_right(d, &seen, &wanted)) {
        nic_log(d->nic, "remote DMA address mismatch (%04x, not %04x); is the bus too fast?", seen,
                wanted);
    }
}

/* From "it is an 8390" to a complete struct nic.  Every failure leaves it stopped and masked. */
static int set_up(struct dp8390 *d, struct nic *nic, char *why, size_t why_size)
{
    const bool reset_seen = d->board->reset(d) == 0;
    const unsigned isr = dp8390_get(d, ISR);
    const struct ne2000_layout *l;
    struct ne2000_identity id;
    int error;

    ne2000_use_bytes(d);
    id.chip = ne2000_ask_chip(d);
    ne2000_read_prom(d, &id);
    l = find_memory(d, &id);
    if (l == NULL) {
        explain_memory(d, why, why_size);
        return E_HARDWARE;
    }
    error = station_address(nic, &id, why, why_size);
    if (error != 0) {
        return error;
    }
    warn(d, reset_seen, isr);
    ne2000_name(&id, l, nic);
    ne2000_read_config(d, id.chip, nic);
    nic->width = l->width;
    nic->ring_kb = (uint16_t)((unsigned)(d->rx_stop - d->rx_start) * DP8390_PAGE / 1024);
    nic->link_kbit = LINK_KBIT;
    nic->ops = &dp8390_ops;
    return 0;
}

static int ne2000_probe(const struct nic_place *place, struct nic *nic, char *why, size_t why_size)
{
    struct dp8390 *d = dp8390_of(nic);
    uint8_t cr;

    *d = (struct dp8390){
        .reg = place->io,
        .data = {(uint16_t)(place->io.base + DATA_PORT)},
        .pulse = {(uint16_t)(place->io.base + RESET_PORT)},
        .board = &ne2000_in_bytes,
        .nic = nic,
    };
    nic->place = *place;
    if (is_empty(d)) {
        format(why, why_size, "nothing there");
        return E_NOT_FOUND;
    }
    cr = dp8390_get(d, CR);
    /* A PCI card says what it is by its numbers; iPXE leaves QEMU's with neither start nor stop. */
    if (place->bus != NIC_PCI && !looks_like_8390(d, cr)) {
        format(why, why_size, "not an 8390 (port reads %02x)", cr);
        return E_NOT_FOUND;
    }
    if (!pages_answer(d, cr)) {
        format(why, why_size, "not an 8390 (no register pages, port read %02x)", cr);
        return E_NOT_FOUND;
    }
    return set_up(d, nic, why, why_size);
}

static const uint16_t candidates[] = {0x300, 0x280, 0x320, 0x340, 0x360, 0};

/* The same board behind a PCI bridge chip.  Vendor and device from the PCI ID list. */
static const struct nic_pci_id pci_ids[] = {
    {0x10EC, 0x8029, "RTL8029"},         {0x1050, 0x0940, "Winbond 89C940"},
    {0x1050, 0x5A5A, "Winbond 89C940F"}, {0x8C4A, 0x1980, "Winbond 89C940"},
    {0x1106, 0x0926, "VIA 86C926"},      {0x10BD, 0x0E34, "SureCom NE34"},
    {0x11F6, 0x1401, "Compex RL2000"},   {0x8E2E, 0x3000, "KTI ET32P2"},
    {0x4A14, 0x5000, "NetVin NV5000SC"}, {0x12C3, 0x0058, "Holtek HT80232"},
    {0x12C3, 0x5598, "Holtek HT80229"},  {0, 0, NULL},
};

NIC_DRIVER(ne2000_driver) = {
    .name = "ne2000",
    .isa_candidates = candidates,
    .order = NIC_ORDER_PORT,
    .pci_ids = pci_ids,
    .pnp_ids = ne2000_pnp_ids,
    .probe = ne2000_probe,
};
