/*
 * The simulated PC of test_console.c, test_serial.c and test_shell.c.
 */
#include "tests/host/console_rig.h"

#include <check.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/io.h"
#include "kernel/machine.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/pc.h"

/* As kernel/machine.c has it. */
bool machine_is_emulator(void)
{
    return io_in8((struct ioport){0xE9}, 0) == 0xE9;
}

void pc_with(enum sim_uart_kind kind)
{
    sim_reset();
    sim_uart_plug(kind);
    sim_vga_plug();
    sim_debug_plug();
    sim_keyboard_plug(0);
    console_init();
}

void pc(void)
{
    pc_with(SIM_16550A);
}

/* The main loop, until nothing is queued; COM1's text. */
const char *serial_text(void)
{
    for (unsigned turn = 0; console_drain(); turn++) {
        ck_assert_uint_lt(turn, 100000);
        sim_run_us(100);
    }
    sim_run_us(10000);
    return sim_uart_sent();
}

void forget(void)
{
    serial_text();
    sim_uart_forget_sent();
    sim_debug_forget();
}

bool record(const char *text)
{
    return console_record(text, strlen(text));
}
