/*
 * The console on its displays: colour and monochrome, wide and narrow, and none.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/vga.h"
#include "tests/host/console_rig.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/pc.h"

enum { COLOUR_CRTC = 0x3D4, MONO_CRTC = 0x3B4 };

/* ---- colour ---- */

START_TEST(colours)
{
    pc();
    kprintf_colour(COLOUR_BAD, "bad");
    kprintf("normal");
    ck_assert_uint_eq(sim_vga_attribute(0, 0), 0x0C);
    ck_assert_uint_eq(sim_vga_attribute(0, 3), 0x07);
    ck_assert_str_eq(serial_text(), "badnormal");
}
END_TEST

/* Through the whole of the adapter's memory and back to its start, several times. */
START_TEST(scrolling)
{
    pc();
    for (unsigned line = 0; line < 400; line++) {
        char expected[16];
        kprintf("line %u\n", line);
        forget();
        for (unsigned row = 0; row < VGA_ROWS - 1 && line >= VGA_ROWS; row++) {
            snprintf(expected, sizeof expected, "line %u", line - (VGA_ROWS - 2) + row);
            ck_assert_str_eq(sim_vga_row(row), expected);
        }
        ck_assert_str_eq(sim_vga_row(VGA_ROWS - 1), "");
        ck_assert_uint_le(vga_origin() + VGA_ROWS * VGA_COLUMNS, VGA_CELLS);
        ck_assert_uint_eq(sim_vga_cursor_row(), line < VGA_ROWS - 1 ? line + 1 : VGA_ROWS - 1);
    }
}
END_TEST

#define TEN "0123456789"
#define VGA_LINE TEN TEN TEN TEN TEN TEN TEN TEN

START_TEST(wrapping_and_backspace)
{
    pc();
    kprintf("%80s", "x"); /* the last column does not wrap yet */
    ck_assert_uint_eq(sim_vga_cursor_row(), 0);
    kprintf("\n");
    ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    console_echo(VGA_LINE "y"); /* typed: text for people is wrapped before it comes there */
    ck_assert_str_eq(sim_vga_row(2), "y");
    console_echo("\b\b \b");
    ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    ck_assert_uint_eq(sim_vga_cursor_column(), 79);
}
END_TEST

/* ---- monochrome ---- */

/* ... and what the BIOS says of it; 0: there is no such data. */
static void pc_mono(unsigned crtc_said)
{
    sim_reset();
    sim_uart_plug(SIM_16550A);
    sim_mda_plug();
    if (crtc_said != 0) {
        sim_bios_says(crtc_said, 80);
    }
    console_init();
}

START_TEST(an_mda_is_found)
{
    static const unsigned said[] = {0, MONO_CRTC, COLOUR_CRTC};
    for (unsigned i = 0; i < sizeof said / sizeof said[0]; i++) {
        pc_mono(said[i]);
        kprintf("hello\n");
        ck_assert_str_eq(sim_vga_row(0), "hello");
        ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    }
}
END_TEST

/* 4 KB hold one picture: each new line moves it. */
START_TEST(an_mda_scrolls)
{
    pc_mono(MONO_CRTC);
    for (unsigned line = 0; line < 100; line++) {
        char expected[16];
        kprintf("line %u\n", line);
        forget();
        for (unsigned row = 0; row < VGA_ROWS - 1 && line >= VGA_ROWS; row++) {
            snprintf(expected, sizeof expected, "line %u", line - (VGA_ROWS - 2) + row);
            ck_assert_str_eq(sim_vga_row(row), expected);
        }
        ck_assert_str_eq(sim_vga_row(VGA_ROWS - 1), "");
    }
}
END_TEST

/* Attribute 08h is invisible there, 01h underlined. */
START_TEST(nothing_is_invisible_on_an_mda)
{
    static const enum colour shades[] = {COLOUR_NORMAL, COLOUR_GOOD, COLOUR_WARN, COLOUR_BAD,
                                         COLOUR_DIM};
    pc_mono(MONO_CRTC);
    for (unsigned i = 0; i < sizeof shades / sizeof shades[0]; i++) {
        kprintf_colour(shades[i], "x");
        unsigned attribute = sim_vga_attribute(0, i);
        ck_assert_uint_eq(attribute,
                          shades[i] == COLOUR_NORMAL || shades[i] == COLOUR_DIM ? 0x07 : 0x0F);
    }
}
END_TEST

START_TEST(no_display_at_all)
{
    sim_reset();
    sim_uart_plug(SIM_16550A);
    sim_bios_says(COLOUR_CRTC, 80);
    console_init();
    kprintf("only here\n");
    console_fresh_line();
    console_prompt("> ", "");
    ck_assert_str_eq(serial_text(), "only here\r\n> ");
}
END_TEST

/* ---- 40 columns ---- */

START_TEST(a_narrow_mode_of_the_bios)
{
    pc();
    sim_bios_says(COLOUR_CRTC, 40);
    console_init();
    kprintf("twenty characters or more stand in this line\n");
    ck_assert_str_eq(sim_vga_row(0), "twenty characters or more stand in this");
    ck_assert_str_eq(sim_vga_row(1), "    line");
    ck_assert_uint_eq(sim_vga_cursor_row(), 2);
    ck_assert_str_eq(serial_text(), "twenty characters or more stand in this line\r\n");
    for (unsigned line = 0; line < 300; line++) {
        kprintf("%u\n", line);
        forget();
    }
    ck_assert_str_eq(sim_vga_row(VGA_ROWS - 2), "299");
}
END_TEST

/* One text in 40 columns, on every output. */
static const char *narrow(const char *text)
{
    pc();
    console_set_width(40);
    kprintf("%s", text);
    return sim_debug_text();
}

START_TEST(lines_break_at_blanks)
{
    ck_assert_str_eq(narrow("short\n"), "short\n");
    ck_assert_str_eq(narrow("0123456789 0123456789 0123456789 01234567\n"),
                     "0123456789 0123456789 0123456789\n    01234567\n");
    ck_assert_str_eq(narrow("0123456789 0123456789 0123456789 0123456\n"),
                     "0123456789 0123456789 0123456789 0123456\n");
    ck_assert_str_eq(sim_vga_row(0), "0123456789 0123456789 0123456789 0123456");
    /* the blanks of a table are not carried over */
    ck_assert_str_eq(narrow("  0123456789012345678901         x        y\n"),
                     "  0123456789012345678901         x\n    y\n");
    /* nor are those that end a line */
    ck_assert_str_eq(narrow("01234567890123456789                     \nz\n"),
                     "01234567890123456789                    \nz\n");
}
END_TEST

/* Not "irq 11," here and "level" there. */
START_TEST(cells_stay_together)
{
    ck_assert_str_eq(narrow("  help [WORD]         what each of the steps costs\n"),
                     "  help [WORD]\n    what each of the steps costs\n");
    ck_assert_str_eq(narrow("  word word  a cell that is wider than a whole line may be cut\n"),
                     "  word word  a cell that is wider than a\n    whole line may be cut\n");
    pc();
    console_set_width(40);
    kprintf("%-10s", "line");
    kprintf("%-18s", "irq 11, edge");
    kprintf("%-18s", "irq 10, level");
    kprintf("\n%-10s%-18s%-18s\n", "bus", "ISA", "PCI");
    kprintf("next\n");
    ck_assert_str_eq(sim_debug_text(), "line      irq 11, edge      \n    irq 10, level     \n"
                                       "bus       ISA               PCI         \nnext\n");
}
END_TEST

START_TEST(words_too_wide_are_cut)
{
    ck_assert_str_eq(narrow("a 012345678901234567890123456789012345678901234567890123\n"),
                     "a 01234567890123456789012345678901234567\n    8901234567890123\n");
}
END_TEST

/* Progress dots, and a line that is printed bit by bit. */
START_TEST(lines_in_pieces)
{
    pc();
    console_set_width(40);
    for (unsigned i = 0; i < 45; i++) {
        kprintf(".");
    }
    kprintf("\n");
    kprintf("0123456789 0123456789 0123456789 ");
    kprintf("01234567");
    kprintf("\n");
    ck_assert_str_eq(sim_debug_text(), "........................................\n    .....\n"
                                       "0123456789 0123456789 0123456789 \n    01234567\n");
    ck_assert_str_eq(sim_vga_row(3), "    01234567");
}
END_TEST

START_TEST(records_and_typing_do_not_wrap)
{
    static const char line[] = "@{\"ev\":\"012345678901234567890123456789012345678901234567890\"}";
    pc();
    console_set_width(40);
    ck_assert(record(line));
    ck_assert_int_eq(strncmp(sim_debug_text(), line, strlen(line)), 0);
    sim_debug_forget();
    console_prompt("> ", "iperf -u -b 1000000 -t 10 -l 1470 192.168.100.200");
    console_echo("\b \b");
    ck_assert_str_eq(sim_debug_text(), "> iperf -u -b 1000000 -t 10 -l 1470 192.168.100.200\b \b");
}
END_TEST

START_TEST(eighty_columns_are_left_to_who_reads)
{
    static const char line[] =
        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n";
    pc();
    console_set_width(80);
    kprintf("%s", line);
    ck_assert_str_eq(sim_debug_text(), line);
    ck_assert_str_eq(sim_vga_row(1), "    0123456789"); /* no word is cut on the screen */
}
END_TEST

TCase *console_display_cases(void)
{
    TCase *cases = tcase_create("display");
    tcase_add_test(cases, colours);
    tcase_add_test(cases, scrolling);
    tcase_add_test(cases, wrapping_and_backspace);
    tcase_add_test(cases, an_mda_is_found);
    tcase_add_test(cases, an_mda_scrolls);
    tcase_add_test(cases, nothing_is_invisible_on_an_mda);
    tcase_add_test(cases, no_display_at_all);
    tcase_add_test(cases, a_narrow_mode_of_the_bios);
    tcase_add_test(cases, lines_break_at_blanks);
    tcase_add_test(cases, cells_stay_together);
    tcase_add_test(cases, words_too_wide_are_cut);
    tcase_add_test(cases, lines_in_pieces);
    tcase_add_test(cases, records_and_typing_do_not_wrap);
    tcase_add_test(cases, eighty_columns_are_left_to_who_reads);
    return cases;
}
