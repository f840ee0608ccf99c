/*
 * Simulated PCI configuration space.
 */
#include "tests/host/sim/pci.h"

#include <string.h>

#include "tests/host/sim/bus.h"

enum {
    FUNCTIONS = 24,
    ADDRESS = 0xCF8,
    DATA = 4, /* CFCh, from CF8h */
    WINDOW = 0xC000,
    HOST_BRIDGE = 0x12378086,
    CLASS_HOST = 0x06000002,
    COMMAND = 4,
    STATUS = 6,
    BAR0 = 0x10,
    CAPABILITIES = 0x34,
    LINE = 0x3C,
    STATUS_CAPABILITIES = 0x10,
    D3 = 3,
    SETTLE_NS = 10000000,
};

uint8_t sim_pci_echo[8];
unsigned sim_pci_window_accesses;

static struct sim_pci_function functions[FUNCTIONS];
static unsigned used;
static uint32_t address; /* mechanism 1 */
static uint8_t key, forward;

/* ---- one function ---- */

void sim_pci_set8(struct sim_pci_function *f, unsigned reg, uint8_t value)
{
    f->config[reg] = value;
}

void sim_pci_set16(struct sim_pci_function *f, unsigned reg, uint16_t value)
{
    f->config[reg] = (uint8_t)value;
    f->config[reg + 1] = (uint8_t)(value >> 8);
}

void sim_pci_set32(struct sim_pci_function *f, unsigned reg, uint32_t value)
{
    sim_pci_set16(f, reg, (uint16_t)value);
    sim_pci_set16(f, reg + 2, (uint16_t)(value >> 16));
}

uint32_t sim_pci_get32(const struct sim_pci_function *f, unsigned reg)
{
    const uint8_t *at = &f->config[reg];
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool asleep(const struct sim_pci_function *f)
{
    return f->pm != 0 && (f->config[f->pm + 4] & D3) != 0;
}

bool sim_pci_decodes(const struct sim_pci_function *f)
{
    return !asleep(f) && (f->config[COMMAND] & 1) != 0;
}

bool sim_pci_masters(const struct sim_pci_function *f)
{
    return !asleep(f) && (f->config[COMMAND] & 4) != 0;
}

unsigned sim_pci_io(const struct sim_pci_function *f)
{
    for (unsigned i = 0; i < SIM_PCI_BARS; i++) {
        uint32_t bar = sim_pci_get32(f, BAR0 + 4 * i);
        if ((bar & 1) != 0) {
            return bar & ~3U;
        }
    }
    return 0;
}

/* From D3 to D0 a function loses what configuration had put in (PM 1.1, 5.4: D3hot is a reset). */
static void write_power(struct sim_pci_function *f, uint8_t value)
{
    bool slept = asleep(f);
    f->config[f->pm + 4] = (uint8_t)((f->config[f->pm + 4] & ~D3) | (value & D3));
    if (slept && !asleep(f)) {
        f->wakes++;
        f->awake_ns = sim_now_ns() + SETTLE_NS;
        sim_pci_set16(f, COMMAND, 0);
        f->config[LINE] = 0;
        for (unsigned i = 0; i < SIM_PCI_BARS; i++) {
            sim_pci_set32(f, BAR0 + 4 * i, sim_pci_get32(f, BAR0 + 4 * i) & ~f->bar_mask[i]);
        }
    }
}

static void write_byte(struct sim_pci_function *f, unsigned reg, uint8_t value)
{
    if (reg == COMMAND || reg == COMMAND + 1) {
        uint8_t mask = (uint8_t)(f->command_mask >> 8 * (reg - COMMAND));
        f->config[reg] = (uint8_t)((f->config[reg] & ~mask) | (value & mask));
        f->command_writes += reg == COMMAND;
    } else if (reg == STATUS || reg == STATUS + 1) {
        if ((value & f->config[reg] & (reg == STATUS ? 0 : 0xF9)) != 0) {
            sim_misuse("pci: status bits cleared in passing (%02x)", value);
        }
    } else if (reg >= BAR0 && reg < BAR0 + 4 * SIM_PCI_BARS) {
        uint8_t mask = (uint8_t)(f->bar_mask[(reg - BAR0) / 4] >> 8 * (reg & 3));
        f->config[reg] = (uint8_t)((f->config[reg] & ~mask) | (value & mask));
    } else if (reg == LINE) {
        f->config[reg] = value;
    } else if (f->pm != 0 && reg == f->pm + 4) {
        write_power(f, value);
    }
}

static void check(const struct sim_pci_function *f, unsigned reg, unsigned width)
{
    if (reg % (width / 8) != 0) {
        sim_misuse("pci: %u-bit configuration access at %02x", width, reg);
    }
    if (sim_now_ns() < f->awake_ns) {
        sim_misuse("pci: function touched %llu us after it was woken, 10 ms are prescribed",
                   (unsigned long long)(sim_now_ns() + SETTLE_NS - f->awake_ns) / 1000);
    }
}

static struct sim_pci_function *at(unsigned bus, unsigned device, unsigned function)
{
    for (unsigned i = 0; i < used; i++) {
        struct sim_pci_function *f = &functions[i];
        if (f->bus == bus && f->device == device && f->function == function) {
            return f;
        }
    }
    return NULL;
}

static uint32_t read_config(const struct sim_pci_function *f, unsigned reg, unsigned width)
{
    if (f == NULL) {
        return 0xFFFFFFFF;
    }
    check(f, reg, width);
    return sim_pci_get32(f, reg & ~3U) >> 8 * (reg & 3);
}

static void write_config(struct sim_pci_function *f, unsigned reg, uint32_t value, unsigned width)
{
    if (f == NULL) {
        return;
    }
    check(f, reg, width);
    for (unsigned i = 0; i < width / 8; i++) {
        write_byte(f, reg + i, (uint8_t)(value >> 8 * i));
    }
}

/* ---- mechanism 1 ---- */

static struct sim_pci_function *selected(void)
{
    return at(address >> 16 & 0xFF, address >> 11 & 0x1F, address >> 8 & 7);
}

static uint32_t in_1(void *self, unsigned reg, unsigned width)
{
    (void)self;
    if (reg < DATA) { /* only a 32-bit access at CF8h is the register's */
        return reg == 0 && width == 32 ? address : 0xFFFFFFFF;
    }
    if ((address & 0x80000000) == 0) {
        return 0xFFFFFFFF;
    }
    return read_config(selected(), (address & 0xFC) + (reg - DATA), width);
}

static void out_1(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    if (reg == 0 && width == 32) {
        if ((value & 0x7F000003) != 0 && value != 0xFFFFFFFF) {
            sim_misuse("pci: reserved bits in the address %08x", value);
        }
        address = value;
    } else if (reg == 3 && width == 8) {
        sim_misuse("pci: byte write to CFBh");
    } else if (reg >= DATA && (address & 0x80000000) != 0) {
        write_config(selected(), (address & 0xFC) + (reg - DATA), value, width);
    }
}

/* ---- mechanism 2 ---- */

static uint32_t in_2(void *self, unsigned reg, unsigned width)
{
    (void)self;
    if (width != 8) {
        return 0xFFFFFFFF;
    }
    return reg == 0 ? key : reg == 2 ? forward : 0xFFU;
}

static void out_2(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    if (width != 8) {
        return;
    }
    if (reg == 0) {
        key = (uint8_t)value;
    } else if (reg == 2) {
        forward = (uint8_t)value;
    }
}

/* C000h-CFFFh are somebody else's ports while the key is 0. */
static struct sim_pci_function *in_window(unsigned reg)
{
    sim_pci_window_accesses++;
    if ((key & 0xF0) == 0) {
        sim_misuse("pci: port %04x touched with the window closed", WINDOW + reg);
    }
    return at(forward, reg >> 8, key >> 1 & 7);
}

static uint32_t window_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    return read_config(in_window(reg), reg & 0xFF, width);
}

static void window_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    write_config(in_window(reg), reg & 0xFF, value, width);
}

/* ---- no PCI ---- */

static uint32_t echo_in(void *self, unsigned reg, unsigned width)
{
    uint32_t value = 0;
    (void)self;
    for (unsigned i = 0; i < width / 8 && reg + i < sizeof sim_pci_echo; i++) {
        value |= (uint32_t)sim_pci_echo[reg + i] << 8 * i;
    }
    return value;
}

static void echo_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    for (unsigned i = 0; i < width / 8 && reg + i < sizeof sim_pci_echo; i++) {
        sim_pci_echo[reg + i] = (uint8_t)(value >> 8 * i);
    }
}

static void echo_8_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    if (width == 8) {
        echo_out(self, reg, value, width);
    }
}

/* ---- the machine ---- */

struct sim_pci_function *sim_pci_add(unsigned bus, unsigned device, unsigned function, uint32_t id,
                                     uint32_t class)
{
    if (used == FUNCTIONS) {
        sim_bad_test("pci: more than %d functions", FUNCTIONS);
    }
    struct sim_pci_function *f = &functions[used++];
    *f = (struct sim_pci_function){.bus = (uint8_t)bus,
                                   .device = (uint8_t)device,
                                   .function = (uint8_t)function,
                                   .command_mask = 0x0157};
    sim_pci_set32(f, 0, id);
    sim_pci_set32(f, 8, class);
    sim_pci_set16(f, STATUS, 0xA280); /* errors noted long ago: nobody's to clear */
    return f;
}

unsigned sim_pci_free_device(unsigned device)
{
    for (unsigned i = 0; i < used; i++) {
        if (functions[i].bus == 0 && functions[i].device == device) {
            return sim_pci_free_device(device + 1);
        }
    }
    return device;
}

void sim_pci_plug(enum sim_pci_machine machine)
{
    static const struct sim_device ports[] = {
        [SIM_PCI_1] = {.name = "pci1", .base = ADDRESS, .ports = 8, .in = in_1, .out = out_1},
        [SIM_PCI_2] = {.name = "pci2", .base = ADDRESS, .ports = 4, .in = in_2, .out = out_2},
        [SIM_PCI_ECHO] =
            {.name = "echo", .base = ADDRESS, .ports = 8, .in = echo_in, .out = echo_out},
        [SIM_PCI_ECHO_8] =
            {.name = "echo8", .base = ADDRESS, .ports = 8, .in = echo_in, .out = echo_8_out},
    };
    used = 0;
    address = 0;
    key = forward = 0;
    sim_pci_window_accesses = 0;
    memset(sim_pci_echo, 0x5A, sizeof sim_pci_echo);
    if (machine == SIM_PCI_NONE) {
        return;
    }
    sim_attach(&ports[machine]);
    if (machine == SIM_PCI_2) {
        sim_attach(&(struct sim_device){.name = "pci2 window",
                                        .base = WINDOW,
                                        .ports = 0x1000,
                                        .in = window_in,
                                        .out = window_out});
    }
    sim_pci_add(0, 0, 0, HOST_BRIDGE, CLASS_HOST);
}

void sim_pci_bar(struct sim_pci_function *f, unsigned n, uint32_t base, uint32_t size)
{
    f->bar_mask[n] = ~(size - 1) & ~3U;
    sim_pci_set32(f, BAR0 + 4 * n, base | 1);
}

void sim_pci_power(struct sim_pci_function *f, unsigned offset, bool d3)
{
    uint8_t *link = &f->config[CAPABILITIES];
    f->config[STATUS] |= STATUS_CAPABILITIES;
    while (*link != 0) {
        link = &f->config[*link + 1];
    }
    *link = (uint8_t)offset;
    f->config[offset] = 1;
    f->config[offset + 1] = 0;
    f->config[offset + 4] = d3 ? D3 : 0;
    f->pm = offset;
}
