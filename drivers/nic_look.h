/*
 * Between the files of the search only: nic_look.c, nic_pnp.c, nic_pci.c and nic.c.
 */
#ifndef DRIVERS_NIC_LOOK_H
#define DRIVERS_NIC_LOOK_H

#include "drivers/nic.h"

enum { NIC_WHY_BYTES = 128 };

/* Made by the linker from every NIC_DRIVER(). */
extern const struct nic_driver __start_nic_drivers[], __stop_nic_drivers[];

/*
 * Try one place: 0 if a card was found there, opened and announced.  Else a code of
 * kernel/error.h and the reason in `why` (NIC_WHY_BYTES); also noted for `probe`.
 */
int nic_try(const struct nic_driver *driver, const struct nic_place *place, char *why);

/* The same; what cannot be used gets its line. */
void nic_try_and_say(const struct nic_driver *driver, const struct nic_place *place);

/* Are the `n` ports from `first` on free: no card of ours, and not in noprobe=? */
bool nic_ports_free(uint16_t first, unsigned n);

/* Ports an ISA card of this driver decodes from its base on. */
unsigned nic_ports_of(const struct nic_driver *driver);

/* One line and the `nic` record of a card just opened.  (nic.c) */
void nic_announce(const struct nic *nic);

#endif
