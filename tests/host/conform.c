/*
 * What the programs of the conformance suite share.
 */
#include "tests/host/conform.h"
#include "tests/host/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

/* Driver and kernel never call malloc(), and rig_down() counts the frames: looking for lost heap
 * blocks at the end of each of some hundred children would find only the chip model's own, and
 * takes twice as long as all the cases. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* Nobody looks for a case that does not exist: it is said, and why. */
void conform_not_for(const char *family, const char *name, const char *why)
{
    printf("not for the %s: %s: %s\n", family, name, why);
}

static enum conform_cards running;

static int within(unsigned value, unsigned low, unsigned high)
{
    return (int)(value < low ? low : value > high ? high : value);
}

struct conform_range conform_piece(unsigned piece, unsigned first, unsigned end)
{
    unsigned low = piece == 0 ? 0 : rig_8390_count();
    unsigned high = piece == 0 ? sim_card_count : rig_card_count();
    if (running == CARDS_ALL) {
        low = piece == 0 ? 0 : rig_card_count();
        high = rig_card_count();
    } else if (running == CARDS_MEMORY) {
        low = piece == 0 ? sim_card_count : rig_card_count();
        high = piece == 0 ? rig_8390_count() : rig_card_count();
    }
    return (struct conform_range){within(first, low, high), within(end, low, high)};
}

int conform_run(const char *name, enum conform_cards cards, TCase *(*const parts[])(void))
{
    running = cards;
    Suite *suite = suite_create(name);
    for (unsigned i = 0; parts[i] != NULL; i++) {
        suite_add_tcase(suite, parts[i]());
    }
    return run_suite(suite);
}
