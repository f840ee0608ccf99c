/*
 * The registry of cards: where to look, what was found, and what is told about it.
 *
 * Order of looking: the places the user named (nic=), else every driver's own candidates as the
 * linker collected them, without the ranges of noprobe=.  nic_irq.c proves the interrupt.
 */
#include "drivers/nic.h"

#include "drivers/nic_pci.h"
#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum { ISA_PORTS = 0x20, WHY_BYTES = 128, LOOKED_BYTES = 160 };

struct nic nics[NIC_MAX];
unsigned nic_count;

/* Made by the linker from every NIC_DRIVER(). */
extern const struct nic_driver __start_nic_drivers[], __stop_nic_drivers[];

/* Places tried, for the line that says nothing was found. */
static char looked_at[LOOKED_BYTES];
static size_t looked_length;

void nic_log(const struct nic *nic, const char *fmt, ...)
{
    char text[160];
    va_list args;

    va_start(args, fmt);
    vformat(text, sizeof(text), fmt, args);
    va_end(args);
    console_fresh_line();
    kprintf("%s at 0x%x: %s\n", nic->driver->name, nic->place.io.base, text);
}

/* ---- what was found ---- */

static void record_card(const struct nic *nic)
{
    char mac[18];

    format(mac, sizeof(mac), "%M", nic->mac);
    record_begin("nic");
    record_int("nic", nic->index);
    record_str("driver", nic->driver->name);
    record_str("model", nic->model);
    record_str("bus", nic->place.bus == NIC_PCI ? "pci" : "isa");
    record_int("width", nic->width);
    record_int("io", nic->place.io.base);
    if (nic->irq == IRQ_NONE) {
        record_null("irq");
        record_null("trigger");
    } else {
        record_int("irq", nic->irq);
        record_str("trigger", pic_is_level(nic->irq) ? "level" : "edge");
    }
    record_bool("irq_proven", nic->irq_proven);
    record_str("mode", nic->mode == NIC_MODE_IRQ ? "irq" : "poll");
    if (nic->place.mem == 0) {
        record_null("mem");
    } else {
        record_int("mem", nic->place.mem);
    }
    record_int("ring_kb", nic->ring_kb);
    record_str("mac", mac);
    record_end();
}

static void announce(const struct nic *nic)
{
    char how[16];

    if (nic->mode == NIC_MODE_IRQ) {
        format(how, sizeof(how), "irq %d", nic->irq);
    } else {
        format(how, sizeof(how), "polling");
    }
    console_fresh_line();
    kprintf("%s at 0x%x %s: %s, %u-bit, %M\n", nic->driver->name, nic->place.io.base, how,
            nic->model, nic->width, nic->mac);
    record_card(nic);
}

/* ---- looking ---- */

/* Ports from the base on. */
static unsigned ports_of(const struct nic_driver *driver)
{
    return driver->isa_ports != 0 ? driver->isa_ports : ISA_PORTS;
}

/* The card that has any of these ports already, or null. */
static const struct nic *card_at(const struct nic_driver *driver, const struct nic_place *place)
{
    for (unsigned i = 0; i < nic_count; i++) {
        const unsigned there = nics[i].place.io.base;

        if (there < place->io.base + ports_of(driver) &&
            place->io.base < there + ports_of(nics[i].driver)) {
            return &nics[i];
        }
    }
    return NULL;
}

/* "ne2000 0x300 0x280, wd80x3 0x240": a driver's name only where it changes. */
static void note_looked(const struct nic_driver *driver, const struct nic_place *place)
{
    static const struct nic_driver *last;
    const bool first = looked_length == 0;

    if (first || driver != last) {
        looked_length +=
            (size_t)format(looked_at + looked_length, sizeof(looked_at) - looked_length, "%s%s",
                           first ? "" : ", ", driver->name);
        last = driver;
    }
    if (looked_length < sizeof(looked_at)) {
        looked_length += (size_t)format(looked_at + looked_length,
                                        sizeof(looked_at) - looked_length, " 0x%x", place->io.base);
    }
}

/* Try one place.  0: found, opened and announced.  Else the reason is in `why`. */
static int try_place(const struct nic_driver *driver, const struct nic_place *place, char *why)
{
    const struct nic *there = card_at(driver, place);
    struct nic *nic = &nics[nic_count];
    int error;

    if (nic_count == NIC_MAX) {
        format(why, WHY_BYTES, "more than %u cards", (unsigned)NIC_MAX);
        return E_NO_MEMORY;
    }
    if (there != NULL) {
        format(why, WHY_BYTES, "card %u has these ports", there->index);
        return E_BUSY;
    }
    note_looked(driver, place);
    memset(nic, 0, sizeof(*nic));
    nic->driver = driver;
    nic->place = *place;
    nic->index = nic_count;
    nic->irq = IRQ_NONE;
    nic->mode = NIC_MODE_POLL;
    nic->link = true;
    error = driver->probe(place, nic, why, WHY_BYTES);
    if (error != 0) {
        return error;
    }
    error = nic->ops->open(nic);
    if (error != 0) {
        format(why, WHY_BYTES, "found, but could not be opened (%s)", error_name(error));
        nic->ops->close(nic);
        return error;
    }
    nic_count++;
    nic_prove_irq(nic);
    announce(nic);
    return 0;
}

/* A driver's own candidates.  What is plainly not there stays unsaid; a card that is, but cannot
 * be used, gets its line. */
static void try_candidates(const struct nic_driver *driver, const struct nic_place *hint)
{
    char why[WHY_BYTES];

    if (driver->isa_candidates == NULL) {
        return;
    }
    for (const uint16_t *io = driver->isa_candidates; *io != 0; io++) {
        struct nic_place place = *hint;
        int error;

        if (!options_may_probe(*io, ports_of(driver))) {
            continue;
        }
        place.io.base = *io;
        error = try_place(driver, &place, why);
        if (error != 0 && error != E_NOT_FOUND && error != E_BUSY) {
            console_fresh_line();
            kprintf_colour(COLOUR_BAD, "%s at 0x%x: %s\n", driver->name, *io, why);
        }
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
    char why[WHY_BYTES];

    if (wish->at != NULL && *wish->at != a) {
        return true;
    }
    driver = nic_pci_driver(id, &card);
    if (driver == NULL || (wish->driver != NULL && wish->driver != driver) ||
        !nic_pci_attach(card, a, &place)) {
        return true;
    }
    place.given = wish->at != NULL;
    if (try_place(driver, &place, why) != OK) {
        console_fresh_line();
        kprintf_colour(COLOUR_BAD, "%s at 0x%x: %s\n", driver->name, place.io.base, why);
    }
    return true;
}

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

static void report_unbuilt(const struct option_nic *option)
{
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "nic=%s: this build has no such driver\n", option->driver);
    record_fault("option", -1);
    record_str("word", "nic");
    record_str("driver", option->driver);
    record_end();
    record_missing(option, "no such driver");
}

/* The user named a place, and nothing usable is there. */
static void report_missing(const struct option_nic *option, const char *why)
{
    char place[16];

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
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "no network card for %s (from nic=); looked at %s\n", option->driver,
                   looked_length == 0 ? "the PCI bus" : looked_at);
    record_missing(option, "not found");
}

static void report_none(void)
{
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "no network card found; looked at %s\n",
                   looked_length == 0 ? "no place: noprobe= excludes them all" : looked_at);
    record_fault("nic_missing", -1);
    record_str("looked", looked_at);
    record_end();
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
    char why[WHY_BYTES];

    if (strcmp(option->driver, "pci") == 0) {
        struct pci_wish wish = {.at = &option->pci};

        pci_scan(try_pci, &wish);
        if (nic_count == before) {
            report_missing(option, "no card there that can be used");
        }
    } else if (driver == NULL) {
        report_unbuilt(option);
    } else if (option->io == 0) {
        struct pci_wish wish = {.driver = driver};

        pci_scan(try_pci, &wish);
        try_candidates(driver, &place);
        if (nic_count == before) {
            report_unseen(option);
        }
    } else if (try_place(driver, &place, why) != 0) {
        report_missing(option, why);
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
    const struct nic_place anywhere = {.bus = NIC_ISA, .irq = IRQ_NONE};

    pci_init();
    nic_count = 0;
    looked_length = 0;
    looked_at[0] = '\0';
    if (options.nics > 0) {
        for (unsigned i = 0; i < options.nics; i++) {
            try_option(&options.nic[i]);
        }
    } else {
        struct pci_wish anything = {0};

        pci_scan(try_pci, &anything);
        try_isa(&anywhere);
        if (nic_count == 0) {
            report_none();
        }
    }
    if (!following) {
        following = true;
        options_on_change("irq", irq_option_changed);
        options_on_change("txirq", irq_option_changed); /* armed all the time, or for the halt */
    }
}

void nics_close(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        nics[i].ops->close(&nics[i]);
    }
}

/* ---- for drivers ---- */

bool nic_address_usable(const uint8_t mac[6])
{
    unsigned any = 0;

    for (unsigned i = 0; i < 6; i++) {
        any |= mac[i];
    }
    return any != 0 && (mac[0] & 1) == 0;
}

void nic_count_burst(struct nic *nic, unsigned n)
{
    unsigned bucket = 0;

    for (unsigned rest = n - 1; rest > 0 && bucket < NIC_BURST_BUCKETS - 1; rest /= 2) {
        bucket++;
    }
    nic->stats.rx_burst[bucket]++;
}

static void report_growth(const struct nic *nic, const char *what, uint32_t now, uint32_t *told)
{
    if (now == *told) {
        return;
    }
    record_fault(what, (int)nic->index);
    record_int("count", now);
    record_end();
    *told = now;
}

void nic_report_faults(struct nic *nic)
{
    report_growth(nic, "overrun", nic->stats.rx_overrun, &nic->told_overrun);
    report_growth(nic, "ring_resync", nic->stats.rx_resync, &nic->told_resync);
}

void nic_stats_reset(struct nic *nic)
{
    nic->ops->service(nic, 0); /* the chip's own tallies belong to the past as well */
    memset(&nic->stats, 0, sizeof(nic->stats));
    nic->told_overrun = nic->told_resync = 0;
}
