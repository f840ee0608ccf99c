/*
 * Trust in the simulated RTL8139: every rule it enforces is broken here once, by a deliberately
 * wrong driver step.  That the right way does not abort is shown in test_sim_8139.c.
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/irq.h"
#include "kernel/time.h"
#include "tests/host/wrong_step.h"
#include "tests/host/rtl_steps.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"

static bool handler(void *reg)
{
    unsigned at = *(unsigned *)reg;
    if (at == R_CR) {
        rtl_w8(R_CR, 0);
    } else if (at == R_TSAD) {
        rtl_r16(R_TSAD);
    }
    rtl_w16(R_IMR, 0);
    return true;
}

static void in_handler(unsigned reg)
{
    static unsigned kept;
    rtl_online();
    kept = reg;
    irq_attach(LINE, handler, &kept);
    rtl_w16(R_IMR, L_ROK);
    rtl_arrive(60);
    delay_us(1);
}

/* ---- the wrong ways ---- */

static void byte_of_isr(void)
{
    rtl_online();
    rtl_w8(R_ISR, 1);
}
static void word_of_tsd(void)
{
    rtl_online();
    rtl_w16(R_TSD0, 60);
}
static void dword_across(void)
{
    rtl_online();
    io_in32(rtl_port, R_CAPR);
}
static void write_cbr(void)
{
    rtl_online();
    rtl_w16(R_CBR, 0);
}
static void write_idr(void)
{
    rtl_online();
    rtl_w8(R_IDR0, 0);
}
static void no_register(void)
{
    rtl_online();
    io_in8(rtl_port, 0x36);
}
static void odd_tsad(void)
{
    rtl_online();
    rtl_w32(R_TSAD0, rtl_buffer[0].bus + 2);
}
static void odd_rbstart(void)
{
    rtl_reset();
    rtl_w32(R_RBSTART, rtl_ring.bus + 1);
}
static void tsad_in_use(void)
{
    rtl_online();
    rtl_go(0);
    rtl_w32(R_TSAD0, rtl_buffer[1].bus);
}
static void rbstart_running(void)
{
    rtl_online();
    rtl_w32(R_RBSTART, rtl_ring.bus);
}
static void rcr_before_re(void)
{
    rtl_reset();
    rtl_w8(R_CR, L_TE);
    rtl_w32(R_RCR, RCR);
}
static void tcr_before_te(void)
{
    rtl_reset();
    rtl_w32(R_TCR, TCR);
}
static void eeprom_while_running(void)
{
    rtl_online();
    rtl_w8(R_CR9346, 0x80);
}
static void eeprom_selected_badly(void)
{
    rtl_reset();
    rtl_w8(R_CR9346, 0x80);
    rtl_w8(R_CR9346, 0x8C);
}
static void eeprom_written(void)
{
    rtl_reset();
    rtl_w8(R_CR9346, 0x80);
    rtl_w8(R_CR9346, 0x88);
    for (unsigned i = 0; i < 9; i++) { /* start, 01: write, address 63 */
        unsigned bit = i == 1 ? 0 : 2;
        rtl_w8(R_CR9346, 0x88 | bit);
        rtl_w8(R_CR9346, 0x8C | bit);
    }
}
static void re_before_rbstart(void)
{
    rtl_reset();
    rtl_w8(R_CR, L_RE);
}
static void cr_reserved(void)
{
    rtl_reset();
    rtl_w8(R_CR, 0x20);
}
static void imr_reserved(void)
{
    rtl_reset();
    rtl_w16(R_IMR, 0xFFFF);
}
static void wrap_64k(void)
{
    rtl_online();
    rtl_w32(R_RCR, RCR | 3 << 11);
}
static void runts(void)
{
    rtl_online();
    rtl_w32(R_RCR, RCR | L_AR);
}
static void resized(void)
{
    rtl_online();
    rtl_arrive(60);
    rtl_w32(R_RCR, RCR | 1 << 11);
}
static void burst_2048(void)
{
    rtl_online();
    rtl_w32(R_TCR, TCR | 7 << 8);
}
static void short_gap(void)
{
    rtl_online();
    rtl_w32(R_TCR, 0x600);
}
static void capr_beyond_ring(void)
{
    rtl_online();
    rtl_w16(R_CAPR, RING - 16);
}
static void capr_not_behind(void)
{
    rtl_online();
    rtl_arrive(60);
    rtl_w16(R_CAPR, 68);
}
static void capr_odd(void)
{
    rtl_online();
    rtl_arrive(60);
    rtl_w16(R_CAPR, 66 - 16);
}
static void capr_past_cbr(void)
{
    rtl_online();
    rtl_arrive(60);
    rtl_w16(R_CAPR, 72 - 16);
}
static void capr_in_frame(void)
{
    rtl_online();
    rtl_arrive(60);
    rtl_w16(R_CAPR, 64 - 16);
}
static void capr_off(void)
{
    rtl_reset();
    rtl_w16(R_CAPR, 0xFFF0);
}
static void locked(void)
{
    rtl_reset();
    rtl_w8(R_CONFIG1, 0);
}
static void in_reset(void)
{
    rtl_plug();
    rtl_w8(R_CR, L_RST);
    rtl_r16(R_ISR);
}
static void tx_short(void)
{
    rtl_online();
    rtl_w32(R_TSD0, GO | 59);
}
static void tx_long(void)
{
    rtl_online();
    rtl_w32(R_TSD0, GO | 1793);
}
static void tx_status(void)
{
    rtl_online();
    rtl_w32(R_TSD0, GO | L_OWN | 60);
}
static void tx_threshold(void)
{
    rtl_online();
    rtl_w32(R_TSD0, 60);
}
static void tx_off(void)
{
    rtl_reset();
    rtl_w32(R_TSD0, GO | 60);
}
static void tx_out_of_turn(void)
{
    rtl_online();
    rtl_go(0);
    rtl_go(2);
}
static void tx_no_address(void)
{
    rtl_reset();
    rtl_w8(R_CR, L_TE);
    rtl_go(0);
}
static void tx_owned(void)
{
    rtl_online();
    for (unsigned i = 0; i < 5; i++) {
        rtl_go(i % 4);
    }
}
static void tx_unseen(void)
{
    rtl_online();
    for (unsigned i = 0; i < 5; i++) {
        rtl_go(i % 4);
        delay_us(200);
    }
}
static void tx_changed(void)
{
    rtl_online();
    rtl_go(0);
    rtl_buffer[0].cpu[20] = 1;
    delay_us(200);
}
static void tx_aborted_changed(void)
{
    rtl_online();
    rtl_card.fate = FATE_ABORT;
    rtl_go(0);
    delay_us(200);
    rtl_buffer[0].cpu[20] = 1;
    rtl_w32(R_TCR, TCR | 1);
    delay_us(200);
}
static void clear_nothing(void)
{
    rtl_online();
    rtl_w32(R_TCR, TCR | 1);
}
static void tx_elsewhere(void)
{
    rtl_online();
    rtl_w32(R_TSAD0, 0x1000);
    rtl_go(0);
}
static void tx_past_end(void)
{
    rtl_online();
    rtl_w32(R_TSAD0, rtl_buffer[0].bus + BUFFER - 56);
    rtl_go(0);
}
static void ring_without_tail(void)
{
    rtl_reset();
    rtl_w32(R_RBSTART, dma_alloc(RING, 256).bus);
    rtl_w8(R_CR, L_TE | L_RE);
    rtl_w32(R_RCR, RCR);
    for (unsigned i = 0; i < 9; i++) {
        rtl_arrive(1000);
        rtl_w16(R_CAPR, (1008 * (i + 1)) % RING - 16);
    }
}
static void overflow_unread(void)
{
    rtl_overflow();
    rtl_w16(R_ISR, L_RXOVW | L_ROK);
}
static void overflow_alone(void)
{
    rtl_overflow();
    rtl_make_room();
    rtl_w16(R_ISR, L_RXOVW);
}
static void fifo_alone(void)
{
    rtl_online();
    sim_rtl_fifo_overflow(&rtl_card);
    rtl_w16(R_ISR, L_FOVW);
}
static void used_armed(void)
{
    rtl_online();
    rtl_w16(R_IMR, L_ROK);
    rtl_r16(R_CBR);
}
static void rung_armed(void)
{
    rtl_online();
    rtl_w16(R_IMR, L_ROK);
    rtl_go(0);
}
static void handler_writes(void)
{
    in_handler(R_CR);
}
static void handler_reads(void)
{
    in_handler(R_TSAD);
}
static void asleep(void)
{
    static const struct sim_rtl_config cfg = {
        .name = "rtl8139", .version = 0x70000000, .asleep = true};
    sim_reset();
    sim_dma_reset();
    sim_pci_plug(SIM_PCI_1);
    sim_rtl_plug(&rtl_card, &cfg, 9, BASE, LINE);
    rtl_w8(R_CR, L_TE);
}
static bool claims_all(void *arg)
{
    (void)arg;
    return true;
}

static void claimed_for_ever(void)
{
    static unsigned nothing;
    rtl_plug();
    sim_irq_elcr(1U << LINE);
    irq_attach(LINE, claims_all, &nothing);
    sim_irq_drive(LINE, &nothing, true);
    sim_irq_deliver();
}

static const struct wrong_step wrong[] = {
    WRONG_STEP(byte_of_isr, "8-bit write of register 3e"),
    WRONG_STEP(word_of_tsd, "16-bit write of register 10"),
    WRONG_STEP(dword_across, "32-bit read of register 38"),
    WRONG_STEP(write_cbr, "write of register 3a"),
    WRONG_STEP(write_idr, "write of register 00"),
    WRONG_STEP(no_register, "read of register 36"),
    WRONG_STEP(odd_tsad, "not dword-aligned"),
    WRONG_STEP(odd_rbstart, "not dword-aligned"),
    WRONG_STEP(tsad_in_use, "TSAD0 written while the descriptor is in use"),
    WRONG_STEP(rbstart_running, "RBSTART written while receiving"),
    WRONG_STEP(rcr_before_re, "RCR written before RE"),
    WRONG_STEP(tcr_before_te, "TCR written before TE"),
    WRONG_STEP(eeprom_while_running, "EEPROM read while the chip runs"),
    WRONG_STEP(eeprom_selected_badly, "selected while the clock is high"),
    WRONG_STEP(eeprom_written, "is not a read"),
    WRONG_STEP(re_before_rbstart, "RE set before RBSTART"),
    WRONG_STEP(cr_reserved, "reserved bits written to CR"),
    WRONG_STEP(imr_reserved, "reserved bits written to IMR"),
    WRONG_STEP(wrap_64k, "WRAP has no meaning"),
    WRONG_STEP(runts, "runts and damaged frames"),
    WRONG_STEP(resized, "ring size changed"),
    WRONG_STEP(burst_2048, "bursts of 2048 bytes"),
    WRONG_STEP(short_gap, "interframe gap"),
    WRONG_STEP(capr_beyond_ring, "not a dword of the ring"),
    WRONG_STEP(capr_not_behind, "passes CBR"),
    WRONG_STEP(capr_odd, "not a dword of the ring"),
    WRONG_STEP(capr_past_cbr, "passes CBR"),
    WRONG_STEP(capr_in_frame, "inside a frame"),
    WRONG_STEP(capr_off, "while the receiver is off"),
    WRONG_STEP(locked, "written while locked"),
    WRONG_STEP(in_reset, "touched during reset"),
    WRONG_STEP(tx_short, "size 59 outside"),
    WRONG_STEP(tx_long, "size 1793 outside"),
    WRONG_STEP(tx_status, "status bits written"),
    WRONG_STEP(tx_threshold, "early transmit at 8 bytes"),
    WRONG_STEP(tx_off, "written before TE"),
    WRONG_STEP(tx_out_of_turn, "TSD2 written out of turn, it is that of 1"),
    WRONG_STEP(tx_no_address, "written before TSAD0"),
    WRONG_STEP(tx_owned, "TSD0 written while the descriptor is in use"),
    WRONG_STEP(tx_unseen, "done, but nobody has looked"),
    WRONG_STEP(tx_changed, "changed before it was fetched"),
    WRONG_STEP(tx_aborted_changed, "changed before it was fetched"),
    WRONG_STEP(clear_nothing, "CLRABT with nothing aborted"),
    WRONG_STEP(tx_elsewhere, "outside of what it was given"),
    WRONG_STEP(tx_past_end, "outside of what it was given"),
    WRONG_STEP(ring_without_tail, "outside of what it was given"),
    WRONG_STEP(overflow_unread, "before CAPR made room"),
    WRONG_STEP(overflow_alone, "acknowledged without ROK"),
    WRONG_STEP(fifo_alone, "acknowledged without ROK"),
    WRONG_STEP(used_armed, "by the main loop with the card unmasked"),
    WRONG_STEP(rung_armed, "by the main loop with the card unmasked"),
    WRONG_STEP(handler_writes, "register 37 written in interrupt context"),
    WRONG_STEP(handler_reads, "register 60 read in interrupt context"),
    WRONG_STEP(asleep, "started while asleep"),
    WRONG_STEP(claimed_for_ever, "claimed for ever"),
};

enum { WRONG_STEPS = sizeof wrong / sizeof wrong[0] };

START_TEST(aborts)
{
    wrong_step_expect(&wrong[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse of the RTL8139");
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, WRONG_STEPS);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
