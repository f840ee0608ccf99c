/*
 * The kit of the misuse tests: right ways through the chip's rituals, step by step, and how a wrong
 * step is declared.
 */
#ifndef TESTS_HOST_MISUSE_H
#define TESTS_HOST_MISUSE_H

#include <check.h>
#include <string.h>

#include "kernel/io.h"
#include "kernel/time.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/wire.h"
#include "tests/host/wrong_step.h"

enum { BASE = 0x300, IRQ = 10, DATA = 0x10, RESET = 0x1F };
enum {
    R_CR = 0,
    R_PSTART = 1,
    R_PSTOP = 2,
    R_BNRY = 3,
    R_TPSR = 4,
    R_TBCR0 = 5,
    R_TBCR1 = 6,
    R_ISR = 7,
    R_RSAR0 = 8,
    R_RSAR1 = 9,
    R_RBCR0 = 10,
    R_RBCR1 = 11,
    R_RCR = 12,
    R_TCR = 13,
    R_DCR = 14,
    R_IMR = 15,
    R_PAR0 = 1,
    R_CURR = 7,
    R_MAR0 = 8
};
enum {
    START0 = 0x22,
    STOP0 = 0x21,
    STOP1 = 0x61,
    START1 = 0x62,
    READ = 0x0A,
    WRITE = 0x12,
    TXP = 0x26,
    LOOP = 0x02,
    TX_PAGE = 0x40,
    RING = 0x4C,
    RING_END = 0x80
};

/* A deliberately wrong driver step: must abort with `words` in the message.  The linker collects
 * them, as it does the kernel's tables. */

#define WRONG(name_, words_)                                                                       \
    static void name_(void);                                                                       \
    static const struct wrong_step name_##_step                                                    \
        __attribute__((used, section("wrong_steps"), aligned(sizeof(void *)))) = {                 \
            .name = #name_, .words = (words_), .step = name_};                                     \
    static void name_(void)

extern struct sim_card misuse_card;

static struct sim_chip *const chip = &misuse_card.chip;

static const struct ioport port = {BASE};

static inline void w(unsigned reg, unsigned value)
{
    io_out8(port, reg, (uint8_t)value);
}

static inline uint8_t r(unsigned reg)
{
    return io_in8(port, reg);
}

/* Power on; the reset pulse; data sheet ch. 11, steps 1 to 9; all of that and on line. */
void plug(void);
void reset(void);
void initialise(void);
void online(void);

/* A remote DMA started; and whole ones, in words. */
void dma(unsigned command, unsigned address, unsigned count);
void put_words(unsigned address, unsigned count);
void get_words(unsigned address, unsigned count);

void transmit(unsigned count);

/* The shortest frame for this station comes in. */
void arrive(void);

/* On line, and the ring has run over. */
void overrun(void);

TCase *misuse_order(void);

/* The overrun procedure of ch. 7 up to, and with, the step named; or from one to another. */
enum step { NOTED, STOPPED, WAITED, CLEARED, LOOKED, LOOPED, STARTED, REMOVED, ACKED, NORMAL };
void cure(enum step last);
void cure_from(enum step first, enum step last);

#endif
