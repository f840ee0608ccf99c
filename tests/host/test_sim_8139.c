/*
 * Trust in the simulated RTL8139, PCI bus and trigger modes: what the right steps do; and the wrong
 * ones at the bus.
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

/* ---- configuration space ---- */

static const struct ioport config_port = {0xCF8};

static void pci_unaligned(void)
{
    rtl_plug();
    io_out32(config_port, 0, 0x80000000);
    io_in16(config_port, 5);
}
static void pci_reserved(void)
{
    rtl_plug();
    io_out32(config_port, 0, 0x80000001);
}
static void pci_reset_port(void)
{
    rtl_plug();
    io_out8(config_port, 3, 1);
}
static void pci_status(void)
{
    rtl_plug();
    io_out32(config_port, 0, 0x80000004);
    io_out32(config_port, 4, io_in32(config_port, 4));
}
static void pci_window_closed(void)
{
    sim_reset();
    sim_pci_plug(SIM_PCI_2);
    io_in32((struct ioport){0xC000}, 0);
}
static void pci_too_soon(void)
{
    rtl_plug();
    sim_pci_power(rtl_card.pci, 0x60, true);
    rtl_card.pci->config[0x60 + 4] = 3;
    io_out32(config_port, 0, 0x80000000 | 9 << 11 | 0x64);
    io_out16(config_port, 4, 0);
    io_in32(config_port, 4);
}
static void elcr_timer(void)
{
    rtl_plug();
    sim_irq_elcr(0);
    io_out8((struct ioport){0x4D0}, 0, 1);
}

static const struct wrong_step wrong[] = {
    WRONG_STEP(pci_unaligned, "16-bit configuration access at 01"),
    WRONG_STEP(pci_reserved, "reserved bits in the address"),
    WRONG_STEP(pci_reset_port, "byte write to CFBh"),
    WRONG_STEP(pci_status, "status bits cleared in passing"),
    WRONG_STEP(pci_window_closed, "with the window closed"),
    WRONG_STEP(pci_too_soon, "10 ms are prescribed"),
    WRONG_STEP(elcr_timer, "a line of the mainboard's"),
};

enum { WRONG_STEPS = sizeof wrong / sizeof wrong[0] };

START_TEST(aborts)
{
    wrong_step_expect(&wrong[_i]);
}
END_TEST

/* ---- and the right ways do not abort ---- */

START_TEST(right_receive)
{
    rtl_online();
    ck_assert_uint_eq(rtl_r16(R_CBR), 0);
    ck_assert(io_in8(rtl_port, R_CR) & L_BUFE);
    rtl_arrive(60);
    ck_assert(!(io_in8(rtl_port, R_CR) & L_BUFE));
    ck_assert_uint_eq(rtl_r16(R_ISR), L_ROK);
    ck_assert_uint_eq(rtl_ring.cpu[0] | rtl_ring.cpu[1] << 8, L_H_ROK | L_H_PAM);
    ck_assert_uint_eq(rtl_ring.cpu[2] | rtl_ring.cpu[3] << 8, 64);
    ck_assert_mem_eq(rtl_ring.cpu + 4, sim_rtl_mac, 6);
    rtl_w16(R_CAPR, rtl_r16(R_CBR) - 16U);
    rtl_w16(R_ISR, L_ROK);
    ck_assert(io_in8(rtl_port, R_CR) & L_BUFE);
    rtl_w16(R_CAPR, rtl_r16(R_CBR) - 16U); /* with nothing in the ring */
    ck_assert_uint_eq(rtl_r16(R_ISR), L_PUN);
}
END_TEST

START_TEST(right_transmit)
{
    rtl_online();
    rtl_go(0);
    ck_assert_uint_eq(io_in32(rtl_port, R_TSD0) & (L_OWN | L_TSD_TOK), 0);
    delay_us(200);
    ck_assert_uint_eq(io_in32(rtl_port, R_TSD0) & (L_OWN | L_TSD_TOK | L_SIZE),
                      L_OWN | L_TSD_TOK | 60);
    ck_assert_uint_eq(rtl_r16(R_TSAD) >> 12, 1);
    ck_assert_uint_eq(rtl_r16(R_ISR), L_TOK);
    for (unsigned i = 1; i < 9; i++) {
        rtl_go(i % 4);
        delay_us(200);
        rtl_r16(R_TSAD);
    }
    ck_assert_uint_eq(rtl_card.sent_count, 9);
    sim_rtl_free(&rtl_card);
}
END_TEST

/* Four in a row take the time of the wire. */
START_TEST(wire_time)
{
    rtl_online();
    uint64_t begin = sim_now_ns();
    for (unsigned i = 0; i < 4; i++) {
        rtl_w32(R_TSD0 + 4 * i, GO | 1514);
    }
    while (rtl_r16(R_TSAD) >> 12 != 0xF) {
    }
    ck_assert_uint_ge(sim_now_ns() - begin, 4 * sim_rtl_frame_ns(&rtl_card, 1514));
    ck_assert_uint_eq(sim_rtl_frame_ns(&rtl_card, 1514), 1526 * 80);
    sim_rtl_free(&rtl_card);
}
END_TEST

START_TEST(right_abort)
{
    rtl_online();
    rtl_card.fate = FATE_ABORT;
    rtl_go(0);
    rtl_go(1);
    delay_us(500);
    ck_assert_uint_eq(rtl_r16(R_ISR), L_TER);
    ck_assert_uint_eq(rtl_r16(R_TSAD) >> 4 & 0xF, 1);
    ck_assert_uint_eq(rtl_card.sent_count, 0); /* stands still */
    rtl_w32(R_TCR, TCR | 1);
    delay_us(500);
    ck_assert_uint_eq(rtl_r16(R_TSAD) >> 12, 3);
    ck_assert_uint_eq(rtl_card.sent_count, 2);
    sim_rtl_free(&rtl_card);
}
END_TEST

/* Deaf until acknowledged, together with ROK, after making room. */
START_TEST(right_overflow)
{
    rtl_overflow();
    unsigned stored = rtl_card.stored;
    rtl_make_room();
    rtl_arrive(60);
    ck_assert_uint_eq(rtl_card.stored, stored);
    ck_assert_uint_eq(rtl_card.mpc, 2);
    rtl_w16(R_ISR, L_RXOVW | L_ROK);
    rtl_arrive(60);
    ck_assert_uint_eq(rtl_card.stored, stored + 1);
}
END_TEST

/* A level line interrupts while it is up, an edge once; a swallowed edge never. */
static unsigned taken;

static bool count(void *arg)
{
    (void)arg;
    taken++;
    if (taken % 3 == 0) {
        rtl_w16(R_IMR, 0);
    }
    return true;
}

START_TEST(edges_and_levels)
{
    for (unsigned level = 0; level < 2; level++) {
        rtl_online();
        sim_irq_elcr(level ? 1U << LINE : 0);
        irq_attach(LINE, count, NULL);
        taken = 0;
        rtl_w16(R_IMR, L_ROK);
        rtl_arrive(60);
        delay_us(10);
        ck_assert_uint_eq(taken, level ? 3 : 1);
        rtl_w16(R_IMR, 0);
        taken = 0;
        sim_irq_lose_edges(LINE, 1);
        rtl_w16(R_IMR, L_ROK);
        delay_us(10);
        ck_assert_uint_eq(taken, level ? 3 : 0);
        ck_assert_uint_eq(sim_irq_edges_lost(), 1);
    }
}
END_TEST

START_TEST(timer)
{
    rtl_online();
    rtl_w32(0x54, 3300);
    rtl_w32(0x48, 0);
    delay_us(90);
    ck_assert_uint_eq(rtl_r16(R_ISR), 0);
    delay_us(20);
    ck_assert_uint_eq(rtl_r16(R_ISR), L_TIMEOUT);
    rtl_w32(0x54, 0);
    rtl_w16(R_ISR, L_TIMEOUT);
    rtl_w32(0x48, 0);
    delay_us(1000);
    ck_assert_uint_eq(rtl_r16(R_ISR), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulated RTL8139");
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, WRONG_STEPS);
    suite_add_tcase(suite, tc);
    tc = tcase_create("right steps");
    tcase_add_test(tc, right_receive);
    tcase_add_test(tc, right_transmit);
    tcase_add_test(tc, wire_time);
    tcase_add_test(tc, right_abort);
    tcase_add_test(tc, right_overflow);
    tcase_add_test(tc, edges_and_levels);
    tcase_add_test(tc, timer);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
