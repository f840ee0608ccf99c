/*
 * The search for cards.
 *
 * Where the user says (nic=), and else everywhere, least intrusive first: PCI, where asking is
 * harmless; ISA Plug and Play, where only such cards listen; then ISA ports, drivers that look by
 * reading before those that must write (enum nic_order); at last Plug and Play cards that are
 * switched off get the room that is left.  Never at noprobe= ranges, never at ports a card was
 * found at, and bounded to 3 s in all.
 */
#include "drivers/nic_look.h"

#include "drivers/nic_pci.h"
#include "drivers/nic_pnp.h"
#include "drivers/nic_seen.h"
#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    ISA_PORTS = 0x20,
    LOOKED_BYTES = 160,
    WHERE_BYTES = 16,
    SEARCH_US = 2400000, /* no look begins later; one takes up to 200 ms, proving a line as much */
};

static struct deadline search_ends;

/* ---- one place ---- */

unsigned nic_ports_of(const struct nic_driver *driver)
{
    return driver->isa_ports != 0 ? driver->isa_ports : ISA_PORTS;
}

/* The card that has any of these ports already, or null. */
static const struct nic *card_at(unsigned first, unsigned n)
{
    for (unsigned i = 0; i < nic_count; i++) {
        const unsigned there = nics[i].place.io.base;

        if (there < first + n && first < there + nic_ports_of(nics[i].driver)) {
            return &nics[i];
        }
    }
    return NULL;
}

bool nic_ports_free(uint16_t first, unsigned n)
{
    return card_at(first, n) == NULL && options_may_probe(first, n);
}

/* May a place be looked at?  OK, else a code and the reason. */
static int bar(const struct nic_driver *driver, const struct nic_place *place, char *why)
{
    const unsigned ports = nic_ports_of(driver);
    const struct nic *there = card_at(place->io.base, ports);
    const char *broken = nic_seen_broken(place->io.base, ports);

    if (there != NULL) {
        format(why, NIC_WHY_BYTES, "card %u has these ports", there->index);
    } else if (place->bus == NIC_ISA && !place->given && broken != NULL) {
        format(why, NIC_WHY_BYTES, "%s knows the card there", broken);
    } else if (nic_count == NIC_MAX) {
        format(why, NIC_WHY_BYTES, "there are %u cards already, no more can be used",
               (unsigned)NIC_MAX);
        return place->bus == NIC_PCI ? E_NO_MEMORY : E_BUSY; /* on PCI it is known to be a card */
    } else if (place->bus == NIC_ISA && !place->given &&
               !options_may_probe(place->io.base, ports)) {
        format(why, NIC_WHY_BYTES, "noprobe=");
    } else if (!place->given && expired(&search_ends)) {
        format(why, NIC_WHY_BYTES, "the search has taken too long; nic=%s:0x%x looks there",
               driver->name, place->io.base);
    } else {
        return OK;
    }
    return E_BUSY;
}

/* A new card in `nics`, not counted yet. */
static struct nic *blank(const struct nic_driver *driver, const struct nic_place *place)
{
    struct nic *nic = &nics[nic_count];

    memset(nic, 0, sizeof(*nic));
    nic->driver = driver;
    nic->place = *place;
    nic->index = nic_count;
    nic->irq = IRQ_NONE;
    nic->mode = NIC_MODE_POLL;
    nic->link = true;
    return nic;
}

static int probe_and_open(struct nic *nic, const struct nic_place *place, char *why)
{
    int error = nic->driver->probe(place, nic, why, NIC_WHY_BYTES);

    if (error != 0) {
        nic->ops = NULL;
        return error;
    }
    nic->tx_wanted = true;
    error = nic->ops->open(nic);
    if (error != 0) {
        format(why, NIC_WHY_BYTES, "found, but could not be opened (%s)", error_name(error));
        nic->ops->close(nic);
        nic->ops = NULL;
    }
    return error;
}

int nic_try(const struct nic_driver *driver, const struct nic_place *place, char *why)
{
    struct nic *nic;
    int error = bar(driver, place, why);

    if (error != OK) {
        nic_seen(driver->name, place, SEEN_SKIPPED, why);
        return error;
    }
    nic = blank(driver, place);
    error = probe_and_open(nic, place, why);
    if (error != 0) {
        nic_seen(driver->name, place, error == E_NOT_FOUND ? SEEN_NOTHING : SEEN_UNUSABLE, why);
        return error;
    }
    nic_count++;
    nic_prove_irq(nic);
    nic_announce(nic);
    format(why, NIC_WHY_BYTES, "card %u, %s", nic->index, nic->model);
    nic_seen(driver->name, place, SEEN_TAKEN, why);
    return 0;
}

void nic_try_and_say(const struct nic_driver *driver, const struct nic_place *place)
{
    char why[NIC_WHY_BYTES];
    int error = nic_try(driver, place, why);

    if (error != 0 && error != E_NOT_FOUND && error != E_BUSY) {
        console_fresh_line();
        kprintf_colour(COLOUR_BAD, "%s at 0x%x: %s\n", driver->name, place->io.base, why);
    }
}

/* ---- ISA ---- */

static void try_candidates(const struct nic_driver *driver, const struct nic_place *hint)
{
    if (driver->isa_candidates == NULL) {
        return;
    }
    for (const uint16_t *io = driver->isa_candidates; *io != 0; io++) {
        struct nic_place place = *hint;

        place.io.base = *io;
        nic_try_and_say(driver, &place);
    }
}

/* Least intrusive first. */
static void try_isa(const struct nic_place *anywhere)
{
    for (int order = 0; order < NIC_ORDERS; order++) {
        for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
            if ((int)d->order == order) {
                try_candidates(d, anywhere);
            }
        }
    }
}

/* ---- PCI ---- */

/* What of a PCI machine is wanted; null is any. */
struct pci_wish {
    const pci_address *at;
    const struct nic_driver *driver;
};

/* pci_scan() calls this for every function. */
static bool try_pci(pci_address a, uint32_t id, void *arg)
{
    const struct pci_wish *wish = arg;
    const struct nic_pci_id *card;
    const struct nic_driver *driver;
    struct nic_place place;

    if (wish->at != NULL && *wish->at != a) {
        return true;
    }
    driver = nic_pci_driver(id, &card);
    if (driver == NULL || (wish->driver != NULL && wish->driver != driver)) {
        return true;
    }
    if (!nic_pci_attach(card, a, &place)) {
        nic_seen(driver->name, &place, SEEN_UNUSABLE, "the firmware gave it no I/O range");
        return true;
    }
    place.given = wish->at != NULL;
    nic_try_and_say(driver, &place);
    return true;
}

/* ---- saying that nothing is there ---- */

static const struct nic_driver *find_driver(const char *name)
{
    for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
        if (strcmp(d->name, name) == 0) {
            return d;
        }
    }
    return NULL;
}

static void record_missing(const struct option_nic *option, const char *why)
{
    record_fault("nic_missing", -1);
    record_str("driver", option->driver);
    record_int("io", option->io);
    record_str("why", why);
    record_end();
}

/* "ne2000, rtl8139": what nic= can say. */
static void list_drivers(char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
        if (n < size) {
            n += (size_t)format(text + n, size - n, "%s%s", n == 0 ? "" : ", ", d->name);
        }
    }
}

static void report_unbuilt(const struct option_nic *option)
{
    char names[NIC_WHY_BYTES];

    list_drivers(names, sizeof(names));
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "nic=%s: this build has no such driver; it has %s\n", option->driver,
                   names);
    record_fault("option", -1);
    record_str("word", "nic");
    record_str("driver", option->driver);
    record_end();
    record_missing(option, "no such driver");
}

/* The user named a place, and nothing usable is there. */
static void report_missing(const struct option_nic *option, const char *why)
{
    char place[WHERE_BYTES];

    if (strcmp(option->driver, "pci") == 0) {
        format(place, sizeof(place), "%x.%x.%x", pci_bus(option->pci), pci_device(option->pci),
               pci_function(option->pci));
    } else {
        format(place, sizeof(place), "0x%x", option->io);
    }
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "no network card: %s at %s (from nic=): %s\n", option->driver, place,
                   why);
    record_missing(option, why);
}

/* The user named a driver, and it found nothing. */
static void report_unseen(const struct option_nic *option)
{
    char looked[LOOKED_BYTES];
    const char *places = nic_seen_places(looked, sizeof(looked));

    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "no network card for %s (from nic=); looked at %s\n", option->driver,
                   places[0] == '\0' ? "the PCI bus" : places);
    record_missing(option, "not found");
}

static void report_none(void)
{
    char looked[LOOKED_BYTES];
    const char *places = nic_seen_places(looked, sizeof(looked));

    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "no network card found; looked at %s\n",
                   places[0] == '\0' ? "no place: noprobe= excludes them all" : places);
    record_fault("nic_missing", -1);
    record_str("looked", places);
    record_end();
}

/* ---- the whole search ---- */

/* Everything of one driver, or of all. */
static void try_everywhere(const struct nic_driver *driver, const struct nic_place *hint)
{
    struct pci_wish wish = {.driver = driver};
    unsigned off;

    pci_scan(try_pci, &wish);
    off = nic_pnp_take(driver, hint);
    if (driver == NULL) {
        try_isa(hint);
    } else {
        try_candidates(driver, hint);
    }
    if (off > 0) {
        nic_pnp_switch_on(driver, hint);
    }
}

static void try_pci_option(const struct option_nic *option)
{
    struct pci_wish wish = {.at = &option->pci};
    const unsigned before = nic_count;

    pci_scan(try_pci, &wish);
    if (nic_count == before) {
        report_missing(option, "no card there that can be used");
    }
}

/* A place of the ISA bus: if nothing answers there, a Plug and Play card may be asleep. */
static void try_place_option(const struct nic_driver *driver, const struct option_nic *option,
                             const struct nic_place *place)
{
    const unsigned before = nic_count;
    char why[NIC_WHY_BYTES];
    const int error = nic_try(driver, place, why);

    if (error == E_NOT_FOUND) {
        nic_pnp_switch_on(driver, place);
    }
    if (nic_count == before) {
        report_missing(option, why);
    }
}

/* One nic= entry: a driver and a place, or a driver that looks at its own candidates. */
static void try_option(const struct option_nic *option)
{
    const struct nic_driver *driver = find_driver(option->driver);
    const struct nic_place place = {
        .bus = NIC_ISA,
        .io = {option->io},
        .irq = option->irq,
        .mem = option->mem,
        .given = option->io != 0,
    };
    const unsigned before = nic_count;

    if (strcmp(option->driver, "pci") == 0) {
        try_pci_option(option);
    } else if (driver == NULL) {
        report_unbuilt(option);
    } else if (option->io != 0) {
        try_place_option(driver, option, &place);
    } else {
        try_everywhere(driver, &place);
        if (nic_count == before) {
            report_unseen(option);
        }
    }
}

static void search(void)
{
    const struct nic_place anywhere = {.bus = NIC_ISA, .irq = IRQ_NONE};

    for (unsigned i = 0; i < options.nics; i++) {
        try_option(&options.nic[i]);
    }
    if (options.nics == 0) {
        try_everywhere(NULL, &anywhere);
        if (nic_count == 0) {
            report_none();
        }
    }
}

/* `set irq=`: the polling option has changed. */
static void irq_option_changed(void)
{
    nics_set_polling(options.poll);
}

void nics_init(void)
{
    static bool following; /* the irq option */

    pci_init();
    nic_count = 0;
    nic_seen_begin();
    search_ends = deadline_us(SEARCH_US);
    search();
    nic_pci_quieten_unused();
    nic_seen_end();
    if (!following) {
        following = true;
        options_on_change("irq", irq_option_changed);
        options_on_change("txirq", irq_option_changed); /* armed all the time, or for the halt */
    }
}
