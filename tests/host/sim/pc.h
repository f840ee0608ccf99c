/*
 * What else of a PC the console sees: colour text adapter, keyboard, and the emulators' port E9h.
 */
#ifndef TESTS_SIM_PC_H
#define TESTS_SIM_PC_H

/* Colour text memory and CRT controller; or those of an MDA, with 4 KB.  One display at a time. */
void sim_vga_plug(void);
void sim_mda_plug(void);

/* The BIOS' data area: port of the CRT controller and columns of the mode.  Without this call there
 * is none, and it reads as ones. */
void sim_bios_says(unsigned crtc_port, unsigned mode_columns);

/* Row of the screen as text without trailing blanks, and where the cursor is shown. */
const char *sim_vga_row(unsigned row);
unsigned sim_vga_cursor_row(void);
unsigned sim_vga_cursor_column(void);
unsigned sim_vga_attribute(unsigned row, unsigned column);

/* Port E9h, reading back as itself, and what was written to it. */
void sim_debug_plug(void);
const char *sim_debug_text(void);
void sim_debug_forget(void);

/* The 8042; `stale` bytes are waiting in it.  sim_key() sends one scan code. */
void sim_keyboard_plug(unsigned stale);
void sim_key(unsigned scan_code);

/* A broken controller from now on: its output is full for ever, whatever is read; or it interrupts
 * without a byte.  sim_key() makes the edge. */
enum sim_keyboard_fault { SIM_KEYBOARD_SOUND, SIM_KEYBOARD_STUCK, SIM_KEYBOARD_EMPTY };
void sim_keyboard_break(enum sim_keyboard_fault fault);

#endif
