/*
 * The fan-out: each output is a sink with its own idea of the cursor's column, because records go
 * to some of them only, and a record never shares a line with other text.
 */
#include "kernel/console.h"

#include <stdarg.h>
#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/io.h"
#include "kernel/keyboard.h"
#include "kernel/machine.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/serial.h"
#include "kernel/sink.h"
#include "kernel/string.h"
#include "kernel/terminal.h"
#include "kernel/time.h"
#include "kernel/vga.h"

enum {
    DEBUG_PORT = 0xE9,
    PRINT_MAX = 1024,              /* one kprintf()                                            */
    RECORD_RESERVE = 4096,         /* of the serial queue: only records may use the last bytes  */
    RECORD_OVERHEAD = 4,           /* CRLF before and after                                    */
    ROOM_AGAIN = SERIAL_QUEUE / 2, /* so much room, and a record about lost ones is worth it */
    PANIC_DRAIN_US = 1000000,
    PANIC_BYTE_US = 250000, /* one character at 50 baud, and some                       */
};

/* VGA attributes: colour on black. */
static const uint8_t attributes[] = {
    [COLOUR_NORMAL] = 0x07, [COLOUR_GOOD] = 0x0A, [COLOUR_WARN] = 0x0E,
    [COLOUR_BAD] = 0x0C,    [COLOUR_DIM] = 0x08,
};

static bool put_vga(char c);
static bool put_serial(char c);
static bool put_debug(char c);

enum sink_name { VGA, SERIAL, DEBUG, SINKS };

static struct sink sinks[SINKS] = {
    [VGA] = {.put = put_vga},
    [SERIAL] = {.put = put_serial},
    [DEBUG] = {.put = put_debug},
};

static const struct ioport debug_port = {DEBUG_PORT};

static uint8_t attribute; /* of the text being written                          */
static bool synchronous;  /* panic: wait for the UART                           */
static bool uart_dead;    /* ... which has not taken a character in time        */
static bool cutting;      /* the rest of this serial line is lost: no room      */
static bool owed;         /* ... with its line end, of which some was written   */
static unsigned text_lost, records_lost, records_told;

static bool put_vga(char c)
{
    vga_put(c, attribute);
    return true;
}

static bool put_debug(char c)
{
    io_out8(debug_port, 0, (uint8_t)c);
    return true;
}

/* Panic only: wait until the UART has taken all, but not for one that stands still. */
static void push_out(void)
{
    struct deadline limit = deadline_us(PANIC_BYTE_US);
    size_t room = serial_room();

    while (!uart_dead && serial_drain()) {
        if (serial_room() != room) {
            room = serial_room();
            limit = deadline_us(PANIC_BYTE_US);
        }
        uart_dead = expired(&limit);
    }
}

/* Queue with CR before LF, keeping `reserve` bytes free. */
static bool queue_serial(char c, size_t reserve)
{
    if (serial_room() < reserve + 2) {
        return false;
    }
    if (c == '\n') {
        serial_queue("\r", 1);
    }
    serial_queue(&c, 1);
    if (synchronous) {
        push_out();
    }
    return true;
}

/*
 * Text that does not fit is lost up to the end of its line, so that the next line is whole; should
 * the line end be lost too, it is owed to what was written of the line.
 */
static bool put_serial(char c)
{
    struct sink *s = &sinks[SERIAL];
    bool end = c == '\n';

    if (owed && queue_serial('\n', RECORD_RESERVE)) {
        owed = false;
        s->column = 0;
    }
    if (!owed && (!cutting || (end && s->column > 0)) && queue_serial(c, RECORD_RESERVE)) {
        cutting = false;
        return true;
    }
    text_lost++;
    cutting = !end;
    owed = owed || (end && s->column > 0);
    return false;
}

void console_init(void)
{
    for (unsigned i = 0; i < SINKS; i++) {
        sinks[i].column = 0;
        sinks[i].prompt = false;
        sinks[i].width = 0;
    }
    synchronous = uart_dead = cutting = owed = false;
    text_lost = records_lost = records_told = 0;
    attribute = attributes[COLOUR_NORMAL];
    terminal_init();
    sinks[VGA].on = vga_init();
    sinks[VGA].width = vga_columns();
    sinks[SERIAL].on = serial_init();
    sinks[DEBUG].on = machine_is_emulator();
}

void console_select(bool vga, bool serial, unsigned baud)
{
    sinks[VGA].on = sinks[VGA].on && vga;
    if (!serial) {
        sinks[SERIAL].on = false;
        serial_stop();
    } else if (baud != SERIAL_BAUD_MAX) {
        serial_set_baud(baud);
    }
}

void console_set_width(unsigned columns)
{
    for (unsigned i = 0; i < SINKS; i++) {
        if (columns < VGA_COLUMNS) {
            sinks[i].width = columns;
        }
    }
}

void console_start_irq(void)
{
    keyboard_start_irq();
    if (sinks[SERIAL].on) {
        serial_start_irq();
    }
}

/* Other text comes: the prompt line ends, on the screen it simply goes. */
static void leave_prompt(struct sink *s)
{
    if (!s->prompt) {
        return;
    }
    s->prompt = false;
    if (s == &sinks[VGA] && s->column < vga_columns()) {
        vga_erase_row();
        s->column = 0;
    } else {
        sink_fresh_line(s);
    }
}

static void write_all(enum colour colour, const char *text, size_t n)
{
    attribute = attributes[colour];
    for (unsigned i = 0; i < SINKS; i++) {
        if (sinks[i].on) {
            leave_prompt(&sinks[i]);
            sink_text(&sinks[i], text, n);
        }
    }
    attribute = attributes[COLOUR_NORMAL];
    if (sinks[VGA].on) {
        vga_sync();
    }
}

void console_write(const char *text, size_t n)
{
    write_all(COLOUR_NORMAL, text, n);
}

static void print(enum colour colour, const char *fmt, va_list args)
{
    static char text[PRINT_MAX];
    int n = vformat(text, sizeof(text), fmt, args);

    write_all(colour, text, n < PRINT_MAX ? (size_t)n : PRINT_MAX - 1);
}

void kprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print(COLOUR_NORMAL, fmt, args);
    va_end(args);
}

void kprintf_colour(enum colour colour, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print(colour, fmt, args);
    va_end(args);
}

unsigned console_column(void)
{
    for (unsigned i = 0; i < SINKS; i++) {
        if (sinks[i].on) {
            return sinks[i].column;
        }
    }
    return 0;
}

void console_fresh_line(void)
{
    for (unsigned i = 0; i < SINKS; i++) {
        if (sinks[i].on) {
            leave_prompt(&sinks[i]);
            sink_fresh_line(&sinks[i]);
        }
    }
    if (sinks[VGA].on) {
        vga_sync();
    }
}

bool console_prompt_missing(void)
{
    for (unsigned i = 0; i < SINKS; i++) {
        if (sinks[i].on && sinks[i].column == 0) {
            return true;
        }
    }
    return false;
}

void console_prompt(const char *prompt, const char *edit_line)
{
    for (unsigned i = 0; i < SINKS; i++) {
        struct sink *s = &sinks[i];

        if (s->on && s->column == 0) {
            sink_typed(s, prompt, strlen(prompt));
            sink_typed(s, edit_line, strlen(edit_line));
            s->prompt = true;
        }
    }
    if (sinks[VGA].on) {
        vga_sync();
    }
}

void console_echo(const char *text)
{
    for (unsigned i = 0; i < SINKS; i++) {
        if (sinks[i].on) {
            sink_typed(&sinks[i], text, strlen(text));
        }
    }
    if (sinks[VGA].on) {
        vga_sync();
    }
}

static void debug_record(const char *line, size_t n)
{
    struct sink *s = &sinks[DEBUG];

    sink_fresh_line(s);
    s->prompt = false;
    for (size_t i = 0; i < n; i++) {
        put_debug(line[i]);
    }
    put_debug('\n');
}

/* Past the room kept from text; each byte has been counted before. */
static bool serial_record(const char *line, size_t n)
{
    struct sink *s = &sinks[SERIAL];

    if (serial_room() < n + RECORD_OVERHEAD) {
        return false;
    }
    if (s->column != 0) {
        serial_queue("\r\n", 2);
    }
    serial_queue(line, n);
    serial_queue("\r\n", 2);
    s->column = 0;
    s->prompt = false;
    owed = false;
    if (synchronous) {
        push_out();
    }
    return true;
}

bool console_record(const char *line, size_t n)
{
    if (sinks[DEBUG].on) {
        debug_record(line, n);
    }
    if (sinks[SERIAL].on && !serial_record(line, n)) {
        records_lost++;
        return false;
    }
    return true;
}

unsigned console_records_lost(void)
{
    return records_lost;
}

unsigned console_text_lost(void)
{
    return text_lost;
}

/* Once a burst of records is over, one record tells how many were lost. */
static void tell_lost(void)
{
    unsigned lost = records_lost - records_told;

    if (lost > 0 && serial_room() >= ROOM_AGAIN && record_report_lost(lost)) {
        records_told += lost;
    }
}

bool console_drain(void)
{
    if (!serial_drain() && records_lost == records_told) {
        return false;
    }
    tell_lost();
    return serial_room() < SERIAL_QUEUE;
}

void console_flush(unsigned us)
{
    struct deadline limit = deadline_us(us);

    while (!expired(&limit)) {
        if (!console_drain() && serial_idle()) {
            return;
        }
    }
}

int console_key(void)
{
    int key = keyboard_key();

    return key >= 0 ? key : terminal_key();
}

bool console_input_waiting(void)
{
    return keyboard_waiting() || serial_waiting() || terminal_waiting();
}

void console_panic_mode(void)
{
    struct deadline limit = deadline_us(PANIC_DRAIN_US);

    if (synchronous) {
        return; /* a panic in a panic: what is dead stays dead */
    }
    while (serial_drain() && !expired(&limit)) {
    }
    serial_discard();
    synchronous = true;
}
