/*
 * The cards the conformance suite runs on, of whichever family, behind one test side: a case that
 * uses only this and drivers/nic.h runs on all of them.
 */
#ifndef TESTS_HOST_RIG_CARD_H
#define TESTS_HOST_RIG_CARD_H

#include <stddef.h>

#include "tests/host/sim/3c503.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/rtl8139.h"
#include "tests/host/sim/wd80x3.h"
#include "tests/host/sim/wire.h"

struct rig;

/* One specimen: one of these. */
struct rig_card {
    const char *name;
    const struct sim_card_config *ne2000;
    const struct sim_wd_config *wd80x3;
    const struct sim_el2_config *el2; /* 3C503 */
    const struct sim_rtl_config *rtl8139;
};

/* Number `index`: first every board with an 8390, the ne2000s before the others, then every
 * rtl8139. */
struct rig_card rig_card(unsigned index);
unsigned rig_card_count(void);
unsigned rig_8390_count(void);

static inline bool rig_is_8390(const struct rig_card *card)
{
    return card->rtl8139 == NULL;
}

/* Nanoseconds the bus needs for `bytes` of a frame at least; 0: it is not the CPU's. */
uint64_t rig_bus_ns(const struct rig_card *card, unsigned bytes);

/* A family's test side. */
struct rig_side {
    void (*plug)(struct rig *r);
    void (*unplug)(struct rig *r);
    void (*receive)(struct rig *r, const void *data, unsigned length, unsigned damage);
    void (*receive_at)(struct rig *r, uint64_t at_ns, const void *data, unsigned length);
    void (*hold_tx)(struct rig *r);
    void (*release_tx)(struct rig *r);
    void (*tx_fate)(struct rig *r, enum sim_tx_fate fate, unsigned collisions);
    bool (*tx_quiet)(const struct rig *r); /* nothing being sent, no fate waiting */
    unsigned (*fill_ring)(struct rig *r, unsigned length);
    unsigned (*sent_count)(const struct rig *r);
    const struct sim_frame *(*sent)(const struct rig *r, unsigned index);
    unsigned (*stored)(const struct rig *r);
    unsigned (*missed)(const struct rig *r);
    unsigned (*overruns)(const struct rig *r);
    unsigned (*mask)(const struct rig *r);
    void (*move_irq)(struct rig *r, int line); /* its line goes elsewhere */
    bool (*online)(const struct rig *r);
    bool (*at_rest)(const struct rig *r);
    uint64_t (*frame_ns)(const struct rig *r, unsigned length);
    unsigned slots; /* frames that can wait to be sent */
};

const struct rig_side *rig_side(const struct rig_card *card);

#endif
