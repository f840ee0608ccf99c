/*
 * COM1 under the console: detection, draining, a full queue, panic.
 */
#include "kernel/serial.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/serial_regs.h"
#include "kernel/vga.h"
#include "tests/host/console_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pc.h"
#include "tests/host/wrong_step.h"

START_TEST(every_uart_is_found)
{
    static const enum sim_uart_kind kinds[] = {SIM_8250, SIM_16450, SIM_16550, SIM_16550A,
                                               SIM_CLONE};
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
    sim_uart_stick_irq(_i == 0 ? IIR_LINE : IIR_RECEIVED);
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
    snprintf(told, sizeof told,
             "@{\"ev\":\"fault\",\"what\":\"record_lost\",\"nic\":null,\"lost\":%u,\"t_us\":",
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

/* ---- and the simulated devices end the test at a wrong step ---- */

static const struct ioport com1 = {0x3F8};

static void character_too_many(void)
{
    pc_with(SIM_8250);
    io_out8(com1, 0, 'a');
    io_out8(com1, 0, 'b');
}

static void status_written(void)
{
    pc();
    io_out8(com1, 5, 0);
}

static void keyboard_written(void)
{
    pc();
    io_out8((struct ioport){0x60}, 0, 0xFF);
}

START_TEST(misuse)
{
    static const struct wrong_step wrong[] = {
        WRONG_STEP(character_too_many, "character written to a full transmitter"),
        WRONG_STEP(status_written, "write to read-only register 5"),
        WRONG_STEP(keyboard_written, "keyboard: write of ff to register 0"),
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        wrong_step_expect(&wrong[i]);
    }
}
END_TEST

static TCase *serial(void)
{
    TCase *cases = tcase_create("serial");
    tcase_add_test(cases, every_uart_is_found);
    tcase_add_test(cases, a_missing_uart_costs_nothing);
    tcase_add_test(cases, a_turn_sends_one_fifo);
    tcase_add_test(cases, the_interrupt_wakes_a_halted_machine);
    tcase_add_test(cases, the_wake_up_is_not_lost);
    tcase_add_test(cases, a_uart_without_interrupt_still_drains);
    tcase_add_loop_test(cases, a_stuck_interrupt_is_given_up, 0, 2);
    tcase_add_test(cases, text_overflow_is_dropped_in_lines);
    tcase_add_test(cases, records_pass_a_flood_of_text);
    tcase_add_test(cases, lost_records_are_counted_and_told);
    tcase_add_test(cases, flush_waits_for_the_last_bit);
    tcase_add_test(cases, flush_is_bounded);
    tcase_add_test(cases, panic_writes_at_once);
    tcase_add_test(cases, panic_is_not_kept_waiting_by_old_text);
    tcase_add_test(cases, panic_on_a_dead_uart_ends);
    tcase_add_test(cases, misuse);
    return cases;
}

int main(void)
{
    Suite *suite = suite_create("serial");
    suite_add_tcase(suite, serial());
    return run_suite(suite);
}
