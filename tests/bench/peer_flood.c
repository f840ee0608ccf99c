/*
 * See peer_flood.h.  Source: Virtio PCI Card Specification 0.9.5 (2012), 2.2 (device set-up), 2.2.2
 * (registers), 2.3 (virtqueue), appendix C (network device): the legacy interface, transmit queue
 * only, no interrupt.
 */
#include "tests/bench/peer_flood.h"

#include <stdalign.h>

#include "kernel/io.h"
#include "kernel/pci.h"

enum {
    VIRTIO_NET_ID = 0x10001AF4,
    GUEST_FEATURES = 4, /* 32 */
    QUEUE_PFN = 8,      /* 32  page of the queue in memory */
    QUEUE_SIZE = 12,    /* 16 */
    QUEUE_SELECT = 14,  /* 16 */
    QUEUE_NOTIFY = 16,  /* 16 */
    STATUS = 18,        /* 8  */
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    TRANSMIT_QUEUE = 1,
    NO_INTERRUPT = 1, /* in the flags of what is available */
    ENTRIES = 256,    /* what QEMU's card has */
    PAGE = 4096,
    NET_HEADER = 10, /* in front of each frame; all zero: nothing to do for the card */
    BAR_IO_MASK = ~3,
};

static struct {
    struct {
        uint32_t address, address_high, length;
        uint16_t flags, next;
    } descriptor[ENTRIES];
    uint16_t flags, available; /* `available` counts all entries ever offered */
    uint16_t ring[ENTRIES];
    alignas(PAGE) volatile uint16_t used_flags;
    volatile uint16_t used; /* counts all ever taken */
    uint32_t used_ring[2 * ENTRIES];
} queue __attribute__((aligned(PAGE)));

static uint8_t packet[NET_HEADER + FLOOD_FRAME_MAX];
static struct ioport card;
static uint32_t sent, left;
static uint16_t seen;

static bool take_card(pci_address at, uint32_t id, void *arg)
{
    if (id != VIRTIO_NET_ID) {
        return true;
    }
    *(bool *)arg = true;
    card = (struct ioport){(uint16_t)(pci_read32(at, PCI_BAR0) & (uint32_t)BAR_IO_MASK)};
    pci_write16(at, PCI_COMMAND, PCI_COMMAND_IO | PCI_COMMAND_MASTER);
    return false;
}

static uint32_t bus_address(const void *at)
{
    return (uint32_t)(uintptr_t)at; /* memory is mapped as it is */
}

bool peer_flood_open(const uint8_t *frame, unsigned length)
{
    bool found = false;

    pci_scan(take_card, &found);
    if (!found) {
        return false;
    }
    for (unsigned i = 0; i < length; i++) {
        packet[NET_HEADER + i] = frame[i];
    }
    for (unsigned i = 0; i < ENTRIES; i++) {
        queue.descriptor[i].address = bus_address(packet);
        queue.descriptor[i].length = NET_HEADER + length;
        queue.ring[i] = (uint16_t)i;
    }
    queue.flags = NO_INTERRUPT;
    io_out8(card, STATUS, 0); /* reset */
    io_out8(card, STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    io_out32(card, GUEST_FEATURES, 0);
    io_out16(card, QUEUE_SELECT, TRANSMIT_QUEUE);
    if (io_in16(card, QUEUE_SIZE) != ENTRIES) {
        return false;
    }
    io_out32(card, QUEUE_PFN, bus_address(&queue) / PAGE);
    io_out8(card, STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_DRIVER_OK);
    return true;
}

/* Offer as many as the queue holds. */
static void fill(void)
{
    uint32_t under_way = (uint16_t)(queue.available - seen);
    uint32_t more = ENTRIES - under_way < left ? ENTRIES - under_way : left;

    left -= more;
    queue.available = (uint16_t)(queue.available + more);
}

void peer_flood_start(uint32_t count)
{
    left = count;
    sent = 0;
    seen = queue.used;
    fill();
    io_out16(card, QUEUE_NOTIFY, TRANSMIT_QUEUE);
}

uint32_t peer_flood_turn(void)
{
    uint16_t now = queue.used;

    sent += (uint16_t)(now - seen);
    seen = now;
    fill();
    return sent;
}
