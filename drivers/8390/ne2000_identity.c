/*
 * What a data-port board says of itself: the PROM with address and signature, and its name.
 *
 * A 16-bit board gives every byte of its PROM twice; "WW" (a board in a 16-bit slot) or "BB" (in an
 * 8-bit one) stands at bytes 14 and 15.  Clones leave any of that out (QUIRKS), so all of it is a
 * hint, and the RAM test decides.
 */
#include "drivers/8390/ne2000.h"
#include "drivers/nic_pci.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    ADDRESS_BYTES = 6,
    SIGNATURE = 14, /* and the byte behind it */
    SIGNATURE_WORD = 0x57,
    SIGNATURE_BYTE = 0x42,
    COPAM_0 = 0x49,
    COPAM_1 = 0x00,
    NE1000_FIRST = 0x20, /* page of its RAM; Cabletron's is below, all others' above */
};

void ne2000_read_prom(struct dp8390 *d, struct ne2000_identity *id)
{
    d->board->read(d, 0, id->raw, NE2000_PROM);
}

/* How many pairs of equal bytes it begins with. */
static unsigned pairs(const struct ne2000_identity *id)
{
    unsigned n = 0;

    while (n < NE2000_PROM / 2 && id->raw[2 * n] == id->raw[2 * n + 1]) {
        n++;
    }
    return n;
}

static bool is_signature(uint8_t a, uint8_t b)
{
    return a == b && (a == SIGNATURE_WORD || a == SIGNATURE_BYTE);
}

/*
 * Is every byte there twice?  The address tells: one that looks doubled and is not would be a rare
 * chance.  What comes behind it may be junk, but for a signature where an 8-bit board has it.
 */
static bool doubled(const struct ne2000_identity *id)
{
    const bool wide = is_signature(id->raw[2 * SIGNATURE], id->raw[2 * SIGNATURE + 2]);
    const bool narrow = is_signature(id->raw[SIGNATURE], id->raw[SIGNATURE + 1]);

    return pairs(id) >= ADDRESS_BYTES && (wide || !narrow);
}

static uint8_t prom(const struct ne2000_identity *id, unsigned i)
{
    return id->raw[doubled(id) ? 2 * i : i];
}

bool ne2000_address(const struct ne2000_identity *id, uint8_t mac[6])
{
    for (unsigned i = 0; i < ADDRESS_BYTES; i++) {
        mac[i] = prom(id, i);
    }
    return nic_address_usable(mac);
}

bool ne2000_says_bytes(const struct ne2000_identity *id)
{
    uint8_t mac[ADDRESS_BYTES];

    return ne2000_address(id, mac) && (!doubled(id) || (prom(id, SIGNATURE) == SIGNATURE_BYTE &&
                                                        prom(id, SIGNATURE + 1) == SIGNATURE_BYTE));
}

/* The name in the list of PCI cards: the bridge differs, the board behind it does not tell. */
static const char *pci_name(const struct nic *nic)
{
    const struct nic_pci_id *card;

    return nic_pci_driver(pci_read32(nic->place.pci, PCI_ID), &card) != NULL ? card->name
                                                                             : "NE2000";
}

void ne2000_name(const struct ne2000_identity *id, const struct ne2000_layout *l, struct nic *nic)
{
    static const char *const by_chip[] = {
        [NE2000_RTL8019] = "RTL8019AS",
        [NE2000_RTL8029] = "RTL8029-compatible",
        [NE2000_AT_LANTIC] = "AT/LANTIC (DP83905)",
    };
    const char *board = l->first == NE1000_FIRST ? "NE1000" : "NE2000";
    const char *clone = l->first == NE1000_FIRST  ? "NE1000 clone"
                        : l->first < NE1000_FIRST ? "Cabletron"
                                                  : "NE2000 clone";
    const uint8_t a = prom(id, SIGNATURE);
    const uint8_t b = prom(id, SIGNATURE + 1);

    if (nic->place.bus == NIC_PCI) {
        format(nic->model, sizeof(nic->model), "%s", pci_name(nic));
    } else if (id->chip != NE2000_ANY) {
        format(nic->model, sizeof(nic->model), "%s", by_chip[id->chip]);
    } else if (is_signature(a, b)) {
        format(nic->model, sizeof(nic->model), "%s", board);
    } else {
        format(nic->model, sizeof(nic->model), "%s (no signature)",
               a == COPAM_0 && b == COPAM_1 ? "COPAM clone" : clone);
    }
}
