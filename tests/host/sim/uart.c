/*
 * The UART model.  Source: PC16550D data sheet (June 1995), written against it and not against our
 * driver.
 */
#include "tests/host/sim/uart.h"

#include <stdint.h>
#include <string.h>

#include "kernel/serial_regs.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum { BASE = 0x3F8, PORTS = 8, LINE = 4, CLOCK = 115200, BITS = 10, TYPED_MAX = 4096 };

static struct {
    enum sim_uart_kind kind;
    bool fifo, thr_empty_news, shifting, irq_cut, stalled, eager;
    uint8_t ier, lcr, mcr, scr, dll, dlm, stuck_cause;
    uint8_t tx[UART_FIFO], rx[UART_FIFO];
    unsigned tx_n, rx_n, status_reads, overruns;
    uint8_t shifter;
    char sent[SIM_UART_SENT_MAX];
    size_t sent_n;
    char typed[TYPED_MAX];
    size_t typed_n, typed_at;
} u;

static unsigned divisor(void)
{
    unsigned d = u.dlm << 8 | u.dll;
    return d == 0 ? 1 : d;
}

static uint64_t character_ns(void)
{
    return 1000000000ULL * BITS * divisor() / CLOCK;
}

/* The cause with the highest priority (table III), as IIR shows it. */
static uint8_t cause(void)
{
    if (u.stuck_cause != 0) {
        return u.stuck_cause;
    }
    if (u.rx_n > 0 && (u.ier & IER_RECEIVED) != 0) {
        return IIR_RECEIVED;
    }
    if (u.thr_empty_news && (u.ier & IER_THR_EMPTY) != 0) {
        return IIR_THR_EMPTY;
    }
    return IIR_NONE;
}

static void drive_line(void)
{
    bool out = (u.mcr & MCR_OUT2) != 0 && (u.mcr & MCR_LOOP) == 0 && !u.irq_cut;
    sim_irq_drive(LINE, &u, out && u.ier != 0 && cause() != IIR_NONE);
}

static void shift_next(void *arg);

static void shifted_out(void *arg)
{
    (void)arg;
    if (u.sent_n + 1 == sizeof u.sent) {
        sim_bad_test("uart: the test sends more than its terminal keeps");
    }
    u.sent[u.sent_n++] = (char)u.shifter;
    u.shifting = false;
    shift_next(NULL);
}

static void shift_next(void *arg)
{
    (void)arg;
    if (u.shifting || u.tx_n == 0 || u.stalled) {
        return;
    }
    u.shifter = u.tx[0];
    memmove(u.tx, u.tx + 1, --u.tx_n);
    u.shifting = true;
    sim_at(sim_now_ns() + character_ns(), shifted_out, NULL);
    if (u.tx_n == 0) {
        u.thr_empty_news = true;
    }
    drive_line();
}

static void put_thr(uint8_t value)
{
    if (u.tx_n >= (u.fifo ? (unsigned)UART_FIFO : 1)) {
        sim_misuse("uart: character written to a full transmitter");
    }
    u.tx[u.tx_n++] = value;
    u.thr_empty_news = false;
    if (!u.shifting) { /* an idle transmitter takes it with its next bit clock */
        sim_at(sim_now_ns() + character_ns() / BITS, shift_next, NULL);
    }
}

static uint8_t get_rbr(void)
{
    uint8_t value = u.rx[0];
    if (u.rx_n > 0) {
        memmove(u.rx, u.rx + 1, --u.rx_n);
    }
    if (u.eager && u.typed_at < u.typed_n) {
        u.rx[u.rx_n++] = (uint8_t)u.typed[u.typed_at++];
    }
    return value;
}

static void arrives(void *arg)
{
    (void)arg;
    if (u.rx_n == (u.fifo ? (unsigned)UART_FIFO : 1)) {
        u.overruns++;
    } else {
        u.rx[u.rx_n++] = (uint8_t)u.typed[u.typed_at];
    }
    if (++u.typed_at < u.typed_n && !u.eager) {
        sim_at(sim_now_ns() + character_ns(), arrives, NULL);
    }
    drive_line();
}

static uint8_t line_status(void)
{
    u.status_reads++;
    return (uint8_t)((u.rx_n > 0 ? LSR_DATA : 0) | (u.tx_n == 0 ? LSR_THR_EMPTY : 0) |
                     (u.tx_n == 0 && !u.shifting ? LSR_IDLE : 0));
}

static uint8_t modem_status(void)
{
    if ((u.mcr & MCR_LOOP) == 0 || u.kind == SIM_CLONE) {
        return MSR_CTS | MSR_DSR;
    }
    return (uint8_t)((u.mcr & MCR_RTS ? MSR_CTS : 0) | (u.mcr & MCR_DTR ? MSR_DSR : 0) |
                     (u.mcr & MCR_OUT1 ? MSR_RI : 0) | (u.mcr & MCR_OUT2 ? MSR_DCD : 0));
}

static uint8_t interrupt_cause(void)
{
    uint8_t now = cause();
    if (now == IIR_THR_EMPTY) {
        u.thr_empty_news = false;
    }
    return (uint8_t)(now | (u.fifo ? IIR_FIFO : u.kind == SIM_16550 ? 0x80 : 0));
}

static uint32_t in(void *self, unsigned reg, unsigned width)
{
    uint8_t value = 0;
    (void)self;
    (void)width;
    switch (reg) {
    case UART_RBR: value = (u.lcr & LCR_DLAB) != 0 ? u.dll : get_rbr(); break;
    case UART_IER: value = (u.lcr & LCR_DLAB) != 0 ? u.dlm : u.ier; break;
    case UART_IIR: value = interrupt_cause(); break;
    case UART_LCR: value = u.lcr; break;
    case UART_MCR: value = u.mcr; break;
    case UART_LSR: value = line_status(); break;
    case UART_MSR: value = modem_status(); break;
    case UART_SCR: value = u.kind == SIM_8250 ? 0xFF : u.scr; break;
    }
    drive_line();
    return value;
}

static void put_ier(uint8_t value)
{
    /* Enabling it with an empty transmitter interrupts at once (section 8.6.3). */
    if ((value & ~u.ier & IER_THR_EMPTY) != 0 && u.tx_n == 0) {
        u.thr_empty_news = true;
    }
    u.ier = value;
}

static void out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    uint8_t byte = (uint8_t)value;
    (void)self;
    (void)width;
    switch (reg) {
    case UART_THR:
        if ((u.lcr & LCR_DLAB) != 0) {
            u.dll = byte;
        } else {
            put_thr(byte);
        }
        break;
    case UART_IER:
        if ((u.lcr & LCR_DLAB) != 0) {
            u.dlm = byte;
        } else {
            put_ier(byte);
        }
        break;
    case UART_FCR: u.fifo = u.kind == SIM_16550A && (byte & FCR_ENABLE) != 0; break;
    case UART_LCR: u.lcr = byte; break;
    case UART_MCR: u.mcr = byte; break;
    case UART_SCR: u.scr = byte; break;
    default: sim_misuse("uart: write to read-only register %u", reg);
    }
    drive_line();
}

void sim_uart_plug(enum sim_uart_kind kind)
{
    memset(&u, 0, sizeof u);
    u.kind = kind;
    u.thr_empty_news = true;
    sim_attach(&(struct sim_device){"uart", BASE, PORTS, in, out, NULL});
}

const char *sim_uart_sent(void)
{
    u.sent[u.sent_n] = '\0';
    return u.sent;
}

void sim_uart_forget_sent(void)
{
    u.sent_n = 0;
}

void sim_uart_type(const char *text)
{
    bool silent = u.typed_at == u.typed_n;
    size_t n = strlen(text);
    if (silent) {
        u.typed_at = u.typed_n = 0;
    }
    if (u.typed_n + n > sizeof u.typed) {
        sim_bad_test("uart: the test types more than its terminal keeps");
    }
    memcpy(u.typed + u.typed_n, text, n);
    u.typed_n += n;
    if (silent && n > 0) {
        sim_at(sim_now_ns() + character_ns(), arrives, NULL);
    }
}

void sim_uart_paste(const char *text)
{
    sim_uart_type(text);
    u.eager = true;
}

void sim_uart_cut_irq(void)
{
    u.irq_cut = true;
    drive_line();
}

void sim_uart_stick_irq(uint8_t iir)
{
    u.stuck_cause = iir;
    drive_line();
}

void sim_uart_stall(void)
{
    u.stalled = true;
}

unsigned sim_uart_baud(void)
{
    return CLOCK / divisor();
}

unsigned sim_uart_line_control(void)
{
    return u.lcr;
}

unsigned sim_uart_enabled(void)
{
    return u.ier;
}

unsigned sim_uart_status_reads(void)
{
    return u.status_reads;
}

unsigned sim_uart_overruns(void)
{
    return u.overruns;
}
