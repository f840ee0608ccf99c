/*
 * Simulated PCI configuration space behind mechanism 1 or 2 (PCI 2.1, 3.7.4), and machines that
 * have none: no chip at CF8h, or a chip of another kind that keeps what is written there.
 *
 * Strict: a window left open, an access of a width or place the specification does not allow, an
 * access to a function on its way to D0, or a status bit cleared by accident ends the test.
 */
#ifndef TESTS_SIM_PCI_H
#define TESTS_SIM_PCI_H

#include <stdbool.h>
#include <stdint.h>

enum sim_pci_machine {
    SIM_PCI_NONE, /* nobody at CF8h                                          */
    SIM_PCI_1,
    SIM_PCI_2,
    SIM_PCI_ECHO,   /* a chip that keeps all written to CF8h-CFFh              */
    SIM_PCI_ECHO_8, /* the same, by bytes only: a 32-bit read sees its neighbours */
};

enum { SIM_PCI_BARS = 6 };

struct sim_pci_function {
    uint8_t bus, device, function;
    uint8_t config[256];
    uint32_t bar_mask[SIM_PCI_BARS]; /* writable bits                           */
    uint16_t command_mask;           /* writable bits of the command register   */
    unsigned pm;                     /* offset of the capability, 0: none       */
    uint64_t awake_ns;               /* D0 settled                              */
    unsigned command_writes, wakes;
};

/* Put it into the machine, with a host bridge at 0:0.0. */
void sim_pci_plug(enum sim_pci_machine machine);

/* A function answering at bus:device.function. */
struct sim_pci_function *sim_pci_add(unsigned bus, unsigned device, unsigned function, uint32_t id,
                                     uint32_t class);

/* The first device number on bus 0, from `device` on, that nobody has. */
unsigned sim_pci_free_device(unsigned device);

/* Base address register n: an I/O range (size a power of two). */
void sim_pci_bar(struct sim_pci_function *f, unsigned n, uint32_t base, uint32_t size);

/* Power management at `offset`, at the end of the list of capabilities; asleep in D3 or awake. */
void sim_pci_power(struct sim_pci_function *f, unsigned offset, bool asleep);

/* Anything of the header, as the firmware would have left it. */
void sim_pci_set8(struct sim_pci_function *f, unsigned reg, uint8_t value);
void sim_pci_set16(struct sim_pci_function *f, unsigned reg, uint16_t value);
void sim_pci_set32(struct sim_pci_function *f, unsigned reg, uint32_t value);
uint32_t sim_pci_get32(const struct sim_pci_function *f, unsigned reg);

/* Does it decode its I/O range, at what address; may it master the bus? */
bool sim_pci_decodes(const struct sim_pci_function *f);
unsigned sim_pci_io(const struct sim_pci_function *f);
bool sim_pci_masters(const struct sim_pci_function *f);

/* What a chip at CF8h-CFFh holds now: SIM_PCI_ECHO. */
extern uint8_t sim_pci_echo[8];

/* Accesses to ports C000h-CFFFh so far. */
extern unsigned sim_pci_window_accesses;

#endif
