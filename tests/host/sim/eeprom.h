/*
 * A serial EEPROM of 64 words (93C46, Microchip data sheet), or of 256 with longer addresses
 * (93C66), as a chip's pins see it.  Reading only: whatever else is asked of it is misuse.
 */
#ifndef TESTS_SIM_EEPROM_H
#define TESTS_SIM_EEPROM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_eeprom {
    uint16_t word[256];
    unsigned address_bits; /* 6 or 8 */

    bool select, clock;
    unsigned taken; /* bits of the command so far, the start bit not counted */
    bool started;
    uint32_t command;
    uint32_t shift; /* what is still to come out; the highest of `left` bits is at the pin */
    unsigned left;
};

/* The pins change.  CS low ends a command; data in is taken when the clock rises. */
void sim_eeprom_pins(struct sim_eeprom *e, bool select, bool clock, bool data);

/* Data out; high when the chip does not drive it. */
bool sim_eeprom_out(const struct sim_eeprom *e);

#endif
