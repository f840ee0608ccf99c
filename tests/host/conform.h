/*
 * The conformance suite: one list of named cases, each run on every simulated card.  Written only
 * against drivers/nic.h and the test side of the chip.
 */
#ifndef TESTS_HOST_CONFORM_H
#define TESTS_HOST_CONFORM_H

#include <check.h>

#include "tests/host/rig.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

/* A case: `cfg` is the card it runs on.  The index in Check's messages counts sim_cards[]. */
#define CASE(name)                                                                                 \
    static void name##_on(const struct sim_card_config *cfg);                                      \
    START_TEST(name)                                                                               \
    {                                                                                              \
        name##_on(&sim_cards[_i]);                                                                 \
    }                                                                                              \
    END_TEST                                                                                       \
    static void name##_on(const struct sim_card_config *cfg)

#define ADD_CASE(tcase, name) tcase_add_loop_test(tcase, name, 0, (int)sim_card_count)

TCase *conform_rx(void);
TCase *conform_overrun(void);
TCase *conform_tx(void);
TCase *conform_irq(void);
TCase *conform_soak(void);

#endif
