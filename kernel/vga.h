/*
 * Text on whatever display there is: 16-bit cells at B8000h and a CRT controller at 3D4h on CGA,
 * EGA and VGA; at B0000h and 3B4h on MDA, Hercules, and a VGA with a monochrome monitor.
 *
 * Writing 1500 bytes to this memory takes a 386 over half a millisecond, so nothing is moved when
 * the screen scrolls: the CRT controller's start address walks through the adapter's 16 KB, and
 * only every 77 lines the picture is copied back to the top.  (An MDA has room for one picture
 * only: it copies for each line.)
 */
#ifndef KERNEL_VGA_H
#define KERNEL_VGA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    VGA_COLUMNS = 80,
    VGA_COLUMNS_NARROW = 40, /* the BIOS modes for television sets */
    VGA_ROWS = 25,
    VGA_CELLS = 16384 / 2, /* what even a CGA has */
    MDA_CELLS = 4096 / 2,
};

/* The text memories of a colour and of a monochrome display; the host's tests put arrays here. */
extern volatile uint16_t *vga_cells, *mda_cells;

/*
 * Find a display whose memory answers, the one that the BIOS uses first, and clear it.  False if
 * there is none.
 */
bool vga_init(void);

/* Of a row: 80, or 40 in the BIOS modes 0 and 1. */
unsigned vga_columns(void);

/* One character at the cursor: '\n', '\r' and '\b' move, others are shown as they are.  On a
 * monochrome display every colour but grey is bright. */
void vga_put(char c, uint8_t attribute);

/* Blank the row of the cursor and go to its start. */
void vga_erase_row(void);

/* Let the hardware show what vga_put() did: scroll position and cursor.  Once after a text. */
void vga_sync(void);

/* First cell of what is on the screen. */
unsigned vga_origin(void);

#endif
