/*
 * Trust in the simulated chip: every rule it enforces is broken here once, by a deliberately wrong
 * driver step, in a child process that must die with the right words.  And the right way through
 * each of these rituals must not abort.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/cpu.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/wire.h"

enum { BASE = 0x300, IRQ = 10, DATA = 0x10, RESET = 0x1F };
enum { R_CR = 0, R_PSTART = 1, R_PSTOP = 2, R_BNRY = 3, R_TPSR = 4, R_TBCR0 = 5, R_TBCR1 = 6,
       R_ISR = 7, R_RSAR0 = 8, R_RSAR1 = 9, R_RBCR0 = 10, R_RBCR1 = 11, R_RCR = 12, R_TCR = 13,
       R_DCR = 14, R_IMR = 15, R_PAR0 = 1, R_CURR = 7, R_MAR0 = 8 };
enum { START0 = 0x22, STOP0 = 0x21, STOP1 = 0x61, START1 = 0x62, READ = 0x0A, WRITE = 0x12,
       TXP = 0x26, LOOP = 0x02, TX_PAGE = 0x40, RING = 0x4C, RING_END = 0x80 };

static struct sim_card card;
static struct sim_chip *const chip = &card.chip;
static const struct ioport port = {BASE};

static void w(unsigned reg, unsigned value)
{
    io_out8(port, reg, (uint8_t)value);
}

static uint8_t r(unsigned reg)
{
    return io_in8(port, reg);
}

/* ---- the right way, in steps ---- */

static void plug(void)
{
    sim_reset();
    sim_card_plug(&card, &sim_cards[0], BASE, IRQ);
}

static void reset(void)
{
    w(RESET, r(RESET));
    delay_us(200);
    ck_assert(r(R_ISR) & N_RST);
}

/* Data sheet ch. 11, steps 1 to 9. */
static void initialise(void)
{
    w(R_CR, STOP0);
    w(R_DCR, 0x49);
    w(R_RBCR0, 0);
    w(R_RBCR1, 0);
    w(R_RCR, 0x04);
    w(R_TCR, LOOP);
    w(R_BNRY, RING);
    w(R_PSTART, RING);
    w(R_PSTOP, RING_END);
    w(R_ISR, 0xFF);
    w(R_IMR, 0);
    w(R_CR, STOP1);
    for (unsigned i = 0; i < 6; i++) {
        w(R_PAR0 + i, sim_card_mac[i]);
    }
    for (unsigned i = 0; i < 8; i++) {
        w(R_MAR0 + i, 0);
    }
    w(R_CURR, RING + 1);
}

static void online(void)
{
    plug();
    reset();
    initialise();
    w(R_CR, START0);
    w(R_TCR, 0);
}

static void dma(unsigned command, unsigned address, unsigned count)
{
    w(R_RSAR0, address & 0xFF);
    w(R_RSAR1, address >> 8);
    w(R_RBCR0, count & 0xFF);
    w(R_RBCR1, count >> 8);
    w(R_CR, command);
}

static void put_words(unsigned address, unsigned count)
{
    w(R_ISR, N_RDC);
    dma(WRITE, address, count);
    for (unsigned i = 0; i < count; i += 2) {
        io_out16(port, DATA, (uint16_t)i);
    }
    delay_us(3);
    ck_assert(r(R_ISR) & N_RDC);
    w(R_ISR, N_RDC);
}

static void get_words(unsigned address, unsigned count)
{
    dma(READ, address, count);
    for (unsigned i = 0; i < count; i += 2) {
        io_in16(port, DATA);
    }
    w(R_ISR, N_RDC);
}

static void transmit(unsigned count)
{
    w(R_TPSR, TX_PAGE);
    w(R_TBCR0, count & 0xFF);
    w(R_TBCR1, count >> 8);
    w(R_CR, TXP);
}

static void arrive(void)
{
    uint8_t frame[60] = {0};
    memcpy(frame, sim_card_mac, 6);
    sim_receive(chip, frame, sizeof frame);
}

/* Overrun procedure of ch. 7 up to, and with, the step named. */
enum step { NOTED, STOPPED, WAITED, CLEARED, LOOKED, LOOPED, STARTED, REMOVED, ACKED, NORMAL };

static void cure_from(enum step first, enum step last)
{
    for (enum step s = first; s <= last; s++) {
        switch (s) {
        case NOTED: r(R_CR); break;
        case STOPPED: w(R_CR, STOP0); break;
        case WAITED: delay_us(1600); break;
        case CLEARED: w(R_RBCR0, 0); w(R_RBCR1, 0); break;
        case LOOKED: r(R_ISR); break;
        case LOOPED: w(R_TCR, LOOP); break;
        case STARTED: w(R_CR, START0); break;
        case REMOVED: w(R_BNRY, RING + 1); break;
        case ACKED: w(R_ISR, N_OVW); break;
        case NORMAL: w(R_TCR, 0); break;
        }
    }
}

static void cure(enum step last)
{
    cure_from(NOTED, last);
}

static void overrun(void)
{
    online();
    sim_fill_ring(chip, 60);
}

static bool in_irq_command, in_irq_dma, in_irq_page;

static bool bad_handler(void *arg)
{
    (void)arg;
    if (in_irq_command) {
        w(R_BNRY, RING);
    }
    if (in_irq_dma) {
        io_in16(port, DATA);
    }
    if (in_irq_page) {
        r(R_ISR);
    }
    w(R_IMR, 0);
    return true;
}

/* ---- the wrong ways ---- */

static void beyond_count(void) { online(); get_words(TX_PAGE << 8, 4); io_in16(port, DATA); }
static void byte_in_word_mode(void) { online(); dma(READ, 0x4000, 4); io_in8(port, DATA); }
static void word_to_register(void) { online(); io_out16(port, R_ISR, 0xFF); }
static void no_dma(void) { online(); io_out16(port, DATA, 0); }
static void write_while_reading(void) { online(); dma(READ, 0x4000, 4); io_out16(port, DATA, 0); }
static void odd_address(void) { online(); dma(READ, 0x4001, 4); }
static void odd_count(void) { online(); dma(READ, 0x4000, 3); }
static void dma_twice(void) { online(); dma(READ, 0x4000, 4); w(R_CR, READ); }
static void dma_cut(void) { online(); dma(READ, 0x4000, 4); w(R_CR, START0); }
static void dma_set_up_again(void) { online(); dma(READ, 0x4000, 4); w(R_RSAR0, 0); }
static void dma_on_stopped(void) { plug(); reset(); w(R_DCR, 0x49); w(R_CR, 0x09); }
static void dma_before_dcr(void) { plug(); reset(); w(R_TCR, LOOP); w(R_RBCR0, 2); w(R_CR, READ); }
static void dma_outside(void) { online(); dma(READ, 0x8000, 4); }
static void dma_below(void) { online(); w(R_ISR, N_RDC); dma(WRITE, 0x2000, 4); }
static void dma_into_ring(void) { online(); w(R_ISR, N_RDC); dma(WRITE, RING << 8, 4); }
static void dma_from_empty_ring(void) { online(); dma(READ, (RING + 1) << 8, 4); }
static void dma_past_stop(void) { online(); dma(READ, (RING_END << 8) - 4, 8); }
static void dma_unmasked(void) { online(); w(R_IMR, 1); dma(READ, 0x4000, 4); }
static void unmask_in_dma(void) { online(); dma(READ, 0x4000, 4); w(R_IMR, 1); }
static void stale_rdc(void) { online(); dma(READ, 0x4000, 2); io_in16(port, DATA); dma(WRITE, 0x4000, 2); }
static void write_cut(void)
{
    online();
    w(R_ISR, N_RDC);
    dma(WRITE, 0x4000, 2);
    io_out16(port, DATA, 0);
    w(R_CR, START0);
}
static void page_2_write(void) { online(); w(R_CR, 0xA2); w(R_PSTART, 0); }
static void page_3(void) { online(); w(R_CR, 0xE2); }
static void fifo_read(void) { online(); r(6); }
static void tcr_reserved(void) { online(); w(R_TCR, 0x80); }
static void imr_reserved(void) { online(); w(R_IMR, 0xFF); }
static void pstart_running(void) { online(); w(R_PSTART, 0x50); }
static void pstop_running(void) { online(); w(R_PSTOP, 0x70); }
static void curr_running(void) { online(); w(R_CR, START1); w(R_CURR, 0x50); }
static void par_running(void) { online(); w(R_CR, START1); w(R_PAR0, 0x50); }
static void dcr_running(void) { online(); w(R_DCR, 0x48); }
static void bnry_below(void) { online(); w(R_BNRY, RING - 1); }
static void bnry_at_stop(void) { online(); w(R_BNRY, RING_END); }
static void bnry_past_curr(void) { online(); arrive(); w(R_BNRY, RING + 2); }
static void tx_twice(void) { online(); put_words(0x4000, 60); transmit(60); w(R_CR, TXP); }
static void tpsr_busy(void) { online(); transmit(60); w(R_TPSR, 0x46); }
static void tbcr_busy(void) { online(); transmit(60); w(R_TBCR0, 61); }
static void tx_stopped(void) { plug(); reset(); initialise(); w(R_CR, 0x25); }
static void tx_loopback(void) { plug(); reset(); initialise(); w(R_CR, START0); transmit(60); }
static void tx_zero(void) { online(); transmit(0); }
static void tx_short(void) { online(); transmit(59); }
static void tx_long(void) { online(); transmit(1515); }
static void tx_in_ring(void) { online(); w(R_TPSR, RING); w(R_TBCR0, 60); w(R_TBCR1, 0); w(R_CR, TXP); }
static void tx_unacknowledged(void) { online(); transmit(60); delay_us(100); transmit(60); }
static void tx_memory(void) { online(); transmit(60); w(R_ISR, N_RDC); dma(WRITE, 0x4010, 2); }
static void tx_before_rdc(void)
{
    online();
    w(R_ISR, N_RDC);
    w(R_TBCR0, 60);
    w(R_TBCR1, 0);
    w(R_TPSR, TX_PAGE);
    dma(WRITE, 0x4600, 2);
    io_out16(port, DATA, 0);
    w(R_CR, TXP);
}
static void tcr_busy(void) { online(); transmit(60); w(R_TCR, LOOP); }
static void start_and_stop(void) { online(); w(R_CR, 0x23); }
static void neither(void) { online(); w(R_CR, 0x20); }
static void rd_000(void) { online(); w(R_CR, 0x02); }
static void rd_send(void) { online(); w(R_CR, 0x1A); }
static void start_not_in_loopback(void) { online(); w(R_CR, STOP0); delay_us(2000); w(R_CR, START0); }
static void start_too_soon(void)
{
    online();
    uint8_t frame[1514] = {0};
    sim_receive_at(chip, sim_now_ns(), frame, sizeof frame);
    delay_us(100);
    w(R_CR, STOP0);
    delay_us(500);
    w(R_TCR, LOOP);
    w(R_CR, START0);
}
static void half_initialised(void) { plug(); reset(); w(R_DCR, 0x49); w(R_TCR, LOOP); w(R_CR, START0); w(R_TCR, 0); }
static void bnry_is_curr(void)
{
    plug();
    reset();
    initialise();
    w(R_CURR, RING);
    w(R_CR, START0);
    w(R_TCR, 0);
}
static void ring_too_long(void)
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_PSTOP, RING_END + 1);
    w(R_CR, START0);
    w(R_TCR, 0);
}
static void bad_dcr(void)
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_DCR, 0x41);
    w(R_CR, START0);
    w(R_TCR, 0);
}
static void word_in_8bit_slot(void)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.slot8 = cfg.chip.word_forbidden = true;
    sim_reset();
    sim_card_plug(&card, &cfg, BASE, IRQ);
    reset();
    initialise();
    w(R_CR, START0);
    w(R_TCR, 0);
}
static void touched_in_reset(void) { plug(); r(RESET); r(R_ISR); }
static void data_in_reset(void) { plug(); r(RESET); io_in16(port, DATA); }
static void alias(void) { plug(); r(0x18); }
static void halt_for_ever(void) { online(); cpu_cli(); cpu_sti_hlt(); }

static void irq_case(bool *what)
{
    online();
    *what = true;
    irq_attach(IRQ, bad_handler, NULL);
    if (what == &in_irq_page) {
        w(R_IMR, 1);
        w(R_CR, START1);
    } else {
        w(R_IMR, 1);
    }
    arrive();
    delay_us(1);
}
static void irq_register(void) { irq_case(&in_irq_command); }
static void irq_dma(void) { irq_case(&in_irq_dma); }
static void irq_page(void) { irq_case(&in_irq_page); }

static void ovw_ack_alone(void) { overrun(); w(R_ISR, N_OVW); }
static void ovw_txp_unread(void)
{
    online();
    sim_hold_tx(chip);
    transmit(60);
    sim_fill_ring(chip, 60);
    cure_from(STOPPED, STARTED);
}
static void ovw_no_wait(void) { overrun(); cure(STOPPED); delay_us(1500); w(R_RBCR0, 0); w(R_RBCR1, 0); w(R_TCR, LOOP); w(R_CR, START0); }
static void ovw_no_clear(void) { overrun(); cure(WAITED); w(R_TCR, LOOP); w(R_CR, START0); }
static void ovw_no_look(void)
{
    online();
    sim_hold_tx(chip);
    transmit(60);
    sim_fill_ring(chip, 60);
    cure(CLEARED);
    w(R_TCR, LOOP);
    w(R_CR, START0);
}
static void ovw_no_loopback(void) { overrun(); cure(LOOKED); w(R_CR, START0); }
static void ovw_no_removal(void) { overrun(); cure(STARTED); w(R_ISR, N_OVW); }
static void ovw_early_ack(void) { overrun(); cure(LOOPED); w(R_ISR, N_OVW); w(R_CR, START0); }
static void ovw_normal_before_removal(void) { overrun(); cure(STARTED); w(R_TCR, 0); }
static void ovw_normal_before_ack(void) { overrun(); cure(REMOVED); w(R_TCR, 0); }
static void ovw_tx_in_loopback(void) { overrun(); cure(STARTED); transmit(60); }

#define WRONG(step, words) {#step, step, words}
static const struct {
    const char *name;
    void (*step)(void);
    const char *words;
} wrong[] = {
    WRONG(beyond_count, "read beyond the byte count"),
    WRONG(byte_in_word_mode, "8-bit data port access in word mode"),
    WRONG(word_to_register, "16-bit access to 8-bit register"),
    WRONG(no_dma, "with no such remote DMA active"),
    WRONG(write_while_reading, "data port written with no such"),
    WRONG(odd_address, "odd address or count in word mode"),
    WRONG(odd_count, "odd address or count in word mode"),
    WRONG(dma_twice, "started while one is active"),
    WRONG(dma_cut, "aborted with 4 bytes to go"),
    WRONG(dma_set_up_again, "written during a remote DMA"),
    WRONG(dma_on_stopped, "together with STOP"),
    WRONG(dma_before_dcr, "before DCR was written"),
    WRONG(dma_outside, "outside card memory"),
    WRONG(dma_below, "outside card memory"),
    WRONG(dma_into_ring, "into the receive ring"),
    WRONG(dma_from_empty_ring, "holds no received frame"),
    WRONG(dma_past_stop, "outside card memory"),
    WRONG(dma_unmasked, "remote DMA with interrupts unmasked"),
    WRONG(unmask_in_dma, "unmasked in the middle of a remote DMA"),
    WRONG(stale_rdc, "with RDC still set"),
    WRONG(write_cut, "aborted before RDC"),
    WRONG(page_2_write, "of page 2 written"),
    WRONG(page_3, "there is no page 3"),
    WRONG(fifo_read, "FIFO read outside a loopback"),
    WRONG(tcr_reserved, "reserved bits"),
    WRONG(imr_reserved, "bit 7 does not exist"),
    WRONG(pstart_running, "PSTART written while the chip runs"),
    WRONG(pstop_running, "PSTOP written while the chip runs"),
    WRONG(curr_running, "CURR written while the chip runs"),
    WRONG(par_running, "PAR written while the chip runs"),
    WRONG(dcr_running, "DCR written while the chip runs"),
    WRONG(bnry_below, "outside the ring"),
    WRONG(bnry_at_stop, "outside the ring"),
    WRONG(bnry_past_curr, "passes CURR"),
    WRONG(tx_twice, "transmit command during a transmission"),
    WRONG(tpsr_busy, "written during a transmission"),
    WRONG(tbcr_busy, "written during a transmission"),
    WRONG(tx_stopped, "transmit together with STOP"),
    WRONG(tx_loopback, "while stopped or in loopback"),
    WRONG(tx_zero, "byte count 0 outside"),
    WRONG(tx_short, "byte count 59 outside"),
    WRONG(tx_long, "byte count 1515 outside"),
    WRONG(tx_in_ring, "not card memory outside the ring"),
    WRONG(tx_unacknowledged, "last result not acknowledged"),
    WRONG(tx_memory, "into the frame being sent"),
    WRONG(tx_before_rdc, "aborted before RDC"),
    WRONG(tcr_busy, "TCR written during a transmission"),
    WRONG(start_and_stop, "exactly one of START and STOP"),
    WRONG(neither, "exactly one of START and STOP"),
    WRONG(rd_000, "000 is not allowed"),
    WRONG(rd_send, "send packet, is not supported"),
    WRONG(start_not_in_loopback, "started outside loopback"),
    WRONG(start_too_soon, "before the stop had taken effect"),
    WRONG(half_initialised, "registers never written"),
    WRONG(bnry_is_curr, "BNRY = CURR"),
    WRONG(ring_too_long, "is not in card memory"),
    WRONG(bad_dcr, "on line with DCR 41"),
    WRONG(word_in_8bit_slot, "word mode in an 8-bit slot"),
    WRONG(touched_in_reset, "while the reset line is active"),
    WRONG(data_in_reset, "while the reset line is active"),
    WRONG(alias, "an alias nobody needs"),
    WRONG(halt_for_ever, "halted for ever"),
    WRONG(irq_register, "register 3 written in interrupt context"),
    WRONG(irq_dma, "remote DMA in interrupt context"),
    WRONG(irq_page, "met register page 1"),
    WRONG(ovw_ack_alone, "outside the overrun procedure"),
    WRONG(ovw_txp_unread, "step 1"),
    WRONG(ovw_no_wait, "step 3"),
    WRONG(ovw_no_clear, "step 4"),
    WRONG(ovw_no_look, "step 5"),
    WRONG(ovw_no_loopback, "step 6"),
    WRONG(ovw_no_removal, "before a packet was removed"),
    WRONG(ovw_early_ack, "before a packet was removed"),
    WRONG(ovw_normal_before_removal, "step 8"),
    WRONG(ovw_normal_before_ack, "step 9"),
    WRONG(ovw_tx_in_loopback, "while stopped or in loopback"),
};

enum { WRONG_STEPS = sizeof wrong / sizeof wrong[0], OUTPUT = 16384 };

/* Run `step` in a child with its standard error in `said`; returns the wait status. */
static int run_child(void (*step)(void), char *said)
{
    int pipes[2];
    size_t used = 0;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        step();
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t n = 1; n > 0; used += (size_t)n) {
        n = read(pipes[0], said + used, OUTPUT - 1 - used);
    }
    said[used] = '\0';
    close(pipes[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

START_TEST(aborts)
{
    char said[OUTPUT];
    int status = run_child(wrong[_i].step, said);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s was not noticed: %s",
                  wrong[_i].name, said);
    const char *message = strstr(said, "MISUSE");
    ck_assert_msg(message != NULL && strstr(message, wrong[_i].words) != NULL, "%s: %s",
                  wrong[_i].name, said);
}
END_TEST

START_TEST(last_accesses_are_printed)
{
    char said[OUTPUT];
    run_child(tx_zero, said);
    ck_assert_ptr_nonnull(strstr(said, "out8  300 <- 26"));
    ck_assert_ptr_nonnull(strstr(said, "out8  305 <- 00"));
}
END_TEST

/* ---- and the right ways do not abort ---- */

START_TEST(right_start_and_transfer)
{
    online();
    put_words(0x4000, 60);
    transmit(60);
    ck_assert(r(R_CR) & N_TXP);
    delay_us(80);
    ck_assert(!(r(R_CR) & N_TXP));
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE), N_PTX);
    ck_assert_uint_eq(r(R_TPSR), N_TSR_PTX);
    ck_assert_uint_eq(sim_frames_sent(chip), 1);
    ck_assert_uint_eq(sim_sent(chip, 0)->length, 60);
    ck_assert_uint_eq(sim_sent(chip, 0)->data[2], 2);
    arrive();
    get_words((RING + 1) << 8, 64);
    w(R_BNRY, RING + 1);
    sim_card_free(&card);
}
END_TEST

START_TEST(right_overrun)
{
    overrun();
    unsigned stored = chip->stored;
    arrive();
    ck_assert_uint_eq(chip->stored, stored); /* deaf */
    ck_assert(r(R_ISR) & N_RST);
    cure(NORMAL);
    ck_assert(!(r(R_ISR) & (N_OVW | N_RST)));
    ck_assert_uint_eq(chip->overruns_cured, 1);
    w(R_BNRY, RING + 2);
    arrive();
    ck_assert_uint_eq(chip->stored, stored + 1); /* hears again */
    sim_card_free(&card);
}
END_TEST

/* Draining the ring without the procedure leaves the chip deaf. */
START_TEST(deaf_without_procedure)
{
    overrun();
    unsigned stored = chip->stored;
    w(R_BNRY, RING + 20);
    arrive();
    ck_assert_uint_eq(chip->stored, stored);
    ck_assert_uint_eq(chip->missed, 2);
}
END_TEST

/* A frame on the wire is finished by STOP; one that waits is cut, with neither PTX nor TXE. */
START_TEST(stop_and_transmission)
{
    online();
    transmit(60);
    w(R_CR, STOP0);
    delay_us(100);
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE | N_RST), N_PTX);
    ck_assert_uint_eq(sim_frames_sent(chip), 1);
    sim_card_free(&card);
    online();
    sim_hold_tx(chip);
    transmit(60);
    w(R_CR, STOP0);
    delay_us(1600);
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE), 0);
    sim_release_tx(chip);
    delay_us(1600);
    ck_assert_uint_eq(sim_frames_sent(chip), 0);
    ck_assert_uint_eq(chip->cut_short, 1);
}
END_TEST

START_TEST(tallies)
{
    online();
    sim_raise_tally(chip, TALLY_CRC, 127);
    ck_assert(!(r(R_ISR) & N_CNT));
    sim_raise_tally(chip, TALLY_CRC, 1);
    ck_assert(r(R_ISR) & N_CNT);
    w(R_ISR, N_CNT);
    ck_assert_msg(r(R_ISR) & N_CNT, "CNT must not clear while the tally is not read");
    sim_raise_tally(chip, TALLY_CRC, 200);
    ck_assert_uint_eq(r(14), SIM_TALLY_MAX);
    ck_assert_uint_eq(r(14), 0);
    w(R_ISR, N_CNT);
    ck_assert(!(r(R_ISR) & N_CNT));
}
END_TEST

/* An edge that comes while the line is still high is none: what irq_edge_not_lost rests on. */
START_TEST(edges)
{
    online();
    irq_attach(IRQ, bad_handler, NULL);
    w(R_IMR, N_PRX);
    arrive();
    ck_assert(sim_irq_line(IRQ));
    delay_us(1);
    ck_assert_uint_eq(irq_count(IRQ), 1);
    w(R_IMR, N_PRX); /* unmasking with work pending raises it again */
    delay_us(1);
    ck_assert_uint_eq(irq_count(IRQ), 2);
    cpu_cli();
    w(R_IMR, N_PRX);
    w(R_IMR, 0);     /* gone before it was taken */
    cpu_sti();
    ck_assert_uint_eq(irq_count(IRQ), 2);
    ck_assert_uint_eq(irq_spurious(), 1);
}
END_TEST

START_TEST(empty_bus)
{
    sim_reset();
    ck_assert_uint_eq(io_in8(port, 0), 0xFF);
    ck_assert_uint_eq(io_in16(port, 0), 0xFFFF);
    ck_assert_uint_eq(sim_now_ns(), SIM_NS_BYTE + SIM_NS_WORD);
    struct deadline d = deadline_us(50);
    while (!expired(&d)) {
    }
    ck_assert_uint_ge(sim_now_ns(), 50000);
}
END_TEST

/* IEEE 802.3: CRC of "123456789" is CBF43926h; hash of 01:00:5E:00:00:01 by hand. */
START_TEST(wire_sums)
{
    static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    ck_assert_uint_eq(wire_crc("123456789", 9), 0xCBF43926);
    ck_assert_uint_lt(wire_hash(broadcast), 64);
    ck_assert_uint_eq(wire_frame_ns(1514), 1220800);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse");
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, WRONG_STEPS);
    tcase_add_test(tc, last_accesses_are_printed);
    suite_add_tcase(suite, tc);
    tc = tcase_create("right steps");
    tcase_add_test(tc, right_start_and_transfer);
    tcase_add_test(tc, right_overrun);
    tcase_add_test(tc, deaf_without_procedure);
    tcase_add_test(tc, stop_and_transmission);
    tcase_add_test(tc, tallies);
    tcase_add_test(tc, edges);
    tcase_add_test(tc, empty_bus);
    tcase_add_test(tc, wire_sums);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
