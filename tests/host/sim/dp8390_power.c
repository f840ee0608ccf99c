/*
 * Power and reset of the simulated DP8390D.  Chapter numbers are those of the data sheet.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/dp8390.h"
#include "tests/host/sim/irq.h"

void sim_chip_init(struct sim_chip *c, const char *name, int irq, const struct sim_chip_config *cfg)
{
    memset(c, 0, sizeof *c);
    c->cfg = *cfg;
    c->name = name;
    c->irq = irq;
    c->stopped = true;
    c->mcr_open = -1;
    c->dcr = N_DCR_LAS; /* ch. 10: state after the RESET pin */
    c->isr = N_RST;
    /* All else is undefined after power-on; nobody may rely on zeros. */
    c->pstart = 0xA5, c->pstop = 0x5A, c->bnry = 0xC3, c->curr = 0x3C, c->tpsr = 0x99;
    memset(c->mem, 0xE7, sizeof c->mem);
}

void sim_chip_free(struct sim_chip *c)
{
    free(c->sent);
    c->sent = NULL;
}

/* ---- the reset line ---- */

void sim_chip_reset_on(struct sim_chip *c)
{
    if (sim_in_irq()) {
        sim_misuse("dp8390: reset in interrupt context");
    }
    sim_wire_cut(c);
    c->held_in_reset = true;
    c->reset_ns = sim_now_ns();
    c->hardware_resets++;
    c->stopped = true;
    c->page = 0;
    c->isr = c->imr = 0;
    c->tcr &= (uint8_t)~N_TCR_LB;
    c->dcr = N_DCR_LAS;
    c->init = 0;
    c->dma = DMA_IDLE;
    c->dma_left = 0;
    c->rbcr = 0;
    c->rdc_missed = false;
    c->overrun = OVERRUN_NONE;
    c->stop_hit_transmit = false;
    c->removed = c->acked = c->acked_early = false;
    sim_chip_update_irq(c);
}

void sim_chip_reset_off(struct sim_chip *c)
{
    c->held_in_reset = false;
    c->stop_ns = sim_now_ns();
    c->rest_at_ns = c->stop_ns + 1000ULL * c->cfg.reset_us;
    if (c->cfg.reset_within != 0 && c->stop_ns - c->reset_ns > c->cfg.reset_within) {
        c->rest_at_ns = UINT64_MAX;
    }
}
