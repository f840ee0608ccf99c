/*
 * What a board does to the simulated DP8390D: its interrupt line, and its memory seen by the host.
 */
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dp8390.h"
#include "tests/host/sim/irq.h"

/* ---- the interrupt line ---- */

void sim_chip_route(struct sim_chip *c, int irq, bool gated)
{
    if (irq != c->irq) {
        sim_irq_drive(c->irq, c, false);
        c->irq = irq;
    }
    c->irq_gated = gated;
    sim_chip_update_irq(c);
}

/* ---- the memory ---- */

void sim_chip_host_access(struct sim_chip *c, unsigned first, unsigned n, bool read)
{
    if (sim_in_irq()) {
        sim_misuse("dp8390: card memory used in interrupt context");
    }
    if (c->held_in_reset) {
        sim_misuse("dp8390: card memory used while the reset line is active");
    }
    if (c->imr != 0 && (!c->used_unmasked || sim_irq_enabled())) {
        sim_misuse("dp8390: card memory used with interrupts unmasked (IMR %02x)", c->imr);
    }
    sim_chip_check_range(c, first, n, read);
}
