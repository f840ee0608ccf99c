/*
 * Wrong steps: the overrun procedure, and what an interrupt handler may not do.
 */
#include "tests/host/misuse.h"

#include "kernel/cpu.h"
#include "kernel/irq.h"

WRONG(ovw_ack_alone, "outside the overrun procedure")
{
    overrun();
    w(R_ISR, N_OVW);
}

WRONG(ovw_txp_unread, "step 1")
{
    online();
    sim_hold_tx(chip);
    transmit(60);
    sim_fill_ring(chip, 60);
    cure_from(STOPPED, STARTED);
}

WRONG(ovw_no_wait, "step 3")
{
    overrun();
    cure(STOPPED);
    delay_us(1500);
    w(R_RBCR0, 0);
    w(R_RBCR1, 0);
    w(R_TCR, LOOP);
    w(R_CR, START0);
}

WRONG(ovw_no_clear, "step 4")
{
    overrun();
    cure(WAITED);
    w(R_TCR, LOOP);
    w(R_CR, START0);
}

WRONG(ovw_no_look, "step 5")
{
    online();
    sim_hold_tx(chip);
    transmit(60);
    sim_fill_ring(chip, 60);
    cure(CLEARED);
    w(R_TCR, LOOP);
    w(R_CR, START0);
}

WRONG(ovw_no_loopback, "step 6")
{
    overrun();
    cure(LOOKED);
    w(R_CR, START0);
}

WRONG(ovw_no_removal, "before a packet was removed")
{
    overrun();
    cure(STARTED);
    w(R_ISR, N_OVW);
}

WRONG(ovw_early_ack, "before a packet was removed")
{
    overrun();
    cure(LOOPED);
    w(R_ISR, N_OVW);
    w(R_CR, START0);
}

WRONG(ovw_normal_before_removal, "step 8")
{
    overrun();
    cure(STARTED);
    w(R_TCR, 0);
}

WRONG(ovw_normal_before_ack, "step 9")
{
    overrun();
    cure(REMOVED);
    w(R_TCR, 0);
}

WRONG(ovw_tx_in_loopback, "while stopped or in loopback")
{
    overrun();
    cure(STARTED);
    transmit(60);
}

static bool in_irq_command, in_irq_dma, in_irq_page, in_irq_reset, in_irq_sti;

static bool misuse_handler(void *arg)
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
    if (in_irq_reset) {
        r(RESET);
    }
    if (in_irq_sti) {
        cpu_sti();
    }
    w(R_IMR, 0);
    return true;
}

static void irq_case(bool *what)
{
    online();
    *what = true;
    irq_attach(IRQ, misuse_handler, NULL);
    if (what == &in_irq_page) {
        w(R_IMR, 1);
        w(R_CR, START1);
    } else {
        w(R_IMR, 1);
    }
    arrive();
    delay_us(1);
}

WRONG(irq_register, "register 3 written in interrupt context")
{
    irq_case(&in_irq_command);
}

WRONG(irq_dma, "remote DMA in interrupt context")
{
    irq_case(&in_irq_dma);
}

WRONG(irq_reset, "reset in interrupt context")
{
    irq_case(&in_irq_reset);
}

WRONG(irq_sti, "interrupts enabled inside a handler")
{
    irq_case(&in_irq_sti);
}

WRONG(irq_page, "met register page 1")
{
    irq_case(&in_irq_page);
}
