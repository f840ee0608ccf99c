/*
 * Simulated Plug and Play cards: their serial identifier and resource data (chapter 6, appendix B).
 */
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/isapnp.h"

/* A 5-bit code each, and four hexadecimal digits. */
static void pack_id(uint8_t to[4], const char *text)
{
    unsigned letters = 0, digits = 0;
    for (unsigned i = 0; i < 3; i++) {
        letters = letters << 5 | (unsigned)(text[i] - '@');
    }
    for (unsigned i = 3; i < 7; i++) {
        digits = digits << 4 | (unsigned)(text[i] <= '9' ? text[i] - '0' : text[i] - 'A' + 10);
    }
    to[0] = (uint8_t)(letters >> 8);
    to[1] = (uint8_t)letters;
    to[2] = (uint8_t)(digits >> 8);
    to[3] = (uint8_t)digits;
}

/* Appendix B: eight flip-flops, the new one is the exclusive or of the last two and the data. */
uint8_t sim_pnp_shift(uint8_t state, unsigned data)
{
    unsigned q0 = state & 1, q1 = state >> 1 & 1;
    return (uint8_t)((state >> 1) | ((q0 ^ q1 ^ data) << 7));
}

static void make_id(struct sim_pnp_card *c)
{
    uint8_t state = 0x6A;
    pack_id(c->id, c->cfg.id);
    for (unsigned i = 0; i < 4; i++) {
        c->id[4 + i] = (uint8_t)(c->cfg.serial >> 8 * i);
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        state = sim_pnp_shift(state, c->id[bit / 8] >> bit % 8 & 1);
    }
    c->id[8] = (uint8_t)(state ^ (c->cfg.bad_checksum ? 0x10 : 0));
}

static void put_bytes(struct sim_pnp_card *c, const void *bytes, unsigned n)
{
    if (c->resource_bytes + n > sizeof c->resources) {
        sim_bad_test("isapnp: too many resources in the test's card");
    }
    memcpy(c->resources + c->resource_bytes, bytes, n);
    c->resource_bytes += n;
}

static void put_io(struct sim_pnp_card *c, uint16_t first, uint16_t last)
{
    const uint8_t item[8] = {8 << 3 | 7,     1,
                             (uint8_t)first, (uint8_t)(first >> 8),
                             (uint8_t)last,  (uint8_t)(last >> 8),
                             SIM_PNP_PORTS,  SIM_PNP_PORTS};
    put_bytes(c, item, sizeof item);
}

static void put_device(struct sim_pnp_card *c, const struct sim_pnp_device_config *d)
{
    uint8_t item[6] = {2 << 3 | 5};
    pack_id(item + 1, d->id);
    item[5] = d->no_range_check ? 0 : 2;
    put_bytes(c, item, sizeof item);
    if (d->compatible != NULL) {
        item[0] = 3 << 3 | 4;
        pack_id(item + 1, d->compatible);
        put_bytes(c, item, 5);
    }
    put_bytes(c, (uint8_t[]){4 << 3 | 2, (uint8_t)d->irqs, (uint8_t)(d->irqs >> 8)}, 3);
    if (d->alternative != 0) {
        put_bytes(c, (uint8_t[]){6 << 3 | 1, 0}, 2);
    }
    if (d->first != 0) {
        put_io(c, d->first, d->last);
    }
    if (d->alternative != 0) {
        put_bytes(c, (uint8_t[]){6 << 3 | 1, 1}, 2);
        put_io(c, d->alternative, d->alternative);
        put_bytes(c, (uint8_t[]){7 << 3}, 1);
    }
}

static void make_resources(struct sim_pnp_card *c)
{
    const unsigned n = (unsigned)strlen(c->cfg.name);
    put_bytes(c, c->id, 9);
    put_bytes(c, (uint8_t[]){1 << 3 | 2, 0x10, 0x10}, 3); /* version 1.0 */
    put_bytes(c, (uint8_t[]){0x82, (uint8_t)n, 0}, 3);
    put_bytes(c, c->cfg.name, n);
    while (c->devices < SIM_PNP_DEVICES && c->cfg.device[c->devices].id != NULL) {
        put_device(c, &c->cfg.device[c->devices++]);
    }
    put_bytes(c, (uint8_t[]){15 << 3 | 1, 0}, 2);
}

void sim_pnp_make_data(struct sim_pnp_card *c)
{
    make_id(c);
    make_resources(c);
}
