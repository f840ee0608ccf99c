/*
 * Colour text.  Source: IBM Color/Graphics Monitor Adapter reference (1984) for the 6845 registers;
 * EGA and VGA keep them.
 */
#include "kernel/vga.h"

#include "kernel/io.h"

enum { TEXT_MEMORY = 0xB8000, CRTC_PORT = 0x3D4 };

enum crtc_port { CRTC_INDEX, CRTC_DATA };

enum crtc_reg {
    CRTC_START_HIGH = 0x0C, /* first cell shown */
    CRTC_START_LOW = 0x0D,
    CRTC_CURSOR_HIGH = 0x0E,
    CRTC_CURSOR_LOW = 0x0F,
};

enum {
    BLANK = 0x0700 | ' ', /* grey on black */
    LAST_ROW = VGA_ROWS - 1,
    ROWS_HELD = VGA_CELLS / VGA_COLUMNS,
};

volatile uint16_t *vga_cells = (volatile uint16_t *)TEXT_MEMORY;

static const struct ioport crtc = {CRTC_PORT};

static unsigned top;         /* row of the memory that is the first on the screen */
static unsigned row, column; /* cursor, from there; column 80 = wrap with the next character */
static unsigned shown_start, shown_cursor; /* what the CRT controller was told */

static void clear_row(unsigned memory_row)
{
    volatile uint16_t *cell = vga_cells + memory_row * VGA_COLUMNS;

    for (unsigned i = 0; i < VGA_COLUMNS; i++) {
        cell[i] = BLANK;
    }
}

static void write_pair(unsigned high, unsigned low, unsigned value)
{
    io_out8(crtc, CRTC_INDEX, (uint8_t)high);
    io_out8(crtc, CRTC_DATA, (uint8_t)(value >> 8));
    io_out8(crtc, CRTC_INDEX, (uint8_t)low);
    io_out8(crtc, CRTC_DATA, (uint8_t)(value & 0xFF));
}

/* Two patterns in the last cell, with another cell in between so that no bus echo answers. */
static bool memory_answers(void)
{
    volatile uint16_t *probe = vga_cells + VGA_CELLS - 1;

    *probe = 0x55AA;
    *vga_cells = BLANK;
    if (*probe != 0x55AA) {
        return false;
    }
    *probe = 0xAA55;
    *vga_cells = BLANK;
    return *probe == 0xAA55;
}

bool vga_init(void)
{
    if (!memory_answers()) {
        return false;
    }
    top = row = column = 0;
    for (unsigned r = 0; r < VGA_ROWS; r++) {
        clear_row(r);
    }
    shown_start = shown_cursor = ~0u;
    vga_sync();
    return true;
}

/* The memory is used up: bring all but the first row on the screen to its start. */
static void rewind_memory(void)
{
    volatile uint16_t *from = vga_cells + (top + 1) * VGA_COLUMNS;

    for (unsigned i = 0; i < LAST_ROW * VGA_COLUMNS; i++) {
        vga_cells[i] = from[i];
    }
    top = 0;
}

static void new_line(void)
{
    column = 0;
    if (row < LAST_ROW) {
        row++;
        return;
    }
    if (top + VGA_ROWS < ROWS_HELD) {
        top++;
    } else {
        rewind_memory();
    }
    clear_row(top + row);
}

void vga_put(char c, uint8_t attribute)
{
    switch (c) {
    case '\n': new_line(); break;
    case '\r': column = 0; break;
    case '\b':
        if (column > 0) {
            column--;
        } else if (row > 0) { /* the line went on from the row above */
            row--;
            column = VGA_COLUMNS - 1;
        }
        break;
    default:
        if (column == VGA_COLUMNS) {
            new_line();
        }
        vga_cells[(top + row) * VGA_COLUMNS + column++] =
            (uint16_t)(attribute << 8 | (unsigned char)c);
    }
}

void vga_erase_row(void)
{
    clear_row(top + row);
    column = 0;
}

void vga_sync(void)
{
    unsigned start = vga_origin();
    unsigned last = column < VGA_COLUMNS ? column : VGA_COLUMNS - 1;
    unsigned cursor = start + row * VGA_COLUMNS + last;

    if (start != shown_start) {
        write_pair(CRTC_START_HIGH, CRTC_START_LOW, start);
        shown_start = start;
    }
    if (cursor != shown_cursor) {
        write_pair(CRTC_CURSOR_HIGH, CRTC_CURSOR_LOW, cursor);
        shown_cursor = cursor;
    }
}

unsigned vga_origin(void)
{
    return top * VGA_COLUMNS;
}
