/*
 * The other side of a simulated chip: the cable, as the tests see it.
 */
#ifndef TESTS_SIM_WIRE_H
#define TESTS_SIM_WIRE_H

#include "tests/host/sim/dp8390.h"

/* Damage of a frame on the wire. */
enum { WIRE_OK = 0, WIRE_CRC = 1, WIRE_ALIGN = 2 };

/* A frame (without FCS) has just ended on the wire. */
void sim_receive(struct sim_chip *c, const void *data, unsigned length);
void sim_receive_damaged(struct sim_chip *c, const void *data, unsigned length, unsigned damage);

/* A frame begins on the wire at absolute time `at_ns`, or as soon after as the medium is free, and
 * takes its time. */
void sim_receive_at(struct sim_chip *c, uint64_t at_ns, const void *data, unsigned length);

/* The medium is busy: transmissions wait.  And free again. */
void sim_hold_tx(struct sim_chip *c);
void sim_release_tx(struct sim_chip *c);

/* How the next transmission will end. */
void sim_tx_fate(struct sim_chip *c, enum sim_tx_fate fate, unsigned collisions);

/* Receive frames of `length` bytes for this station until the ring overruns; returns how many
 * are in it.  Frame i carries i in bytes 14 and 15. */
unsigned sim_fill_ring(struct sim_chip *c, unsigned length);

/* Change the ring header of the next frame received. */
void sim_corrupt_header(struct sim_chip *c, struct sim_header_damage damage);

/* `n` more events of a tally. */
void sim_raise_tally(struct sim_chip *c, enum sim_tally tally, unsigned n);

/* Is the card's interrupt output high? */
bool sim_irq_level(const struct sim_chip *c);

unsigned sim_frames_sent(const struct sim_chip *c);
const struct sim_frame *sim_sent(const struct sim_chip *c, unsigned index);

/* CRC-32 as it travels (IEEE 802.3), and the multicast hash of the chip (ch. 10, MAR). */
uint32_t wire_crc(const void *data, unsigned n);
unsigned wire_hash(const uint8_t address[6]);

/* Nanoseconds a frame (without FCS) takes, preamble included, interframe gap not. */
uint64_t wire_frame_ns(unsigned length);

#endif
