/*
 * The simulated serial EEPROM.
 */
#include "tests/host/sim/eeprom.h"

#include "tests/host/sim/bus.h"

enum { OPCODE_BITS = 2, OPCODE_READ = 2, WORD_BITS = 16 };

/* All of the command is in: a 0 comes first, then the word. */
static void obey(struct sim_eeprom *e)
{
    uint32_t address = e->command & ((1U << e->address_bits) - 1);
    if (e->command >> e->address_bits != OPCODE_READ) {
        sim_misuse("eeprom: command %x is not a read", e->command);
    }
    e->shift = e->word[address];
    e->left = WORD_BITS + 1;
}

static void take(struct sim_eeprom *e, bool data)
{
    if (!e->started) {
        e->started = data;
        return;
    }
    if (e->taken < OPCODE_BITS + e->address_bits) {
        e->command = e->command << 1 | data;
        if (++e->taken == OPCODE_BITS + e->address_bits) {
            obey(e);
        }
    } else if (e->left > 1) {
        e->left--;
    }
}

void sim_eeprom_pins(struct sim_eeprom *e, bool select, bool clock, bool data)
{
    bool rises = clock && !e->clock;
    e->clock = clock;
    if (!select) {
        e->started = false;
        e->taken = e->left = 0;
        e->command = 0;
    } else if (!e->select && clock) {
        sim_misuse("eeprom: selected while the clock is high");
    } else if (rises) {
        take(e, data);
    }
    e->select = select;
}

bool sim_eeprom_out(const struct sim_eeprom *e)
{
    return e->left == 0 || (e->shift >> (e->left - 1) & 1) != 0;
}
