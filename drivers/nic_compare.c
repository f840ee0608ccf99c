/*
 * Several cards in one machine, side by side: what they are, how they do, and which should be the
 * fastest.
 */
#include "drivers/nic_compare.h"

#include "drivers/nic.h"
#include "drivers/nic_seen.h"
#include "kernel/console.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "kernel/print.h"

enum { CELL = 17, LABEL = 12, CELL_BYTES = CELL /* 16 characters: a blank stays between */ };

_Static_assert(LABEL + NIC_MAX * CELL <= 80, "a table as wide as the screen");

/* ---- cells ---- */

typedef void (*cell_maker)(const struct nic *nic, char *text, size_t size);

static void cell_driver(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%s", nic->driver->name);
}

static void cell_model(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%s", nic->model);
}

static void cell_place(const struct nic *nic, char *text, size_t size)
{
    nic_where(&nic->place, text, size);
}

static void cell_bus(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%s, %u bits", nic->place.bus == NIC_PCI ? "PCI" : "ISA", nic->width);
}

static void cell_speed(const struct nic *nic, char *text, size_t size)
{
    if (nic->bus_in_kb_s == 0) {
        format(text, size, "see selftest");
    } else {
        format(text, size, "%u/%u KB/s", (unsigned)nic->bus_in_kb_s / 10,
               (unsigned)nic->bus_out_kb_s / 10);
    }
}

static void cell_ring(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%u KB", nic->ring_kb);
}

static void cell_line(const struct nic *nic, char *text, size_t size)
{
    if (nic->mode != NIC_MODE_IRQ) {
        format(text, size, "polling");
    } else {
        format(text, size, "irq %d, %s", nic->irq, pic_is_level(nic->irq) ? "level" : "edge");
    }
}

static void cell_link(const struct nic *nic, char *text, size_t size)
{
    if (nic->link) {
        format(text, size, "%u Mbit/s %s", (unsigned)nic->link_kbit / 1000,
               nic->full_duplex ? "full" : "half");
    } else {
        format(text, size, "down");
    }
}

static void cell_received(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%llu", (unsigned long long)nic->stats.rx_frames);
}

static void cell_sent(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%llu", (unsigned long long)nic->stats.tx_frames);
}

/* Came in whole and could not be kept. */
static void cell_lost(const struct nic *nic, char *text, size_t size)
{
    format(text, size, "%u", nic->stats.rx_missed + nic->stats.rx_overrun);
}

static void cell_damaged(const struct nic *nic, char *text, size_t size)
{
    const struct nic_stats *s = &nic->stats;

    format(text, size, "%u", s->rx_crc + s->rx_align + s->rx_length + s->rx_error);
}

static void cell_unsent(const struct nic *nic, char *text, size_t size)
{
    const struct nic_stats *s = &nic->stats;

    format(text, size, "%u", s->tx_abort + s->tx_underrun + s->tx_late + s->tx_timeout);
}

static const struct {
    const char *label;
    cell_maker make;
} rows[] = {
    {"driver", cell_driver},   {"model", cell_model},      {"place", cell_place},
    {"bus", cell_bus},         {"bus in/out", cell_speed}, {"ring", cell_ring},
    {"line", cell_line},       {"link", cell_link},        {"received", cell_received},
    {"sent", cell_sent},       {"overruns", cell_lost},    {"damaged", cell_damaged},
    {"not sent", cell_unsent},
};

/* ---- which is best ---- */

static uint32_t slower_way(const struct nic *nic)
{
    return nic->bus_in_kb_s < nic->bus_out_kb_s ? nic->bus_in_kb_s : nic->bus_out_kb_s;
}

/* Is it known which bus is faster? */
static bool is_measured(const struct nic *a, const struct nic *b)
{
    return slower_way(a) != 0 && slower_way(b) != 0 && slower_way(a) != slower_way(b);
}

/* What bounds a card, in this order: the wire, the bus, the ring. */
static bool is_better(const struct nic *a, const struct nic *b)
{
    if (a->link != b->link) {
        return a->link;
    }
    if (a->link_kbit != b->link_kbit) {
        return a->link_kbit > b->link_kbit;
    }
    if (is_measured(a, b)) {
        return slower_way(a) > slower_way(b);
    }
    if (a->width != b->width) {
        return a->width > b->width;
    }
    return a->ring_kb > b->ring_kb;
}

static const char *why_better(const struct nic *a, const struct nic *b)
{
    return a->link != b->link             ? "a link"
           : a->link_kbit != b->link_kbit ? "the faster wire"
           : is_measured(a, b)            ? "the faster bus, as measured"
           : a->width != b->width         ? "the wider bus"
           : a->ring_kb != b->ring_kb     ? "the bigger ring"
                                          : NULL;
}

/* The best card, and of the others the best. */
static void print_verdict(void)
{
    const struct nic *best = &nics[0], *next = NULL;
    const char *why;

    for (unsigned i = 1; i < nic_count; i++) {
        best = is_better(&nics[i], best) ? &nics[i] : best;
    }
    for (unsigned i = 0; i < nic_count; i++) {
        if (&nics[i] != best && (next == NULL || is_better(&nics[i], next))) {
            next = &nics[i];
        }
    }
    why = next == NULL ? NULL : why_better(best, next);
    if (why == NULL) {
        kprintf("they should be equally fast; `selftest` measures their buses\n");
    } else {
        kprintf("card %u should be the fastest: it has %s\n", best->index, why);
    }
}

void nic_compare(void)
{
    kprintf("%-*s", LABEL, "card");
    for (unsigned i = 0; i < nic_count; i++) {
        kprintf("%-*u", CELL, i);
    }
    kprintf("\n");
    for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        kprintf("%-*s", LABEL, rows[r].label);
        for (unsigned i = 0; i < nic_count; i++) {
            char cell[CELL_BYTES];

            rows[r].make(&nics[i], cell, sizeof(cell));
            kprintf("%-*s", CELL, cell);
        }
        kprintf("\n");
    }
    print_verdict();
}
