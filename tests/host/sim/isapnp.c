/*
 * Simulated Plug and Play cards: the state machine of chapter 3, the registers of appendix A.
 */
#include "tests/host/sim/isapnp.h"

#include <string.h>

#include "tests/host/sim/bus.h"

enum {
    ADDRESS = 0x279,
    WRITE_DATA = 0xA79,
    FIRST_READ_PORT = 0x203,
    LAST_READ_PORT = 0x3FF,
    KEY_BYTES = 32,
    ID_BITS = 72,
    ISOLATION_NS = 1000000,
    PAIR_NS = 250000,
};

static struct sim_pnp_card *cards[SIM_PNP_CARDS];
static unsigned card_count, accesses;
static uint8_t address;
static unsigned read_port; /* 0: not set */
static uint64_t woken_ns, pair_ns;
static int read_port_self;

/* ---- address port: the key ---- */

static void listen_for_key(struct sim_pnp_card *c, uint8_t value)
{
    if (value != c->key_state) {
        if (c->key_bytes > 1) {
            sim_misuse("isapnp: %s: key broken off after %u bytes", c->cfg.name, c->key_bytes);
        }
        c->key_state = 0x6A;
        c->key_bytes = 0;
        return;
    }
    c->key_state = sim_pnp_shift(c->key_state, 0);
    if (++c->key_bytes == KEY_BYTES) {
        c->state = PNP_SLEEPS;
        c->key_state = 0x6A;
        c->key_bytes = 0;
    }
}

static void address_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    accesses++;
    address = (uint8_t)value;
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state == PNP_WAITS_FOR_KEY) {
            listen_for_key(cards[i], address);
        }
    }
}

/* The printer's status port: not ours. */
static uint32_t nobody_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return 0xFFFFFFFF;
}

/* ---- write port ---- */

static void control(struct sim_pnp_card *c, uint8_t value)
{
    if ((value & ~6) != 0) {
        sim_misuse("isapnp: control %02x: a reset loses the cards' settings", value);
    }
    if ((value & 4) != 0) {
        c->csn = 0;
    }
    if ((value & 2) != 0) {
        c->state = PNP_WAITS_FOR_KEY;
    }
}

static void wake(struct sim_pnp_card *c, uint8_t csn)
{
    c->state = c->csn != csn ? PNP_SLEEPS : csn == 0 ? PNP_ISOLATION : PNP_CONFIG;
    c->bit = 0;
    c->second = false;
    c->at = 0;
    c->ready_ns = sim_now_ns();
    c->data_seen_ready = false;
    woken_ns = sim_now_ns();
    pair_ns = 0;
}

static void give_number(struct sim_pnp_card *c, uint8_t csn)
{
    if (c->state != PNP_ISOLATION || c->bit != ID_BITS) {
        sim_misuse("isapnp: %s: number %u given outside the end of isolation", c->cfg.name, csn);
    }
    for (unsigned i = 0; i < card_count; i++) {
        if (csn == 0 || (cards[i] != c && cards[i]->csn == csn)) {
            sim_misuse("isapnp: number %u is zero or another card's", csn);
        }
    }
    c->csn = csn;
    c->state = PNP_CONFIG;
}

static bool can_have_io(const struct sim_pnp_device_config *d, unsigned io)
{
    return io == 0 || (d->alternative != 0 && io == d->alternative) ||
           (io >= d->first && io <= d->last && (io - d->first) % SIM_PNP_PORTS == 0);
}

/* ---- I/O range check ---- */

static uint32_t check_in(void *self, unsigned reg, unsigned width)
{
    const struct sim_pnp_device *d = self;
    (void)reg;
    (void)width;
    return (d->check & 1) != 0 ? 0x55 : 0xAA;
}

static void check_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("isapnp: port %u of a range being checked written with %02x", reg, value);
}

static void set_check(struct sim_pnp_card *c, struct sim_pnp_device *d, uint8_t value)
{
    if (c->cfg.device[c->selected].no_range_check) {
        sim_misuse("isapnp: %s: it has no range check", c->cfg.name);
    }
    sim_detach(d);
    d->check = value;
    if ((value & 2) != 0) {
        sim_attach(&(struct sim_device){.name = "range check",
                                        .base = d->io,
                                        .ports = SIM_PNP_PORTS,
                                        .in = check_in,
                                        .out = check_out,
                                        .self = d});
    }
}

/* ---- device registers ---- */

static void activate(struct sim_pnp_card *c, struct sim_pnp_device *d, uint8_t value)
{
    const bool on = (value & 1) != 0 && !c->cfg.stays_off;
    if ((d->check & 2) != 0 || (on && d->io == 0)) {
        sim_misuse("isapnp: %s: activated during a range check or without a base", c->cfg.name);
    }
    if (on && !d->active) {
        c->activations++;
        if (d->on != NULL) {
            d->on(d->self, d->io, d->irq);
        }
    } else if (!on && d->active) {
        c->deactivations++;
        if (d->off != NULL) {
            d->off(d->self);
        }
    }
    d->active = on;
}

static void set_io(struct sim_pnp_card *c, struct sim_pnp_device *d, bool low, uint8_t value)
{
    if (c->cfg.ignores_io) {
        return;
    }
    d->io = (uint16_t)(low ? (d->io & 0xFF00) | value : (d->io & 0xFF) | value << 8);
    if (low && !can_have_io(&c->cfg.device[c->selected], d->io)) {
        sim_misuse("isapnp: %s: it cannot be set to %03x", c->cfg.name, d->io);
    }
}

static void set_line(struct sim_pnp_card *c, struct sim_pnp_device *d, uint8_t value)
{
    if (value != 0 && (c->cfg.device[c->selected].irqs >> value & 1) == 0) {
        sim_misuse("isapnp: %s: it has no line %u", c->cfg.name, value);
    }
    d->irq = value;
}

static void device_out(struct sim_pnp_card *c, uint8_t reg, uint8_t value)
{
    struct sim_pnp_device *d = &c->device[c->selected];
    if (d->active && reg != 0x30) {
        sim_misuse("isapnp: %s: register %02x of an active device changed", c->cfg.name, reg);
    }
    switch (reg) {
    case 0x30: activate(c, d, value); break;
    case 0x31: set_check(c, d, value); break;
    case 0x60:
    case 0x61: set_io(c, d, reg == 0x61, value); break;
    case 0x70: set_line(c, d, value); break;
    case 0x71: d->irq_type = value; break;
    default: sim_misuse("isapnp: %s: register %02x written", c->cfg.name, reg);
    }
}

static void config_out(struct sim_pnp_card *c, uint8_t reg, uint8_t value)
{
    if (reg == 0x07) {
        if (value >= c->devices) {
            sim_misuse("isapnp: %s: no device %u", c->cfg.name, value);
        }
        c->selected = value;
    } else {
        device_out(c, reg, value);
    }
}

/* ---- the read port ---- */

static bool sends(const struct sim_pnp_card *c)
{
    return (c->id[c->bit / 8] >> c->bit % 8 & 1) != 0;
}

/* One read of an isolation pair: cards with a one drive the bus, the others listen and leave. */
static uint32_t isolation_in(void)
{
    bool driven = false, second = false, any = false;
    for (unsigned i = 0; i < card_count; i++) {
        const struct sim_pnp_card *c = cards[i];
        if (c->state == PNP_ISOLATION && c->bit < ID_BITS) {
            any = true;
            second = c->second;
            driven |= sends(c);
        }
    }
    if (any && !second &&
        (sim_now_ns() < woken_ns + ISOLATION_NS || sim_now_ns() < pair_ns + PAIR_NS)) {
        sim_misuse("isapnp: isolation read too soon");
    }
    for (unsigned i = 0; i < card_count; i++) {
        struct sim_pnp_card *c = cards[i];
        if (c->state != PNP_ISOLATION || c->bit == ID_BITS) {
            continue;
        }
        if (!second) {
            c->second = true;
        } else if (driven && !sends(c)) {
            c->state = PNP_SLEEPS;
        } else {
            c->second = false;
            c->bit++;
        }
    }
    pair_ns = sim_now_ns();
    return !driven ? 0xFF : second ? 0xAA : 0x55;
}

static uint32_t resource_in(struct sim_pnp_card *c)
{
    if (!c->data_seen_ready) {
        sim_misuse("isapnp: %s: resource data read before it is ready", c->cfg.name);
    }
    c->data_seen_ready = false;
    c->ready_ns = sim_now_ns() + 1000ULL * c->cfg.byte_us;
    return c->at < c->resource_bytes ? c->resources[c->at++] : 0xFF;
}

static uint32_t status_in(struct sim_pnp_card *c)
{
    c->data_seen_ready = sim_now_ns() >= c->ready_ns;
    return c->data_seen_ready;
}

static uint32_t config_in(struct sim_pnp_card *c)
{
    const struct sim_pnp_device *d = &c->device[c->selected];
    switch (address) {
    case 0x04: return resource_in(c);
    case 0x05: return status_in(c);
    case 0x06: return c->csn;
    case 0x07: return c->selected;
    case 0x30: return d->active;
    case 0x31: return d->check;
    case 0x40:
    case 0x41: return 0;
    case 0x60: return d->io >> 8;
    case 0x61: return d->io & 0xFF;
    case 0x70: return d->irq;
    case 0x71: return d->irq_type;
    default: sim_misuse("isapnp: %s: register %02x read", c->cfg.name, address);
    }
}

static uint32_t read_in(void *self, unsigned reg, unsigned width)
{
    uint32_t value = 0xFF;
    (void)self;
    (void)reg;
    if (width != 8) {
        sim_misuse("isapnp: %u-bit read of the read port", width);
    }
    accesses++;
    if (address == 0x01) {
        return isolation_in();
    }
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state == PNP_CONFIG) {
            value &= config_in(cards[i]);
        }
    }
    return value;
}

static void read_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    sim_misuse("isapnp: read port written with %02x", value);
}

static void set_read_port(uint8_t value)
{
    const unsigned port = (unsigned)value << 2 | 3;
    if (port < FIRST_READ_PORT || port > LAST_READ_PORT) {
        sim_misuse("isapnp: read port %03x", port);
    }
    sim_detach(&read_port_self);
    read_port = port;
    sim_attach(&(struct sim_device){.name = "isapnp read",
                                    .base = port,
                                    .ports = 1,
                                    .in = read_in,
                                    .out = read_out,
                                    .self = &read_port_self});
}

/* ---- write port, all cards ---- */

static bool anybody(enum sim_pnp_state state)
{
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state == state) {
            return true;
        }
    }
    return false;
}

/* The card a register belongs to: the one being configured; of two, nobody knows. */
static struct sim_pnp_card *configured(void)
{
    struct sim_pnp_card *one = NULL;
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state == PNP_CONFIG) {
            if (one != NULL) {
                sim_misuse("isapnp: two cards being configured at once");
            }
            one = cards[i];
        }
    }
    if (one == NULL) {
        sim_misuse("isapnp: register %02x written, and no card selected", address);
    }
    return one;
}

static void number_out(uint8_t csn)
{
    struct sim_pnp_card *one = NULL;
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state == PNP_ISOLATION || cards[i]->state == PNP_CONFIG) {
            if (one != NULL) {
                sim_misuse("isapnp: number %u given to two cards", csn);
            }
            one = cards[i];
        }
    }
    if (one == NULL) {
        sim_misuse("isapnp: number %u given to nobody", csn);
    }
    give_number(one, csn);
}

/* Control and wake reach every card that is not waiting for the key. */
static void to_all(uint8_t reg, uint8_t value)
{
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->state != PNP_WAITS_FOR_KEY) {
            (reg == 0x02 ? control : wake)(cards[i], value);
        }
    }
}

static void write_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    if (width != 8) {
        sim_misuse("isapnp: %u-bit write", width);
    }
    accesses++;
    for (unsigned i = 0; i < card_count; i++) {
        if (cards[i]->key_bytes > 1) {
            sim_misuse("isapnp: data written in the middle of the key");
        }
    }
    if (card_count == 0) {
        return; /* nobody to mind */
    }
    if (!anybody(PNP_SLEEPS) && !anybody(PNP_ISOLATION) && !anybody(PNP_CONFIG)) {
        sim_misuse("isapnp: register %02x written to cards that wait for the key", address);
    }
    switch (address) {
    case 0x00:
        if (anybody(PNP_ISOLATION)) { /* else nobody takes it, as after the last card */
            set_read_port((uint8_t)value);
        }
        break;
    case 0x02:
    case 0x03: to_all(address, (uint8_t)value); break;
    case 0x06: number_out((uint8_t)value); break;
    default: config_out(configured(), address, (uint8_t)value); break;
    }
}

/* ---- test side ---- */

void sim_pnp_reset(void)
{
    card_count = accesses = 0;
    address = 0;
    read_port = 0;
    sim_attach(&(struct sim_device){"isapnp address", ADDRESS, 1, nobody_in, address_out, NULL});
    sim_attach(&(struct sim_device){"isapnp data", WRITE_DATA, 1, nobody_in, write_out, NULL});
}

void sim_pnp_plug(struct sim_pnp_card *card, const struct sim_pnp_card_config *cfg)
{
    memset(card, 0, sizeof *card);
    card->cfg = *cfg;
    card->key_state = 0x6A;
    sim_pnp_make_data(card);
    if (card_count == SIM_PNP_CARDS) {
        sim_bad_test("isapnp: more than %d cards", SIM_PNP_CARDS);
    }
    cards[card_count++] = card;
}

void sim_pnp_connect(struct sim_pnp_card *card, unsigned number,
                     void (*on)(void *self, unsigned io, int irq), void (*off)(void *self),
                     void *self)
{
    card->device[number].on = on;
    card->device[number].off = off;
    card->device[number].self = self;
}

void sim_pnp_set_active(struct sim_pnp_card *card, unsigned number, unsigned csn, uint16_t io,
                        int irq)
{
    struct sim_pnp_device *d = &card->device[number];
    card->csn = (uint8_t)csn;
    d->active = true;
    d->io = io;
    d->irq = (uint8_t)irq;
    if (d->on != NULL) {
        d->on(d->self, io, irq);
    }
}

bool sim_pnp_all_wait(void)
{
    return !anybody(PNP_SLEEPS) && !anybody(PNP_ISOLATION) && !anybody(PNP_CONFIG);
}

unsigned sim_pnp_accesses(void)
{
    return accesses;
}
