/*
 * Registers of the 8250 family (National Semiconductor PC16550D, June 1995, section 8).
 * The 8250 and 16450 have no FIFO: FCR is not there and IIR bits 7-6 read 0.
 */
#ifndef KERNEL_SERIAL_REGS_H
#define KERNEL_SERIAL_REGS_H

enum uart_reg {
    UART_RBR = 0, /* r   DLAB 0  received byte                                   */
    UART_THR = 0, /* w   DLAB 0  byte to send                                    */
    UART_DLL = 0, /* rw  DLAB 1  divisor, low                                    */
    UART_IER = 1, /* rw  DLAB 0  interrupt enable                                */
    UART_DLM = 1, /* rw  DLAB 1  divisor, high                                   */
    UART_IIR = 2, /* r           interrupt cause; reading ends a THR-empty one   */
    UART_FCR = 2, /* w           FIFO control                                    */
    UART_LCR = 3, /* rw          line control                                    */
    UART_MCR = 4, /* rw          modem control                                   */
    UART_LSR = 5, /* r           line status                                     */
    UART_MSR = 6, /* r           modem status; reading clears the deltas         */
    UART_SCR = 7, /* rw          scratch; not in the first 8250                  */
};

enum uart_ier {
    IER_RECEIVED = 0x01,
    IER_THR_EMPTY = 0x02,
};

enum uart_iir {
    IIR_NONE = 0x01, /* no interrupt pending */
    IIR_CAUSE = 0x0E,
    IIR_MODEM = 0x00,
    IIR_THR_EMPTY = 0x02,
    IIR_RECEIVED = 0x04,
    IIR_LINE = 0x06,
    IIR_TIMEOUT = 0x0C, /* bytes below the trigger level have waited 4 characters */
    IIR_FIFO = 0xC0,    /* both: working FIFO; bit 7 alone: the 16550's faulty one */
};

enum uart_fcr {
    FCR_ENABLE = 0x01,
    FCR_CLEAR_RX = 0x02,
    FCR_CLEAR_TX = 0x04,
    FCR_TRIGGER_1 = 0x00, /* interrupt at the first byte received: a person is typing */
    FCR_OFF = 0x00,
};

enum uart_lcr {
    LCR_8N1 = 0x03,
    LCR_DLAB = 0x80,
};

enum uart_mcr {
    MCR_DTR = 0x01,
    MCR_RTS = 0x02,
    MCR_OUT1 = 0x04,
    MCR_OUT2 = 0x08, /* on a PC: lets the interrupt out to the bus */
    MCR_LOOP = 0x10,
};

enum uart_lsr {
    LSR_DATA = 0x01,
    LSR_THR_EMPTY = 0x20, /* with a FIFO: all of it */
    LSR_IDLE = 0x40,      /* shift register empty too */
};

enum uart_msr {
    MSR_CTS = 0x10, /* in loopback: RTS  */
    MSR_DSR = 0x20, /* ... DTR           */
    MSR_RI = 0x40,  /* ... OUT1          */
    MSR_DCD = 0x80, /* ... OUT2          */
    MSR_LINES = 0xF0,
};

enum { UART_FIFO = 16 };

#endif
