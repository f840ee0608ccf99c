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
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/record.h"

enum { SILENT_WAKES_MAX = 3, WORDS_BYTES = 24 };

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

/* INTERRUPT CONTEXT. */
static bool on_interrupt(void *arg)
{
    struct nic *nic = arg;
    const unsigned events = nic->ops->irq_ack(nic);

    if (events == 0) {
        return false;
    }
    nic->pending |= events;
    nic->silent_wakes = 0;
    nic->stats.irqs++;
    return true;
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
        if (irq_find((uint16_t)(1U << given), provoke, quiet, nic) == given) {
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

void nic_prove_irq(struct nic *nic)
{
    nic->irq = IRQ_NONE;
    nic->mode = NIC_MODE_POLL;
    nic->irq_proven = false;
    if (options.poll) {
        return;
    }
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

/* ---- the halt ---- */

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

static void fall_back(struct nic *nic)
{
    nic->mode = NIC_MODE_POLL;
    nic_log(nic, "no interrupts seen on irq %d any more: polling", nic->irq);
    record_fault("irq_lost", (int)nic->index);
    record_int("irq", nic->irq);
    record_int("count", nic->stats.irq_lost);
    record_end();
}

/*
 * Status set and nothing noted: the interrupt was lost, or the event came in the moment since the
 * card was masked.  The latter cannot happen often without a single interrupt in between.
 */
void nics_check_lost(void)
{
    if (!was_armed) {
        return;
    }
    for (unsigned i = 0; i < nic_count; i++) {
        struct nic *nic = &nics[i];

        if (nic->mode != NIC_MODE_IRQ || nic->pending != 0 || nic->ops->poll(nic) == 0) {
            continue;
        }
        nic->stats.irq_lost++;
        if (++nic->silent_wakes >= SILENT_WAKES_MAX) {
            fall_back(nic);
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

        nic->silent_wakes = 0;
        if (poll) {
            nic->mode = NIC_MODE_POLL;
        } else if (nic->irq_proven) {
            nic->mode = NIC_MODE_IRQ;
        } else {
            nic_prove_irq(nic); /* booted with irq=poll, or found none then */
        }
    }
}
