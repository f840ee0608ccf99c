/*
 * Interrupt lines of an AT: who is called, how often, and which line a card drives.
 */
#include "kernel/irq.h"

#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/events.h"
#include "kernel/idt.h"
#include "kernel/pic.h"
#include "kernel/time.h"

enum {
    HANDLERS = 4, /* on one line */
    CASCADE = 2,  /* the slave's requests; the AT wires the bus' IRQ 2 to 9 instead */
    CASCADE_IS = 9,
    MASTER_SPURIOUS = 7,
    SLAVE_SPURIOUS = 15,
    STORM = 20000, /* unclaimed in a row: a stuck level would never let the main loop run again */
};

struct handler {
    irq_handler call;
    void *arg;
};

struct line {
    struct handler handlers[HANDLERS];
    unsigned n;
    unsigned count;
    unsigned unclaimed;
    unsigned unclaimed_in_a_row;
};

static struct line lines[IRQ_LINES];
static unsigned spurious;
static volatile uint16_t stormed; /* masked for good, not yet told */

/* irq_find(): lines being watched, and those of them that interrupted since they were unmasked. */
static uint16_t watched;
static volatile uint16_t seen;

void irq_init(void)
{
    pic_init();
    idt_init();
}

static uint16_t bit(int line)
{
    return (uint16_t)(1u << line);
}

static bool is_spurious(int line)
{
    if ((line != MASTER_SPURIOUS && line != SLAVE_SPURIOUS) || pic_in_service(line)) {
        return false;
    }
    if (line == SLAVE_SPURIOUS) {
        pic_eoi_cascade();
    }
    return true;
}

static void count_unclaimed(struct line *l, int line)
{
    l->unclaimed++;
    if (++l->unclaimed_in_a_row >= STORM) {
        l->unclaimed_in_a_row = 0;
        pic_mask(line);
        stormed |= bit(line);
        event_note("irq storm, masked", (uint32_t)line, l->unclaimed);
    }
}

void irq_dispatch(int line)
{
    if (is_spurious(line)) {
        spurious++;
        return;
    }
    struct line *l = &lines[line];
    l->count++;
    bool claimed = false;
    const struct handler *end = l->handlers + l->n;
    for (const struct handler *h = l->handlers; h != end; h++) {
        claimed |= h->call(h->arg);
    }
    if (claimed) {
        l->unclaimed_in_a_row = 0;
    } else if ((watched & bit(line)) != 0) {
        seen |= bit(line);
        pic_mask(line); /* until the next look: nobody silences the device here */
    } else {
        count_unclaimed(l, line);
    }
    pic_eoi(line);
}

/* The line as the 8259As see it, or IRQ_NONE. */
static int usable(int line)
{
    if (line == CASCADE) {
        return CASCADE_IS;
    }
    return line >= 0 && line < IRQ_LINES ? line : IRQ_NONE;
}

__attribute__((cold)) int irq_attach(int line, irq_handler handler, void *arg)
{
    line = usable(line);
    if (line == IRQ_NONE) {
        return E_RANGE;
    }
    bool enabled = cpu_irq_save();
    struct line *l = &lines[line];
    int result = E_NO_MEMORY;
    if (l->n < HANDLERS) {
        l->handlers[l->n++] = (struct handler){handler, arg};
        l->unclaimed_in_a_row = 0;
        pic_unmask(line);
        result = OK;
    }
    cpu_irq_restore(enabled);
    return result;
}

__attribute__((cold)) void irq_detach(int line, irq_handler handler, void *arg)
{
    line = usable(line);
    if (line == IRQ_NONE) {
        return;
    }
    bool enabled = cpu_irq_save();
    struct line *l = &lines[line];
    for (unsigned i = 0; i < l->n; i++) {
        if (l->handlers[i].call == handler && l->handlers[i].arg == arg) {
            l->handlers[i] = l->handlers[--l->n];
            break;
        }
    }
    if (l->n == 0) {
        pic_mask(line);
    }
    cpu_irq_restore(enabled);
}

unsigned irq_count(int line)
{
    line = usable(line);
    return line == IRQ_NONE ? 0 : lines[line].count;
}

unsigned irq_unclaimed(int line)
{
    line = usable(line);
    return line == IRQ_NONE ? 0 : lines[line].unclaimed;
}

unsigned irq_spurious(void)
{
    return spurious;
}

uint16_t irq_lines_in_use(void)
{
    uint16_t used = 0;
    for (int i = 0; i < IRQ_LINES; i++) {
        used |= lines[i].n != 0 ? bit(i) : 0;
    }
    return used;
}

int irq_take_storm(void)
{
    for (int i = 0; stormed != 0 && i < IRQ_LINES; i++) {
        if ((stormed & bit(i)) != 0) {
            bool enabled = cpu_irq_save();
            stormed &= (uint16_t)~bit(i);
            cpu_irq_restore(enabled);
            return i;
        }
    }
    return IRQ_NONE;
}

void irq_trust_again(int line)
{
    line = usable(line);
    if (line != IRQ_NONE && lines[line].n != 0) {
        bool enabled = cpu_irq_save();
        lines[line].unclaimed_in_a_row = 0;
        pic_unmask(line);
        cpu_irq_restore(enabled);
    }
}

/* ---- finding a line ---- */

enum {
    ROUNDS = 3,
    FLUSH_US = 100, /* edges latched long ago come at once when unmasked      */
    QUIET_US = 500,
    PROVOKED_US = 50000, /* an emulator on a busy host is late */
    OTHERS_US = 50,      /* after the first line: time for another one to show     */
};

/* Unmask or mask each of `set`; a handler may have masked some already. */
static void mask_all(uint16_t set, bool mask)
{
    for (int i = 0; i < IRQ_LINES; i++) {
        if ((set & bit(i)) != 0) {
            (mask ? pic_mask : pic_unmask)(i);
        }
    }
}

/* Start watching `set`. */
static void watch(uint16_t set)
{
    bool enabled = cpu_irq_save();
    seen = 0;
    watched = set;
    mask_all(set, false);
    cpu_irq_restore(enabled);
}

/* Stop watching; which lines interrupted? */
static uint16_t watch_end(void)
{
    bool enabled = cpu_irq_save();
    mask_all(watched, true);
    watched = 0;
    cpu_irq_restore(enabled);
    return seen;
}

/* Wait at most `us` for the first watched line. */
static void wait_seen(uint32_t us)
{
    struct deadline limit = deadline_us(us);
    while (seen == 0 && !expired(&limit)) {
    }
}

/* One look at a silent device and one at a provoked device; the lines that told them apart. */
static uint16_t look(uint16_t set, void (*provoke)(void *), void (*quiet)(void *), void *arg)
{
    watch(set);
    delay_us(FLUSH_US);
    watch_end();

    watch(set);
    delay_us(QUIET_US);
    uint16_t noisy = watch_end();

    watch(set & (uint16_t)~noisy);
    provoke(arg);
    wait_seen(PROVOKED_US);
    delay_us(OTHERS_US);
    quiet(arg);
    return watch_end();
}

__attribute__((cold)) int irq_find(uint16_t candidates, void (*provoke)(void *arg),
                                   void (*quiet)(void *arg), void *arg)
{
    bool enabled = cpu_irq_save();
    cpu_sti();
    uint16_t left = candidates;
    if ((left & bit(CASCADE)) != 0) {
        left |= bit(CASCADE_IS);
    }
    left &= (uint16_t) ~(irq_lines_in_use() | bit(CASCADE));
    for (unsigned round = 0; round < ROUNDS && left != 0; round++) {
        left &= look(left, provoke, quiet, arg);
    }
    if (!enabled) {
        cpu_cli();
    }
    bool single = left != 0 && (left & (left - 1)) == 0;
    for (int i = 0; single && i < IRQ_LINES; i++) {
        if (left == bit(i)) {
            return i;
        }
    }
    return IRQ_NONE;
}
