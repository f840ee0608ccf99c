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

    PROM_BYTES = 32, /* every byte twice on a 16-bit board in byte mode */
    PROM_SIGNATURE = 14,
    SIGNATURE_WORD = 0x57, /* "WW": board in a 16-bit slot */
    SIGNATURE_BYTE = 0x42, /* "BB": board in an 8-bit slot */

    FLOATING = 0xFF, /* a port nobody answers */

    /* Read side of RBCR0/1 on Realtek's chips: an identity (RTL8019AS data sheet, 8019ID0/1) */
    REALTEK_ID0 = 0x50,
    REALTEK_ID1_ISA = 0x70,
    REALTEK_ID1_PCI = 0x43,

    NE2000_FIRST = 0x40, /* page of the RAM of a board that is no NE1000 */
};

/* ---- identification ---- */

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
        return dp8390_get(d, RBCR0) == REALTEK_ID0 && dp8390_get(d, RBCR1) == REALTEK_ID1_PCI;
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

/* What is known of a board before its memory has been tried. */
struct identity {
    uint8_t prom[PROM_BYTES / 2];
    bool doubled;  /* 16-bit board: every PROM byte twice              */
    bool realtek;  /* RTL8019 or RTL8019AS                             */
    bool pci_chip; /* RTL8029; also QEMU's ISA model                   */
};

/* The chip is set up, or the PROM reads as garbage. */
static void read_prom(struct dp8390 *d, struct identity *id)
{
    uint8_t raw[PROM_BYTES];

    d->board->read(d, 0, raw, sizeof(raw));
    id->doubled = true;
    for (unsigned i = 0; i < PROM_BYTES; i += 2) {
        id->doubled = id->doubled && raw[i] == raw[i + 1];
    }
    for (unsigned i = 0; i < sizeof(id->prom); i++) {
        id->prom[i] = raw[id->doubled ? 2 * i : i];
    }
}

static void identify(struct dp8390 *d, struct identity *id)
{
    const unsigned id0 = dp8390_get(d, RBCR0);
    const unsigned id1 = dp8390_get(d, RBCR1);

    id->realtek = id0 == REALTEK_ID0 && id1 == REALTEK_ID1_ISA;
    id->pci_chip = id0 == REALTEK_ID0 && id1 == REALTEK_ID1_PCI;
    read_prom(d, id);
}

static bool signed_by(const struct identity *id, uint8_t letter)
{
    return id->prom[PROM_SIGNATURE] == letter && id->prom[PROM_SIGNATURE + 1] == letter;
}

/* ---- probe ---- */

static const char *model_name(const struct identity *id, const struct ne2000_layout *l)
{
    if (id->realtek) {
        return "RTL8019AS";
    }
    if (id->pci_chip) {
        return "RTL8029-compatible";
    }
    if (!signed_by(id, SIGNATURE_WORD) && !signed_by(id, SIGNATURE_BYTE)) {
        return l->first == NE2000_FIRST ? "NE2000 clone (no signature)"
                                        : "NE1000 clone (no signature)";
    }
    return l->first == NE2000_FIRST ? "NE2000" : "NE1000";
}

/*
 * The station address.  Garbage is refused, since any address would be a guess; but who names the
 * card's place (nic=) wants it used: then a locally administered address is made up from it.
 */
static int station_address(struct nic *nic, const struct identity *id, char *why, size_t why_size)
{
    const uint16_t io = nic->place.io.base;
    const uint8_t made_up[6] = {0x02, 0x00, 0x00, 0x00, (uint8_t)(io >> 8), (uint8_t)io};

    memcpy(nic->mac, id->prom, sizeof(nic->mac));
    if (nic_address_usable(nic->mac)) {
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
 * The memory, whatever the width.  Words are not even tried if the PROM says bytes; one that is
 * garbage has no say.  A chip whose data port knows double words only has shown garbage so far.
 */
static const struct ne2000_layout *find_memory(struct dp8390 *d, struct identity *id)
{
    const bool usable = nic_address_usable(id->prom);
    const struct ne2000_limits limits = {
        .isa = d->nic->place.bus == NIC_ISA,
        .bytes_only = usable && (!id->doubled || signed_by(id, SIGNATURE_BYTE)),
        .realtek_isa = id->realtek,
    };
    const struct ne2000_layout *l = ne2000_find_memory(d, &limits);

    if (l != NULL && l->width == 32 && !usable) {
        read_prom(d, id);
    }
    return l;
}

/* From "it is an 8390" to a complete struct nic.  Every failure leaves it stopped and masked. */
static int set_up(struct dp8390 *d, struct nic *nic, char *why, size_t why_size)
{
    const bool reset_seen = d->board->reset(d) == 0;
    const unsigned isr = dp8390_get(d, ISR);
    const struct ne2000_layout *l;
    struct identity id;
    int error;

    ne2000_use_bytes(d);
    identify(d, &id);
    l = find_memory(d, &id);
    dp8390_stop(d);
    if (l == NULL) {
        format(why, why_size, "an 8390 answers, but no card memory, in %s16 bits or 8",
               nic->place.bus == NIC_PCI ? "32 bits, " : "");
        return E_HARDWARE;
    }
    error = station_address(nic, &id, why, why_size);
    if (error != 0) {
        return error;
    }
    if (!reset_seen) {
        nic_log(nic, "no reset acknowledge (ISR %02x after %u ms); the rest works, going on", isr,
                NE2000_WAIT_US / 1000);
    }
    format(nic->model, sizeof(nic->model), "%s", model_name(&id, l));
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
    if (!looks_like_8390(d, cr)) {
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
