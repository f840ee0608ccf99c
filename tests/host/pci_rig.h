/*
 * A PC with PCI and an RTL8139 in it, for tests of what finds and wakes one.
 */
#ifndef TESTS_HOST_PCI_RIG_H
#define TESTS_HOST_PCI_RIG_H

#include <check.h>
#include <string.h>

#include "drivers/nic.h"
#include "kernel/options.h"
#include "tests/host/host_support.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/pci.h"
#include "tests/host/sim/rtl8139.h"

enum { IO = 0xE000, LINE = 10, SLOT = 9 };

extern struct sim_rtl card;
extern const struct sim_rtl_config good; /* an RTL8139C on a level-triggered line */

/* No card, no options given. */
void machine(enum sim_pci_machine kind);

/* The same with mechanism 1, and `cfg` in SLOT. */
void plug(const struct sim_rtl_config *cfg);

/* nics_init(): one card or none, and `words` (if not null) said once. */
void found(bool usable, const char *words);

void boot_options(const char *words);

#endif
