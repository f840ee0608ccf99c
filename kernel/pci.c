/*
 * PCI configuration space by mechanism 1 or 2.
 */
#include "kernel/pci.h"

#include "kernel/io.h"
#include "kernel/time.h"

/* Mechanism 1: an address register of 32 bits, a window of 32 bits. */
static const struct ioport address_port = {0xCF8};
static const struct ioport data_port = {0xCFC};
enum { ENABLE = 0x80000000u };

/* Mechanism 2: a key that maps the configuration space of 16 devices into ports C000h-CFFFh. */
static const struct ioport key_port = {0xCF8};
static const struct ioport forward_port = {0xCFA};
enum {
    KEY = 0xF0, /* nonzero upper half opens the window; function in bits 3-1 */
    WINDOW = 0xC000,
    WINDOW_DEVICES = 16,
};

enum {
    NOBODY = 0xFFFFFFFFu,
    BUSES = 256,
    DEVICES = 32,
    FUNCTIONS = 8,
    HEADER_MULTI = 0x80,
    CLASS_BRIDGE = 0x06,
    CLASS_DISPLAY = 0x03,
    CLASS_BRIDGE_PCI = 0x0604,
    STATUS_HAS_CAPABILITIES = 0x10,
    CAPABILITY_POWER = 1,
    CAPABILITIES_MAX = 48, /* a list longer than the space it is in is a loop */
    POWER_CONTROL = 4,
    POWER_STATE = 3,
    D0_SETTLE_US = 10000,
    BARS = 6,
};

static unsigned mechanism;

/* ---- one access ---- */

static void select_1(pci_address a, unsigned reg)
{
    io_out32(address_port, 0, ENABLE | (uint32_t)a << 8 | (reg & 0xFCu));
}

static struct ioport open_2(pci_address a)
{
    io_out8(key_port, 0, (uint8_t)(KEY | pci_function(a) << 1));
    io_out8(forward_port, 0, (uint8_t)pci_bus(a));
    return (struct ioport){(uint16_t)(WINDOW | pci_device(a) << 8)};
}

static void close_2(void)
{
    io_out8(key_port, 0, 0);
}

uint32_t pci_read32(pci_address a, unsigned reg)
{
    uint32_t value = NOBODY;

    if (mechanism == 1) {
        select_1(a, reg);
        value = io_in32(data_port, 0);
    } else if (mechanism == 2 && pci_device(a) < WINDOW_DEVICES) {
        value = io_in32(open_2(a), reg);
        close_2();
    }
    return value;
}

uint16_t pci_read16(pci_address a, unsigned reg)
{
    return (uint16_t)(pci_read32(a, reg & ~3u) >> (reg & 2) * 8);
}

uint8_t pci_read8(pci_address a, unsigned reg)
{
    return (uint8_t)(pci_read32(a, reg & ~3u) >> (reg & 3) * 8);
}

void pci_write32(pci_address a, unsigned reg, uint32_t value)
{
    if (mechanism == 1) {
        select_1(a, reg);
        io_out32(data_port, 0, value);
    } else if (mechanism == 2 && pci_device(a) < WINDOW_DEVICES) {
        io_out32(open_2(a), reg, value);
        close_2();
    }
}

/* Its own width on the bus: the other half of the word may be write-1-to-clear status. */
void pci_write16(pci_address a, unsigned reg, uint16_t value)
{
    if (mechanism == 1) {
        select_1(a, reg);
        io_out16(data_port, reg & 2, value);
    } else if (mechanism == 2 && pci_device(a) < WINDOW_DEVICES) {
        io_out16(open_2(a), reg, value);
        close_2();
    }
}

/* ---- finding the mechanism ---- */

/* A chip that only echoes what is written to CF8h has no host bridge or display behind it. */
static bool plausible(void)
{
    for (unsigned device = 0; device < DEVICES; device++) {
        pci_address a = (pci_address)(device << 3);
        unsigned class;

        if (pci_read32(a, PCI_ID) == NOBODY || pci_read32(a, PCI_ID) == 0) {
            continue;
        }
        class = pci_read32(a, PCI_CLASS) >> 24;
        if (class == CLASS_BRIDGE || class == CLASS_DISPLAY) {
            return true;
        }
    }
    return false;
}

/* Each tries a mechanism; where it is not that, everything is as it was before. */
static bool try_1(void)
{
    uint32_t before = io_in32(address_port, 0);

    io_out32(address_port, 0, ENABLE);
    if (io_in32(address_port, 0) == ENABLE) {
        mechanism = 1;
        if (plausible()) {
            return true;
        }
    }
    io_out32(address_port, 0, before);
    return false;
}

static bool try_2(void)
{
    uint8_t key = io_in8(key_port, 0);
    uint8_t forward = io_in8(forward_port, 0);

    io_out8(key_port, 0, 0);
    io_out8(forward_port, 0, 0);
    if (io_in8(key_port, 0) == 0 && io_in8(forward_port, 0) == 0) {
        mechanism = 2;
        if (plausible()) {
            return true;
        }
    }
    io_out8(key_port, 0, key);
    io_out8(forward_port, 0, forward);
    return false;
}

unsigned pci_init(void)
{
    if (!try_1() && !try_2()) {
        mechanism = 0;
    }
    return mechanism;
}

/* ---- looking around ---- */

/* Highest bus number that a bridge on buses up to `bus` leads to; the firmware numbered them. */
static unsigned beyond_bridge(pci_address a, unsigned last)
{
    unsigned subordinate;

    if (pci_read32(a, PCI_CLASS) >> 16 != CLASS_BRIDGE_PCI) {
        return last;
    }
    subordinate = pci_read32(a, 0x18) >> 16 & 0xFF;
    return subordinate > last ? subordinate : last;
}

void pci_scan(bool (*found)(pci_address a, uint32_t id, void *arg), void *arg)
{
    unsigned last = 0;

    if (mechanism == 0) {
        return;
    }
    for (unsigned slot = 0; slot < (last + 1) * DEVICES && slot < BUSES * DEVICES; slot++) {
        unsigned functions = 1;

        for (unsigned function = 0; function < functions; function++) {
            pci_address a = (pci_address)(slot << 3 | function);
            uint32_t id = pci_read32(a, PCI_ID);

            if (id == NOBODY || (id & 0xFFFF) == 0 || (id & 0xFFFF) == 0xFFFF) {
                continue;
            }
            if (function == 0 && (pci_read8(a, PCI_HEADER) & HEADER_MULTI) != 0) {
                functions = FUNCTIONS;
            }
            last = beyond_bridge(a, last);
            if (!found(a, id, arg)) {
                return;
            }
        }
    }
}

/* ---- power ---- */

static unsigned find_capability(pci_address a, unsigned wanted)
{
    unsigned at;

    if ((pci_read16(a, PCI_STATUS) & STATUS_HAS_CAPABILITIES) == 0) {
        return 0;
    }
    at = pci_read8(a, PCI_CAPABILITIES) & 0xFCu;
    for (unsigned n = 0; at >= 0x40 && n < CAPABILITIES_MAX; n++) {
        if (pci_read8(a, at) == wanted) {
            return at;
        }
        at = pci_read8(a, at + 1) & 0xFCu;
    }
    return 0;
}

bool pci_power_up(pci_address a)
{
    unsigned at = find_capability(a, CAPABILITY_POWER);
    uint32_t bars[BARS];
    uint32_t interrupt;
    uint16_t command, control;

    if (at == 0) {
        return false;
    }
    control = pci_read16(a, at + POWER_CONTROL);
    if ((control & POWER_STATE) == 0) {
        return false;
    }
    command = pci_read16(a, PCI_COMMAND);
    interrupt = pci_read32(a, PCI_INTERRUPT);
    for (unsigned i = 0; i < BARS; i++) {
        bars[i] = pci_read32(a, PCI_BAR0 + 4 * i);
    }
    pci_write16(a, at + POWER_CONTROL, (uint16_t)(control & ~POWER_STATE));
    delay_us(D0_SETTLE_US);
    for (unsigned i = 0; i < BARS; i++) {
        pci_write32(a, PCI_BAR0 + 4 * i, bars[i]);
    }
    pci_write32(a, PCI_INTERRUPT, interrupt);
    pci_write16(a, PCI_COMMAND, command);
    return true;
}
