/*
 * The ring of last events.  Notes come from main and interrupt context alike.
 */
#include "kernel/events.h"

#include "kernel/console.h"
#include "kernel/cpu.h"

struct event {
    const char *what;
    uint32_t a, b;
};

static struct event ring[EVENTS_KEPT];
static unsigned noted; /* since boot; the next goes to ring[noted % EVENTS_KEPT] */

void event_note(const char *what, uint32_t a, uint32_t b)
{
    bool enabled = cpu_irq_save();
    ring[noted % EVENTS_KEPT] = (struct event){what, a, b};
    noted++;
    cpu_irq_restore(enabled);
}

void events_print(void)
{
    unsigned first = noted > EVENTS_KEPT ? noted - EVENTS_KEPT : 0;
    for (unsigned i = first; i != noted; i++) {
        const struct event *e = &ring[i % EVENTS_KEPT];
        kprintf("  #%u %s %x %x\n", i, e->what, (unsigned)e->a, (unsigned)e->b);
    }
}
