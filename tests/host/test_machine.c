/*
 * kernel/machine.c: the ways out of machines that lack the one or other of them.
 */
#include "kernel/machine.h"

#include <check.h>
#include <setjmp.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/idt.h"
#include "kernel/keyboard.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/realmode.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"

/* How the machine was left. */
enum end { KEYBOARD = 1, SYSTEM_PORT, CHIPSET, TRIPLE_FAULT, POWER_OFF, HALTED };

enum { A20 = 1 << 1, LAMPS = 3 << 6, FULL_FOR_EVER = 1 << 1, STEP_US = 100000, SAID_MAX = 64 };
enum { OUTPUT_FULL = 1 << 0, LOOKS = 1000 };

struct options options;

static jmp_buf left;
static unsigned hooks_run, given_back;
static uint16_t reset_flag;
static uint32_t vectors[256];
static uint8_t keyboard_status, system_latch, chipset_latch;
static char said[SAID_MAX];
static const char *keys; /* pressed while it stands still: scan codes */
static unsigned looks;
static unsigned said_length;

/* ---- what machine.c calls ---- */

void pic_leave(void)
{
    given_back++;
}

_Noreturn void idt_triple_fault(void)
{
    longjmp(left, TRIPLE_FAULT);
}

_Noreturn void realmode_leave(enum realmode_task task)
{
    longjmp(left, task == REALMODE_POWER_OFF ? POWER_OFF : HALTED);
}

/* ---- the machine ---- */

static uint32_t keyboard_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    if (reg == 0) {
        return (uint8_t)*keys++;
    }
    if (*keys != '\0') {
        return keyboard_status | OUTPUT_FULL;
    }
    if (keyboard_status == 0 && ++looks > LOOKS) {
        longjmp(left, HALTED); /* it stands still, and nobody presses a key */
    }
    return keyboard_status;
}

static void keyboard_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    if (reg == 4 && value == 0xFE && keyboard_status == 0) {
        longjmp(left, KEYBOARD);
    }
}

static uint32_t system_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return system_latch;
}

static void system_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    ck_assert_uint_eq(value & (A20 | LAMPS), system_latch & (A20 | LAMPS));
    if ((value & 1) != 0 && (system_latch & 1) == 0) {
        longjmp(left, SYSTEM_PORT);
    }
    system_latch = (uint8_t)value;
}

static uint32_t chipset_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return chipset_latch;
}

static void chipset_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    if ((value & 6) == 6 && (chipset_latch & 4) == 0) {
        longjmp(left, CHIPSET);
    }
    chipset_latch = (uint8_t)value;
}

static uint32_t none_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    return 0xFF;
}

static void said_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)reg;
    (void)width;
    ck_assert_uint_lt(said_length, SAID_MAX - 1);
    said[said_length++] = (char)value;
}

/* The first KB, and the word at 40:72. */
static bool bios_memory(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    (void)self;
    if (width != 16 || (write ? address != 0x472 : address >= sizeof vectors)) {
        return false;
    }
    if (write) {
        reset_flag = (uint16_t)*value;
    } else {
        *value = vectors[address / 4] >> (address % 4 * 8) & 0xFFFF;
    }
    return true;
}

static void quiet(void)
{
    hooks_run++;
}

static void machine(bool has_keyboard, bool has_system_port, bool has_chipset)
{
    sim_reset();
    memset(&options, 0, sizeof options);
    hooks_run = given_back = said_length = looks = 0;
    keys = "";
    keyboard_start_irq();
    memset(said, 0, sizeof said);
    for (unsigned i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        vectors[i] = 0xF000FF53;
    }
    reset_flag = keyboard_status = chipset_latch = 0;
    system_latch = A20 | LAMPS | 1; /* some leave the bit set: only its edge resets */
    sim_attach_memory(&(struct sim_memory){"BIOS", bios_memory, NULL});
    sim_attach(&(struct sim_device){"Bochs", 0x8900, 1, none_in, said_out, NULL});
    sim_attach(&(struct sim_device){"QEMU", 0xF4, 1, none_in, said_out, NULL});
    if (has_keyboard) {
        sim_attach(&(struct sim_device){"8042", 0x60, 5, keyboard_in, keyboard_out, NULL});
    }
    if (has_system_port) {
        sim_attach(&(struct sim_device){"port 92h", 0x92, 1, system_in, system_out, NULL});
    }
    if (has_chipset) {
        sim_attach(&(struct sim_device){"CF9h", 0xCF9, 1, chipset_in, chipset_out, NULL});
    }
    console_init();
    machine_at_exit(quiet);
}

static enum end reboot(void)
{
    int how = setjmp(left);
    if (how == 0) {
        machine_reboot();
    }
    ck_assert_uint_eq(hooks_run, 1);
    ck_assert_uint_eq(given_back, 1);
    ck_assert_uint_eq(reset_flag, 0x1234);
    return (enum end)how;
}

static enum end quit(int status)
{
    int how = setjmp(left);
    if (how == 0) {
        machine_quit(status);
    }
    ck_assert_uint_eq(hooks_run, 1);
    return (enum end)how;
}

/* ---- tests ---- */

START_TEST(the_first_way_that_works)
{
    machine(true, true, true);
    ck_assert_int_eq(reboot(), KEYBOARD);
    machine(false, true, true);
    ck_assert_int_eq(reboot(), SYSTEM_PORT);
    machine(false, false, true);
    ck_assert_int_eq(reboot(), CHIPSET);
    machine(false, false, false);
    ck_assert_int_eq(reboot(), TRIPLE_FAULT);
}
END_TEST

/* Its buffer is never empty, or it has no output pin to reset with. */
START_TEST(a_keyboard_controller_that_does_not)
{
    machine(true, true, true);
    keyboard_status = FULL_FOR_EVER;
    ck_assert_int_eq(reboot(), SYSTEM_PORT);
    machine(true, false, false);
    keyboard_status = FULL_FOR_EVER;
    uint64_t began = sim_now_ns();
    ck_assert_int_eq(reboot(), TRIPLE_FAULT);
    ck_assert_uint_lt(sim_now_ns() - began, 4 * STEP_US * UINT64_C(1000));
}
END_TEST

START_TEST(quit_tells_and_switches_off)
{
    machine(true, true, true);
    ck_assert_int_eq(quit(5), POWER_OFF);
    ck_assert_str_eq(said, "Shutdown"); /* nothing to port F4h of a machine that is no emulator */
    ck_assert_uint_eq(given_back, 1);
    machine(true, true, true);
    options.exit = true;
    ck_assert_int_eq(quit(5), POWER_OFF);
    ck_assert_str_eq(said, "\x05Shutdown");
}
END_TEST

/* Started from DOS: what it has hooked is gone by now. */
START_TEST(quit_leaves_a_hooked_bios_alone)
{
    static const uint8_t used[] = {0x08, 0x09, 0x15, 0x1C};
    for (unsigned i = 0; i < sizeof used; i++) {
        machine(true, true, true);
        vectors[used[i]] = i % 2 == 0 ? 0x02700123 : 0xFFFF1234; /* low memory; above 1 MB */
        ck_assert_int_eq(quit(0), HALTED);
        machine(true, true, true);
        vectors[used[i]] = 0xC0000000; /* the first byte of ROM */
        ck_assert_int_eq(quit(0), POWER_OFF);
    }
    machine(true, true, true);
    vectors[0x21] = 0x02700123; /* nobody calls it any more */
    ck_assert_int_eq(quit(0), POWER_OFF);
}
END_TEST

/* After a panic nothing that may be broken is used: no real mode, no BIOS. */
START_TEST(stop_only_tells)
{
    machine(true, true, true);
    options.exit = true;
    int how = setjmp(left);
    if (how == 0) {
        machine_stop(3);
    }
    ck_assert_int_eq(how, HALTED);
    ck_assert_str_eq(said, "\x03Shutdown");
    ck_assert_uint_eq(given_back + hooks_run, 0);
    machine_run_exit_hooks();
}
END_TEST

/* Wherever it stands still. */
START_TEST(ctrl_alt_del_restarts_what_has_stopped)
{
    machine(true, true, true);
    keys = "\x1d\x9d\x1d\x38\x53"; /* Ctrl, let go; then all three */
    int how = setjmp(left);
    if (how == 0) {
        machine_stop(3);
    }
    ck_assert_int_eq(how, KEYBOARD);
    ck_assert_str_eq(keys, "");
    ck_assert_uint_eq(reset_flag, 0x1234);
    ck_assert_uint_eq(hooks_run, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("machine");
    TCase *tests = tcase_create("machine");
    tcase_add_test(tests, the_first_way_that_works);
    tcase_add_test(tests, a_keyboard_controller_that_does_not);
    tcase_add_test(tests, quit_tells_and_switches_off);
    tcase_add_test(tests, quit_leaves_a_hooked_bios_alone);
    tcase_add_test(tests, stop_only_tells);
    tcase_add_test(tests, ctrl_alt_del_restarts_what_has_stopped);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
