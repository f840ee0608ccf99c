/*
 * The RTL8139 by hand: the steps of a right driver, for tests of the simulated chip.
 */
#ifndef TESTS_HOST_RTL_STEPS_H
#define TESTS_HOST_RTL_STEPS_H

#include "kernel/dma.h"
#include "kernel/io.h"
#include "tests/host/sim/rtl8139.h"

enum { BASE = 0xE000, LINE = 10, RING = 8192, TAIL = 16 + L_FRAME_MOST, BUFFER = L_TSD_MAX };
enum {
    R_IDR0 = 0x00,
    R_MAR0 = 0x08,
    R_TSD0 = 0x10,
    R_TSAD0 = 0x20,
    R_RBSTART = 0x30,
    R_CR = 0x37,
    R_CAPR = 0x38,
    R_CBR = 0x3A,
    R_IMR = 0x3C,
    R_ISR = 0x3E,
    R_TCR = 0x40,
    R_RCR = 0x44,
    R_CR9346 = 0x50,
    R_CONFIG1 = 0x52,
    R_TSAD = 0x60
};
enum { TCR = 0x03000600, RCR = 0xE68A, GO = 8 << 16 };

extern struct sim_rtl rtl_card;
extern struct dma rtl_ring, rtl_buffer[L_DESCRIPTORS];
static const struct ioport rtl_port = {BASE};

static inline void rtl_w8(unsigned reg, unsigned value)
{
    io_out8(rtl_port, reg, (uint8_t)value);
}

static inline void rtl_w16(unsigned reg, unsigned value)
{
    io_out16(rtl_port, reg, (uint16_t)value);
}

static inline void rtl_w32(unsigned reg, uint32_t value)
{
    io_out32(rtl_port, reg, value);
}

static inline uint16_t rtl_r16(unsigned reg)
{
    return io_in16(rtl_port, reg);
}

/* A machine with one; out of reset; running, with its buffers. */
void rtl_plug(void);
void rtl_reset(void);
void rtl_online(void);

/* A frame for it comes; 60 bytes go, from descriptor n. */
void rtl_arrive(unsigned length);
void rtl_go(unsigned n);

/* Its ring has overflowed; the first frame is taken out. */
void rtl_overflow(void);
void rtl_make_room(void);

#endif
