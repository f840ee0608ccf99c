/*
 * Makes the driver of any card lend what it receives, as the RTL8139's does: the packets lie in
 * memory of their own until rx_done, and are spoilt then.  What net/ still holds and has not copied
 * shows as garbage.
 */
#ifndef TESTS_HOST_NET_LENDER_H
#define TESTS_HOST_NET_LENDER_H

#include "drivers/nic.h"

/* From now on; the card is open. */
void lender_take(struct nic *nic);

#endif
