/*
 * What the search for cards saw, place by place, for the command `probe` and for the line that
 * says nothing was found.
 */
#ifndef DRIVERS_NIC_SEEN_H
#define DRIVERS_NIC_SEEN_H

#include <stddef.h>

#include "drivers/nic.h"

enum nic_verdict {
    SEEN_TAKEN,    /* a card, and in use                        */
    SEEN_NOTHING,  /* no card of this kind                      */
    SEEN_UNUSABLE, /* a card, but not to be used: `why` is said */
    SEEN_SKIPPED,  /* not looked at                             */
};

/* Forget everything; the search begins. */
void nic_seen_begin(void);

/* `who` looked at (or skipped) a place: what was seen, and why it was or was not taken.  `who`
 * stays valid; `why` is copied, and cut at 71 letters. */
void nic_seen(const char *who, const struct nic_place *place, enum nic_verdict verdict,
              const char *why);

/* The search is over. */
void nic_seen_end(void);

/* "ne2000 0x300 0x280, wd80x3 0x240": ISA places looked at; "" if none was. */
const char *nic_seen_places(char *text, size_t size);

/* The driver that knows the ISA card at one of these ports, and cannot use it; null: nobody. */
const char *nic_seen_broken(unsigned first, unsigned n);

/* "0x300", "pci:0.9.0" or "pnp:1.0". */
const char *nic_where(const struct nic_place *place, char *text, size_t size);

#endif
