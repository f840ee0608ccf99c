/*
 * What the selftest wants to know of data-port boards: narrower ways to run them, and their PROM.
 *
 * The PROM answers in bytes on every board, but for those whose data port knows double words only.
 */
#include "drivers/8390/ne2000.h"
#include "kernel/string.h"

enum {
    DCR_BYTES = DCR_FIFO_8 | DCR_LOOPBACK_OFF,
    DCR_WORDS = DCR_FIFO_8 | DCR_LOOPBACK_OFF | DCR_WTS,
    RAW_BYTES = 2 * DP8390_PROM_BYTES, /* 16-bit boards: every byte twice */
    SIGNATURE = 14,
};

#define IN_BYTES                                                                                   \
    {                                                                                              \
        .board = &ne2000_in_bytes, .dcr = DCR_BYTES, .width = 8                                    \
    }
#define IN_WORDS                                                                                   \
    {                                                                                              \
        .board = &ne2000_in_words, .dcr = DCR_WORDS, .width = 16                                   \
    }

const struct dp8390_way ne2000_below_words[] = {IN_BYTES, {.board = NULL}};
const struct dp8390_way ne2000_below_dwords[] = {IN_WORDS, IN_BYTES, {.board = NULL}};

static const char *signature_words(const uint8_t *prom, bool doubled)
{
    const uint8_t letter = prom[SIGNATURE];

    if (letter == prom[SIGNATURE + 1] && letter == 'W') {
        return doubled ? "a 16-bit board (signature WW)" : "an 8-bit board (signature WW)";
    }
    if (letter == prom[SIGNATURE + 1] && letter == 'B') {
        return "a board in an 8-bit slot (signature BB)";
    }
    return doubled ? "a 16-bit clone (no signature)" : "an 8-bit clone (no signature)";
}

bool ne2000_prom(struct dp8390 *d, struct dp8390_prom *prom)
{
    uint8_t raw[RAW_BYTES];
    bool doubled = true;

    if (d->board != &ne2000_in_dwords) {
        ne2000_use_bytes(d);
    }
    d->board->read(d, 0, raw, sizeof(raw));
    for (unsigned i = 0; i < RAW_BYTES; i += 2) {
        doubled = doubled && raw[i] == raw[i + 1];
    }
    prom->n = DP8390_PROM_BYTES;
    for (unsigned i = 0; i < DP8390_PROM_BYTES; i++) {
        prom->raw[i] = raw[doubled ? 2 * i : i];
    }
    memcpy(prom->mac, prom->raw, sizeof(prom->mac));
    if (!nic_address_usable(prom->mac)) {
        prom->words = "not a station's address";
        return false;
    }
    prom->words = signature_words(prom->raw, doubled);
    return true;
}
