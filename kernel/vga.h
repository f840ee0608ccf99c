/*
 * 80x25 colour text on CGA, EGA and VGA: 16-bit cells at B8000h, CRT controller at 3D4h.
 *
 * Writing 1500 bytes to this memory takes a 386 over half a millisecond, so nothing is moved when
 * the screen scrolls: the CRT controller's start address walks through the adapter's 16 KB, and
 * only every 77 lines the picture is copied back to the top.
 */
#ifndef KERNEL_VGA_H
#define KERNEL_VGA_H

#include <stdbool.h>
#include <stdint.h>

enum {
    VGA_COLUMNS = 80,
    VGA_ROWS = 25,
    VGA_CELLS = 16384 / 2, /* what even a CGA has */
};

/* The text memory; the host's tests put an array here. */
extern volatile uint16_t *vga_cells;

/* Is there such memory?  If so, clear the screen. */
bool vga_init(void);

/* One character at the cursor: '\n', '\r' and '\b' move, others are shown as they are. */
void vga_put(char c, uint8_t attribute);

/* Blank the row of the cursor and go to its start. */
void vga_erase_row(void);

/* Let the hardware show what vga_put() did: scroll position and cursor.  Once after a text. */
void vga_sync(void);

/* First cell of what is on the screen. */
unsigned vga_origin(void);

#endif
