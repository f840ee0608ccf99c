/*
 * COM1.  Source: PC16550D data sheet, National Semiconductor, June 1995.
 */
#include "kernel/serial.h"

#include <stdint.h>

#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/serial_regs.h"
#include "kernel/time.h"

enum {
    COM1_PORT = 0x3F8,
    COM1_IRQ = 4,
    RX_RING = 256,          /* a power of two */
    CAUSES_MAX = 64,        /* causes but received bytes in one go: more means a broken chip */
    BAUD_SETTLE_US = 20000, /* a full FIFO at 9600 baud is out in 17 ms */
};

static const struct ioport com1 = {COM1_PORT};

static bool present;
static bool attached;
static unsigned burst;  /* bytes the chip takes at once when its transmitter is empty */
static uint8_t enabled; /* what IER holds */

static char queue[SERIAL_QUEUE];
static unsigned queue_in, queue_out; /* run free; their difference is what is queued */

/* Filled by the handler, emptied by the main loop: one writer for each index. */
static volatile uint8_t rx_ring[RX_RING];
static volatile unsigned rx_in, rx_out;
static volatile bool rx_held; /* ring full: received bytes stay in the chip until it is empty */
static volatile bool tx_asked;

/* In loopback the modem outputs appear at the inputs (section 8.7).  An empty slot reads 0xFF. */
static bool loops_back(uint8_t outputs, uint8_t inputs)
{
    io_out8(com1, UART_MCR, MCR_LOOP | outputs);
    return (io_in8(com1, UART_MSR) & MSR_LINES) == inputs;
}

/* The read in between keeps a bus that still holds the value written from looking like a register.
 */
static bool scratch_holds(uint8_t value)
{
    io_out8(com1, UART_SCR, value);
    (void)io_in8(com1, UART_LSR);
    return io_in8(com1, UART_SCR) == value;
}

/* Some clones lack loopback, the first 8250 has no scratch register: one of them is proof. */
static bool find_uart(void)
{
    bool found = (loops_back(MCR_RTS | MCR_OUT2, MSR_CTS | MSR_DCD) &&
                  loops_back(MCR_DTR | MCR_OUT1, MSR_DSR | MSR_RI)) ||
                 (scratch_holds(0x5A) && scratch_holds(0xA5));

    io_out8(com1, UART_MCR, 0);
    return found;
}

/* A 16550A shows both FIFO bits; the plain 16550's FIFO loses bytes and is left off. */
static bool enable_fifo(void)
{
    io_out8(com1, UART_FCR, FCR_ENABLE | FCR_CLEAR_RX | FCR_CLEAR_TX | FCR_TRIGGER_1);
    if ((io_in8(com1, UART_IIR) & IIR_FIFO) == IIR_FIFO) {
        return true;
    }
    io_out8(com1, UART_FCR, FCR_OFF);
    return false;
}

static void set_divisor(unsigned baud)
{
    unsigned divisor = SERIAL_BAUD_MAX / baud;

    io_out8(com1, UART_LCR, LCR_8N1 | LCR_DLAB);
    io_out8(com1, UART_DLL, (uint8_t)(divisor & 0xFF));
    io_out8(com1, UART_DLM, (uint8_t)(divisor >> 8));
    io_out8(com1, UART_LCR, LCR_8N1);
}

static void enable_interrupts(uint8_t causes)
{
    if (enabled != causes) {
        enabled = causes;
        io_out8(com1, UART_IER, causes);
    }
}

bool serial_init(void)
{
    queue_in = queue_out = 0;
    rx_in = rx_out = 0;
    rx_held = false;
    tx_asked = false;
    attached = false;
    enabled = 0;
    present = find_uart();
    if (!present) {
        return false;
    }
    set_divisor(SERIAL_BAUD_MAX);
    io_out8(com1, UART_IER, 0);
    burst = enable_fifo() ? UART_FIFO : 1;
    io_out8(com1, UART_MCR, MCR_DTR | MCR_RTS);
    return true;
}

void serial_set_baud(unsigned baud)
{
    struct deadline limit = deadline_us(BAUD_SETTLE_US);

    if (!present) {
        return;
    }
    while ((io_in8(com1, UART_LSR) & LSR_IDLE) == 0 && !expired(&limit)) {
    }
    set_divisor(baud);
}

void serial_discard(void)
{
    queue_out = queue_in;
}

void serial_stop(void)
{
    serial_discard();
    if (present) {
        bool were_on = cpu_irq_save();

        enable_interrupts(0);
        io_out8(com1, UART_MCR, MCR_DTR | MCR_RTS);
        present = false;
        cpu_irq_restore(were_on);
    }
}

/* An emulator's terminal sends as fast as we read, so only the ring's room can be the limit.
 * False: none is left, and this cause is masked. */
static bool receive(void)
{
    if (rx_in - rx_out == RX_RING) {
        rx_held = true;
        enable_interrupts(enabled & (uint8_t)~IER_RECEIVED);
        return false;
    }
    rx_ring[rx_in % RX_RING] = io_in8(com1, UART_RBR);
    rx_in = rx_in + 1;
    return true;
}

/* Reading the register that belongs to a cause ends it (table IV of the data sheet). */
static void serve_cause(uint8_t cause)
{
    switch (cause) {
    case IIR_THR_EMPTY: /* ended by reading IIR; the main loop sends */ tx_asked = true; break;
    case IIR_LINE: (void)io_in8(com1, UART_LSR); break;
    default: (void)io_in8(com1, UART_MSR); break;
    }
}

/*
 * Serve until nothing is pending: the line is edge-triggered, and with one cause left it would stay
 * high and never make another edge.
 */
static bool handle_irq(void *arg)
{
    bool ours = false;

    (void)arg;
    for (unsigned served = 0; served < CAUSES_MAX; ours = true) {
        uint8_t iir = io_in8(com1, UART_IIR);
        uint8_t cause = iir & IIR_CAUSE;

        if ((iir & IIR_NONE) != 0) {
            return ours;
        }
        if (cause == IIR_RECEIVED || cause == IIR_TIMEOUT) {
            served += receive() ? 0 : 1;
        } else {
            serve_cause(cause);
            served++;
        }
    }
    enable_interrupts(0); /* cannot be silenced: go on without, draining needs no interrupt */
    attached = false;
    return true;
}

/* What IER should hold now.  With nothing queued an empty transmitter is no news. */
static void choose_interrupts(void)
{
    bool were_on;

    if (!attached) {
        return;
    }
    were_on = cpu_irq_save();
    if (attached) {
        enable_interrupts(
            (uint8_t)((rx_held ? 0 : IER_RECEIVED) | (queue_in != queue_out ? IER_THR_EMPTY : 0)));
    }
    cpu_irq_restore(were_on);
}

void serial_start_irq(void)
{
    if (!present || irq_attach(COM1_IRQ, handle_irq, NULL) != OK) {
        return;
    }
    io_out8(com1, UART_MCR, MCR_DTR | MCR_RTS | MCR_OUT2);
    attached = true;
    choose_interrupts();
}

size_t serial_room(void)
{
    return SERIAL_QUEUE - (queue_in - queue_out);
}

void serial_queue(const char *text, size_t n)
{
    bool was_empty = queue_in == queue_out;

    for (size_t i = 0; i < n; i++) {
        queue[queue_in++ % SERIAL_QUEUE] = text[i];
    }
    if (was_empty) {
        choose_interrupts();
    }
}

bool serial_drain(void)
{
    if (!present || queue_in == queue_out) {
        return false;
    }
    tx_asked = false; /* before the status is read: one that comes later is news again */
    if ((io_in8(com1, UART_LSR) & LSR_THR_EMPTY) == 0) {
        return true;
    }
    for (unsigned n = 0; n < burst && queue_in != queue_out; n++) {
        io_out8(com1, UART_THR, (uint8_t)queue[queue_out++ % SERIAL_QUEUE]);
    }
    if (queue_in == queue_out) {
        choose_interrupts();
        return false;
    }
    return true;
}

bool serial_idle(void)
{
    return !present || (queue_in == queue_out && (io_in8(com1, UART_LSR) & LSR_IDLE) != 0);
}

int serial_key(void)
{
    uint8_t byte;

    if (rx_in == rx_out) {
        return -1;
    }
    byte = rx_ring[rx_out % RX_RING];
    rx_out = rx_out + 1;
    if (rx_held && rx_in == rx_out) {
        rx_held = false;
        choose_interrupts();
    }
    return byte;
}

bool serial_waiting(void)
{
    return rx_in != rx_out || (tx_asked && queue_in != queue_out);
}
