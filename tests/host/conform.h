/*
 * The conformance suite: one list of named cases, each run on every simulated card.  Written only
 * against drivers/nic.h and the test side of the chip.
 */
#ifndef TESTS_HOST_CONFORM_H
#define TESTS_HOST_CONFORM_H

#include "tests/host/quick_check.h"

#include "tests/host/rig.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

/* A case: `cfg` is the card it runs on.  The index in Check's messages is that of rig_card(). */
#define CASE(name)                                                                                 \
    static void name##_on(const struct rig_card *cfg);                                             \
    START_TEST(name)                                                                               \
    {                                                                                              \
        struct rig_card card = rig_card((unsigned)_i);                                             \
        name##_on(&card);                                                                          \
    }                                                                                              \
    END_TEST                                                                                       \
    static void name##_on(const struct rig_card *cfg)

/* Which cards a program runs its cases on: all; those with ports only; those whose memory the host
 * sees. */
enum conform_cards { CARDS_ALL, CARDS_PORTS, CARDS_MEMORY };

/* Of the cards numbered [first, end), what this program has: in two pieces, 0 and 1. */
struct conform_range {
    int first, end;
};
struct conform_range conform_piece(unsigned piece, unsigned first, unsigned end);

#define ADD_CASE_FOR(tcase, name, first_, end_)                                                    \
    for (unsigned piece_ = 0; piece_ < 2; piece_++) {                                              \
        struct conform_range range_ = conform_piece(piece_, first_, end_);                         \
        if (range_.first < range_.end) {                                                           \
            tcase_add_loop_test(tcase, name, range_.first, range_.end);                            \
        }                                                                                          \
    }

#define ADD_CASE(tcase, name) ADD_CASE_FOR(tcase, name, 0, rig_card_count())

/* For one family; `why` tells why the other cannot have it.  The list is printed by the suite. */
#define ADD_CASE_8390(tcase, name, why)                                                            \
    conform_not_for("rtl8139", #name, why);                                                        \
    ADD_CASE_FOR(tcase, name, 0, rig_8390_count())
#define ADD_CASE_NE2000(tcase, name, why)                                                          \
    conform_not_for("rtl8139 and boards with shared memory", #name, why);                          \
    ADD_CASE_FOR(tcase, name, 0, sim_card_count)
#define ADD_CASE_8139(tcase, name, why)                                                            \
    conform_not_for("8390", #name, why);                                                           \
    ADD_CASE_FOR(tcase, name, rig_8390_count(), rig_card_count())

void conform_not_for(const char *family, const char *name, const char *why);

/* Run these parts, ended by a null, on those cards: the exit status. */
int conform_run(const char *name, enum conform_cards cards, TCase *(*const parts[])(void));

TCase *conform_rx(void);
TCase *conform_overrun(void);
TCase *conform_tx(void);
TCase *conform_irq(void);
TCase *conform_soak(void);
TCase *conform_8139_rx(void);
TCase *conform_8139(void);
TCase *conform_lines(void);
TCase *conform_shared(void);
TCase *conform_leave(void);
TCase *conform_dos(void);

static inline bool conform_is_level(const struct rig_card *cfg)
{
    return cfg->rtl8139 != NULL && cfg->rtl8139->level;
}

#endif
