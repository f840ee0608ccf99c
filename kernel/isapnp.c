/*
 * ISA Plug and Play: key, isolation, configuration.  Source: Plug and Play ISA Specification 1.0a
 * (Intel and Microsoft, 1994); chapters are those of it.
 *
 * A card is in one of four states: waiting for the key, asleep, being isolated, being configured.
 * Every function here begins and ends with all cards waiting for the key.
 */
#include "kernel/isapnp.h"

#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"

/* Ports, 2.1.  Reads go through a port that software chooses. */
static const struct ioport address_port = {ISAPNP_ADDRESS_PORT};
static const struct ioport write_port = {ISAPNP_WRITE_PORT};
static struct ioport read_port;

/* Registers of a card, A.1. */
enum card_reg {
    SET_READ_PORT = 0x00, /* w  port >> 2; while being isolated only       */
    ISOLATION = 0x01,     /* r  a bit of the identifier, as 55h AAh        */
    CONTROL = 0x02,       /* w                                             */
    WAKE = 0x03,          /* w  a number: that card; 0: all without number */
    RESOURCE = 0x04,      /* r  next byte                                  */
    STATUS = 0x05,        /* r  bit 0: RESOURCE holds one                  */
    CARD_NUMBER = 0x06,   /* rw */
    DEVICE = 0x07,        /* rw the one that the registers below belong to */
};

/* Registers of a logical device, A.2. */
enum device_reg {
    ACTIVATE = 0x30,
    RANGE_CHECK = 0x31,
    MEMORY = 0x40, /* bits 23-16, then 15-8 */
    IO = 0x60,     /* bits 15-8, then 7-0   */
    IRQ_LINE = 0x70,
    IRQ_TYPE = 0x71,
};

enum {
    CONTROL_WAIT_FOR_KEY = 2,
    CONTROL_RESET_NUMBERS = 4,
    STATUS_READY = 1,
    ACTIVE = 1,
    CHECK_ENABLE = 2,
    CHECK_55 = 1, /* else AAh */
    TYPE_EDGE_HIGH = 2,
    IRQ_MASK = 0x0F,

    KEY_BYTES = 32,
    ID_BYTES = 9, /* vendor and product 4, serial number 4, checksum 1 */
    ID_BITS = 72,
    VENDOR_BITS = 16, /* never all zero, 6.1 */
    FIRST = 0x55,
    SECOND = 0xAA,

    RESET_US = 2000,
    ISOLATION_US = 1000, /* before the first pair, 3.3.1 */
    PAIR_US = 250,       /* between two pairs            */
    BYTE_US = 5000,      /* resource data from a slow EEPROM */
};

/* Read ports to try: unassigned on PCs, outside of what network cards use. */
static const uint16_t read_ports[] = {0x273, 0x20B, 0x213, 0x3A3, 0x2F3};
enum { READ_PORTS = sizeof(read_ports) / sizeof(read_ports[0]), READ_PORTS_TRIED = 3 };

/* ---- registers ---- */

static void put(unsigned reg, unsigned value)
{
    io_out8(address_port, 0, (uint8_t)reg);
    io_out8(write_port, 0, (uint8_t)value);
}

static uint8_t get(unsigned reg)
{
    io_out8(address_port, 0, (uint8_t)reg);
    return io_in8(read_port, 0);
}

uint8_t isapnp_lfsr(uint8_t state, unsigned bit)
{
    const unsigned in = (state ^ state >> 1 ^ bit) & 1U;

    return (uint8_t)(state >> 1 | in << 7);
}

/* 4.1 and appendix B; two zeros bring the cards' own shift register to its beginning. */
static void send_key(void)
{
    uint8_t state = ISAPNP_LFSR_SEED;

    io_out8(address_port, 0, 0);
    io_out8(address_port, 0, 0);
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        io_out8(address_port, 0, state);
        state = isapnp_lfsr(state, 0);
    }
}

static void wait_for_key(void)
{
    put(CONTROL, CONTROL_WAIT_FOR_KEY);
}

/* One card is being configured from here to wait_for_key(), the others sleep. */
static void open_card(unsigned csn)
{
    send_key();
    put(WAKE, csn);
}

/* ---- isolation, 3.3 ---- */

enum isolated { ONE_CARD, NO_CARD, GARBLED };

/* All cards without a number answer at once; where they differ, the one that sends a one is left.
 */
static enum isolated isolate(uint8_t id[ID_BYTES])
{
    uint8_t sum = ISAPNP_LFSR_SEED;
    bool any = false;

    put(WAKE, 0);
    put(SET_READ_PORT, read_port.base >> 2);
    io_out8(address_port, 0, ISOLATION);
    delay_us(ISOLATION_US);
    for (unsigned i = 0; i < ID_BITS; i++) {
        const uint8_t first = io_in8(read_port, 0);
        const uint8_t second = io_in8(read_port, 0);
        const unsigned bit = first == FIRST && second == SECOND;

        id[i / 8] = (uint8_t)(id[i / 8] >> 1 | bit << 7);
        any = any || bit != 0;
        if (i < ID_BITS - 8) {
            sum = isapnp_lfsr(sum, bit);
        }
        if (i == VENDOR_BITS - 1 && !any) {
            return NO_CARD;
        }
        delay_us(PAIR_US);
    }
    return id[ID_BYTES - 1] == sum ? ONE_CARD : GARBLED;
}

/* Number all cards, from 1; how many, or -1 if the read port is no good. */
static int number_cards(void)
{
    uint8_t id[ID_BYTES] = {0};
    enum isolated got = NO_CARD;
    int n = 0;

    send_key();
    put(CONTROL, CONTROL_RESET_NUMBERS);
    delay_us(RESET_US);
    while (n < ISAPNP_CARDS) {
        got = isolate(id);
        if (got != ONE_CARD) {
            break;
        }
        n++;
        put(CARD_NUMBER, (unsigned)n);
    }
    wait_for_key();
    return got == GARBLED ? -1 : n;
}

/* Through the first read port where nobody is, and none disturbs. */
static unsigned find_cards(bool (*port_free)(uint16_t port))
{
    unsigned tried = 0;

    for (unsigned i = 0; i < READ_PORTS && tried < READ_PORTS_TRIED; i++) {
        int n;

        read_port.base = read_ports[i];
        if (!port_free(read_ports[i]) || io_in8(read_port, 0) != 0xFF) {
            continue;
        }
        tried++;
        n = number_cards();
        if (n > 0) {
            return (unsigned)n;
        }
    }
    return 0;
}

/* ---- reading a card ---- */

/* For isapnp_describe(): -1 if the card does not go on. */
static int next_resource(void *arg)
{
    struct deadline limit = deadline_us(BYTE_US);

    (void)arg;
    while ((get(STATUS) & STATUS_READY) == 0) {
        if (expired(&limit)) {
            return -1;
        }
    }
    return get(RESOURCE);
}

static unsigned get_pair(unsigned reg)
{
    const unsigned high = get(reg);

    return high << 8 | get(reg + 1);
}

static void read_setting(struct isapnp_device *d)
{
    const unsigned line = get(IRQ_LINE) & IRQ_MASK;

    d->active = (get(ACTIVATE) & ACTIVE) != 0;
    d->io = (uint16_t)get_pair(IO);
    d->mem = (uint32_t)get_pair(MEMORY) << 8;
    d->irq = line == 0 ? IRQ_NONE : (int)line;
}

/* Logical device `number` of card `csn`; false if it has none such. */
static bool read_device(unsigned csn, unsigned number, struct isapnp_device *d)
{
    bool there = true;

    d->csn = (uint8_t)csn;
    open_card(csn);
    for (unsigned i = 0; i < ID_BYTES && there; i++) {
        there = next_resource(NULL) >= 0;
    }
    there = there && isapnp_describe(next_resource, NULL, number, d);
    if (there) {
        put(DEVICE, number);
        read_setting(d);
    }
    wait_for_key();
    return there;
}

unsigned isapnp_scan(bool (*port_free)(uint16_t port),
                     bool (*found)(const struct isapnp_device *device, void *arg), void *arg)
{
    static struct isapnp_device device; /* too big for the stack */
    const unsigned cards = find_cards(port_free);

    for (unsigned csn = 1; csn <= cards; csn++) {
        for (unsigned n = 0; n < ISAPNP_DEVICES && read_device(csn, n, &device); n++) {
            if (!found(&device, arg)) {
                return cards;
            }
        }
    }
    return cards;
}

/* ---- switching on and off ---- */

static void set(uint16_t io, int irq)
{
    put(IO, io >> 8);
    put(IO + 1, io);
    put(IRQ_LINE, irq == IRQ_NONE ? 0 : (unsigned)irq);
    put(IRQ_TYPE, TYPE_EDGE_HIGH);
}

/* Does every port of the range read as the device makes it, or, if it cannot, as nobody's? */
static bool range_reads(uint16_t io, unsigned ports, uint8_t expected)
{
    for (unsigned i = 0; i < ports; i++) {
        if (io_in8((struct ioport){io}, i) != expected) {
            return false;
        }
    }
    return true;
}

/* A.2.2.  Not every device has the check. */
static bool range_is_free(const struct isapnp_device *device, uint16_t io, unsigned ports)
{
    bool free;

    if ((device->commands >> (RANGE_CHECK - ACTIVATE) & 1) == 0) {
        return range_reads(io, ports, 0xFF);
    }
    put(RANGE_CHECK, CHECK_ENABLE | CHECK_55);
    free = range_reads(io, ports, FIRST);
    put(RANGE_CHECK, CHECK_ENABLE);
    free = free && range_reads(io, ports, SECOND);
    put(RANGE_CHECK, 0);
    return free;
}

static bool contains(uint16_t io, unsigned ports, struct ioport p)
{
    return p.base >= io && p.base < io + ports;
}

int isapnp_activate(const struct isapnp_device *device, uint16_t io, unsigned ports, int irq)
{
    int error = OK;

    if (contains(io, ports, address_port) || contains(io, ports, read_port)) {
        return E_BUSY; /* every card would answer there */
    }
    open_card(device->csn);
    put(DEVICE, device->number);
    set(io, irq);
    if (get_pair(IO) != io) {
        error = E_HARDWARE;
    } else if (!range_is_free(device, io, ports)) {
        error = E_BUSY;
    } else {
        put(ACTIVATE, ACTIVE);
        error = (get(ACTIVATE) & ACTIVE) != 0 ? OK : E_HARDWARE;
    }
    if (error != OK) {
        set(device->io, device->irq);
    }
    wait_for_key();
    return error;
}

void isapnp_deactivate(const struct isapnp_device *device)
{
    open_card(device->csn);
    put(DEVICE, device->number);
    put(ACTIVATE, 0);
    set(device->io, device->irq);
    wait_for_key();
}
