/*
 * The ways out.
 */
#include "kernel/machine.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/bios.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/idt.h"
#include "kernel/io.h"
#include "kernel/keyboard.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/realmode.h"
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
};

/* System control port A, IBM PS/2 Hardware Interface Technical Reference (1988): a rising bit 0
 * resets the CPU; bit 1 is A20, bits 6 and 7 are lamps. */
static const struct ioport system_a = {0x92};
enum { SYSTEM_A_RESET = 1 << 0, SYSTEM_A_ABSENT = 0xFF };

/* Reset control of PCI chipsets (Intel 82371 data sheet, RC): the rising edge of bit 2 resets, bit
 * 1 says all of the machine. */
static const struct ioport reset_control = {0xCF9};
enum { RESET_WHOLE = 1 << 1, RESET_NOW = 1 << 2 };

/* BIOS data area: this word at the next start means that memory needs no test. */
static const struct iowin bios_data = {0x400};
enum { BIOS_RESET_FLAG = 0x72, BIOS_WARM_START = 0x1234 };

enum { RESET_WAIT_US = 100000 }; /* for each way to take effect */

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

static void tell_emulator(int status)
{
    if (options.exit || machine_is_emulator()) {
        io_out8(debug_exit, 0, (uint8_t)status);
    }
    for (const char *c = shutdown_word; *c != '\0'; c++) {
        io_out8(shutdown_port, 0, (uint8_t)*c);
    }
}

_Noreturn void machine_stop(int status)
{
    tell_emulator(status);
    machine_halt();
}

/* Interrupt controllers and timer as the BIOS had them.  The cards are stopped already; the
 * keyboard controller was never changed. */
static void give_back(void)
{
    cpu_cli();
    pic_leave();
    time_leave();
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
    tell_emulator(status);
    give_back();
    if (bios_is_whole()) {
        realmode_leave(REALMODE_POWER_OFF);
    }
    machine_halt();
}

/* ---- restarting ---- */

static void reset_by_keyboard(void)
{
    struct deadline ready = deadline_us(RESET_WAIT_US);
    while ((io_in8(keyboard, KEYBOARD_STATUS) & KEYBOARD_INPUT_FULL) != 0 && !expired(&ready)) {
    }
    io_out8(keyboard, KEYBOARD_COMMAND, KEYBOARD_PULSE_RESET);
    delay_us(RESET_WAIT_US);
}

static void reset_by_system_port(void)
{
    uint8_t now = io_in8(system_a, 0);
    if (now == SYSTEM_A_ABSENT) {
        return;
    }
    io_out8(system_a, 0, now & (uint8_t)~SYSTEM_A_RESET);
    io_out8(system_a, 0, now | SYSTEM_A_RESET);
    delay_us(RESET_WAIT_US);
}

/* Where there is no such register the write goes to CF8h's neighbour, or nowhere. */
static void reset_by_chipset(void)
{
    io_out8(reset_control, 0, RESET_WHOLE);
    io_out8(reset_control, 0, RESET_WHOLE | RESET_NOW);
    delay_us(RESET_WAIT_US);
}

_Noreturn void machine_reboot(void)
{
    uint16_t warm = BIOS_WARM_START;

    machine_run_exit_hooks();
    console_flush(DRAIN_US);
    give_back();
    mem_write16(bios_data, BIOS_RESET_FLAG, &warm, 1);
    reset_by_keyboard();
    reset_by_system_port();
    reset_by_chipset();
    idt_triple_fault();
}

_Noreturn void machine_halt(void)
{
    cpu_cli();
    while (!keyboard_reset_asked()) {
        keyboard_poll();
    }
    machine_reboot();
}

bool machine_is_emulator(void)
{
    return io_in8(debug_console, 0) == DEBUG_CONSOLE_READBACK;
}
