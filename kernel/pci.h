/*
 * PCI configuration space.  Source: PCI Local Bus Specification 2.1 (1995), 3.6.4 and 3.7.4
 * (mechanisms 1 and 2), 6.2 (header), PCI Power Management 1.1 (1998), 3.2.
 *
 * Looking for a PCI bus is harmless where there is none: only ports CF8h-CFBh are touched, and put
 * back as they were; a mechanism counts only if a known kind of device answers behind it.
 */
#ifndef KERNEL_PCI_H
#define KERNEL_PCI_H

#include <stdbool.h>
#include <stdint.h>

/* bus << 8 | device << 3 | function */
typedef uint16_t pci_address;

static inline unsigned pci_bus(pci_address a)
{
    return a >> 8;
}

static inline unsigned pci_device(pci_address a)
{
    return a >> 3 & 0x1F;
}

static inline unsigned pci_function(pci_address a)
{
    return a & 7;
}

enum pci_reg {
    PCI_ID = 0x00,           /* 32  vendor, device above it                          */
    PCI_COMMAND = 0x04,      /* 16                                                   */
    PCI_STATUS = 0x06,       /* 16                                                   */
    PCI_CLASS = 0x08,        /* 32  revision in the low byte, class in the upper 24  */
    PCI_HEADER = 0x0E,       /* 8   bit 7: several functions                         */
    PCI_BAR0 = 0x10,         /* 32                                                   */
    PCI_SUBSYSTEM = 0x2C,    /* 32                                                   */
    PCI_CAPABILITIES = 0x34, /* 8 offset of the first                             */
    PCI_INTERRUPT = 0x3C,    /* 8   line as the firmware noted it; 0 or 255: none    */
    PCI_PIN = 0x3D,          /* 8   1-4: INTA-INTD, 0: none                          */
};

enum pci_command { PCI_COMMAND_IO = 1, PCI_COMMAND_MEMORY = 2, PCI_COMMAND_MASTER = 4 };

/* Find the mechanism: 1, 2, or 0 for no PCI bus.  Call once, before anything else here. */
unsigned pci_init(void);

/* `reg` aligned to the width.  All ones where nothing answers. */
uint8_t pci_read8(pci_address a, unsigned reg);
uint16_t pci_read16(pci_address a, unsigned reg);
uint32_t pci_read32(pci_address a, unsigned reg);
void pci_write16(pci_address a, unsigned reg, uint16_t value);
void pci_write32(pci_address a, unsigned reg, uint32_t value);

/* Call `found` for every function that answers, in order of address, until it returns false. */
void pci_scan(bool (*found)(pci_address a, uint32_t id, void *arg), void *arg);

/*
 * The power management capability, if any: put the function into D0 (10 ms settling time), with
 * what it forgets in D3 (command, BARs, interrupt line) written back.  True if it was not in D0.
 */
bool pci_power_up(pci_address a);

#endif
