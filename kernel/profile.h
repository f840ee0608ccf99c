/*
 * Where the processor spends its time, by samples of the interrupted instruction.  Costs nothing
 * while it is off: it has an interrupt of its own, that of the real-time clock.
 *
 * Code with interrupts disabled is seen where it enables them again: an interrupt handler's time
 * counts for what it interrupted, arming and disarming the cards counts as idle.
 *
 * tests/host/fake_profile.c has the same interface, fed by the test.
 */
#ifndef KERNEL_PROFILE_H
#define KERNEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* As tests/bench/image.py names them; the numbers are those of the map in the image. */
enum profile_layer {
    PROFILE_OTHER,
    PROFILE_DRIVER,
    PROFILE_NETIF,
    PROFILE_LWIP,
    PROFILE_CHECKSUM,
    PROFILE_COPY,
    PROFILE_RESPONDER,
    PROFILE_INTERRUPT, /* entry and exit only; handlers run with interrupts disabled */
    PROFILE_CLOCK,
    PROFILE_IDLE, /* the halt, and turns of the main loop */
    PROFILE_LAYERS,
};

/* Begin, all counts zero.  False if this image has no map or the machine no such interrupt. */
bool profile_start(void);

void profile_stop(void);

/* Samples of each layer since the start. */
void profile_counts(uint32_t counts[PROFILE_LAYERS]);

const char *profile_layer_name(enum profile_layer layer);

#endif
