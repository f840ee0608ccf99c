/*
 * A machine with one simulated card, brought up by the real nics_init(), and a main loop of the
 * kernel's shape around it.  Conformance cases are written against drivers/nic.h and the test side
 * of the chip only, so the same case runs on every card.
 */
#ifndef TESTS_HOST_RIG_H
#define TESTS_HOST_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/nic.h"
#include "tests/host/rig_card.h"

enum {
    RIG_BASE = 0x300,
    RIG_PCI_BASE = 0xE000,
    RIG_PCI_DEVICE = 9,
    RIG_IRQ = 5, /* every board can drive it */
    RIG_POOL = 64,
    RIG_KEPT = 1024,
    RIG_BURST = 16
};

struct rig {
    struct rig_card cfg;
    const struct rig_side *side;
    struct sim_card card;
    struct sim_wd wd;
    struct sim_el2 el2;
    struct sim_chip *chip; /* of one of these                                      */
    struct sim_rtl rtl;
    struct nic *nic;
    uint64_t next_service_us;
    bool hold_frames; /* do not give received frames back to the pool         */
    struct frame *held[RIG_POOL];
    unsigned holding;
    unsigned received; /* frames handed upwards since rig_up                   */
    uint64_t received_bytes;
    struct sim_frame *kept; /* copies of the first RIG_KEPT of them                  */
};

/* Machine on, card found and open, nothing captured yet. */
void rig_up(struct rig *r, const struct rig_card *cfg);

/* The machine around the card, without looking for it; and looking again. */
void rig_machine(struct rig *r, const struct rig_card *cfg);
void rig_find(struct rig *r);

/* The machine starts again, the cards as they are: memory and interrupt handlers are gone.  Does
 * not look for the card. */
void rig_reboot(struct rig *r);

/* Everything quiet again; fails the test if a frame leaked or the card is not at rest. */
void rig_down(struct rig *r);

/* ---- main loop ---- */

/* The frames of a burst taken by hand are given back or kept. */
void rig_rx_done(struct nic *nic);

/* One turn as net.c makes it; true if it did anything. */
bool rig_turn(struct rig *r);

/* Turns until nothing is left to do. */
void rig_pump(struct rig *r);

/* The same and then until everything accepted was sent; false if that takes over 100 ms. */
bool rig_drain(struct rig *r);

/* The idle protocol of kmain.c: arm, halt, disarm.  False if a card refused to be armed. */
bool rig_idle(struct rig *r);

/* Give held frames back. */
void rig_release_frames(struct rig *r);

/* ---- frames: destination, source, type 88B5h, then bytes that depend on `seed` ---- */

/* To the card from outside. */
void rig_frame(uint8_t *to, unsigned length, unsigned seed);
void rig_receive(struct rig *r, unsigned length, unsigned seed);

/* Assert: frame number `index` handed upwards is the one of (length, seed). */
void rig_expect(struct rig *r, unsigned index, unsigned length, unsigned seed);

/* From the card, as one slice; true if accepted. */
void rig_frame_out(uint8_t *to, unsigned length, unsigned seed);
bool rig_send(struct rig *r, unsigned length, unsigned seed);

/* Assert: frame number `index` on the wire is that one, padded with zeros. */
void rig_expect_sent(struct rig *r, unsigned index, unsigned length, unsigned seed);

/* A small repeatable random number generator. */
unsigned rig_random(unsigned *state);

#endif
