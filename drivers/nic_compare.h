/*
 * Several cards in one machine, side by side.
 */
#ifndef DRIVERS_NIC_COMPARE_H
#define DRIVERS_NIC_COMPARE_H

/* Print a table with a column for each card, and which should be the fastest, and why. */
void nic_compare(void);

#endif
