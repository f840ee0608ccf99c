/*
 * From the politest way to the oldest: perhaps it is open; the BIOS; the fast gate of port 92h; the
 * keyboard controller of the AT.  None is believed: memory itself is asked each time.
 *
 * Sources: Ralf Brown's Interrupt List (INT 15h AX=2401h), IBM PS/2 Technical Reference (port 92h,
 * "System Control Port A"), Intel UPI-41/8042 as used in the AT (ports 60h and 64h), Intel 8259A
 * data sheet (OCW1).
 */
#include "boot/floppy/a20.h"

#include "boot/floppy/machine.h"

enum { SYSTEM_SERVICES = 0x15, OPEN_A20 = 0x2401 };
enum { PORT_A = 0x92, PORT_A_RESET = 1 << 0, PORT_A_A20 = 1 << 1 };
enum { KBC_DATA = 0x60, KBC_COMMAND = 0x64, KBC_STATUS = 0x64 };
enum { KBC_OUTPUT_FULL = 1 << 0, KBC_INPUT_FULL = 1 << 1 };
enum { READ_OUTPUT_PORT = 0xD0, WRITE_OUTPUT_PORT = 0xD1, DISABLE_KEYS = 0xAD, ENABLE_KEYS = 0xAE };
enum { OUTPUT_PORT_A20 = 1 << 1, OUTPUT_PORT_NO_RESET = 1 << 0, OUTPUT_PORT_USUAL = 0xDF };
enum { PIC_MASK = 0x21, PIC_KEYBOARD = 1 << 1 };

/* A port read takes about 1 us, on an ISA bus by its very nature: 100 ms, and 20 ms. */
enum { CONTROLLER_READS = 100000, SETTLE_READS = 20000 };

/* The line may follow late. */
static bool opened(void)
{
    for (unsigned i = 0; i < SETTLE_READS; i++) {
        if (memory_a20_is_open()) {
            return true;
        }
        port_in(KBC_STATUS);
    }
    return false;
}

static void ask_bios(void)
{
    struct bios_regs r = {.eax = OPEN_A20};

    bios_call(&r, SYSTEM_SERVICES);
}

static void fast_gate(void)
{
    uint8_t now = port_in(PORT_A);

    if ((now & PORT_A_A20) == 0) { /* where there is no port, all bits are set */
        port_out(PORT_A, (uint8_t)((now | PORT_A_A20) & ~PORT_A_RESET));
    }
}

/* ---- keyboard controller ---- */

static bool wait_status(uint8_t mask, uint8_t want)
{
    for (unsigned i = 0; i < CONTROLLER_READS; i++) {
        if ((port_in(KBC_STATUS) & mask) == want) {
            return true;
        }
    }
    return false;
}

static bool command(uint8_t what)
{
    if (!wait_status(KBC_INPUT_FULL, 0)) {
        return false;
    }
    port_out(KBC_COMMAND, what);
    return wait_status(KBC_INPUT_FULL, 0);
}

/* A controller that does not tell its output port is told the usual one all the same. */
static void write_output_port(void)
{
    uint8_t output = OUTPUT_PORT_USUAL;

    if (!command(DISABLE_KEYS)) {
        return; /* there is none, or it is out of order */
    }
    if ((port_in(KBC_STATUS) & KBC_OUTPUT_FULL) != 0) {
        port_in(KBC_DATA); /* a key that came just before */
    }
    if (command(READ_OUTPUT_PORT) && wait_status(KBC_OUTPUT_FULL, KBC_OUTPUT_FULL)) {
        output = port_in(KBC_DATA);
    }
    if (command(WRITE_OUTPUT_PORT)) {
        port_out(KBC_DATA, output | OUTPUT_PORT_A20 | OUTPUT_PORT_NO_RESET);
        wait_status(KBC_INPUT_FULL, 0);
    }
    command(ENABLE_KEYS);
}

/* The controller's answer raises IRQ 1 like a key: the BIOS would take it from us. */
static void keyboard_controller(void)
{
    uint8_t masked = port_in(PIC_MASK);

    port_out(PIC_MASK, masked | PIC_KEYBOARD);
    write_output_port();
    port_out(PIC_MASK, masked);
}

bool a20_open(void)
{
    static void (*const ways[])(void) = {ask_bios, fast_gate, keyboard_controller};

    if (memory_a20_is_open()) {
        return true;
    }
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        ways[i]();
        if (opened()) {
            return true;
        }
    }
    return false;
}
