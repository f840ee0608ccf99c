/*
 * The display.  Sources: IBM Color/Graphics Monitor Adapter and Monochrome Display and Printer
 * Adapter references (1984) for the 6845 registers and the attributes; EGA and VGA keep them.  IBM
 * AT Technical Reference (1985), "BIOS data area", for what the BIOS says of the display.
 */
#include "kernel/vga.h"

#include "kernel/io.h"

enum { COLOUR_MEMORY = 0xB8000, MONO_MEMORY = 0xB0000 };

/* Words of the BIOS data area. */
static const struct iowin bios_data = {0x400};
enum {
    BIOS_COLUMNS = 0x4A,
    BIOS_CRTC = 0x63, /* port of the CRT controller in use */
};

enum crtc_port { CRTC_INDEX, CRTC_DATA, CRTC_COLOUR = 0x3D4, CRTC_MONO = 0x3B4 };

enum crtc_reg {
    CRTC_START_HIGH = 0x0C, /* first cell shown */
    CRTC_START_LOW = 0x0D,
    CRTC_CURSOR_HIGH = 0x0E,
    CRTC_CURSOR_LOW = 0x0F,
};

enum {
    GREY = 0x07,
    BRIGHT = 0x0F,
    DARK = 0x08, /* on a monochrome display: nothing at all */
    BLANK = GREY << 8 | ' ',
    LAST_ROW = VGA_ROWS - 1,
};

volatile uint16_t *vga_cells = (volatile uint16_t *)COLOUR_MEMORY;
volatile uint16_t *mda_cells = (volatile uint16_t *)MONO_MEMORY;

static volatile uint16_t *cells; /* of the display in use */
static struct ioport crtc;       /* its controller        */
static bool mono;
static unsigned columns = VGA_COLUMNS;
static unsigned rows_held; /* whole rows in the memory */

static unsigned top;                       /* row of the memory that is the first on the screen */
static unsigned row, column;               /* cursor, from there; in the column behind the last it
                                              wraps with the next character */
static unsigned shown_start, shown_cursor; /* what the CRT controller was told */

static void clear_row(unsigned memory_row)
{
    volatile uint16_t *cell = cells + memory_row * columns;

    for (unsigned i = 0; i < columns; i++) {
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

static unsigned read_word(struct iowin window, unsigned offset)
{
    uint16_t word;

    mem_read16(window, offset, &word, 1);
    return word;
}

static void write_word(struct iowin window, unsigned offset, unsigned value)
{
    uint16_t word = (uint16_t)value;

    mem_write16(window, offset, &word, 1);
}

/* Two patterns in the last cell, with another cell in between so that no bus echo answers. */
static bool memory_answers(struct iowin memory, unsigned count)
{
    static const uint16_t patterns[] = {0x55AA, 0xAA55};
    unsigned last = (count - 1) * (unsigned)sizeof(uint16_t);

    for (unsigned i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        write_word(memory, last, patterns[i]);
        write_word(memory, 0, BLANK);
        if (read_word(memory, last) != patterns[i]) {
            return false;
        }
    }
    return true;
}

static bool use(bool monochrome)
{
    static const struct iowin colour_memory = {COLOUR_MEMORY}, mono_memory = {MONO_MEMORY};
    unsigned count = monochrome ? MDA_CELLS : VGA_CELLS;
    bool narrow = !monochrome && read_word(bios_data, BIOS_COLUMNS) == VGA_COLUMNS_NARROW;

    mono = monochrome;
    cells = mono ? mda_cells : vga_cells;
    crtc.base = mono ? CRTC_MONO : CRTC_COLOUR;
    columns = narrow ? VGA_COLUMNS_NARROW : VGA_COLUMNS;
    rows_held = count / columns;
    return memory_answers(mono ? mono_memory : colour_memory, count);
}

/* What the BIOS says is only a hint: some loaders clear its data, and it may be wrong. */
bool vga_init(void)
{
    bool mono_first = read_word(bios_data, BIOS_CRTC) == CRTC_MONO;

    if (!use(mono_first) && !use(!mono_first)) {
        return false;
    }
    top = row = column = 0;
    for (unsigned r = 0; r < rows_held; r++) { /* a mode of more rows shows more of the memory */
        clear_row(r);
    }
    shown_start = shown_cursor = ~0u;
    vga_sync();
    return true;
}

unsigned vga_columns(void)
{
    return columns;
}

/* The memory is used up: bring all but the first row on the screen to its start. */
static void rewind_memory(void)
{
    volatile uint16_t *from = cells + (top + 1) * columns;

    for (unsigned i = 0; i < LAST_ROW * columns; i++) {
        cells[i] = from[i];
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
    if (top + VGA_ROWS < rows_held) {
        top++;
    } else {
        rewind_memory();
    }
    clear_row(top + row);
}

/* On an MDA 01h is underlined, 08h is not shown: only grey and bright are the same everywhere. */
static unsigned attribute_here(uint8_t attribute)
{
    return !mono ? attribute : attribute == GREY || attribute == DARK ? GREY : BRIGHT;
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
            column = columns - 1;
        }
        break;
    default:
        if (column == columns) {
            new_line();
        }
        cells[(top + row) * columns + column++] =
            (uint16_t)(attribute_here(attribute) << 8 | (unsigned char)c);
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
    unsigned last = column < columns ? column : columns - 1;
    unsigned cursor = start + row * columns + last;

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
    return top * columns;
}
