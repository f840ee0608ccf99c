/*
 * Small models of the adapter, the keyboard controller and the debug port.
 */
#include "tests/host/sim/pc.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernel/vga.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum { CRTC_REGS = 32, START_HIGH = 12, START_LOW, CURSOR_HIGH, CURSOR_LOW, TEXT_MAX = 65536 };

/* ---- display ---- */

enum {
    BIOS_DATA = 0x400,
    BIOS_COLUMNS = 0x4A,
    BIOS_CRTC = 0x63,
    COLOUR_MEMORY = 0xB8000,
    MONO_MEMORY = 0xB0000,
    COLOUR_CRTC = 0x3D4,
    MONO_CRTC = 0x3B4,
};

static uint16_t cells[VGA_CELLS];
static unsigned memory_at, memory_cells, columns;
static unsigned said_columns, said_crtc;
static uint8_t crtc_index, crtc_value[CRTC_REGS];

static uint32_t no_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return 0xFF;
}

static void crtc_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    if (reg == 0) {
        crtc_index = (uint8_t)(value % CRTC_REGS);
    } else {
        crtc_value[crtc_index] = (uint8_t)value;
    }
}

static bool text_memory(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    uint32_t cell = (address - memory_at) / sizeof cells[0];
    (void)self;
    if (width != 16 || address < memory_at || cell >= memory_cells) {
        return false;
    }
    if (write) {
        cells[cell] = (uint16_t)*value;
    } else {
        *value = cells[cell];
    }
    return true;
}

static bool bios_data(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    (void)self;
    if (write || width != 16 || address < BIOS_DATA || address >= BIOS_DATA + 256) {
        return false;
    }
    *value = address == BIOS_DATA + BIOS_COLUMNS ? said_columns
             : address == BIOS_DATA + BIOS_CRTC  ? said_crtc
                                                 : 0;
    return true;
}

static void plug_display(unsigned memory, unsigned count, unsigned controller)
{
    memset(cells, 0xAA, sizeof cells);
    memset(crtc_value, 0, sizeof crtc_value);
    vga_cells = memory == COLOUR_MEMORY ? cells : NULL;
    mda_cells = memory == MONO_MEMORY ? cells : NULL;
    memory_at = memory;
    memory_cells = count;
    columns = VGA_COLUMNS;
    sim_attach(&(struct sim_device){"crtc", controller, 2, no_in, crtc_out, NULL});
    sim_attach_memory(&(struct sim_memory){"text memory", text_memory, NULL});
}

void sim_vga_plug(void)
{
    plug_display(COLOUR_MEMORY, VGA_CELLS, COLOUR_CRTC);
}

void sim_mda_plug(void)
{
    plug_display(MONO_MEMORY, MDA_CELLS, MONO_CRTC);
}

void sim_bios_says(unsigned crtc_port, unsigned mode_columns)
{
    said_crtc = crtc_port;
    said_columns = mode_columns;
    columns = mode_columns == VGA_COLUMNS_NARROW ? VGA_COLUMNS_NARROW : VGA_COLUMNS;
    sim_attach_memory(&(struct sim_memory){"BIOS data area", bios_data, NULL});
}

static unsigned crtc_pair(unsigned high)
{
    return (unsigned)crtc_value[high] << 8 | crtc_value[high + 1];
}

const char *sim_vga_row(unsigned row)
{
    static char text[VGA_COLUMNS + 1];
    unsigned n = columns;
    for (unsigned i = 0; i < columns; i++) {
        text[i] = (char)(cells[crtc_pair(START_HIGH) + row * columns + i] & 0xFF);
    }
    while (n > 0 && text[n - 1] == ' ') {
        n--;
    }
    text[n] = '\0';
    return text;
}

unsigned sim_vga_cursor_row(void)
{
    return (crtc_pair(CURSOR_HIGH) - crtc_pair(START_HIGH)) / columns;
}

unsigned sim_vga_cursor_column(void)
{
    return (crtc_pair(CURSOR_HIGH) - crtc_pair(START_HIGH)) % columns;
}

unsigned sim_vga_attribute(unsigned row, unsigned column)
{
    return cells[crtc_pair(START_HIGH) + row * columns + column] >> 8;
}

/* ---- port E9h ---- */

static char debug_text[TEXT_MAX];
static size_t debug_n;

static uint32_t debug_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return 0xE9;
}

static void debug_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    if (debug_n + 1 == sizeof debug_text) {
        sim_bad_test("port E9h: the test prints more than is kept");
    }
    debug_text[debug_n++] = (char)value;
}

void sim_debug_plug(void)
{
    debug_n = 0;
    sim_attach(&(struct sim_device){"debug", 0xE9, 1, debug_in, debug_out, NULL});
}

const char *sim_debug_text(void)
{
    debug_text[debug_n] = '\0';
    return debug_text;
}

void sim_debug_forget(void)
{
    debug_n = 0;
}

/* ---- keyboard ---- */

static unsigned stale_bytes;
static uint8_t scan_code;
static bool key_waiting;
static enum sim_keyboard_fault keyboard_fault;

static uint32_t keyboard_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    if (reg == 4) {
        return keyboard_fault == SIM_KEYBOARD_STUCK   ? 1
               : keyboard_fault == SIM_KEYBOARD_EMPTY ? 0
                                                      : stale_bytes > 0 || key_waiting;
    }
    if (stale_bytes > 0) {
        stale_bytes--;
        return 0x1E; /* an 'a' nobody should see */
    }
    key_waiting = false;
    sim_irq_drive(1, &scan_code, false);
    return scan_code;
}

static void keyboard_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("keyboard: write of %x to register %u, nothing needs it", value, reg);
}

void sim_keyboard_plug(unsigned stale)
{
    stale_bytes = stale;
    key_waiting = false;
    keyboard_fault = SIM_KEYBOARD_SOUND;
    sim_attach(&(struct sim_device){"keyboard", 0x60, 5, keyboard_in, keyboard_out, NULL});
}

void sim_key(unsigned code)
{
    scan_code = (uint8_t)code;
    key_waiting = true;
    sim_irq_drive(1, &scan_code, false);
    sim_irq_drive(1, &scan_code, true);
    sim_irq_deliver();
}

void sim_keyboard_break(enum sim_keyboard_fault fault)
{
    keyboard_fault = fault;
}
