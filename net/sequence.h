/*
 * Numbered datagrams: how many were lost, came twice or out of order, and the jitter.
 *
 * What comes late fills the gap it had left, so it is not lost; what comes twice counts as a
 * duplicate, not as out of order.  To tell them apart the last SEQUENCE_WINDOW numbers are
 * remembered; older ones are taken for late as long as any number is missing.
 */
#ifndef NET_SEQUENCE_H
#define NET_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { SEQUENCE_WINDOW = 1024 };

enum sequence_kind {
    SEQUENCE_NEXT,   /* higher than any before, with or without a gap */
    SEQUENCE_LATE,   /* counted in ooo                                */
    SEQUENCE_TWICE,  /* counted in dup                                */
    SEQUENCE_BEFORE, /* lower than the first of this count: not counted at all */
};

struct sequence {
    uint64_t first; /* where counting began            */
    uint64_t next;  /* one above the highest seen      */
    uint64_t distinct, dup, ooo;
    bool timed;         /* there is a transit time to compare with */
    uint64_t transit;   /* of the datagram before, us, modulo 2^64: the clocks differ */
    uint32_t jitter_16; /* 16 times the jitter, us                 */
    uint32_t seen[SEQUENCE_WINDOW / 32];
};

/* Numbers from `first` on; none of them seen yet.  Also to begin counting anew in mid-flow. */
void sequence_start(struct sequence *s, uint64_t first);

enum sequence_kind sequence_add(struct sequence *s, uint64_t number);

/* The jitter of RFC 3550, A.8: for every datagram but duplicates, in order of arrival; when it was
 * sent by the sender's clock, when it arrived by ours. */
void sequence_time(struct sequence *s, uint64_t sent_us, uint64_t arrived_us);

uint64_t sequence_lost(const struct sequence *s);
uint32_t sequence_jitter_us(const struct sequence *s);

#endif
