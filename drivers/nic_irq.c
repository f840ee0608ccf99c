/*
 * Interrupts of cards while they work: armed only for the halt, and noticing when they do not come.
 * (nic_prove.c finds the line first.)
 *
 * On an ISA bus the lines are edges: one that is lost never comes again.  So a card is masked at
 * the chip whenever the main loop runs, unmasked only for the halt, with a look in between; and a
 * timer's wake-up that finds the status set without an interrupt is counted, until we give up and
 * poll.
 */
#include "drivers/nic.h"
#include "drivers/nic_prove.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/record.h"

enum {
    SILENT_WAKES_MAX = 3,
    RETRY_FIRST_S = 10,
    RETRY_MOST_S = 320,
    US_PER_S = 1000000,
    ON_THE_WAY_US = 2, /* chip, interrupt controller, CPU */
};

/* ---- the handler ---- */

static bool note(struct nic *nic, unsigned events)
{
    if (events == 0) {
        return false;
    }
    nic->pending |= events;
    nic->armed = false; /* irq_ack has masked it */
    nic->silent_wakes = 0;
    nic->heard = true;
    nic->stats.irqs++;
    return true;
}

/*
 * The structure most drivers have, for comparison (txirq=1, SEEDS.md 3): the handler itself frees
 * what was sent, and masks only what the main loop has to do.  With one pass (loopirq=0) it
 * leaves with the line still asserted if something comes in meanwhile: on an edge line that is the
 * last interrupt ever.
 */
static bool serve_here(struct nic *nic)
{
    unsigned all = 0;
    unsigned events;

    do {
        events = nic->ops->poll(nic) & nic->unmasked;
        if ((events & EV_TX) != 0) {
            nic->ops->service(nic, EV_TX);
        }
        if ((events & ~(unsigned)EV_TX) != 0) {
            nic->unmasked &= ~events | EV_TX;
            nic->ops->irq_unmask(nic, nic->unmasked);
        }
        all |= events;
    } while (options.loopirq && events != 0);
    return note(nic, all);
}

bool nic_on_interrupt(void *arg)
{
    struct nic *nic = arg;

    return options.txirq && nic->unmasked != 0 ? serve_here(nic)
                                               : note(nic, nic->ops->irq_ack(nic));
}

/* ---- the main loop's side ---- */

enum { EV_ALL = EV_RX | EV_TX | EV_FAULT | EV_LINK };

bool nic_guard(void)
{
    return options.txirq && cpu_irq_save();
}

void nic_unguard(bool enabled)
{
    if (options.txirq) {
        cpu_irq_restore(enabled);
    }
}

unsigned nic_events(struct nic *nic)
{
    unsigned noted = nic->pending;

    nic->pending = 0;
    if (!options.txirq || nic->mode != NIC_MODE_IRQ) {
        return noted != 0 ? noted
                          : nic->ops->poll(nic); /* what came since shows at the next look */
    }
    if (options.looppoll) {
        return noted | (nic->ops->poll(nic) & (options.txpoll ? EV_ALL : EV_ALL & ~EV_TX));
    }
    return noted | (options.txpoll ? nic->ops->poll(nic) & EV_TX : 0);
}

static void unmask_all(struct nic *nic)
{
    if (nic->unmasked != EV_ALL) {
        nic->unmasked = EV_ALL;
        nic->ops->irq_unmask(nic, EV_ALL);
    }
}

void nic_received(struct nic *nic, bool drained)
{
    if (!options.txirq || nic->mode != NIC_MODE_IRQ) {
        return;
    }
    if (drained) {
        unmask_all(nic);
    } else {
        nic->pending |= EV_RX;
    }
}

/* ---- the halt ---- */

/* txirq=1: nothing is looked at but what the handler noted. */
static bool arm_as_is(struct nic *nic)
{
    unmask_all(nic);
    return nic->pending == 0;
}

/* The last nics_arm() succeeded: a status found set after the halt should have interrupted it. */
static bool was_armed;

bool nics_arm(void)
{
    struct nic *nic = nics;

    was_armed = false;
    for (unsigned i = 0; i < nic_count; i++, nic++) {
        if (nic->mode != NIC_MODE_IRQ) {
            continue;
        }
        if (options.txirq) {
            if (!arm_as_is(nic)) {
                return false;
            }
            continue;
        }
        nic->pending = 0;
        if (!nic->ops->irq_rearm(nic)) {
            nics_disarm();
            return false;
        }
        nic->armed = true;
    }
    was_armed = true;
    return true;
}

void nics_disarm(void)
{
    struct nic *nic = nics;

    for (unsigned i = 0; i < nic_count; i++, nic++) {
        if (nic->armed) {
            nic->ops->irq_disarm(nic);
            nic->armed = false;
        }
    }
}

/* Poll for a while, then trust the line again; ever longer if it fails again. */
static void fall_back(struct nic *nic, const char *why)
{
    nic->mode = NIC_MODE_POLL;
    nic->unmasked = 0;
    nic->ops->irq_unmask(nic, 0);
    nic->fallen_back = true;
    nic->retry_s = nic->retry_s == 0 ? RETRY_FIRST_S : nic->retry_s * 2;
    nic->retry_s = nic->retry_s > RETRY_MOST_S ? RETRY_MOST_S : nic->retry_s;
    nic->retry = deadline_us(nic->retry_s * US_PER_S);
    nic_log(nic, "%s irq %d: polling, another try in %u s", why, nic->irq, nic->retry_s);
    record_fault("irq_lost", (int)nic->index);
    record_int("irq", nic->irq);
    record_int("count", nic->stats.irq_lost);
    record_end();
}

/* Good for as long as it was polled, with an interrupt at least: as if it had never failed. */
static void forgive(struct nic *nic)
{
    if (nic->retry_s != 0 && nic->heard && expired(&nic->retry)) {
        nic->retry_s = 0;
    }
}

void nic_retry_irq(struct nic *nic)
{
    if (!nic->fallen_back) {
        forgive(nic);
        return;
    }
    if (options.poll || !expired(&nic->retry)) {
        return;
    }
    nic->fallen_back = false;
    nic->heard = false;
    nic->silent_wakes = 0;
    nic->retry = deadline_us(nic->retry_s * US_PER_S);
    nic->mode = NIC_MODE_IRQ;
    irq_trust_again(nic->irq);
    nic_log(nic, "trying irq %d again", nic->irq);
}

void nics_line_dead(int line)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (nics[i].mode == NIC_MODE_IRQ && nics[i].irq == line) {
            fall_back(&nics[i], "interrupt storm on");
        }
    }
}

/*
 * Status set and nothing noted although the card is armed: the interrupt was lost, or is under way
 * since the halt ended, and comes as soon as it is let in.  Polling follows only if it happens
 * again and again without a single interrupt in between.  With txirq=1 losing them is the
 * experiment: counted and recovered, every time.
 */
static void check_lost(struct nic *nic)
{
    const unsigned armed = nic->tx_wanted ? EV_ALL : EV_ALL & ~(unsigned)EV_TX;
    const unsigned wanted = options.txirq ? nic->unmasked : armed;
    const unsigned status = nic->pending != 0 ? 0 : nic->ops->poll(nic) & wanted;
    bool enabled;

    if (status == 0) {
        return;
    }
    enabled = cpu_irq_save();
    cpu_sti();
    delay_us(ON_THE_WAY_US);
    if (!enabled) {
        cpu_cli();
    }
    if (nic->pending != 0) {
        return;
    }
    nic->stats.irq_lost++;
    if (options.txirq) {
        nic->pending |= status;
    } else if (++nic->silent_wakes >= SILENT_WAKES_MAX) {
        fall_back(nic, "no interrupts seen any more on");
    }
}

void nics_check_lost(void)
{
    for (unsigned i = 0; was_armed && i < nic_count; i++) {
        if (nics[i].mode == NIC_MODE_IRQ) {
            check_lost(&nics[i]);
        }
    }
}

bool nics_may_halt(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (nics[i].mode != NIC_MODE_IRQ) {
            return false;
        }
    }
    return true;
}

void nics_set_polling(bool poll)
{
    nics_disarm();
    for (unsigned i = 0; i < nic_count; i++) {
        struct nic *nic = &nics[i];

        nic->unmasked = 0;
        nic->ops->irq_unmask(nic, 0);
        nic->silent_wakes = 0;
        nic->fallen_back = false;
        nic->retry_s = 0;
        if (poll) {
            nic->mode = NIC_MODE_POLL;
        } else if (nic->irq_proven) {
            nic->mode = NIC_MODE_IRQ;
        } else {
            nic_prove_irq(nic); /* booted with irq=poll, or found none then */
        }
    }
}
