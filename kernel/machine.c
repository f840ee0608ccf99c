/*
 * The ways out.
 */
#include "kernel/machine.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/idt.h"
#include "kernel/io.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/time.h"
#include "kernel/trap.h"

enum { HOOKS_MAX = 4, DRAIN_US = 1000000 };

static void (*hooks[HOOKS_MAX])(void);
static unsigned hook_count;

/* QEMU's isa-debug-exit, where its users put it: ends QEMU with status 2 * value + 1. */
static const struct ioport debug_exit = {0xF4};

/* Bochs (and older QEMU): the word "Shutdown", letter by letter, ends the emulator. */
static const struct ioport shutdown_port = {0x8900};
static const char shutdown_word[] = "Shutdown";

/* The debug console of Bochs and QEMU: reads as its own address. */
static const struct ioport debug_console = {0xE9};
enum { DEBUG_CONSOLE_READBACK = 0xE9 };

/* Keyboard controller (8042), IBM AT Technical Reference (1985): its output port resets the CPU. */
static const struct ioport keyboard = {0x60};
enum {
    KEYBOARD_STATUS = 4,          /* r  */
    KEYBOARD_COMMAND = 4,         /* w  */
    KEYBOARD_INPUT_FULL = 1 << 1, /* it has not read the last byte yet */
    KEYBOARD_PULSE_RESET = 0xFE,  /* pulse bit 0 of the output port low */
    KEYBOARD_WAIT_US = 100000,
};

void machine_at_exit(void (*quiet)(void))
{
    ASSERT(hook_count < HOOKS_MAX);
    hooks[hook_count++] = quiet;
}

/* Each is taken off before it runs: one that panics is not called again by the panic. */
void machine_run_exit_hooks(void)
{
    while (hook_count != 0) {
        hooks[--hook_count]();
    }
}

_Noreturn void machine_halt(void)
{
    for (;;) {
        cpu_cli();
        __asm__ volatile("hlt");
    }
}

_Noreturn void machine_stop(int status)
{
    if (options.exit || machine_is_emulator()) {
        io_out8(debug_exit, 0, (uint8_t)status);
    }
    for (const char *c = shutdown_word; *c != '\0'; c++) {
        io_out8(shutdown_port, 0, (uint8_t)*c);
    }
    machine_halt();
}

_Noreturn void machine_quit(int status)
{
    machine_run_exit_hooks();
    console_fresh_line();
    kprintf("The machine can be switched off now.\n");
    record_begin("exit");
    record_int("status", status);
    record_end();
    console_flush(DRAIN_US);
    machine_stop(status);
}

_Noreturn void machine_reboot(void)
{
    machine_run_exit_hooks();
    console_flush(DRAIN_US);
    cpu_cli();
    struct deadline ready = deadline_us(KEYBOARD_WAIT_US);
    while ((io_in8(keyboard, KEYBOARD_STATUS) & KEYBOARD_INPUT_FULL) != 0 && !expired(&ready)) {
    }
    io_out8(keyboard, KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
    delay_us(KEYBOARD_WAIT_US);
    idt_triple_fault(); /* no such controller, or it did not do it */
}

bool machine_is_emulator(void)
{
    return io_in8(debug_console, 0) == DEBUG_CONSOLE_READBACK;
}
