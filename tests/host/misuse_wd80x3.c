/*
 * Trust in the simulated WD80x3 boards: every rule they enforce is broken here once.
 */
#include <check.h>
#include <string.h>

#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/wd80x3.h"
#include "tests/host/sim/wire.h"
#include "tests/host/wrong_step.h"

enum { OLD, SOFT8, JUMPERED, ELITE, ELITE8, ULTRA, PIPE }; /* in sim_wds */
enum { MSR, ICR, PIPE_DATA, IRR = 4, LAAR, U_ICR, PIPE_AT, RAR = 0xB, CHIP = 0x10 };
enum { HIGH = 0xCC000 >> 19, MENB = 0x40, ADDRESS = 0xCC000 >> 13 & 0x3F, D000 = 0x28 };

static struct sim_wd wd;
static const struct ioport port = {0x280};

TCase *misuse_wd80x3(void);

static void w(unsigned reg, unsigned value)
{
    io_out8(port, reg, (uint8_t)value);
}

static void plug(unsigned which)
{
    sim_reset();
    sim_wd_plug(&wd, &sim_wds[which], 0x280, 10);
}

/* Memory on the bus, the gate shut; and open. */
static void elite(void)
{
    plug(ELITE);
    w(LAAR, 0x40 | HIGH);
    w(MSR, MENB | ADDRESS);
}

static void open_elite(void)
{
    elite();
    w(LAAR, 0xC0 | HIGH);
}

static struct iowin window(void)
{
    return (struct iowin){sim_wd_window(&wd)};
}

static void read_word(unsigned at)
{
    uint16_t word;
    mem_read16(window(), at, &word, 1);
}

static void read_byte(void)
{
    uint8_t byte;
    mem_read8(window(), 0, &byte, 1);
}

/* The chip on line, in the width `dcr` says. */
static void online(unsigned dcr)
{
    static const uint8_t steps[][2] = {
        {0, 0x21}, {0xE, 0}, {0xA, 0},  {0xB, 0}, {0xC, 4}, {0xD, 2}, {3, 12},   {1, 12}, {2, 0x20},
        {7, 0xFF}, {0xF, 0}, {0, 0x61}, {6, 0},   {0xF, 0}, {7, 13},  {0, 0x22}, {0xD, 0}};
    w(MSR, wd.msr | 0x80);
    w(MSR, wd.msr & 0x7F);
    delay_us(200);
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        w(CHIP + steps[i][0], steps[i][0] == 0xE ? dcr : steps[i][1]);
    }
}

static void old_register_6(void)
{
    plug(OLD);
    io_in8(port, 6);
}

static void old_register_7(void)
{
    plug(JUMPERED);
    io_in8(port, 7);
}

static void old_write(void)
{
    plug(OLD);
    w(ICR, 1);
}

static void word_to_register(void)
{
    plug(ELITE);
    io_out16(port, MSR, 0);
}

static void word_from_register(void)
{
    plug(ELITE);
    io_in16(port, MSR);
}

static void eeprom(void)
{
    plug(ELITE);
    w(ICR, 0x81);
}

static void prom_write(void)
{
    plug(ELITE);
    w(8, 0);
}

static void switches_in_8bit_slot(void)
{
    plug(ELITE8);
    w(LAAR, 0x40);
}

static void m16_alone(void)
{
    plug(ELITE);
    w(LAAR, 0x80);
}

static void moved_by_msr(void)
{
    elite();
    w(MSR, MENB | D000);
}

static void moved_by_laar(void)
{
    elite();
    w(LAAR, 0x40);
}

static void word_in_8bit_window(void)
{
    plug(SOFT8);
    w(MSR, MENB | D000);
    read_word(0);
}

static void gate_shut(void)
{
    elite();
    read_byte(); /* disturbs nobody */
    mem_write8(window(), 0, "x", 1);
}

static void odd_word(void)
{
    open_elite();
    read_word(1);
}

static void write_off(void)
{
    plug(ELITE);
    mem_write8((struct iowin){0xCC000}, 0, "x", 1);
}

static void gate_left_open(void)
{
    open_elite();
    io_in8(port, CHIP);
}

static void ultra_gate_left_open(void)
{
    plug(ULTRA);
    w(MSR, MENB);
    io_in8(port, CHIP);
}

static void wrong_lan_width(void)
{
    elite();
    online(0x48);
}

static void remote_dma(void)
{
    elite();
    online(0x49);
    w(CHIP + 0xA, 4);
    w(CHIP, 0x0A);
}

static void multicast_read(void)
{
    elite();
    w(CHIP, 0x61);
    io_in8(port, CHIP + 8);
}

static void in_reset(void)
{
    elite();
    w(MSR, 0x80 | MENB | ADDRESS);
    w(LAAR, 0xC0 | HIGH);
    read_word(0);
}

static bool reads_memory(void *arg)
{
    (void)arg;
    w(LAAR, 0xC0 | HIGH);
    read_byte();
    return true;
}

static void in_handler(void)
{
    uint8_t frame[60] = {0};
    elite();
    online(0x49);
    w(IRR, wd.irr | 0x80);
    irq_attach(10, reads_memory, NULL);
    w(CHIP + 0xF, 1);
    sim_receive(&wd.chip, frame, sizeof frame);
    delay_us(1);
}

static void unmasked(void)
{
    elite();
    online(0x49);
    w(CHIP + 0xF, 1);
    w(LAAR, 0xC0 | HIGH);
    read_word(0);
}

static void empty_ring(void)
{
    elite();
    online(0x49);
    w(LAAR, 0xC0 | HIGH);
    read_word(13 * SIM_PAGE);
}

static void into_ring(void)
{
    elite();
    online(0x49);
    w(LAAR, 0xC0 | HIGH);
    mem_write16(window(), 13 * SIM_PAGE, "xy", 1);
}

static void hidden_write(void)
{
    plug(ULTRA);
    w(RAR, 0);
}

static void hidden_while_on(void)
{
    plug(ULTRA);
    w(IRR, 0x80);
    w(MSR, MENB);
    w(RAR, 0);
}

static void left_hidden(void)
{
    plug(ULTRA);
    w(IRR, 0x80);
    io_in8(port, CHIP);
}

static void ultra_write(void)
{
    plug(ULTRA);
    w(1, 0);
}

static void pipe_point(unsigned at)
{
    w(PIPE_AT, at);
    w(PIPE_AT, at >> 8);
}

static void pipe_off(void)
{
    plug(PIPE);
    pipe_point(0);
    io_in16(port, PIPE_DATA);
}

static void pipe_half_address(void)
{
    plug(PIPE);
    w(U_ICR, 0x10);
    w(PIPE_AT, 0);
    io_in16(port, PIPE_DATA);
}

static void pipe_bytes(void)
{
    plug(PIPE);
    w(U_ICR, 0x10);
    pipe_point(0);
    io_in8(port, PIPE_DATA);
}

static void pipe_turned(void)
{
    plug(PIPE);
    w(U_ICR, 0x10);
    pipe_point(0);
    io_out16(port, PIPE_DATA, 1);
    io_in16(port, PIPE_DATA);
}

static void pipe_and_memory(void)
{
    plug(PIPE);
    w(U_ICR, 0x10);
    w(MSR, MENB);
    read_byte();
}

static const struct wrong_step steps[] = {
    WRONG_STEP(old_register_6, "register 6 read: the board hangs the bus"),
    WRONG_STEP(old_register_7, "register 7 read: the board hangs the bus"),
    WRONG_STEP(old_write, "register 1 written: there is none"),
    WRONG_STEP(word_to_register, "16-bit access to register"),
    WRONG_STEP(word_from_register, "16-bit access to register"),
    WRONG_STEP(eeprom, "recalls from, or stores into, the EEPROM"),
    WRONG_STEP(prom_write, "register 8 written"),
    WRONG_STEP(switches_in_8bit_slot, "16-bit switches set in an 8-bit slot"),
    WRONG_STEP(m16_alone, "M16EN without L16EN"),
    WRONG_STEP(moved_by_msr, "memory moved while it is on the bus"),
    WRONG_STEP(moved_by_laar, "memory moved while it is on the bus"),
    WRONG_STEP(word_in_8bit_window, "16-bit access while the window is 8-bit"),
    WRONG_STEP(gate_shut, "memory used with its gate shut"),
    WRONG_STEP(odd_word, "word at odd address"),
    WRONG_STEP(write_off, "written with the memory off the bus"),
    WRONG_STEP(gate_left_open, "gate left open"),
    WRONG_STEP(ultra_gate_left_open, "gate left open"),
    WRONG_STEP(wrong_lan_width, "on line with DCR.WTS 0 and a memory of 16 bits"),
    WRONG_STEP(remote_dma, "on a board that has not wired it"),
    WRONG_STEP(multicast_read, "they are write-only"),
    WRONG_STEP(in_reset, "while the reset line is active"),
    WRONG_STEP(in_handler, "card memory used in interrupt context"),
    WRONG_STEP(unmasked, "card memory used with interrupts unmasked"),
    WRONG_STEP(empty_ring, "holds no received frame"),
    WRONG_STEP(into_ring, "into the receive ring"),
    WRONG_STEP(hidden_write, "register b written without SWH"),
    WRONG_STEP(hidden_while_on, "memory moved while it is on the bus"),
    WRONG_STEP(left_hidden, "SWH left on"),
    WRONG_STEP(ultra_write, "register 1 written"),
    WRONG_STEP(pipe_off, "without IOPEN"),
    WRONG_STEP(pipe_half_address, "with half an address"),
    WRONG_STEP(pipe_bytes, "8-bit access to the I/O pipe"),
    WRONG_STEP(pipe_turned, "turned round without an address"),
    WRONG_STEP(pipe_and_memory, "while the I/O pipe is on"),
};

START_TEST(aborts)
{
    wrong_step_expect(&steps[_i]);
}
END_TEST

/* And the right way: a frame comes, is read through the gate, and one is put and sent. */
START_TEST(right_way)
{
    uint8_t frame[60] = {0};
    uint16_t header[2];
    open_elite();
    w(LAAR, 0x40 | HIGH);
    online(0x49);
    sim_receive(&wd.chip, frame, sizeof frame);
    w(LAAR, 0xC0 | HIGH);
    mem_read16(window(), 13 * SIM_PAGE, header, 2);
    mem_write16(window(), 0, frame, 30);
    w(LAAR, 0x40 | HIGH);
    ck_assert_uint_eq(header[0], 0x0E01);
    ck_assert_uint_eq(header[1], 64);
    ck_assert_uint_eq(wd.opened, 2);
    sim_wd_free(&wd);
}
END_TEST

TCase *misuse_wd80x3(void)
{
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, (int)(sizeof steps / sizeof steps[0]));
    tcase_add_test(tc, right_way);
    return tc;
}
