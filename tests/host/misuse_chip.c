/*
 * Wrong steps: registers, start and stop, transmission.
 */
#include "tests/host/misuse.h"

#include "kernel/cpu.h"

WRONG(word_to_register, "16-bit access to 8-bit register")
{
    online();
    io_out16(port, R_ISR, 0xFF);
}

WRONG(page_2_write, "of page 2 written")
{
    online();
    w(R_CR, 0xA2);
    w(R_PSTART, 0);
}

WRONG(page_3, "there is no page 3")
{
    online();
    w(R_CR, 0xE2);
}

WRONG(fifo_read, "FIFO read outside a loopback")
{
    online();
    r(6);
}

WRONG(tcr_reserved, "reserved bits")
{
    online();
    w(R_TCR, 0x80);
}

WRONG(imr_reserved, "bit 7 does not exist")
{
    online();
    w(R_IMR, 0xFF);
}

WRONG(pstart_running, "PSTART written while the chip runs")
{
    online();
    w(R_PSTART, 0x50);
}

WRONG(pstop_running, "PSTOP written while the chip runs")
{
    online();
    w(R_PSTOP, 0x70);
}

WRONG(curr_running, "CURR written while the chip runs")
{
    online();
    w(R_CR, START1);
    w(R_CURR, 0x50);
}

WRONG(par_running, "PAR written while the chip runs")
{
    online();
    w(R_CR, START1);
    w(R_PAR0, 0x50);
}

WRONG(dcr_running, "DCR written while the chip runs")
{
    online();
    w(R_DCR, 0x48);
}

WRONG(bnry_below, "outside the ring")
{
    online();
    w(R_BNRY, RING - 1);
}

WRONG(bnry_at_stop, "outside the ring")
{
    online();
    w(R_BNRY, RING_END);
}

WRONG(bnry_past_curr, "passes CURR")
{
    online();
    arrive();
    w(R_BNRY, RING + 2);
}

WRONG(start_and_stop, "exactly one of START and STOP")
{
    online();
    w(R_CR, 0x23);
}

WRONG(neither, "exactly one of START and STOP")
{
    online();
    w(R_CR, 0x20);
}

WRONG(rd_000, "000 is not allowed")
{
    online();
    w(R_CR, 0x02);
}

WRONG(rd_send, "send packet, is not supported")
{
    online();
    w(R_CR, 0x1A);
}

WRONG(start_not_in_loopback, "started outside loopback")
{
    online();
    w(R_CR, STOP0);
    delay_us(2000);
    w(R_CR, START0);
}

WRONG(start_too_soon, "before the stop had taken effect")
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

WRONG(half_initialised, "registers never written")
{
    plug();
    reset();
    w(R_DCR, 0x49);
    w(R_TCR, LOOP);
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(bnry_is_curr, "BNRY = CURR")
{
    plug();
    reset();
    initialise();
    w(R_CURR, RING);
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(ring_too_long, "is not in card memory")
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_PSTOP, RING_END + 1);
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(bad_dcr, "on line with DCR 41")
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_DCR, 0x41);
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(word_in_8bit_slot, "word mode in an 8-bit slot")
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.slot8 = cfg.chip.word_forbidden = true;
    sim_reset();
    sim_card_plug(&misuse_card, &cfg, BASE, IRQ);
    reset();
    initialise();
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(touched_in_reset, "while the reset line is active")
{
    plug();
    r(RESET);
    r(R_ISR);
}

WRONG(alias, "an alias nobody needs")
{
    plug();
    r(0x18);
}

WRONG(halt_for_ever, "halted for ever")
{
    online();
    cpu_cli();
    cpu_sti_hlt();
}

WRONG(tx_twice, "transmit command during a transmission")
{
    online();
    put_words(0x4000, 60);
    transmit(60);
    w(R_CR, TXP);
}

WRONG(tpsr_busy, "written during a transmission")
{
    online();
    transmit(60);
    w(R_TPSR, 0x46);
}

WRONG(tbcr_busy, "written during a transmission")
{
    online();
    transmit(60);
    w(R_TBCR0, 61);
}

WRONG(tx_stopped, "transmit together with STOP")
{
    plug();
    reset();
    initialise();
    w(R_CR, 0x25);
}

WRONG(tx_loopback, "while stopped or in loopback")
{
    plug();
    reset();
    initialise();
    w(R_CR, START0);
    transmit(60);
}

/* ---- loopback within the chip: AN-937 ---- */

/* Ready to send `count` bytes round, in loopback `mode`. */
static void loopback(unsigned mode, unsigned count)
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_DCR, 0x41); /* LS = 0 */
    w(R_TCR, mode);
    w(R_TPSR, TX_PAGE);
    w(R_TBCR0, count);
    w(R_TBCR1, 0);
}

WRONG(loopback_out_of_the_chip, "loopback mode 2 goes out of the chip")
{
    loopback(0x04, 130);
    w(R_CR, TXP);
}

WRONG(loopback_half_a_word, "needs both bytes of each word")
{
    loopback(LOOP, 129);
    w(R_CR, TXP);
}

WRONG(loopback_of_nothing, "loopback of 6 bytes")
{
    loopback(LOOP, 6);
    w(R_CR, TXP);
}

WRONG(loopback_without_address, "no address to recognise")
{
    loopback(LOOP, 130);
    chip->init &= ~(unsigned)INIT_PAR;
    w(R_CR, TXP);
}

WRONG(fifo_after_loopback, "FIFO read outside a loopback")
{
    loopback(LOOP, 130);
    w(R_CR, TXP);
    delay_us(200);
    r(6);
    w(R_CR, STOP0);
    r(6);
}

WRONG(tx_zero, "byte count 0 outside")
{
    online();
    transmit(0);
}

WRONG(tx_short, "byte count 59 outside")
{
    online();
    transmit(59);
}

WRONG(tx_long, "byte count 1515 outside")
{
    online();
    transmit(1515);
}

WRONG(tx_in_ring, "not card memory outside the ring")
{
    online();
    w(R_TPSR, RING);
    w(R_TBCR0, 60);
    w(R_TBCR1, 0);
    w(R_CR, TXP);
}

WRONG(tx_unacknowledged, "last result not acknowledged")
{
    online();
    transmit(60);
    delay_us(100);
    transmit(60);
}

WRONG(tx_memory, "into the frame being sent")
{
    online();
    transmit(60);
    w(R_ISR, N_RDC);
    dma(WRITE, 0x4010, 2);
}

WRONG(tcr_busy, "TCR written during a transmission")
{
    online();
    transmit(60);
    w(R_TCR, LOOP);
}

WRONG(ring_outside_memory, "ring 4c..80 is not in card memory")
{
    plug();
    reset();
    chip->cfg.ram_size = 0x2000;
    initialise();
    w(R_CR, START0);
    w(R_TCR, 0);
}

WRONG(sent_during_dma, "transmit command before the remote DMA was complete")
{
    online();
    w(R_TPSR, TX_PAGE);
    w(R_TBCR0, 60);
    w(R_TBCR1, 0);
    w(R_RSAR0, 0);
    w(R_RSAR1, TX_PAGE);
    w(R_RBCR0, 4);
    w(R_RBCR1, 0);
    w(R_CR, READ | 0x04);
}

WRONG(word_to_elcr, "elcr: 16-bit write")
{
    sim_reset();
    sim_irq_elcr(0);
    io_out16((struct ioport){0x4D0}, 0, 0x0C00);
}

WRONG(boundary_outside_at_start, "BNRY 4b or CURR 4d outside the ring")
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_BNRY, RING - 1);
    w(R_CR, START0);
    w(R_TCR, 0);
}
