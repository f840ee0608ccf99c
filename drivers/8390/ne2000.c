/*
 * NE1000 and NE2000 boards and what is compatible with them (RTL8019, RTL8019AS, UM9008, DM9008,
 * RTL8029 in QEMU's ISA guise): an 8390 whose memory is reached through a data port by remote DMA.
 *
 * Ports: 00-0F the chip, 10 the data port, 1F reset (a read asserts, a write releases).  Memory:
 * a PROM of 32 bytes at 0 with address and signature, RAM at 4000h (NE1000: 2000h).
 * Sources: Novell NE2000 board as described in National's application note AN-874 for the
 * DP83905 ("NE2000 mode"), RTL8019AS data sheet (Realtek, 1997), drivers/QUIRKS.md.
 */
#include "drivers/8390/dp8390.h"
#include "kernel/error.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    DATA_PORT = 0x10,
    RESET_PORT = 0x1F,

    PORT_WAIT_US = 20 * 1000, /* for a reset or remote DMA to be confirmed; DMA takes under 2 ms */
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

    DCR_BYTES = DCR_FIFO_8 | DCR_LOOPBACK_OFF,
    DCR_WORDS = DCR_FIFO_8 | DCR_LOOPBACK_OFF | DCR_WTS,
};

/* ---- remote DMA ---- */

static void start_dma(const struct dp8390 *d, enum dp8390_cr direction, unsigned address,
                      unsigned n)
{
    dp8390_put(d, RBCR0, n);
    dp8390_put(d, RBCR1, n >> 8);
    dp8390_put(d, RSAR0, address);
    dp8390_put(d, RSAR1, address >> 8);
    dp8390_put(d, CR, CR_PAGE0 | (unsigned)direction | CR_START);
}

/* The chip counts the bytes as we do; some never set RDC after a read, so it is not asked for. */
static void ne2000_read(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    if (!d->word) {
        start_dma(d, CR_DMA_READ, address, n);
        io_in8_rep(d->data, 0, to, n);
        return;
    }
    start_dma(d, CR_DMA_READ, address, n + n % 2);
    io_in16_rep(d->data, 0, to, n / 2);
    if (n % 2 != 0) {
        ((uint8_t *)to)[n - 1] = (uint8_t)io_in16(d->data, 0);
    }
}

static const uint8_t zeros[FRAME_MIN];

static void push_bytes(const struct dp8390 *d, const struct tx_frame *frame, unsigned padding)
{
    for (unsigned i = 0; i < frame->n; i++) {
        io_out8_rep(d->data, 0, frame->v[i].at, frame->v[i].length);
    }
    io_out8_rep(d->data, 0, zeros, padding);
}

/* Slices may have any length and address; the odd byte at the end of one is the low half of a
 * word whose high half comes from the next. */
static void push_words(const struct dp8390 *d, const struct tx_frame *frame, unsigned padding)
{
    unsigned carry = 0;
    bool odd = false;

    for (unsigned i = 0; i < frame->n; i++) {
        const uint8_t *at = frame->v[i].at;
        unsigned n = frame->v[i].length;

        if (odd && n > 0) {
            io_out16(d->data, 0, (uint16_t)(carry | (unsigned)*at << 8));
            at++;
            n--;
            odd = false;
        }
        io_out16_rep(d->data, 0, at, n / 2);
        if (n % 2 != 0) {
            carry = at[n - 1];
            odd = true;
        }
    }
    if (odd) {
        io_out16(d->data, 0, (uint16_t)carry); /* its high half is padding, or beyond the frame */
        padding -= padding > 0;
    }
    io_out16_rep(d->data, 0, zeros, (padding + 1) / 2);
}

static int ne2000_write(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                        unsigned padded)
{
    const unsigned padding = padded - frame->total;
    struct deadline limit;

    dp8390_put(d, ISR, ISR_RDC);
    if (d->word) {
        start_dma(d, CR_DMA_WRITE, address, padded + padded % 2);
        push_words(d, frame, padding);
    } else {
        start_dma(d, CR_DMA_WRITE, address, padded);
        push_bytes(d, frame, padding);
    }
    if ((dp8390_get(d, ISR) & ISR_RDC) != 0) {
        return 0; /* nearly always: no clock is read */
    }
    limit = deadline_us(PORT_WAIT_US);
    while ((dp8390_get(d, ISR) & ISR_RDC) == 0) {
        if (expired(&limit)) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

/* Read and write back to back: with the usual pause between port accesses, some clones do not
 * reset. */
static int ne2000_reset(struct dp8390 *d)
{
    struct deadline limit;

    io_out8(d->pulse, 0, io_in8(d->pulse, 0));
    limit = deadline_us(PORT_WAIT_US);
    while ((dp8390_get(d, ISR) & ISR_RST) == 0) {
        if (expired(&limit)) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

static const struct dp8390_board board = {
    .reset = ne2000_reset,
    .read = ne2000_read,
    .write = ne2000_write,
};

/* ---- identification ---- */

/* Reading alone: could this be a command register?  QEMU's reads 0 until it is first written; then
 * only its identity, in the page that 0 selects, is reason to go on. */
static bool looks_like_8390(const struct dp8390 *d, uint8_t cr)
{
    const unsigned run = cr & (CR_START | CR_STOP);

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
static void identify(struct dp8390 *d, struct identity *id)
{
    uint8_t raw[PROM_BYTES];
    const unsigned id0 = dp8390_get(d, RBCR0);
    const unsigned id1 = dp8390_get(d, RBCR1);

    id->realtek = id0 == REALTEK_ID0 && id1 == REALTEK_ID1_ISA;
    id->pci_chip = id0 == REALTEK_ID0 && id1 == REALTEK_ID1_PCI;
    ne2000_read(d, 0, raw, sizeof(raw));
    id->doubled = true;
    for (unsigned i = 0; i < PROM_BYTES; i += 2) {
        id->doubled = id->doubled && raw[i] == raw[i + 1];
    }
    for (unsigned i = 0; i < sizeof(id->prom); i++) {
        id->prom[i] = raw[id->doubled ? 2 * i : i];
    }
}

static bool signed_by(const struct identity *id, uint8_t letter)
{
    return id->prom[PROM_SIGNATURE] == letter && id->prom[PROM_SIGNATURE + 1] == letter;
}

/* ---- card memory ---- */

/* Ways the RAM may be laid out, best first.  Pages [first, stop). */
struct layout {
    bool word;
    uint8_t first, stop;
    const char *name;
};

static const struct layout layouts[] = {
    {.word = true, .first = 0x40, .stop = 0x80, .name = "NE2000"},
    {.word = false, .first = 0x40, .stop = 0x80, .name = "NE2000"},
    {.word = false, .first = 0x40, .stop = 0x60, .name = "NE2000"},
    {.word = false, .first = 0x20, .stop = 0x40, .name = "NE1000"},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static void use_layout(struct dp8390 *d, const struct layout *l)
{
    d->word = l->word;
    d->dcr = l->word ? DCR_WORDS : DCR_BYTES;
    d->tx_page = l->first;
    d->rx_start = (uint8_t)(l->first + DP8390_TX_SLOTS * DP8390_TX_PAGES);
    d->rx_stop = l->stop;
    dp8390_stop(d);
}

enum { RAM_SAMPLE = 64, RAM_SAMPLES = 3 };

static uint8_t ram_pattern(unsigned page, unsigned i)
{
    return (uint8_t)(page * 0x3B + i * 0x1D + 0x5A);
}

/*
 * Write first, middle and last page, then read all three: shows the width and the size, for a
 * smaller memory repeats itself.  What was there need not be saved: frames of a driver long gone.
 */
static bool ram_answers(struct dp8390 *d, const struct layout *l)
{
    const unsigned page[RAM_SAMPLES] = {l->first, (l->first + l->stop) / 2U, l->stop - 1U};
    uint8_t sample[RAM_SAMPLE];

    for (unsigned p = 0; p < RAM_SAMPLES; p++) {
        const struct slice slice = {sample, RAM_SAMPLE};
        const struct tx_frame block = {&slice, 1, RAM_SAMPLE};

        for (unsigned i = 0; i < RAM_SAMPLE; i++) {
            sample[i] = ram_pattern(page[p], i);
        }
        if (ne2000_write(d, page[p] * DP8390_PAGE, &block, RAM_SAMPLE) != 0) {
            return false;
        }
    }
    for (unsigned p = 0; p < RAM_SAMPLES; p++) {
        ne2000_read(d, page[p] * DP8390_PAGE, sample, RAM_SAMPLE);
        for (unsigned i = 0; i < RAM_SAMPLE; i++) {
            if (sample[i] != ram_pattern(page[p], i)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * The best layout whose memory answers, in force; null if none does.  Words are not even tried if
 * the PROM says bytes; one that is garbage has no say.
 */
static const struct layout *find_memory(struct dp8390 *d, const struct identity *id)
{
    const bool bytes =
        nic_address_usable(id->prom) && (!id->doubled || signed_by(id, SIGNATURE_BYTE));

    for (unsigned i = 0; i < LAYOUTS; i++) {
        const struct layout *l = &layouts[i];

        if (l->word && bytes) {
            continue;
        }
        if (!l->word && id->realtek && l->stop > 0x60) {
            continue; /* an RTL8019AS in 8-bit mode has no memory above page 60h */
        }
        use_layout(d, l);
        if (ram_answers(d, l)) {
            return l;
        }
    }
    return NULL;
}

/* ---- probe ---- */

static const char *model_name(const struct identity *id, const struct layout *l)
{
    if (id->realtek) {
        return "RTL8019AS";
    }
    if (id->pci_chip) {
        return "RTL8029-compatible";
    }
    if (!signed_by(id, SIGNATURE_WORD) && !signed_by(id, SIGNATURE_BYTE)) {
        return l->first == layouts[0].first ? "NE2000 clone (no signature)"
                                            : "NE1000 clone (no signature)";
    }
    return l->name;
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

/* From "it is an 8390" to a complete struct nic.  Every failure leaves it stopped and masked. */
static int set_up(struct dp8390 *d, struct nic *nic, char *why, size_t why_size)
{
    const bool reset_seen = ne2000_reset(d) == 0;
    const unsigned isr = dp8390_get(d, ISR);
    const struct layout *l;
    struct identity id;
    int error;

    dp8390_stop(d);
    identify(d, &id);
    l = find_memory(d, &id);
    dp8390_stop(d);
    if (l == NULL) {
        format(why, why_size, "an 8390 answers, but no card memory, in 16 bits or 8");
        return E_HARDWARE;
    }
    error = station_address(nic, &id, why, why_size);
    if (error != 0) {
        return error;
    }
    if (!reset_seen) {
        nic_log(nic, "no reset acknowledge (ISR %02x after %u ms); the rest works, going on", isr,
                PORT_WAIT_US / 1000);
    }
    format(nic->model, sizeof(nic->model), "%s", model_name(&id, l));
    nic->width = l->word ? 16 : 8;
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
        .board = &board,
        .nic = nic,
        .dcr = DCR_BYTES,
    };
    nic->place = *place;
    cr = dp8390_get(d, CR);
    if (!looks_like_8390(d, cr)) {
        format(why, why_size, cr == FLOATING ? "nothing there" : "not an 8390 (port reads %02x)",
               cr);
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
    {0x10EC, 0x8029, "RTL8029"},
    {0x1050, 0x0940, "Winbond 89C940"},
    {0x1050, 0x5A5A, "Winbond 89C940F"},
    {0x8C4A, 0x1980, "Winbond 89C940"},
    {0x1106, 0x0926, "VIA 86C926"},
    {0x11F6, 0x1401, "Compex RL2000"},
    {0x8E2E, 0x3000, "KTI ET32P2"},
    {0x4A14, 0x5000, "NetVin NV5000SC"},
    {0x12C3, 0x0058, "Holtek HT80232"},
    {0x12C3, 0x5598, "Holtek HT80229"},
    {0, 0, NULL},
};

NIC_DRIVER(ne2000_driver) = {
    .name = "ne2000",
    .isa_candidates = candidates,
    .order = NIC_ORDER_PORT,
    .pci_ids = pci_ids,
    .probe = ne2000_probe,
};
