/*
 * Plug and Play identifiers of data-port boards: the cards' own, and the one of "NE2000 compatible"
 * that most carry as well.  From the vendors' installation files and the list of the Debian
 * installer's hardware detection (ddetect, 2001).
 */
#include "drivers/8390/ne2000.h"

const struct nic_pnp_id ne2000_pnp_ids[] = {
    {"RTL8019", "RTL8019AS"},
    {"PNP80D6", "NE2000 compatible"},
    {"PNP80D4", "Novell NE2000"},
    {"PNP80D9", "NE2000 Plus"},
    {"PNP820A", "Zenith NE2000 compatible"},
    {"EDI0216", "NN NE2000"},
    {"AXE2201", "SN2000"},
    {"BTU3840", "Boca Lancard 2000"},
    {"DLK2201", "D-Link DE-220"},
    {"JQE9008", "CNet CN200E"},
    {"LNE2000", "Linksys Ether16"},
    {"SMC1660", "SMC EZ Card 1660"},
    {"SZV4953", "OvisLink NE2000"},
    {"", NULL},
};
