/*
 * The right ways, in steps.
 */
#include "tests/host/misuse.h"

struct sim_card misuse_card;

void plug(void)
{
    sim_reset();
    sim_card_plug(&misuse_card, &sim_cards[0], BASE, IRQ);
}

void reset(void)
{
    w(RESET, r(RESET));
    delay_us(200);
    ck_assert(r(R_ISR) & N_RST);
}

void initialise(void)
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

void online(void)
{
    plug();
    reset();
    initialise();
    w(R_CR, START0);
    w(R_TCR, 0);
}

void dma(unsigned command, unsigned address, unsigned count)
{
    w(R_RSAR0, address & 0xFF);
    w(R_RSAR1, address >> 8);
    w(R_RBCR0, count & 0xFF);
    w(R_RBCR1, count >> 8);
    w(R_CR, command);
}

void put_words(unsigned address, unsigned count)
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

void get_words(unsigned address, unsigned count)
{
    dma(READ, address, count);
    for (unsigned i = 0; i < count; i += 2) {
        io_in16(port, DATA);
    }
    w(R_ISR, N_RDC);
}

void transmit(unsigned count)
{
    w(R_TPSR, TX_PAGE);
    w(R_TBCR0, count & 0xFF);
    w(R_TBCR1, count >> 8);
    w(R_CR, TXP);
}

void arrive(void)
{
    uint8_t frame[60] = {0};
    memcpy(frame, sim_card_mac, 6);
    sim_receive(chip, frame, sizeof frame);
}

void cure_from(enum step first, enum step last)
{
    for (enum step s = first; s <= last; s++) {
        switch (s) {
        case NOTED: r(R_CR); break;
        case STOPPED: w(R_CR, STOP0); break;
        case WAITED: delay_us(1600); break;
        case CLEARED:
            w(R_RBCR0, 0);
            w(R_RBCR1, 0);
            break;
        case LOOKED: r(R_ISR); break;
        case LOOPED: w(R_TCR, LOOP); break;
        case STARTED: w(R_CR, START0); break;
        case REMOVED: w(R_BNRY, RING + 1); break;
        case ACKED: w(R_ISR, N_OVW); break;
        case NORMAL: w(R_TCR, 0); break;
        }
    }
}

void cure(enum step last)
{
    cure_from(NOTED, last);
}

void overrun(void)
{
    online();
    sim_fill_ring(chip, 60);
}
