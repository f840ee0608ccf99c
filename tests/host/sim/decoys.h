/*
 * What else sits on a PC's I/O ports, as a search for network cards meets it.  All of them abort
 * when something is written to them, and those of which a read loses something abort on that read:
 * a character of a serial port, a byte of a disk controller, an Ethernet chip that a read resets.
 */
#ifndef TESTS_SIM_DECOYS_H
#define TESTS_SIM_DECOYS_H

#include <stdint.h>

enum { DECOY_PORTS_MAX = 32 };

struct sim_decoy {
    const char *name;
    unsigned base, ports;
    uint8_t value[DECOY_PORTS_MAX]; /* as they read at rest                         */
    uint32_t no_read;               /* ports, a bit each, of which a read loses something */
    uint32_t deaf;                  /* ports where a write changes nothing         */
};

extern const struct sim_decoy sim_decoys[];
extern const unsigned sim_decoy_count;

void sim_decoy_plug(const struct sim_decoy *decoy);

#endif
