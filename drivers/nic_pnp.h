/*
 * Cards on ISA Plug and Play, for the search and for closing.
 */
#ifndef DRIVERS_NIC_PNP_H
#define DRIVERS_NIC_PNP_H

#include "drivers/nic.h"

/*
 * Take every Plug and Play card of `driver` (null: of any) that is switched on; switch on those
 * that are not.  `wish`: the user's I/O base, line and memory, as far as they are given.  What is
 * there but cannot be used gets one line with what to do.
 */
void nic_pnp_try(const struct nic_driver *driver, const struct nic_place *wish);

/* The card is closed: if we switched it on, switch it off. */
void nic_pnp_release(const struct nic *nic);

#endif
