/*
 * What boards with an 8390 share beside the chip: waiting, telling what was found, choosing a line.
 */
#ifndef DRIVERS_8390_BOARD_H
#define DRIVERS_8390_BOARD_H

#include "drivers/8390/dp8390.h"

/* Wait until a port of the card has any of `bits`; false if that takes over 20 ms. */
bool dp8390_await(struct ioport port, unsigned reg, unsigned bits);

/* ISR_RST, after a pulse of the reset line: 0, or E_TIMEOUT. */
int dp8390_await_reset(const struct dp8390 *);

/* The rest of struct nic, from a complete struct dp8390: width as in d->word. */
void dp8390_describe(struct dp8390 *d, const char *model, const uint8_t mac[6]);

/*
 * For boards whose interrupt line the driver sets: the first of `lines` (ended by 0) on which the
 * card is heard, the one in nic->place first; route(d, line) is in force for it, and it is in
 * nic->place unless the user's is.  None, or polling wanted: route(d, IRQ_NONE).  The board is
 * enabled, the chip stopped, before and after.
 */
void dp8390_choose_line(struct dp8390 *d, const uint8_t lines[],
                        void (*route)(struct dp8390 *d, int line));

#endif
