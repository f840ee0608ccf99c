/*
 * What people and programs can ask about the cards: `nics`, `counters` and the counters record.
 */
#include "drivers/nic.h"
#include "drivers/nic_compare.h"
#include "drivers/nic_pci.h"
#include "kernel/console.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "kernel/record.h"
#include "kernel/shell.h"
#include "kernel/string.h"

/* One row a cause, in the order shown. */
struct counter {
    const char *key; /* in the record     */
    uint16_t offset; /* in struct nic_stats */
    uint16_t size;
    const char *words;
};

#define FIELD(name) #name, offsetof(struct nic_stats, name), sizeof(((struct nic_stats *)0)->name)

static const struct counter counters[] = {
    {FIELD(rx_frames), "frames received"},
    {FIELD(rx_bytes), "bytes received"},
    {FIELD(tx_frames), "frames sent"},
    {FIELD(tx_bytes), "bytes sent"},
    {FIELD(irqs), "interrupts"},
    {FIELD(polls), "looks at the status"},
    {FIELD(irq_lost), "interrupts that did not come"},
    {FIELD(rx_crc), "received with wrong CRC"},
    {FIELD(rx_align), "received with odd bits"},
    {FIELD(rx_missed), "missed for want of room on the card"},
    {FIELD(rx_length), "impossible length"},
    {FIELD(rx_error), "not intact in the ring"},
    {FIELD(rx_overrun), "ring overruns"},
    {FIELD(rx_resync), "ring pointer taken afresh"},
    {FIELD(rx_no_frame), "bursts ended by an empty pool"},
    {FIELD(tx_collisions), "collisions"},
    {FIELD(tx_abort), "given up after 16 collisions"},
    {FIELD(tx_underrun), "transmit underruns"},
    {FIELD(tx_late), "late collisions"},
    {FIELD(tx_carrier), "carrier lost"},
    {FIELD(tx_heartbeat), "no heartbeat"},
    {FIELD(tx_resent), "cut short by an overrun, sent again"},
    {FIELD(tx_timeout), "transmitter stuck, card restarted"},
    {FIELD(dma_timeout), "remote DMA stuck, card restarted"},
};
enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

static const struct {
    const char *key, *words;
} bursts[NIC_BURST_BUCKETS] = {
    {"burst_1", "1"},         {"burst_2", "2"},       {"burst_3_4", "3-4"},
    {"burst_5_8", "5-8"},     {"burst_9_16", "9-16"}, {"burst_17_32", "17-32"},
    {"burst_33_64", "33-64"}, {"burst_more", "more"},
};

/* What the layer above counts. */
static const struct nic_more_counters *above;

static uint64_t value_of(const struct nic *nic, const struct counter *c)
{
    const char *at = (const char *)&nic->stats + c->offset;
    uint64_t wide;
    uint32_t narrow;

    if (c->size == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

void nic_counters_record(struct nic *nic)
{
    record_begin("counters");
    record_int("nic", nic->index);
    for (unsigned i = 0; i < COUNTERS; i++) {
        record_int(counters[i].key, (int64_t)value_of(nic, &counters[i]));
    }
    for (unsigned i = 0; i < NIC_BURST_BUCKETS; i++) {
        record_int(bursts[i].key, nic->stats.rx_burst[i]);
    }
    record_int("pool_size", frame_pool_size());
    record_int("pool_free", frame_pool_free());
    record_int("pool_low", frame_pool_low());
    if (above != NULL) {
        above->keys();
    }
    record_end();
}

void nic_add_counters(const struct nic_more_counters *more)
{
    above = more;
}

/* Traffic always; of the causes only those that happened. */
static void print_counters(const struct nic *nic)
{
    enum { ALWAYS = 6 };
    unsigned quiet = 0;

    kprintf("card %u, %s at 0x%x\n", nic->index, nic->driver->name, nic->place.io.base);
    for (unsigned i = 0; i < COUNTERS; i++) {
        const uint64_t value = value_of(nic, &counters[i]);

        if (value != 0 || i < ALWAYS) {
            kprintf("  %14llu  %s\n", (unsigned long long)value, counters[i].words);
        } else {
            quiet++;
        }
    }
    kprintf("  %14u  further causes: none\n", quiet);
    kprintf("  receive bursts of n frames:\n   ");
    for (unsigned i = 0; i < NIC_BURST_BUCKETS; i++) {
        if (nic->stats.rx_burst[i] != 0) {
            kprintf("  %s: %u", bursts[i].words, nic->stats.rx_burst[i]);
        }
    }
    kprintf("\n");
}

static int no_card(void)
{
    kprintf("no network card found\n");
    return SHELL_NO_CARD;
}

static int start_counters(int argc, char *argv[])
{
    const bool reset = argc == 2 && strcmp(argv[1], "reset") == 0;

    if (argc > 2 || (argc == 2 && !reset)) {
        kprintf("usage: counters [reset]\n");
        return SHELL_FAILED;
    }
    if (nic_count == 0) {
        return no_card();
    }
    if (reset && above != NULL) {
        above->reset();
    }
    for (unsigned i = 0; i < nic_count; i++) {
        nics[i].ops->tx_reclaim(&nics[i]);
        if (reset) {
            nic_stats_reset(&nics[i]);
        } else {
            print_counters(&nics[i]);
        }
        nic_counters_record(&nics[i]);
    }
    kprintf("frame pool: %u of %u free, never fewer than %u, found empty %u times\n",
            frame_pool_free(), frame_pool_size(), frame_pool_low(), frame_pool_dry());
    if (above != NULL) {
        above->lines();
    }
    return SHELL_OK;
}

/* Where it is, and what the firmware had left undone. */
static void print_pci(const struct nic *nic)
{
    char changes[64];

    nic_pci_changes(nic, changes, sizeof(changes));
    kprintf("   pci:%x.%x.%x, %s\n", pci_bus(nic->place.pci), pci_device(nic->place.pci),
            pci_function(nic->place.pci), changes);
}

/* A card that cannot tell says it is up. */
static void print_link(const struct nic *nic)
{
    if (!nic->link) {
        kprintf("   link down\n");
    } else {
        kprintf("   link %u Mbit/s, %s duplex%s%s\n", (unsigned)nic->link_kbit / 1000,
                nic->full_duplex ? "full" : "half", nic->media == NULL ? "" : ", ",
                nic->media == NULL ? "" : nic->media);
    }
}

static void print_card(const struct nic *nic)
{
    kprintf("%u  %s  %s  %M\n", nic->index, nic->driver->name, nic->model, nic->mac);
    kprintf("   %s, I/O 0x%x, ", nic->place.bus == NIC_PCI ? "PCI" : "ISA", nic->place.io.base);
    if (nic->irq != IRQ_NONE) {
        kprintf("irq %d (%s, %s), ", nic->irq, nic->irq_proven ? "proven" : "not proven",
                pic_is_level(nic->irq) ? "level" : "edge");
    }
    kprintf("%s, %u bits wide, ring %u KB\n",
            nic->mode == NIC_MODE_IRQ ? "by interrupt" : "polling", nic->width, nic->ring_kb);
    if (nic->place.bus == NIC_PCI) {
        print_pci(nic);
    }
    print_link(nic);
}

static int start_nics(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    if (nic_count == 0) {
        return no_card();
    }
    for (unsigned i = 0; i < nic_count; i++) {
        print_card(&nics[i]);
    }
    if (nic_count > 1) {
        nic_compare();
    }
    return SHELL_OK;
}

SHELL_COMMAND(nics, "", "the network cards, compared", start_nics, NULL);
SHELL_COMMAND(counters, "[reset]", "what each card counted, per cause", start_counters, NULL);
