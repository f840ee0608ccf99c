/*
 * Trust in the simulated EtherLink II boards: every rule they enforce is broken here once.
 */
#include <check.h>
#include <string.h>

#include "kernel/io.h"
#include "kernel/time.h"
#include "tests/host/sim/3c503.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/wire.h"
#include "tests/host/wrong_step.h"

enum { BYTES, WORDS, NO_WINDOW }; /* in sim_el2s */
enum { GACFR = 5, GACR, STREG, IDCFR, DAMSB, DALSB, VPTR2, VPTR1, VPTR0, FIFO };
enum { RSEL = 0x08, TCM = 0x40, RST = 0x01, THIN = 0x02, BOTH = 0x0C, EALO = 0x04, OUT = 0x40 };
enum { START = 0x80, RING = 0x26, RING_END = 0x40, DCR_BYTES = 0x48, SENDING = 0x2000 };

static struct sim_el2 el2;
static const struct ioport port = {0x300}, gate = {0x700};

TCase *misuse_3c503(void);

static void w(unsigned reg, unsigned value)
{
    io_out8(port, reg, (uint8_t)value);
}

static void g(unsigned reg, unsigned value)
{
    io_out8(gate, reg, (uint8_t)value);
}

/* Its chip at its ports, the memory nowhere. */
static void plug(unsigned which)
{
    sim_reset();
    sim_el2_plug(&el2, &sim_el2s[which], 0x300, 5);
    g(GACR, RST | THIN);
    g(GACR, THIN);
    g(GACFR, TCM);
    delay_us(200);
}

/* The chip on line; the gate array as given. */
static void online(unsigned pstr, unsigned vptr)
{
    static const uint8_t steps[][2] = {
        {0, 0x21}, {0xE, DCR_BYTES}, {0xA, 0},      {0xB, 0},  {0xC, 4}, {0xD, 2},
        {3, RING}, {1, RING},        {2, RING_END}, {7, 0xFF}, {0xF, 0}, {0, 0x61},
        {6, 0},    {0xF, 0},         {7, RING + 1}, {0, 0x22}, {0xD, 0}};
    g(0, pstr);
    g(1, RING_END);
    g(2, 8);
    g(VPTR2, vptr);
    g(VPTR1, vptr);
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        w(steps[i][0], steps[i][1]);
    }
}

static void start_fifo(unsigned at, unsigned way)
{
    g(DAMSB, at >> 8);
    g(DALSB, at);
    g(GACR, THIN | START | way);
}

static bool ready(void)
{
    return (io_in8(gate, STREG) & 0x80) != 0;
}

static struct iowin window(void)
{
    return (struct iowin){sim_el2_window(&el2)};
}

static void other_ring(void)
{
    plug(BYTES);
    online(0x20, 0xFF);
}

static void fifo_of_another_ring(void)
{
    plug(BYTES);
    online(RING, 0xFF);
    g(0, 0x20);
    start_fifo(SENDING, 0);
}

static void vptr_left_0(void)
{
    plug(BYTES);
    online(RING, 0);
}

static void reset_on_aui(void)
{
    plug(BYTES);
    g(GACR, RST);
}

static void fifo_beside_window(void)
{
    plug(BYTES);
    g(GACFR, TCM | RSEL | 1);
    start_fifo(SENDING, 0);
}

static void fifo_stopped_full(void)
{
    plug(BYTES);
    start_fifo(SENDING, OUT);
    ready();
    io_out16(gate, FIFO, 1);
    g(GACR, THIN);
}

static void both_proms(void)
{
    plug(BYTES);
    g(GACR, THIN | BOTH);
}

static void own_interrupt(void)
{
    plug(BYTES);
    g(GACFR, 0);
}

static void test_mode(void)
{
    plug(BYTES);
    g(GACFR, TCM | 0x10);
}

static void bank_0_of_8_bits(void)
{
    plug(BYTES);
    g(GACFR, TCM | RSEL);
}

static void bank_2(void)
{
    plug(WORDS);
    g(GACFR, TCM | RSEL | 2);
}

static void two_lines(void)
{
    plug(BYTES);
    g(IDCFR, 0x30);
}

static void dma_channel(void)
{
    plug(BYTES);
    g(IDCFR, 0x11);
}

static void address_meanwhile(void)
{
    plug(BYTES);
    start_fifo(SENDING, 0);
    g(DALSB, 0);
}

static void read_only_register(void)
{
    plug(BYTES);
    g(STREG, 0);
}

static void fifo_not_started(void)
{
    plug(BYTES);
    io_in16(gate, FIFO);
}

static void fifo_other_way(void)
{
    plug(BYTES);
    start_fifo(SENDING, 0);
    ready();
    io_out16(gate, FIFO, 0);
}

static void fifo_not_ready(void)
{
    plug(BYTES);
    start_fifo(SENDING, 0);
    io_in16(gate, FIFO);
}

static void fifo_nine_bytes(void)
{
    uint16_t words[5];
    plug(BYTES);
    start_fifo(SENDING, 0);
    ready();
    io_in16_rep(gate, FIFO, words, 5);
}

static void word_to_gate(void)
{
    plug(BYTES);
    io_out16(gate, GACFR, TCM);
}

static void word_from_chip(void)
{
    plug(BYTES);
    io_in16(port, 0);
}

static void window_left_open(void)
{
    plug(BYTES);
    g(GACFR, TCM | RSEL | 1);
    io_in8(port, 7);
}

static void fifo_left_on(void)
{
    plug(BYTES);
    start_fifo(SENDING, 0);
    w(0, 0x21);
}

static void under_the_prom(void)
{
    plug(BYTES);
    g(GACR, THIN | EALO);
    w(0, 0x21);
}

static void write_to_boot_rom(void)
{
    plug(BYTES);
    mem_write8(window(), 0, "x", 1);
}

static void words_of_8_bits(void)
{
    uint16_t word;
    plug(BYTES);
    g(GACFR, TCM | RSEL | 1);
    mem_read16(window(), 0, &word, 1);
}

static const struct wrong_step steps[] = {
    WRONG_STEP(other_ring, "PSTR 20, PSPR 40 are not the chip's 26, 40"),
    WRONG_STEP(fifo_of_another_ring, "PSTR 20, PSPR 40 are not the chip's 26, 40"),
    WRONG_STEP(vptr_left_0, "on line with VPTR 0"),
    WRONG_STEP(reset_on_aui, "reset with the transceiver off"),
    WRONG_STEP(fifo_beside_window, "FIFO started while the memory is in the window"),
    WRONG_STEP(fifo_stopped_full, "FIFO stopped before what was in it had arrived"),
    WRONG_STEP(both_proms, "both halves of the PROM"),
    WRONG_STEP(own_interrupt, "GACFR <- 00"),
    WRONG_STEP(test_mode, "GACFR <- 50"),
    WRONG_STEP(bank_0_of_8_bits, "bank 0 is not there"),
    WRONG_STEP(bank_2, "bank 2 is not there"),
    WRONG_STEP(two_lines, "one line, and no DMA channel"),
    WRONG_STEP(dma_channel, "one line, and no DMA channel"),
    WRONG_STEP(address_meanwhile, "address written while the FIFO runs"),
    WRONG_STEP(read_only_register, "gate array register 7 written"),
    WRONG_STEP(fifo_not_started, "FIFO read without having been started for it"),
    WRONG_STEP(fifo_other_way, "FIFO written without having been started for it"),
    WRONG_STEP(fifo_not_ready, "FIFO used without DPRDY"),
    WRONG_STEP(fifo_nine_bytes, "more than 8 bytes without a look at DPRDY"),
    WRONG_STEP(word_to_gate, "16-bit access to register 405"),
    WRONG_STEP(word_from_chip, "16-bit access to register 000"),
    WRONG_STEP(window_left_open, "chip used while the memory is in the window"),
    WRONG_STEP(fifo_left_on, "chip used while the FIFO runs"),
    WRONG_STEP(under_the_prom, "register 0 written under the PROM"),
    WRONG_STEP(write_to_boot_rom, "memory written while it is not in the window"),
    WRONG_STEP(words_of_8_bits, "16-bit access to an 8-bit board"),
};

START_TEST(aborts)
{
    wrong_step_expect(&steps[_i]);
}
END_TEST

/* And the right ways: a frame comes and is read through the window, then through the FIFO; another
 * is put through the one and read back through the other. */
START_TEST(right_way)
{
    uint8_t frame[60] = {0};
    uint16_t header[2], words[4] = {0x1234, 0x5678, 0x9ABC, 0xDEF0}, back[4];
    plug(BYTES);
    online(RING, 0xFF);
    sim_receive(&el2.chip, frame, sizeof frame);
    g(GACFR, TCM | RSEL | 1);
    mem_read8(window(), (RING + 1) * SIM_PAGE - 0x2000, header, 4);
    g(GACFR, TCM);
    ck_assert_uint_eq(header[0], (RING + 2) << 8 | 1);
    ck_assert_uint_eq(header[1], 64);
    start_fifo((RING + 1) * SIM_PAGE, 0);
    ck_assert(ready());
    io_in16_rep(gate, FIFO, back, 4);
    g(GACR, THIN);
    ck_assert_mem_eq(back, header, 4);
    start_fifo(SENDING, OUT);
    ck_assert(ready());
    io_out16_rep(gate, FIFO, words, 4);
    ck_assert(ready());
    g(GACR, THIN);
    g(GACFR, TCM | RSEL | 1);
    mem_read8(window(), 0, back, 8);
    g(GACFR, TCM);
    ck_assert_mem_eq(back, words, 8);
    ck_assert_uint_eq(el2.opened, 2);
    sim_el2_free(&el2);
}
END_TEST

TCase *misuse_3c503(void)
{
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, (int)(sizeof steps / sizeof steps[0]));
    tcase_add_test(tc, right_way);
    return tc;
}
