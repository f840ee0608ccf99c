/*
 * The console on a simulated PC: UART, display, port E9h and keyboard.
 */
#include "kernel/console.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/keyboard.h"
#include "kernel/machine.h"
#include "kernel/record.h"
#include "kernel/serial.h"
#include "kernel/serial_regs.h"
#include "kernel/vga.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pc.h"
#include "tests/host/sim/uart.h"

/* As kernel/machine.c has it. */
bool machine_is_emulator(void)
{
    return io_in8((struct ioport){0xE9}, 0) == 0xE9;
}

static void pc_with(enum sim_uart_kind kind)
{
    sim_reset();
    sim_uart_plug(kind);
    sim_vga_plug();
    sim_debug_plug();
    sim_keyboard_plug(0);
    console_init();
}

static void pc(void)
{
    pc_with(SIM_16550A);
}

/* The main loop, until nothing is queued; COM1's text. */
static const char *serial_text(void)
{
    for (unsigned turn = 0; console_drain(); turn++) {
        ck_assert_uint_lt(turn, 100000);
        sim_run_us(100);
    }
    sim_run_us(10000);
    return sim_uart_sent();
}

static void forget(void)
{
    serial_text();
    sim_uart_forget_sent();
    sim_debug_forget();
}

static bool record(const char *text)
{
    return console_record(text, strlen(text));
}

/* ---- fan-out ---- */

START_TEST(text_goes_everywhere)
{
    pc();
    kprintf("ready at %u\n", 7u);
    ck_assert_str_eq(sim_debug_text(), "ready at 7\n");
    ck_assert_str_eq(serial_text(), "ready at 7\r\n");
    ck_assert_str_eq(sim_vga_row(0), "ready at 7");
    ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    ck_assert_uint_eq(sim_vga_cursor_column(), 0);
}
END_TEST

START_TEST(records_never_go_to_the_screen)
{
    pc();
    ck_assert(record("@{\"ev\":\"x\"}"));
    ck_assert_str_eq(sim_debug_text(), "@{\"ev\":\"x\"}\n");
    ck_assert_str_eq(serial_text(), "@{\"ev\":\"x\"}\r\n");
    ck_assert_str_eq(sim_vga_row(0), "");
}
END_TEST

/* Each output has a column of its own: the screen's line goes on. */
START_TEST(records_share_no_line)
{
    pc();
    kprintf("half");
    record("@1");
    record("@2");
    kprintf(" a line\n");
    ck_assert_str_eq(sim_debug_text(), "half\n@1\n@2\n a line\n");
    ck_assert_str_eq(serial_text(), "half\r\n@1\r\n@2\r\n a line\r\n");
    ck_assert_str_eq(sim_vga_row(0), "half a line");
}
END_TEST

START_TEST(a_return_does_not_end_the_line)
{
    pc();
    kprintf("progress\r");
    record("@1");
    ck_assert_str_eq(sim_debug_text(), "progress\r\n@1\n");
}
END_TEST

START_TEST(people_s_lines_never_begin_with_at)
{
    pc();
    kprintf("@x\n@\na@\n");
    console_write("@y", 2);
    ck_assert_str_eq(sim_debug_text(), " @x\n @\na@\n @y");
    ck_assert_str_eq(serial_text(), " @x\r\n @\r\na@\r\n @y");
}
END_TEST

START_TEST(fresh_line_and_column)
{
    pc();
    console_fresh_line();
    ck_assert_uint_eq(console_column(), 0);
    kprintf("abc");
    ck_assert_uint_eq(console_column(), 3);
    console_fresh_line();
    console_fresh_line();
    ck_assert_uint_eq(console_column(), 0);
    kprintf("d");
    ck_assert_str_eq(sim_debug_text(), "abc\nd");
}
END_TEST

START_TEST(console_option_leaves_outputs_out)
{
    pc();
    kprintf("early\n");
    console_select(true, false, 115200);
    kprintf("late\n");
    ck_assert(record("@1"));
    ck_assert_str_eq(serial_text(), "");
    ck_assert_str_eq(sim_vga_row(1), "late");
    ck_assert_str_eq(sim_debug_text(), "early\nlate\n@1\n");

    pc();
    console_select(false, true, 9600);
    kprintf("text\n");
    ck_assert_uint_eq(sim_uart_baud(), 9600);
    ck_assert_str_eq(serial_text(), "text\r\n");
    ck_assert_str_eq(sim_vga_row(0), "");
}
END_TEST

START_TEST(no_emulator_no_debug_port)
{
    sim_reset();
    sim_vga_plug();
    console_init();
    uint64_t before = sim_accesses();
    console_record("@1", 2);
    ck_assert_uint_eq(sim_accesses(), before);
}
END_TEST

START_TEST(long_text_is_cut)
{
    char text[2000];
    pc();
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    kprintf("%s", text);
    ck_assert_uint_eq(strlen(sim_debug_text()), 1023);
}
END_TEST

/* ---- prompt ---- */

START_TEST(prompt_comes_again_where_it_is_missing)
{
    pc();
    ck_assert(console_prompt_missing());
    console_prompt("> ", "");
    console_echo("ab");
    ck_assert(!console_prompt_missing());
    record("@1"); /* not on the screen: there the prompt still stands */
    ck_assert(console_prompt_missing());
    console_prompt("> ", "ab");
    ck_assert_str_eq(sim_debug_text(), "> ab\n@1\n> ab");
    ck_assert_str_eq(sim_vga_row(0), "> ab");
    kprintf("log\n");
    console_prompt("> ", "ab");
    ck_assert_str_eq(sim_debug_text(), "> ab\n@1\n> ab\nlog\n> ab");
    ck_assert_str_eq(sim_vga_row(0), "log");
    ck_assert_str_eq(sim_vga_row(1), "> ab");
    ck_assert_uint_eq(sim_vga_cursor_column(), 4);
    ck_assert(!console_prompt_missing());
}
END_TEST

START_TEST(half_a_line_delays_the_prompt)
{
    pc();
    console_prompt("> ", "");
    kprintf("asking ");
    ck_assert(!console_prompt_missing());
    kprintf(". .\n");
    ck_assert(console_prompt_missing());
    ck_assert_str_eq(sim_vga_row(0), "asking . .");
}
END_TEST

/* ---- display ---- */

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

START_TEST(wrapping_and_backspace)
{
    pc();
    kprintf("%80s", "x"); /* the last column does not wrap yet */
    ck_assert_uint_eq(sim_vga_cursor_row(), 0);
    kprintf("\n");
    ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    kprintf("%81s", "y");
    ck_assert_str_eq(sim_vga_row(2), "y");
    kprintf("\b\b \b");
    ck_assert_uint_eq(sim_vga_cursor_row(), 1);
    ck_assert_uint_eq(sim_vga_cursor_column(), 79);
}
END_TEST

/* ---- COM1 ---- */

START_TEST(every_uart_is_found)
{
    static const enum sim_uart_kind kinds[] = {SIM_8250, SIM_16450, SIM_16550, SIM_16550A, SIM_CLONE};
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        pc_with(kinds[i]);
        kprintf("hello over there, this is longer than one FIFO\n");
        ck_assert_str_eq(serial_text(), "hello over there, this is longer than one FIFO\r\n");
        ck_assert_uint_eq(sim_uart_line_control(), LCR_8N1);
        ck_assert_uint_eq(sim_uart_baud(), 115200);
    }
}
END_TEST

/* After detection not one access, whatever is printed. */
START_TEST(a_missing_uart_costs_nothing)
{
    sim_reset();
    sim_vga_plug();
    console_init();
    console_start_irq();
    uint64_t before = sim_accesses();
    for (unsigned i = 0; i < 10000; i++) {
        ck_assert(console_record("@{}", 3));
        ck_assert(!console_drain());
        ck_assert_int_eq(console_key(), -1);
    }
    console_flush(1000000);
    ck_assert_uint_eq(sim_accesses(), before);
    ck_assert_uint_eq(console_records_lost(), 0);
}
END_TEST

/* DESIGN 4: at most one FIFO a turn, one look at the status, none with nothing to send. */
START_TEST(a_turn_sends_one_fifo)
{
    static const struct {
        enum sim_uart_kind kind;
        unsigned most;
    } cases[] = {{SIM_16550A, 16}, {SIM_16450, 1}, {SIM_16550, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pc_with(cases[i].kind);
        console_select(false, true, 115200);
        kprintf("%40s", "x");
        unsigned reads = sim_uart_status_reads();
        uint64_t before = sim_accesses();
        ck_assert(console_drain());
        ck_assert_uint_eq(sim_accesses() - before, 1 + cases[i].most);
        ck_assert_uint_eq(sim_uart_status_reads() - reads, 1);
        before = sim_accesses();
        ck_assert(console_drain()); /* still busy */
        ck_assert_uint_eq(sim_accesses() - before, 1);
        serial_text();
        before = sim_accesses();
        ck_assert(!console_drain());
        ck_assert_uint_eq(sim_accesses(), before);
    }
}
END_TEST

/* Everything queued leaves a machine that only ever halts. */
START_TEST(the_interrupt_wakes_a_halted_machine)
{
    static const enum sim_uart_kind kinds[] = {SIM_8250, SIM_16550A};
    for (unsigned i = 0; i < 2; i++) {
        pc_with(kinds[i]);
        console_start_irq();
        kprintf("%100s", "end");
        record("@{\"ev\":\"x\"}");
        while (console_drain()) {
            cpu_cli();
            if (!console_input_waiting()) {
                cpu_sti_hlt(); /* aborts if nothing can end it */
            }
            cpu_sti();
        }
        ck_assert_uint_eq(sim_uart_enabled(), IER_RECEIVED);
        sim_run_us(20000);
        ck_assert_uint_eq(strlen(sim_uart_sent()), 100 + 2 + 11 + 2);
        ck_assert_uint_gt(sim_halts(), 5);
        ck_assert_uint_lt(irq_count(4), 130);
        ck_assert_uint_eq(irq_unclaimed(4), 0);
    }
}
END_TEST

/* The transmitter gets empty between the last drain and the halt. */
START_TEST(the_wake_up_is_not_lost)
{
    pc();
    console_start_irq();
    kprintf("%100s", "end");
    console_drain();
    console_drain();
    sim_run_us(20000); /* interrupt taken here */
    cpu_cli();
    ck_assert(console_input_waiting());
    cpu_sti();
    console_drain();
    cpu_cli();
    ck_assert(!console_input_waiting());
    cpu_sti();
}
END_TEST

START_TEST(a_uart_without_interrupt_still_drains)
{
    pc();
    sim_uart_cut_irq();
    console_start_irq();
    kprintf("%100s\n", "end");
    ck_assert_uint_eq(strlen(serial_text()), 102);
}
END_TEST

START_TEST(a_stuck_interrupt_is_given_up)
{
    pc();
    console_start_irq();
    sim_uart_stick_irq();
    kprintf("%100s\n", "end");
    ck_assert_uint_eq(strlen(serial_text()), 102);
    ck_assert_uint_eq(sim_uart_enabled(), 0);
    ck_assert_uint_le(irq_count(4), 2);
}
END_TEST

/* ---- a full queue ---- */

START_TEST(text_overflow_is_dropped_in_lines)
{
    pc();
    for (unsigned line = 0; line < 1000; line++) {
        kprintf("line %-35u\n", line); /* forty characters */
        sim_debug_forget();
    }
    ck_assert_uint_gt(console_text_lost(), 1000);
    serial_text();
    kprintf("after\n");
    const char *text = serial_text();
    unsigned whole = 0, cut = 0;
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        ck_assert_ptr_nonnull(strchr(at, '\n'));
        bool complete = strncmp(at, "line ", 5) == 0 && strchr(at, '\r') == at + 40;
        whole += complete;
        cut += !complete;
    }
    ck_assert_uint_gt(whole, 200);
    ck_assert_uint_eq(cut, 2); /* where the room ended, and the line below */
    ck_assert_str_eq(strstr(text, "\nafter"), "\nafter\r\n");
}
END_TEST

/* Text may not take the room a record needs. */
START_TEST(records_pass_a_flood_of_text)
{
    pc();
    for (unsigned line = 0; line < 1000; line++) {
        kprintf("a flood of text\n");
    }
    ck_assert(record("@{\"ev\":\"x\"}"));
    ck_assert_uint_eq(console_records_lost(), 0);
    ck_assert_ptr_nonnull(strstr(serial_text(), "\r\n@{\"ev\":\"x\"}\r\n"));
}
END_TEST

START_TEST(lost_records_are_counted_and_told)
{
    static char line[1000];
    unsigned sent = 0, kept = 0;
    pc();
    memset(line, 'x', sizeof line);
    line[0] = '@';
    for (; sent < 30; sent++) {
        kept += console_record(line, sizeof line);
    }
    ck_assert_uint_eq(kept, SERIAL_QUEUE / (sizeof line + 2));
    ck_assert_uint_eq(console_records_lost(), sent - kept);
    sim_debug_forget();
    char told[128];
    snprintf(told, sizeof told, "@{\"ev\":\"fault\",\"what\":\"record_lost\",\"nic\":null,\"lost\":%u,\"t_us\":",
             sent - kept);
    const char *text = serial_text();
    const char *at = strstr(text, told);
    ck_assert_ptr_nonnull(at);
    ck_assert_ptr_null(strstr(at + strlen(told), "record_lost")); /* once */
    ck_assert_int_eq(at[-1], '\n');
    ck_assert_uint_eq((size_t)(at - text), kept * (sizeof line + 2));
    ck_assert_ptr_nonnull(strstr(sim_debug_text(), told));
    kept = console_record(line, sizeof line);
    ck_assert_uint_eq(kept, 1);
}
END_TEST

/* ---- flush and panic ---- */

START_TEST(flush_waits_for_the_last_bit)
{
    pc();
    kprintf("%200s\n", "x");
    console_flush(1000000);
    ck_assert_uint_eq(strlen(sim_uart_sent()), 202);
    ck_assert_uint_lt(sim_now_ns(), 40000000);
}
END_TEST

START_TEST(flush_is_bounded)
{
    pc();
    sim_uart_stall();
    kprintf("%200s\n", "x");
    uint64_t before = sim_now_ns();
    console_flush(50000);
    ck_assert_uint_lt(sim_now_ns() - before, 60000000);
}
END_TEST

START_TEST(panic_writes_at_once)
{
    pc();
    kprintf("before\n");
    cpu_cli();
    console_panic_mode();
    kprintf("panic: %s\n", "why");
    ck_assert(record("@{\"ev\":\"panic\"}"));
    ck_assert(!console_drain());
    sim_run_us(2000); /* the last FIFO */
    ck_assert_str_eq(sim_uart_sent(), "before\r\npanic: why\r\n@{\"ev\":\"panic\"}\r\n");
    cpu_sti();
}
END_TEST

/* A full queue at a low rate: old text goes, the panic is heard. */
START_TEST(panic_is_not_kept_waiting_by_old_text)
{
    pc();
    console_select(true, true, 1200);
    for (unsigned i = 0; i < 500; i++) {
        kprintf("old text\n");
        sim_debug_forget();
    }
    uint64_t before = sim_now_ns();
    console_panic_mode();
    ck_assert_uint_lt(sim_now_ns() - before, 1200000000);
    kprintf("\npanic\n");
    console_flush(1000000);
    ck_assert_ptr_nonnull(strstr(sim_uart_sent(), "\r\npanic\r\n"));
}
END_TEST

START_TEST(panic_on_a_dead_uart_ends)
{
    pc();
    sim_uart_stall();
    kprintf("before\n");
    uint64_t before = sim_now_ns();
    console_panic_mode();
    for (unsigned i = 0; i < 100; i++) {
        kprintf("%100s\n", "x");
        console_record("@{}", 3);
    }
    ck_assert_uint_lt(sim_now_ns() - before, 1500000000);
    ck_assert_str_eq(sim_vga_row(VGA_ROWS - 1), "");
}
END_TEST

/* ---- keys ---- */

static const char *keys(void)
{
    static char text[128];
    unsigned n = 0;
    for (int key = console_key(); key >= 0; key = console_key()) {
        ck_assert_uint_lt(n, sizeof text - 1);
        text[n++] = (char)key;
    }
    text[n] = '\0';
    return text;
}

static void press(unsigned code)
{
    sim_key(code);
    sim_key(code | 0x80);
}

START_TEST(keys_of_the_terminal)
{
    pc();
    console_start_irq();
    sim_uart_type("nics\rip\r\ncounters\n\x7f\b\x03");
    sim_run_us(10000);
    cpu_cli();
    ck_assert(console_input_waiting());
    cpu_sti();
    ck_assert_str_eq(keys(), "nics\nip\ncounters\n\b\b\x03");
    ck_assert(!console_input_waiting());
    ck_assert_uint_eq(sim_uart_overruns(), 0);
}
END_TEST

START_TEST(keys_of_the_keyboard)
{
    pc();
    sim_keyboard_plug(3); /* hides behind the first; what it holds is thrown away */
    console_start_irq();
    press(0x31); /* n */
    sim_key(0x2A); /* shift */
    press(0x31); /* N */
    press(0x02); /* ! */
    sim_key(0xAA);
    press(0x02); /* 1 */
    press(0x3A); /* caps */
    press(0x1E); /* A */
    press(0x02); /* 1 */
    sim_key(0x36);
    press(0x1E); /* a */
    sim_key(0xB6);
    press(0x3A);
    press(0x39); /* blank */
    press(0x0E); /* backspace */
    press(0x01); /* Esc */
    press(0x1C);
    ck_assert(console_input_waiting());
    ck_assert_str_eq(keys(), "nN!1A1a \b\033\n");
}
END_TEST

START_TEST(control_and_grey_keys)
{
    pc();
    console_start_irq();
    sim_key(0x1D);
    press(0x2E); /* Ctrl-C */
    press(0x02); /* Ctrl-1: nothing */
    sim_key(0x9D);
    sim_key(0xE0);
    sim_key(0x1D); /* right Ctrl */
    press(0x2E);
    sim_key(0xE0);
    sim_key(0x9D);
    press(0x2E); /* c */
    sim_key(0xE0);
    press(0x1C); /* Enter of the number block */
    sim_key(0xE0);
    press(0x35); /* its slash */
    sim_key(0xE0);
    sim_key(0x2A); /* shift around a cursor key is none */
    sim_key(0xE0);
    press(0x48); /* cursor up */
    press(0x1E); /* a */
    ck_assert_str_eq(keys(), "\x03\x03" "c\n/a");
}
END_TEST

START_TEST(pause_and_strange_codes)
{
    static const uint8_t codes[] = {0xE1, 0x1D, 0x45, 0xE1, 0x9D, 0xC5, /* Pause */
                                    0x00, 0xFF, 0xFA, 0xFE, 0x54, 0x7F, 0x58, 0x53, 0x1E};
    char text[16];
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof codes; i++) {
        int key = keyboard_decode(codes[i]);
        if (key >= 0) {
            text[n++] = (char)key;
        }
    }
    text[n] = '\0';
    ck_assert_str_eq(text, ".a");
}
END_TEST

/* An empty port reads 0xFF: "output full" for ever. */
START_TEST(no_keyboard_controller)
{
    sim_reset();
    sim_uart_plug(SIM_16550A);
    sim_vga_plug();
    console_init();
    uint64_t before = sim_now_ns();
    console_start_irq();
    ck_assert_uint_lt(sim_now_ns() - before, 100000);
    ck_assert_int_eq(console_key(), -1);
}
END_TEST

START_TEST(a_flood_of_keys_is_cut)
{
    char many[1000];
    pc();
    console_start_irq();
    memset(many, 'k', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    sim_uart_type(many);
    for (unsigned i = 0; i < 1000; i++) {
        sim_key(0x1E);
    }
    sim_run_us(200000);
    unsigned n = 0;
    while (console_key() >= 0) {
        n++;
    }
    ck_assert_uint_eq(n, 64 + 256);
    sim_uart_type("x");
    sim_run_us(1000);
    ck_assert_int_eq(console_key(), 'x');
}
END_TEST

static TCase *fan_out(void)
{
    TCase *cases = tcase_create("fan-out");
    tcase_add_test(cases, text_goes_everywhere);
    tcase_add_test(cases, records_never_go_to_the_screen);
    tcase_add_test(cases, records_share_no_line);
    tcase_add_test(cases, a_return_does_not_end_the_line);
    tcase_add_test(cases, people_s_lines_never_begin_with_at);
    tcase_add_test(cases, fresh_line_and_column);
    tcase_add_test(cases, console_option_leaves_outputs_out);
    tcase_add_test(cases, no_emulator_no_debug_port);
    tcase_add_test(cases, long_text_is_cut);
    tcase_add_test(cases, prompt_comes_again_where_it_is_missing);
    tcase_add_test(cases, half_a_line_delays_the_prompt);
    tcase_add_test(cases, colours);
    tcase_add_test(cases, scrolling);
    tcase_add_test(cases, wrapping_and_backspace);
    return cases;
}

static TCase *serial(void)
{
    TCase *cases = tcase_create("serial");
    tcase_add_test(cases, every_uart_is_found);
    tcase_add_test(cases, a_missing_uart_costs_nothing);
    tcase_add_test(cases, a_turn_sends_one_fifo);
    tcase_add_test(cases, the_interrupt_wakes_a_halted_machine);
    tcase_add_test(cases, the_wake_up_is_not_lost);
    tcase_add_test(cases, a_uart_without_interrupt_still_drains);
    tcase_add_test(cases, a_stuck_interrupt_is_given_up);
    tcase_add_test(cases, text_overflow_is_dropped_in_lines);
    tcase_add_test(cases, records_pass_a_flood_of_text);
    tcase_add_test(cases, lost_records_are_counted_and_told);
    tcase_add_test(cases, flush_waits_for_the_last_bit);
    tcase_add_test(cases, flush_is_bounded);
    tcase_add_test(cases, panic_writes_at_once);
    tcase_add_test(cases, panic_is_not_kept_waiting_by_old_text);
    tcase_add_test(cases, panic_on_a_dead_uart_ends);
    return cases;
}

static TCase *input(void)
{
    TCase *cases = tcase_create("input");
    tcase_add_test(cases, keys_of_the_terminal);
    tcase_add_test(cases, keys_of_the_keyboard);
    tcase_add_test(cases, control_and_grey_keys);
    tcase_add_test(cases, pause_and_strange_codes);
    tcase_add_test(cases, no_keyboard_controller);
    tcase_add_test(cases, a_flood_of_keys_is_cut);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("console");
    SRunner *runner = srunner_create(suite);
    int failed;
    suite_add_tcase(suite, fan_out());
    suite_add_tcase(suite, serial());
    suite_add_tcase(suite, input());
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
