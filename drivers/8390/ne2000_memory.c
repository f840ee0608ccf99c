/*
 * Which memory a data-port board has, and how wide its data port is: only trying tells.
 *
 * Width and size guessed from the PROM or from the chip's name are wrong on one card in a few
 * (QUIRKS); a board whose bytes do not come back unharmed is none we can use.
 */
#include "drivers/8390/ne2000.h"

enum {
    DCR_BYTES = DCR_FIFO_8 | DCR_LOOPBACK_OFF,
    DCR_WORDS = DCR_FIFO_8 | DCR_LOOPBACK_OFF | DCR_WTS,

    RAM_SAMPLE = 64,
    RAM_SAMPLES = 3,
    REALTEK_STOP_BYTES = 0x60,
};

/* The best first; from page 20h the NE1000's, from page 1 Cabletron's, whose RAM begins behind the
 * PROM: 16 KB, or 8 in bytes. */
static const struct ne2000_layout layouts[] = {
    {.board = &ne2000_in_dwords, .dcr = DCR_WORDS, .width = 32, .first = 0x40, .stop = 0x80},
    {.board = &ne2000_in_dwords, .dcr = DCR_WORDS, .width = 32, .first = 0x40, .stop = 0x60},
    {.board = &ne2000_in_words, .dcr = DCR_WORDS, .width = 16, .first = 0x40, .stop = 0x80},
    {.board = &ne2000_in_bytes, .dcr = DCR_BYTES, .width = 8, .first = 0x40, .stop = 0x80},
    {.board = &ne2000_in_bytes, .dcr = DCR_BYTES, .width = 8, .first = 0x40, .stop = 0x60},
    {.board = &ne2000_in_words, .dcr = DCR_WORDS, .width = 16, .first = 0x01, .stop = 0x40},
    {.board = &ne2000_in_bytes, .dcr = DCR_BYTES, .width = 8, .first = 0x20, .stop = 0x40},
    {.board = &ne2000_in_bytes, .dcr = DCR_BYTES, .width = 8, .first = 0x01, .stop = 0x20},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

void ne2000_use_bytes(struct dp8390 *d)
{
    d->board = &ne2000_in_bytes;
    d->dcr = DCR_BYTES;
    dp8390_stop(d);
}

static void use_layout(struct dp8390 *d, const struct ne2000_layout *l)
{
    d->board = l->board;
    d->dcr = l->dcr;
    d->tx_page = l->first;
    d->rx_start = (uint8_t)(l->first + DP8390_TX_SLOTS * DP8390_TX_PAGES);
    d->rx_stop = l->stop;
    dp8390_stop(d);
}

static uint8_t ram_pattern(unsigned page, unsigned i)
{
    return (uint8_t)(page * 0x3B + i * 0x1D + 0x5A);
}

/*
 * Write first, middle and last page, then read all three: shows the width and the size, for a
 * smaller memory repeats itself.  What was there need not be saved: frames of a driver long gone.
 */
static bool ram_answers(struct dp8390 *d)
{
    const unsigned first = d->tx_page, stop = d->rx_stop;
    const unsigned page[RAM_SAMPLES] = {first, (first + stop) / 2, stop - 1};
    uint8_t sample[RAM_SAMPLE];

    for (unsigned p = 0; p < RAM_SAMPLES; p++) {
        const struct slice slice = {sample, RAM_SAMPLE};
        const struct tx_frame block = {&slice, 1, RAM_SAMPLE};

        for (unsigned i = 0; i < RAM_SAMPLE; i++) {
            sample[i] = ram_pattern(page[p], i);
        }
        if (d->board->write(d, page[p] * DP8390_PAGE, &block, RAM_SAMPLE) != 0) {
            return false;
        }
    }
    for (unsigned p = 0; p < RAM_SAMPLES; p++) {
        d->board->read(d, page[p] * DP8390_PAGE, sample, RAM_SAMPLE);
        for (unsigned i = 0; i < RAM_SAMPLE; i++) {
            if (sample[i] != ram_pattern(page[p], i)) {
                return false;
            }
        }
    }
    return true;
}

static bool ruled_out(const struct ne2000_layout *l, const struct ne2000_limits *limits)
{
    return (limits->isa && l->width > 16) || (limits->bytes_only && l->width > 8) ||
           (limits->realtek_isa && l->width == 8 && l->stop > REALTEK_STOP_BYTES);
}

static const struct ne2000_layout *try_layouts(struct dp8390 *d, const struct ne2000_limits *limits)
{
    for (unsigned i = 0; i < LAYOUTS; i++) {
        if (ruled_out(&layouts[i], limits)) {
            continue;
        }
        use_layout(d, &layouts[i]);
        if (ram_answers(d)) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* Early DP8390s spoil a remote write that does not follow a remote read: then nothing answers as
 * it should, until it is done so. */
const struct ne2000_layout *ne2000_find_memory(struct dp8390 *d, const struct ne2000_limits *limits)
{
    const struct ne2000_layout *found;

    d->read_first = false;
    found = try_layouts(d, limits);
    if (found == NULL) {
        d->read_first = true;
        found = try_layouts(d, limits);
    }
    dp8390_stop(d);
    return found;
}
