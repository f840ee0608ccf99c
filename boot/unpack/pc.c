/*
 * Source: Intel 8254 data sheet (1993); National PC16550D data sheet (1995), 8.0; IBM PC/AT
 * Technical Reference (1985), BIOS data area.
 */
#include "boot/unpack/pc.h"

#include <stdint.h>

static inline void out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint8_t in8(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
    return value;
}

/* ---- BIOS data area ---- */

enum { BIOS_CRTC = 0x463 }; /* word: base port of the CRT controller */

/* An address that the compiler does not take for a null pointer's neighbour. */
static volatile void *at(uintptr_t address)
{
    __asm__("" : "+r"(address));
    return (volatile void *)address;
}

/* ---- time ---- */

enum { PIT_COUNTER0 = 0x40, PIT_CONTROL = 0x43 };
enum { PIT_LATCH0 = 0x00, PIT_STATUS0 = 0xE2, STATUS_MODE = 0x06, STATUS_MODE3 = 0x06 };
enum { COUNTS_A_TICK = 1 << 16, COUNTS_A_MS = 1193 };

static unsigned last, elapsed; /* counts */
static unsigned shift;

static unsigned count(void)
{
    out8(PIT_CONTROL, PIT_LATCH0);
    unsigned low = in8(PIT_COUNTER0);
    return low | (unsigned)in8(PIT_COUNTER0) << 8;
}

/* In mode 3, the usual one, it counts down by two and goes round twice a tick; in mode 2 by one. */
void clock_begin(void)
{
    out8(PIT_CONTROL, PIT_STATUS0);
    shift = (in8(PIT_COUNTER0) & STATUS_MODE) == STATUS_MODE3 ? 1 : 0;
    elapsed = 0;
    last = count();
}

void clock_step(void)
{
    unsigned now = count();
    elapsed += ((last - now) & (COUNTS_A_TICK - 1)) >> shift;
    last = now;
}

uint32_t clock_end_ms(void)
{
    clock_step();
    return elapsed / COUNTS_A_MS;
}

/* ---- a last word ---- */

enum { MONO_CRTC = 0x3B4, MONO_CELLS = 0xB0000, COLOUR_CELLS = 0xB8000, BRIGHT = 0x0F00 };

static void say_on_screen(const char *line)
{
    int mono = *(volatile uint16_t *)at(BIOS_CRTC) == MONO_CRTC;
    volatile uint16_t *cell = at(mono ? MONO_CELLS : COLOUR_CELLS);
    while (*line >= ' ') {
        *cell++ = (uint16_t)(BRIGHT | (unsigned char)*line++);
    }
}

enum {
    COM1 = 0x3F8,
    UART_DATA = 0,
    UART_DIVISOR = 0,
    UART_DIVISOR_HIGH = 1,
    UART_LINE = 3,
    UART_STATUS = 5
};
enum { LINE_8N1 = 3, LINE_DIVISOR = 0x80, STATUS_EMPTY = 0x20 };
enum { DIVISOR_115200 = 1 };
/* An access to the ISA bus takes a microsecond or so, a character 87. */
enum { LOOKS = 10000 };

static void say_on_com1(const char *line)
{
    out8(COM1 + UART_LINE, LINE_DIVISOR | LINE_8N1);
    out8(COM1 + UART_DIVISOR, DIVISOR_115200);
    out8(COM1 + UART_DIVISOR_HIGH, 0);
    out8(COM1 + UART_LINE, LINE_8N1);
    while (*line != '\0') {
        unsigned looks = LOOKS;
        while ((in8(COM1 + UART_STATUS) & STATUS_EMPTY) == 0) {
            if (--looks == 0) {
                return;
            }
        }
        out8(COM1 + UART_DATA, (uint8_t)*line++);
    }
}

enum { DEBUG_CONSOLE = 0xE9 }; /* reads as its own number in an emulator */

static void say_on_e9(const char *line)
{
    while (*line != '\0' && in8(DEBUG_CONSOLE) == DEBUG_CONSOLE) {
        if (*line != '\r') {
            out8(DEBUG_CONSOLE, (uint8_t)*line);
        }
        line++;
    }
}

void pc_say(const char *line)
{
    say_on_screen(line);
    say_on_e9(line);
    say_on_com1(line);
}

_Noreturn void pc_halt(void)
{
    for (;;) {
        __asm__ volatile("cli; hlt");
    }
}
