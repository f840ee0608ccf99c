/*
 * The box's name on its networks: NAME.local by mDNS (RFC 6762) and NAME by NetBIOS (RFC 1001,
 * 1002), so that `iperf3 -c nictest86.local` finds it.
 *
 * lwIP's mdns and netbiosns answer; what they leave to us is here: to ask before a name is used
 * and, where somebody else has it, to go on to NAME-2, NAME-3, ... (at most NAMES_TRIES).  One name
 * for all cards of the box; each card answers with its own address.  DHCP's option 12 stays what
 * name= says.
 */
#ifndef NET_NAMES_H
#define NET_NAMES_H

#include <stdbool.h>

enum { NAMES_TRIES = 32, NAME_BYTES = 16 /* with its NUL: what NetBIOS can carry */ };

/* The name in use or being asked about; "" if all were taken. */
const char *names_current(void);

/* Nobody on this card's network objected: the card answers to names_current(). */
bool names_ours(unsigned card);

/* The `number`-th name to try for `wanted`: itself, then WANTED-2, ..., the front cut off as needed
 * to stay below NAME_BYTES.  Pure. */
void name_variant(char to[NAME_BYTES], const char *wanted, unsigned number);

#endif
