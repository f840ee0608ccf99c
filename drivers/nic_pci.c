/*
 * Cards on PCI: finding them, and putting right what the firmware left undone.
 *
 * Old firmware leaves cards asleep, without their I/O range enabled, or not allowed to master the
 * bus; the driver would see a dead card.  What was changed is kept for `nics` to show.
 */
#include "drivers/nic_pci.h"

#include "kernel/console.h"
#include "kernel/irq.h"
#include "kernel/pci.h"
#include "kernel/print.h"

enum {
    BARS = 6,
    BAR_IS_IO = 1,
    BAR_IO_MASK = 0xFFFC,
    COMMAND_WANTED = PCI_COMMAND_IO | PCI_COMMAND_MASTER,
    PORTS_ABOVE_ISA = 0x100, /* a range below is the mainboard's own */
};

/* ---- one function ---- */

/* First I/O range; 0 if the firmware assigned none. */
static uint16_t io_range(pci_address a)
{
    for (unsigned i = 0; i < BARS; i++) {
        uint32_t bar = pci_read32(a, PCI_BAR0 + 4 * i);

        if ((bar & BAR_IS_IO) != 0) {
            return bar >> 16 == 0 && (bar & BAR_IO_MASK) >= PORTS_ABOVE_ISA
                       ? (uint16_t)(bar & BAR_IO_MASK)
                       : 0;
        }
    }
    return 0;
}

/* The line the firmware noted; 0 and 255 mean none. */
static int interrupt_line(pci_address a)
{
    unsigned line = pci_read8(a, PCI_INTERRUPT);

    return line > 0 && line < IRQ_LINES ? (int)line : IRQ_NONE;
}

static unsigned enable(pci_address a)
{
    uint16_t command = pci_read16(a, PCI_COMMAND);
    unsigned changed = pci_power_up(a) ? NIC_PCI_POWER : 0;

    if ((command & PCI_COMMAND_IO) == 0) {
        changed |= NIC_PCI_IO;
    }
    if ((command & PCI_COMMAND_MASTER) == 0) {
        changed |= NIC_PCI_MASTER;
    }
    if ((changed & (NIC_PCI_IO | NIC_PCI_MASTER)) != 0) {
        pci_write16(a, PCI_COMMAND, command | COMMAND_WANTED);
    }
    return changed;
}

bool nic_pci_attach(const struct nic_pci_id *id, pci_address a, struct nic_place *place)
{
    unsigned changed = enable(a);

    *place = (struct nic_place){
        .bus = NIC_PCI,
        .io = {io_range(a)},
        .irq = interrupt_line(a),
        .pci = a,
        .changed = (uint8_t)changed,
    };
    if (place->io.base == 0) {
        console_fresh_line();
        kprintf_colour(COLOUR_BAD, "%s at pci %02x:%02x.%x: the firmware gave it no I/O range\n",
                       id->name, pci_bus(a), pci_device(a), pci_function(a));
        return false;
    }
    if (place->irq == IRQ_NONE) {
        console_fresh_line();
        kprintf_colour(COLOUR_WARN,
                       "%s at pci %02x:%02x.%x: the firmware gave it no interrupt (%u)\n", id->name,
                       pci_bus(a), pci_device(a), pci_function(a), pci_read8(a, PCI_INTERRUPT));
    }
    if ((pci_read16(a, PCI_COMMAND) & COMMAND_WANTED) != COMMAND_WANTED) {
        console_fresh_line();
        kprintf_colour(COLOUR_WARN, "%s at pci %02x:%02x.%x: I/O or bus mastering stays off\n",
                       id->name, pci_bus(a), pci_device(a), pci_function(a));
    }
    return true;
}

/* ---- which driver ---- */

extern const struct nic_driver __start_nic_drivers[], __stop_nic_drivers[];

static const struct nic_pci_id *knows(const struct nic_driver *driver, uint32_t id)
{
    if (driver->pci_ids == NULL) {
        return NULL;
    }
    for (const struct nic_pci_id *known = driver->pci_ids; known->name != NULL; known++) {
        if (known->vendor == (id & 0xFFFF) && known->device == id >> 16) {
            return known;
        }
    }
    return NULL;
}

const struct nic_driver *nic_pci_driver(uint32_t id, const struct nic_pci_id **card)
{
    for (const struct nic_driver *d = __start_nic_drivers; d != __stop_nic_drivers; d++) {
        *card = knows(d, id);
        if (*card != NULL) {
            return d;
        }
    }
    return NULL;
}

static bool is_used(pci_address a)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (nics[i].place.bus == NIC_PCI && nics[i].place.pci == a) {
            return true;
        }
    }
    return false;
}

static bool quieten(pci_address a, uint32_t id, void *arg)
{
    const struct nic_pci_id *card;
    const uint16_t command = pci_read16(a, PCI_COMMAND);

    (void)arg;
    if ((command & PCI_COMMAND_MASTER) != 0 && !is_used(a) && nic_pci_driver(id, &card) != NULL) {
        pci_write16(a, PCI_COMMAND, command & (uint16_t)~PCI_COMMAND_MASTER);
    }
    return true;
}

void nic_pci_quieten_unused(void)
{
    pci_scan(quieten, NULL);
}

void nic_pci_changes(const struct nic *nic, char *text, size_t size)
{
    unsigned changed = nic->place.changed;

    format(text, size, "%s%s%s%s", changed == 0 ? "nothing had to be changed" : "switched on:",
           (changed & NIC_PCI_POWER) != 0 ? " power" : "",
           (changed & NIC_PCI_IO) != 0 ? " I/O" : "",
           (changed & NIC_PCI_MASTER) != 0 ? " bus mastering" : "");
}
