/*
 * Interrupts of cards: which line, armed only for the halt, and noticing when they do not come.
 *
 * On an ISA bus the lines are edges: one that is lost never comes again.  So a card is masked at
 * the chip whenever the main loop runs, unmasked only for the halt, with a look in between; and a
 * timer's wake-up that finds the status set without an interrupt is counted, until we give up and
 * poll.
 */
#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/record.h"

enum {
    SILENT_WAKES_MAX = 3,
    RETRY_FIRST_S = 10,
    RETRY_MOST_S = 320,
    US_PER_S = 1000000,
    PROVE_US = 20000,  /* an emulator on a busy host is late */
    ON_THE_WAY_US = 2, /* chip, interrupt controller, CPU */
    PROVE_ROUNDS = 3,
};

/* Lines an ISA card can drive; not timer, keyboard, cascade, floppy, clock, FPU, disk. */
enum {
    ISA_LINES =
        1U << 3 | 1U << 4 | 1U << 5 | 1U << 7 | 1U << 9 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 15,
    LINE_COM2 = 3,
};

/* ---- proving ---- */

static void provoke(void *arg)
{
    struct nic *nic = arg;

    nic->ops->irq_provoke(nic);
}

static void quiet(void *arg)
{
    struct nic *nic = arg;

    nic->ops->irq_disarm(nic);
}

/* ---- the handler ---- */

static bool note(struct nic *nic, unsigned events)
{
    if (events == 0) {
        return false;
    }
    nic->pending |= events;
    nic->silent_wakes = 0;
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

/* INTERRUPT CONTEXT. */
static bool on_interrupt(void *arg)
{
    struct nic *nic = arg;

    return options.txirq && nic->unmasked != 0 ? serve_here(nic)
                                               : note(nic, nic->ops->irq_ack(nic));
}

static void fault_missing(const struct nic *nic, int given, int found)
{
    record_fault("irq_missing", (int)nic->index);
    if (given == IRQ_NONE) {
        record_null("given");
    } else {
        record_int("given", given);
    }
    if (found == IRQ_NONE) {
        record_null("found");
    } else {
        record_int("found", found);
    }
    record_end();
}

/*
 * A line that another card has already: ours must claim it each time it is provoked.  On an edge
 * line two cards hide each other's interrupts, so there it is refused.
 */
static bool shares_line(struct nic *nic, int line)
{
    unsigned claimed = 0;

    if (!pic_is_level(line)) {
        nic_log(nic, "irq %d is taken by another card, and edge-triggered: not shared", line);
        return false;
    }
    if (irq_attach(line, on_interrupt, nic) != 0) {
        return false;
    }
    for (unsigned round = 0; round < PROVE_ROUNDS; round++) {
        const uint32_t before = nic->stats.irqs;
        struct deadline limit = deadline_us(PROVE_US);

        provoke(nic);
        while (*(volatile uint32_t *)&nic->stats.irqs == before && !expired(&limit)) {
        }
        quiet(nic);
        claimed += nic->stats.irqs != before;
    }
    irq_detach(line, on_interrupt, nic);
    nic->pending = 0;
    return claimed == PROVE_ROUNDS;
}

/* The line the card drives: the one given if it answers, else whichever does.  Says what is
 * wrong. */
static int find_line(struct nic *nic)
{
    const int given = nic->place.irq == 2 ? 9 : nic->place.irq; /* an AT wires 2 to 9 */
    const bool possible = given >= 0 && given < IRQ_LINES;
    uint16_t lines = ISA_LINES & ~irq_lines_in_use() & 0xFFFF;
    int found;

    if (possible) {
        lines &= (uint16_t) ~(1U << given);
        if (irq_lines_in_use() >> given & 1
                ? shares_line(nic, given)
                : irq_find((uint16_t)(1U << given), provoke, quiet, nic) == given) {
            return given;
        }
    }
    found = irq_find(lines, provoke, quiet, nic);
    if (found == IRQ_NONE && given == IRQ_NONE) {
        nic_log(nic, "no interrupts seen on any line: polling");
    } else if (found == IRQ_NONE) {
        nic_log(nic, "no interrupts seen on irq %d, nor on any other: polling", given);
    } else if (given != IRQ_NONE) {
        nic_log(nic, "no interrupts seen on irq %d; the card drives irq %d, using that", given,
                found);
    }
    if (found == IRQ_NONE || given != IRQ_NONE) {
        fault_missing(nic, given, found);
    }
    return found;
}

/* elcr=: PCI lines only, and only where there is an edge/level register. */
static void set_trigger(const struct nic *nic)
{
    if (nic->place.bus == NIC_PCI && nic->place.irq != IRQ_NONE && options.elcr != ELCR_KEEP &&
        !pic_set_level(nic->place.irq, options.elcr == ELCR_LEVEL)) {
        nic_log(nic, "irq %d: its trigger mode cannot be set on this machine", nic->place.irq);
    }
}

void nic_prove_irq(struct nic *nic)
{
    nic->irq = IRQ_NONE;
    nic->mode = NIC_MODE_POLL;
    nic->irq_proven = false;
    if (options.poll) {
        return;
    }
    set_trigger(nic);
    nic->irq = find_line(nic);
    if (nic->irq == IRQ_NONE) {
        return;
    }
    if (irq_attach(nic->irq, on_interrupt, nic) != 0) {
        nic_log(nic, "irq %d has too many users: polling", nic->irq);
        nic->irq = IRQ_NONE;
        return;
    }
    nic->irq_proven = true;
    nic->mode = NIC_MODE_IRQ;
    if (nic->irq == LINE_COM2) {
        nic_log(nic, "irq 3 is also that of COM2: do not use both");
    }
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
        return noted | nic->ops->poll(nic);
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
    was_armed = false;
    for (unsigned i = 0; i < nic_count; i++) {
        struct nic *nic = &nics[i];

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
    for (unsigned i = 0; i < nic_count; i++) {
        if (nics[i].armed) {
            nics[i].ops->irq_disarm(&nics[i]);
            nics[i].armed = false;
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

void nic_retry_irq(struct nic *nic)
{
    if (!nic->fallen_back || options.poll || !expired(&nic->retry)) {
        return;
    }
    nic->fallen_back = false;
    nic->silent_wakes = 0;
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
    const unsigned wanted = options.txirq ? nic->unmasked : EV_ALL;
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
        if (poll) {
            nic->mode = NIC_MODE_POLL;
        } else if (nic->irq_proven) {
            nic->mode = NIC_MODE_IRQ;
        } else {
            nic_prove_irq(nic); /* booted with irq=poll, or found none then */
        }
    }
}
