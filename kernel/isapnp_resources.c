/*
 * Resource data of a Plug and Play card: a list of tagged items, small ones with their length in
 * the tag, large ones with it behind.  Source: Plug and Play ISA Specification 1.0a, chapter 6.
 *
 * The data comes from a card, so nothing in it is believed: lengths, order, and that it ends.
 */
#include "kernel/isapnp.h"
#include "kernel/string.h"

enum {
    TAG_LARGE = 0x80,
    SMALL_NAME_SHIFT = 3,
    SMALL_LENGTH = 7,
    /* small, by name */
    TAG_DEVICE = 2,
    TAG_COMPATIBLE = 3,
    TAG_IRQ = 4,
    TAG_DEPENDENT = 6,
    TAG_DEPENDENT_END = 7,
    TAG_IO = 8,
    TAG_FIXED_IO = 9,
    TAG_END = 15,
    /* large, whole */
    TAG_NAME = 0x82,

    ITEM_BYTES = 32,   /* of an item that are looked at */
    DATA_BYTES = 4096, /* no card has that much: it is nonsense */
    FIXED_IO_MASK = 0x3FF,
};

struct item {
    unsigned tag; /* name of a small one, or the whole tag of a large one */
    unsigned length;
    uint8_t data[ITEM_BYTES]; /* zeros behind the end */
};

struct reader {
    int (*next)(void *arg);
    void *arg;
    unsigned left;
    bool io_taken; /* in this dependent function: what follows are further ranges */
};

static int next_byte(struct reader *r)
{
    if (r->left == 0) {
        return -1;
    }
    r->left--;
    return r->next(r->arg);
}

static bool next_item(struct reader *r, struct item *item)
{
    const int tag = next_byte(r);
    int low = 0, high = 0;

    memset(item, 0, sizeof(*item));
    if (tag < 0) {
        return false;
    }
    if ((tag & TAG_LARGE) != 0) {
        item->tag = (unsigned)tag;
        low = next_byte(r);
        high = next_byte(r);
        item->length = (unsigned)low | (unsigned)high << 8;
    } else {
        item->tag = (unsigned)tag >> SMALL_NAME_SHIFT;
        item->length = (unsigned)tag & SMALL_LENGTH;
    }
    if (low < 0 || high < 0 || item->length > r->left) {
        return false;
    }
    for (unsigned i = 0; i < item->length; i++) {
        const int byte = next_byte(r);

        if (byte < 0) {
            return false;
        }
        if (i < ITEM_BYTES) {
            item->data[i] = (uint8_t)byte;
        }
    }
    return item->tag != TAG_END;
}

/* ---- what an item says ---- */

void isapnp_id(const uint8_t raw[4], char text[ISAPNP_ID_BYTES])
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned letters = (unsigned)raw[0] << 8 | raw[1]; /* three of five bits */

    for (unsigned i = 0; i < 3; i++) {
        text[i] = (char)('@' + (letters >> (10 - 5 * i) & 0x1F));
    }
    for (unsigned i = 0; i < 4; i++) {
        text[3 + i] = digits[raw[2 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 0xF];
    }
    text[7] = '\0';
}

static void add_compatible(struct isapnp_device *d, const struct item *item)
{
    for (unsigned i = 0; i < ISAPNP_COMPATIBLE; i++) {
        if (d->compatible[i][0] == '\0') {
            isapnp_id(item->data, d->compatible[i]);
            return;
        }
    }
}

/* Item 6.2.2.6: information, first and last base, alignment, length. */
static void add_io(struct reader *r, struct isapnp_device *d, const struct item *item)
{
    const uint8_t *b = item->data;

    if (r->io_taken || d->ranges == ISAPNP_RANGES) {
        return;
    }
    r->io_taken = true;
    d->range[d->ranges++] = (struct isapnp_range){
        .first = (uint16_t)(b[1] | b[2] << 8),
        .last = (uint16_t)(b[3] | b[4] << 8),
        .step = b[5],
        .ports = b[6],
    };
}

/* Item 6.2.2.7: base in ten bits, length. */
static void add_fixed_io(struct reader *r, struct isapnp_device *d, const struct item *item)
{
    const uint16_t base = (uint16_t)((item->data[0] | item->data[1] << 8) & FIXED_IO_MASK);

    if (r->io_taken || d->ranges == ISAPNP_RANGES) {
        return;
    }
    r->io_taken = true;
    d->range[d->ranges++] = (struct isapnp_range){base, base, 0, item->data[2]};
}

static void set_name(struct isapnp_device *d, const struct item *item)
{
    unsigned n = 0;

    for (unsigned i = 0; i < item->length && i < ITEM_BYTES && n + 1 < sizeof(d->name); i++) {
        if (item->data[i] >= ' ' && item->data[i] < 0x7F) {
            d->name[n++] = (char)item->data[i];
        }
    }
    d->name[n] = '\0';
}

static void take(struct reader *r, struct isapnp_device *d, const struct item *item)
{
    switch (item->tag) {
    case TAG_COMPATIBLE: add_compatible(d, item); break;
    case TAG_IRQ: d->irqs |= (uint16_t)(item->data[0] | item->data[1] << 8); break;
    case TAG_DEPENDENT:
    case TAG_DEPENDENT_END: r->io_taken = false; break;
    case TAG_IO: add_io(r, d, item); break;
    case TAG_FIXED_IO: add_fixed_io(r, d, item); break;
    case TAG_NAME: set_name(d, item); break;
    default: break;
    }
}

bool isapnp_describe(int (*next)(void *arg), void *arg, unsigned number,
                     struct isapnp_device *device)
{
    struct reader r = {.next = next, .arg = arg, .left = DATA_BYTES};
    struct item item;
    unsigned devices = 0;

    *device = (struct isapnp_device){.csn = device->csn, .number = (uint8_t)number};
    while (next_item(&r, &item)) {
        if (item.tag == TAG_DEVICE) {
            devices++;
            if (devices == number + 1) {
                r.io_taken = false;
                isapnp_id(item.data, device->id);
                device->commands = item.data[4];
            }
        } else if (devices == number + 1 || (devices == 0 && item.tag == TAG_NAME)) {
            take(&r, device, &item); /* a name before the first device is the card's */
        }
    }
    return devices > number || (devices == 0 && number == 0);
}
