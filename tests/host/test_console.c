/*
 * The console on a simulated PC: UART, display, port E9h and keyboard.
 */
#include "kernel/console.h"

#include <check.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/keyboard.h"
#include "tests/host/console_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pc.h"

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

/* Cursor and function keys do not abort a test; Esc does. */
START_TEST(escape_sequences)
{
    pc();
    console_start_irq();
    sim_uart_type("a\033[A\033[15~\033OPb\033c\033\033[3\x03");
    sim_run_us(10000);
    ck_assert_str_eq(keys(), "ab\033c\033\x03");
    sim_uart_type("\033");
    sim_run_us(10000);
    ck_assert_str_eq(keys(), ""); /* may still become a sequence */
    sim_run_us(25000);
    ck_assert_str_eq(keys(), "\033");
    sim_uart_type("\033[");
    sim_run_us(1000);
    ck_assert_str_eq(keys(), "");
    sim_run_us(25000);
    ck_assert_str_eq(keys(), "");
    sim_uart_type("x");
    sim_run_us(1000);
    ck_assert_str_eq(keys(), "x");
}
END_TEST

START_TEST(keys_of_the_keyboard)
{
    pc();
    sim_keyboard_plug(3); /* hides behind the first; what it holds is thrown away */
    console_start_irq();
    press(0x31);   /* n */
    sim_key(0x2A); /* shift */
    press(0x31);   /* N */
    press(0x02);   /* ! */
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
    ck_assert_str_eq(keys(), "\x03\x03"
                             "c\n/a");
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
    ck_assert_uint_eq(irq_lines_in_use() & 1 << 1, 0);
}
END_TEST

/* Always the same byte, however often it is read: bounded at the start, and no key later. */
START_TEST(keyboard_controller_that_is_stuck)
{
    pc();
    sim_keyboard_break(SIM_KEYBOARD_STUCK);
    uint64_t before = sim_now_ns();
    console_start_irq();
    ck_assert_uint_lt(sim_now_ns() - before, 100000);
    ck_assert_int_eq(console_key(), -1);
    sim_keyboard_break(SIM_KEYBOARD_SOUND);
    press(0x1E);
    ck_assert_str_eq(keys(), "a");
}
END_TEST

START_TEST(interrupts_without_a_key)
{
    pc();
    console_start_irq();
    sim_keyboard_break(SIM_KEYBOARD_EMPTY);
    for (unsigned i = 0; i < 100; i++) {
        sim_key(0x1E);
    }
    ck_assert_uint_eq(irq_unclaimed(1), 100);
    ck_assert_int_eq(console_key(), -1);
}
END_TEST

/* Faster than any keyboard, for ever: the line is given up, COM1 is still there. */
START_TEST(a_keyboard_that_never_ends)
{
    unsigned codes = 0, got = 0;
    pc();
    console_start_irq();
    sim_tick(10000);
    for (; irq_take_storm() == IRQ_NONE && codes < 50000; codes++) {
        sim_key(0x1E);
        got += console_key() >= 0;
        sim_run_us(5);
    }
    ck_assert_uint_lt(codes, 50000);
    ck_assert_uint_lt(sim_now_ns(), 1000000000);
    ck_assert_uint_lt(got, 5000);
    sim_uart_type("x");
    sim_run_us(1000);
    ck_assert_int_eq(console_key(), 'x');
}
END_TEST

/* As fast as a keyboard can: every code counts. */
START_TEST(a_fast_keyboard_is_no_fault)
{
    pc();
    console_start_irq();
    sim_tick(10000);
    for (unsigned i = 0; i < 3000; i++) {
        sim_key(0x1E);
        ck_assert_int_eq(console_key(), 'a');
        sim_run_us(700);
    }
    ck_assert_uint_eq(irq_unclaimed(1), 0);
}
END_TEST

static bool resets(const char *codes)
{
    pc();
    console_start_irq();
    for (; *codes != '\0'; codes++) {
        sim_key((uint8_t)*codes);
    }
    (void)keys();
    return keyboard_reset_asked();
}

START_TEST(ctrl_alt_del)
{
    ck_assert(resets("\x1d\x38\x53"));
    ck_assert(resets("\x38\x1d\xe0\x53"));
    ck_assert(resets("\xe0\x1d\xe0\x38\xe0\x53")); /* all three on the right */
    ck_assert(!resets("\x1d\x53"));
    ck_assert(!resets("\x38\x53"));
    ck_assert(!resets("\x1d\x38\xb8\x53"));
    ck_assert(!resets("\x1d\x38\x9d\xe0\x53"));
    ck_assert(!resets("\x1d\x38\xd3"));
    ck_assert(!resets("\x1d\x38\x1e\x9e\xb8\x9d"));
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
    ck_assert_uint_eq(n, 64 + 256 + 16); /* keyboard, our ring, the chip's FIFO */
    sim_uart_type("x");
    sim_run_us(1000);
    ck_assert_int_eq(console_key(), 'x');
}
END_TEST

/* Nothing of it is lost, and the line is not given up for a broken chip. */
START_TEST(an_emulators_paste_arrives_whole)
{
    char many[3001];
    pc();
    console_start_irq();
    memset(many, 'p', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    sim_uart_paste(many);
    unsigned n = 0;
    for (unsigned i = 0; i < 100; i++) {
        sim_run_us(1000);
        while (console_key() >= 0) {
            n++;
        }
    }
    ck_assert_uint_eq(n, 3000);
    ck_assert_uint_eq(sim_uart_overruns(), 0);
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
    return cases;
}

static TCase *input(void)
{
    TCase *cases = tcase_create("input");
    tcase_add_test(cases, keys_of_the_terminal);
    tcase_add_test(cases, escape_sequences);
    tcase_add_test(cases, keys_of_the_keyboard);
    tcase_add_test(cases, control_and_grey_keys);
    tcase_add_test(cases, pause_and_strange_codes);
    tcase_add_test(cases, no_keyboard_controller);
    tcase_add_test(cases, keyboard_controller_that_is_stuck);
    tcase_add_test(cases, interrupts_without_a_key);
    tcase_add_test(cases, a_keyboard_that_never_ends);
    tcase_add_test(cases, a_fast_keyboard_is_no_fault);
    tcase_add_test(cases, ctrl_alt_del);
    tcase_add_test(cases, a_flood_of_keys_is_cut);
    tcase_add_test(cases, an_emulators_paste_arrives_whole);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("console");
    suite_add_tcase(suite, fan_out());
    suite_add_tcase(suite, console_display_cases());
    suite_add_tcase(suite, input());
    return run_suite(suite);
}
