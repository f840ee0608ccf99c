/*
 * Cards on PCI, for drivers/nic.c.
 */
#ifndef DRIVERS_NIC_PCI_H
#define DRIVERS_NIC_PCI_H

#include "drivers/nic.h"
#include "kernel/pci.h"

/* Bits of nic_place.changed: what the firmware had left off. */
enum { NIC_PCI_POWER = 1, NIC_PCI_IO = 2, NIC_PCI_MASTER = 4 };

/* The driver for a card with this vendor and device, or null; *card is its entry. */
const struct nic_driver *nic_pci_driver(uint32_t id, const struct nic_pci_id **card);

/* Switch the card on and say where it is; false, with one line, if it cannot be reached. */
bool nic_pci_attach(const struct nic_pci_id *card, pci_address a, struct nic_place *place);

/*
 * Cards of ours that nobody uses (nic= names others): one that a loader left running would go on
 * writing what it receives into memory that is another's now.  Their bus mastering is switched off,
 * and nothing else touched.
 */
void nic_pci_quieten_unused(void);

/* What nic_pci_attach() had to change, in words. */
void nic_pci_changes(const struct nic *nic, char *text, size_t size);

#endif
