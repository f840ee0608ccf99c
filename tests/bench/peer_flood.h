/*
 * Frames at a rate that no processor has a part in: a virtio network card of QEMU sends one each
 * `x-txtimer` of guest time (tx=timer,x-txburst=1), from a queue that is only kept filled.
 */
#ifndef TESTS_BENCH_PEER_FLOOD_H
#define TESTS_BENCH_PEER_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

enum { FLOOD_FRAME_MAX = 1514 };

/* Find the card and set up its queue, all of whose entries are this frame.  False: no card. */
bool peer_flood_open(const uint8_t *frame, unsigned length);

/* Send `count` frames; then call peer_flood_turn() at least every 200 intervals of the timer. */
void peer_flood_start(uint32_t count);

/* Frames sent so far; keeps the queue filled. */
uint32_t peer_flood_turn(void);

#endif
