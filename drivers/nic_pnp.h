/*
 * Cards on ISA Plug and Play, for the search and for closing.
 */
#ifndef DRIVERS_NIC_PNP_H
#define DRIVERS_NIC_PNP_H

#include "drivers/nic.h"

/*
 * Take every Plug and Play card of `driver` (null: of any) that is switched on.  `wish`: the user's
 * I/O base, line and memory, as far as they are given.  Returns how many are switched off.
 */
unsigned nic_pnp_take(const struct nic_driver *driver, const struct nic_place *wish);

/*
 * Switch on and take those that are off: after the search of the ISA bus, for a jumpered card
 * cannot make room.  What cannot be used gets one line with what to do.
 */
void nic_pnp_switch_on(const struct nic_driver *driver, const struct nic_place *wish);

/* The card is closed: if we switched it on, switch it off. */
void nic_pnp_release(const struct nic *nic);

#endif
