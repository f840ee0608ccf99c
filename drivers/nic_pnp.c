/*
 * Cards on ISA Plug and Play.
 *
 * Such a card is invisible until somebody gives it ports and a line: the firmware, a DOS tool, or
 * we.  What we switched on is switched off again when the card is closed, so that whoever comes
 * next finds it as it was.
 */
#include "drivers/nic_pnp.h"

#include "drivers/nic_look.h"
#include "drivers/nic_seen.h"
#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/isapnp.h"
#include "kernel/print.h"
#include "kernel/string.h"

/* Lines to give to a card, best first: those with the fewest customary users. */
static const uint8_t good_lines[] = {10, 11, 5, 9, 12, 15, 7, 3};

/* Cards we switched on, as they were before. */
static struct {
    bool used;
    struct isapnp_device before;
} switched_on[NIC_MAX];

static void release(unsigned index)
{
    if (switched_on[index].used) {
        switched_on[index].used = false;
        isapnp_deactivate(&switched_on[index].before);
    }
}

struct search {
    const struct nic_driver *driver;
    const struct nic_place *wish;
    bool switch_on;
    unsigned off; /* cards we know that are switched off */
};

/* ---- which driver ---- */

static const char *known_as(const struct nic_driver *driver, const char *id)
{
    for (const struct nic_pnp_id *k = driver->pnp_ids; k != NULL && k->id[0] != '\0'; k++) {
        if (strcmp(k->id, id) == 0) {
            return k->name;
        }
    }
    return NULL;
}

static const struct nic_driver *driver_of(const struct isapnp_device *device, const char **name)
{
    for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
        *name = known_as(d, device->id);
        for (unsigned i = 0; *name == NULL && i < ISAPNP_COMPATIBLE; i++) {
            *name = known_as(d, device->compatible[i]);
        }
        if (*name != NULL) {
            return d;
        }
    }
    return NULL;
}

/* ---- switching on ---- */

/* A line for the card: the one wished, else the best of those it can drive and nobody has. */
static int choose_line(const struct isapnp_device *device, int wished)
{
    const unsigned possible = device->irqs & ~(unsigned)irq_lines_in_use();

    if (wished != IRQ_NONE && (device->irqs >> wished & 1) != 0) {
        return wished;
    }
    for (unsigned i = 0; i < sizeof(good_lines); i++) {
        if ((possible >> good_lines[i] & 1) != 0) {
            return good_lines[i];
        }
    }
    return IRQ_NONE;
}

/* Try the bases of one range in turn. */
static int switch_on_in(const struct isapnp_device *device, const struct isapnp_range *range,
                        struct nic_place *place)
{
    const unsigned step = range->step == 0 ? range->ports : range->step;
    const uint16_t only = place->io.base;
    int error = E_BUSY;

    for (unsigned io = range->first; io <= range->last && io != 0 && error == E_BUSY; io += step) {
        if ((only == 0 || only == io) && range->ports != 0 &&
            nic_ports_free((uint16_t)io, range->ports)) {
            error = isapnp_activate(device, (uint16_t)io, range->ports, place->irq);
            place->io.base = error == OK ? (uint16_t)io : only;
        }
        if (step == 0) {
            break;
        }
    }
    return error;
}

/* `place` holds the wishes, and then what was chosen. */
static int switch_on(const struct isapnp_device *device, struct nic_place *place)
{
    int error = E_BUSY;

    for (unsigned i = 0; i < device->ranges && error == E_BUSY; i++) {
        error = switch_on_in(device, &device->range[i], place);
    }
    return error;
}

static void say_inactive(const char *name, const struct isapnp_device *device,
                         const struct nic_driver *driver, const struct nic_place *place, int error)
{
    char why[NIC_WHY_BYTES];

    if (device->ranges == 0) {
        format(why, sizeof(why), "it names no I/O range; set it to a fixed one with its DOS tool");
    } else if (error == E_HARDWARE) {
        format(why, sizeof(why), "it does not take a setting; set it with its DOS tool");
    } else if (place->io.base != 0) {
        format(why, sizeof(why), "it cannot be set to 0x%x: not one of its own, or taken",
               place->io.base);
    } else {
        format(why, sizeof(why),
               "all its I/O ranges (0x%x-0x%x) are taken or in noprobe=", device->range[0].first,
               device->range[device->ranges - 1].last);
    }
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "Plug and Play card present, inactive: %s (%s): %s\n", name,
                   device->id, why);
    nic_seen(driver->name, place, SEEN_UNUSABLE, why);
}

static void switch_on_and_try(const struct isapnp_device *device, const struct nic_driver *driver,
                              const char *name, struct nic_place *place)
{
    const unsigned index = nic_count; /* below NIC_MAX: else no base is looked for */
    const int wished = place->irq == 2 ? 9 : place->irq; /* an AT wires 2 to 9 */
    int error;

    place->irq = choose_line(device, wished);
    error = switch_on(device, place);
    if (error != OK) {
        say_inactive(name, device, driver, place, error);
        return;
    }
    console_fresh_line();
    kprintf("Plug and Play card switched on: %s (%s) at 0x%x\n", name, device->id, place->io.base);
    if (wished != IRQ_NONE && wished != place->irq) {
        kprintf_colour(COLOUR_WARN, "it cannot be set to irq %d (from nic=)\n", wished);
    }
    switched_on[index].used = true;
    switched_on[index].before = *device;
    nic_try_and_say(driver, place);
    if (nic_count == index) {
        release(index);
    }
}

/* ---- every device ---- */

static void note_stranger(const struct isapnp_device *device, const struct nic_place *place,
                          const char *why)
{
    char text[NIC_WHY_BYTES];

    format(text, sizeof(text), "%s %s: %s", device->id, device->name, why);
    nic_seen("-", place, SEEN_NOTHING, text);
}

static bool try_device(const struct isapnp_device *device, void *arg)
{
    struct search *search = arg;
    const struct nic_place *wish = search->wish;
    struct nic_place place = {
        .bus = NIC_ISA,
        .irq = IRQ_NONE,
        .pnp = device->csn,
        .pnp_device = device->number,
    };
    const char *name;
    const struct nic_driver *driver = driver_of(device, &name);

    place.io = wish->io;
    place.irq = wish->irq;
    place.mem = wish->mem;
    place.given = wish->given;
    if (driver == NULL || (search->driver != NULL && driver != search->driver)) {
        if (!search->switch_on) {
            note_stranger(device, &place,
                          driver == NULL ? "no network card we know" : "not asked for");
        }
        return true;
    }
    if (!device->active) {
        search->off++;
        if (search->switch_on) {
            switch_on_and_try(device, driver, name, &place);
        }
    } else if (!search->switch_on) {
        place.io.base = device->io;
        place.irq = place.irq == IRQ_NONE ? device->irq : place.irq;
        place.mem = place.mem == 0 ? device->mem : place.mem;
        nic_try_and_say(driver, &place);
    }
    return true;
}

static bool may_touch(uint16_t port)
{
    return nic_ports_free(port, 1);
}

/* Not at all where one of the ports that every card listens at is excluded, or a card of ours. */
static void search_cards(struct search *search)
{
    if (may_touch(ISAPNP_ADDRESS_PORT) && may_touch(ISAPNP_WRITE_PORT)) {
        isapnp_scan(may_touch, try_device, search);
    }
}

unsigned nic_pnp_take(const struct nic_driver *driver, const struct nic_place *wish)
{
    struct search search = {.driver = driver, .wish = wish};

    search_cards(&search);
    return search.off;
}

void nic_pnp_switch_on(const struct nic_driver *driver, const struct nic_place *wish)
{
    struct search search = {.driver = driver, .wish = wish, .switch_on = true};

    search_cards(&search);
}

void nic_pnp_release(const struct nic *nic)
{
    release(nic->index);
}
