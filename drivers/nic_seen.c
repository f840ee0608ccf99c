/*
 * What the search for cards saw.  The command `probe` tells it; it does not look again, for that
 * would disturb the cards at work.
 */
#include "drivers/nic_seen.h"

#include "kernel/console.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/shell.h"
#include "kernel/string.h"

enum {
    SIGHTINGS = 64, /* every candidate of every driver, and some more */
    WHY_BYTES = 72,
    WHERE_BYTES = 16,
    FEWEST_PORTS = 16, /* of any card */
    ROWS_IN_PART = 24, /* of a `table` record: under 4096 bytes */
    ROW_ENDS = 72,     /* of the list of empty ports: columns of the screen */
};

struct sighting {
    const char *who;
    uint16_t io, pci;
    uint8_t bus, pnp, pnp_device, verdict;
    char why[WHY_BYTES];
};

static struct sighting sightings[SIGHTINGS];
static unsigned count, dropped;
static uint64_t began_us;
static uint32_t took_us;

void nic_seen_begin(void)
{
    count = dropped = 0;
    began_us = time_us();
}

void nic_seen_end(void)
{
    took_us = (uint32_t)(time_us() - began_us);
}

void nic_seen(const char *who, const struct nic_place *place, enum nic_verdict verdict,
              const char *why)
{
    struct sighting *s = &sightings[count];

    if (count == SIGHTINGS) {
        dropped++;
        return;
    }
    count++;
    *s = (struct sighting){
        .who = who,
        .io = place->io.base,
        .pci = place->pci,
        .bus = (uint8_t)place->bus,
        .pnp = place->pnp,
        .pnp_device = place->pnp_device,
        .verdict = (uint8_t)verdict,
    };
    format(s->why, sizeof(s->why), "%s", why);
}

static bool on_isa(const struct sighting *s)
{
    return s->bus == NIC_ISA && s->pnp == 0;
}

const char *nic_seen_broken(unsigned first, unsigned n)
{
    for (unsigned i = 0; i < count; i++) {
        const struct sighting *s = &sightings[i];

        if (s->verdict == SEEN_UNUSABLE && on_isa(s) && s->io < first + n &&
            first < (unsigned)s->io + FEWEST_PORTS) {
            return s->who;
        }
    }
    return NULL;
}

const char *nic_seen_places(char *text, size_t size)
{
    const char *last = NULL;
    size_t n = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        const struct sighting *s = &sightings[i];

        if (!on_isa(s) || s->verdict == SEEN_SKIPPED) {
            continue;
        }
        if (s->who != last && n < size) {
            n += (size_t)format(text + n, size - n, "%s%s", last == NULL ? "" : ", ", s->who);
            last = s->who;
        }
        if (n < size) {
            n += (size_t)format(text + n, size - n, " 0x%x", s->io);
        }
    }
    return text;
}

const char *nic_where(const struct nic_place *place, char *text, size_t size)
{
    if (place->bus == NIC_PCI) {
        format(text, size, "pci:%x.%x.%x", place->pci >> 8, place->pci >> 3 & 0x1F, place->pci & 7);
    } else if (place->pnp != 0) {
        format(text, size, "pnp:%u.%u", place->pnp, place->pnp_device);
    } else {
        format(text, size, "0x%x", place->io.base);
    }
    return text;
}

/* ---- the command ---- */

static const char *where(const struct sighting *s, char *text)
{
    const struct nic_place place = {
        .bus = (enum nic_bus)s->bus,
        .io = {s->io},
        .pci = s->pci,
        .pnp = s->pnp,
        .pnp_device = s->pnp_device,
    };

    return nic_where(&place, text, WHERE_BYTES);
}

/* Not a trace of a card: such ports are listed together at the end. */
static bool is_empty(const struct sighting *s)
{
    return s->verdict == SEEN_NOTHING && strncmp(s->why, "nothing there", 13) == 0;
}

/* The ISA port above `last` at which something was seen (or nothing, if `empty`). */
static int next_port(int last, bool empty)
{
    int best = -1;

    for (unsigned i = 0; i < count; i++) {
        const struct sighting *s = &sightings[i];

        if (on_isa(s) && is_empty(s) == empty && s->io > last && (best < 0 || s->io < best)) {
            best = s->io;
        }
    }
    return best;
}

static void print_row(const char *place, const struct sighting *s)
{
    const enum colour colour = s->verdict == SEEN_TAKEN      ? COLOUR_GOOD
                               : s->verdict == SEEN_UNUSABLE ? COLOUR_BAD
                                                             : COLOUR_NORMAL;

    kprintf("  %-11s %-8s ", place, s->who);
    kprintf_colour(colour, "%s%s\n", s->verdict == SEEN_SKIPPED ? "not looked at: " : "", s->why);
}

static void print_port(int io)
{
    char place[WHERE_BYTES];
    bool first = true;

    for (unsigned i = 0; i < count; i++) {
        const struct sighting *s = &sightings[i];

        if (on_isa(s) && !is_empty(s) && s->io == io) {
            print_row(first ? where(s, place) : "", s);
            first = false;
        }
    }
}

static void print_empty(void)
{
    unsigned column = 0;

    for (int io = next_port(-1, true); io >= 0; io = next_port(io, true)) {
        if (column == 0) {
            kprintf("  nothing at");
            column = 12;
        }
        kprintf(" 0x%x", (unsigned)io);
        column += 6;
        if (column > ROW_ENDS) {
            kprintf("\n");
            column = 0;
        }
    }
    if (column != 0) {
        kprintf("\n");
    }
}

/* The same for programs: one `table` record for every so many places. */
static void record_rows(unsigned first, unsigned last)
{
    static const char *const verdicts[] = {"taken", "nothing", "unusable", "skipped"};
    char place[WHERE_BYTES];

    for (unsigned i = first; i < last; i++) {
        const struct sighting *s = &sightings[i];

        record_open(NULL);
        record_item(where(s, place));
        record_item(s->who);
        record_item(verdicts[s->verdict]);
        record_item(s->why);
        record_close();
    }
}

static void record_table(void)
{
    static const char *const columns[] = {"place", "driver", "verdict", "why"};

    for (unsigned first = 0; first < count; first += ROWS_IN_PART) {
        const unsigned last = first + ROWS_IN_PART < count ? first + ROWS_IN_PART : count;

        record_begin("table");
        record_str("name", "probe");
        record_null("nic");
        record_int("part", first / ROWS_IN_PART + 1);
        record_int("parts", (count + ROWS_IN_PART - 1) / ROWS_IN_PART);
        record_open("columns");
        for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
            record_item(columns[i]);
        }
        record_close();
        record_open("rows");
        record_rows(first, last);
        record_close();
        record_str("verdict", nic_count == 0 ? "no card" : "found");
        record_int("us", took_us);
        record_end();
    }
}

static int start_probe(int argc, char *argv[])
{
    char place[WHERE_BYTES];

    (void)argv;
    if (argc > 1) {
        kprintf("usage: probe\n");
        return SHELL_FAILED;
    }
    kprintf("looked %u times in %u ms, least intrusive first: nic=, PCI, Plug and Play, ISA\n",
            count + dropped, took_us / 1000);
    for (unsigned i = 0; i < count; i++) {
        if (!on_isa(&sightings[i])) {
            print_row(where(&sightings[i], place), &sightings[i]);
        }
    }
    for (int io = next_port(-1, false); io >= 0; io = next_port(io, false)) {
        print_port(io);
    }
    print_empty();
    if (dropped != 0) {
        kprintf("  and %u more, for which there was no room\n", dropped);
    }
    record_table();
    return SHELL_OK;
}

SHELL_COMMAND(probe, "", "what was seen at each port, and why it was not taken", start_probe, NULL);
