/*
 * The simulated DP8390D talking to itself: loopback mode 1 (ch. 12; application note AN-937).
 *
 * Nothing is stored: what comes in stays in the FIFO, whose last bytes the host may read.  In word
 * mode the chip takes one byte of each word, which one depends on the board.
 */
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/wire.h"

enum { LB_INTERNAL = 0x02, LOOP_LEAST = 7, LOOP_MOST = 1514 };

/* What the transmitter takes out of memory. */
static unsigned fetch(const struct sim_chip *c, uint8_t *to)
{
    const uint8_t *from = &c->mem[c->tpsr * SIM_PAGE];
    if ((c->dcr & N_DCR_WTS) == 0) {
        memcpy(to, from, c->tbcr);
        return c->tbcr;
    }
    for (unsigned i = 0; i < c->tbcr / 2U; i++) {
        to[i] = from[2 * i + (c->cfg.loops_high ? 1 : 0)];
    }
    return c->tbcr / 2;
}

static void into_fifo(struct sim_chip *c, const uint8_t *frame, unsigned length)
{
    uint32_t crc = wire_crc(frame, length);
    unsigned total = length + SIM_FCS;
    for (unsigned i = 0; i < total; i++) {
        uint8_t byte = i < length ? frame[i] : (uint8_t)(crc >> 8 * (i - length));
        c->fifo[i % SIM_FIFO] = c->fault.loop_damage ^ byte;
    }
    c->fifo[total % SIM_FIFO] = (uint8_t)total;
    c->fifo[(total + 1) % SIM_FIFO] = c->fifo[(total + 2) % SIM_FIFO] = (uint8_t)(total >> 8);
    c->fifo_at = 0;
}

/* AN-937, mode 1: carrier and heartbeat are never seen; the CRC that was just sent cannot be
 * checked, so it counts as wrong; what is not for this station is no error. */
static void came_round(void *arg)
{
    struct sim_chip *c = arg;
    uint8_t frame[LOOP_MOST];
    unsigned length = fetch(c, frame);
    bool ours = (c->rcr & N_RCR_PRO) != 0 || memcmp(frame, c->par, 6) == 0;
    c->tx = TX_IDLE;
    c->tx_event = 0;
    c->tsr = N_TSR_PTX | N_TSR_CRS | N_TSR_CDH;
    if (c->fate == FATE_UNDERRUN) {
        c->tsr = N_TSR_FU;
        c->fate = FATE_SENT;
        sim_chip_set_isr(c, N_TXE);
        return;
    }
    c->rsr = ours ? N_RSR_CRC : N_RSR_PRX;
    if (!c->cfg.no_fifo) {
        into_fifo(c, frame, length);
    }
    sim_chip_set_isr(c, ours ? N_PTX | N_RXE : N_PTX);
}

bool sim_loopback_chosen(const struct sim_chip *c)
{
    return !c->stopped && (c->tcr & N_TCR_LB) != 0 && (c->dcr & N_DCR_LS) == 0 &&
           c->overrun == OVERRUN_NONE;
}

void sim_loopback_send(struct sim_chip *c)
{
    if ((c->tcr & N_TCR_LB) != LB_INTERNAL) {
        sim_misuse("dp8390: loopback mode %u goes out of the chip", c->tcr >> 1 & 3);
    }
    if ((c->init & INIT_PAR) == 0) {
        sim_misuse("dp8390: loopback with no address to recognise (PAR never written)");
    }
    if ((c->dcr & N_DCR_WTS) != 0 && c->tbcr % 2 != 0) {
        sim_misuse("dp8390: loopback in word mode needs both bytes of each word (TBCR %u)",
                   c->tbcr);
    }
    if (c->tbcr < LOOP_LEAST || c->tbcr > LOOP_MOST ||
        !sim_chip_in_ram(c, c->tpsr * SIM_PAGE, c->tbcr)) {
        sim_misuse("dp8390: loopback of %u bytes at %04x", c->tbcr, c->tpsr * SIM_PAGE);
    }
    if (c->fault.loop_silent) {
        return;
    }
    c->tx = TX_ON_WIRE;
    c->tsr = 0;
    memset(c->fifo, 0, sizeof c->fifo);
    c->fifo_at = 0;
    if (!c->fault.loop_dead) {
        c->tx_event = sim_at(sim_now_ns() + wire_frame_ns(c->tbcr), came_round, c);
    }
}

uint8_t sim_fifo_read(struct sim_chip *c)
{
    if (!sim_loopback_chosen(c)) {
        sim_misuse("dp8390: FIFO read outside a loopback test");
    }
    return c->fifo[c->fifo_at++ % SIM_FIFO];
}
