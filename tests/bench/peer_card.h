/*
 * The bench peer's own NE2000: a second card on the hub, driven with as little as it takes.  Not
 * our driver: what is measured must not measure itself.
 *
 * QEMU only.  Its NE2000 has 32 KB of buffer, twice what the board had, and all of it is used
 * here: 20 full frames or 121 short ones fit, so nothing the box sends within the peer's window is
 * ever lost.  A transmission is over, and the frame in the other card's ring, when the instruction
 * that starts it is.
 */
#ifndef TESTS_BENCH_PEER_CARD_H
#define TESTS_BENCH_PEER_CARD_H

#include <stdbool.h>
#include <stdint.h>

enum { PEER_HEAD = 54 }; /* Ethernet, IP and TCP header: all that is read of a frame */

/* Reset and start; false if there is no such card. */
bool peer_card_open(const uint8_t mac[6]);

/* The first PEER_HEAD bytes of the next frame; false if there is none. */
bool peer_card_receive(uint8_t head[PEER_HEAD]);

/* Put `n` bytes (even) at the start of the frame to be sent; what is behind them stays. */
void peer_card_store(const void *from, unsigned n);

/* Send the stored frame. */
void peer_card_send(unsigned length);

/* How many since peer_card_open(). */
uint32_t peer_card_sent(void);

#endif
