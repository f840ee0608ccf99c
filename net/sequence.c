/*
 * The accounting of numbered datagrams.
 */
#include "net/sequence.h"

#include "kernel/string.h"

enum {
    WORD_BITS = 32,
    TRANSIT_STEP_MAX = 60000000, /* a minute: what lies beyond is a sender's clock being set */
    JITTER_SHIFT = 4,            /* RFC 3550: gain 1/16 */
};

void sequence_start(struct sequence *s, uint64_t first)
{
    memset(s, 0, sizeof(*s));
    s->first = s->next = first;
}

static uint32_t *word_of(struct sequence *s, uint64_t number)
{
    return &s->seen[number % SEQUENCE_WINDOW / WORD_BITS];
}

static uint32_t bit_of(uint64_t number)
{
    return 1u << number % WORD_BITS;
}

/* Nothing in [next, number) has been seen; their places belonged to older numbers. */
static void forget_gap(struct sequence *s, uint64_t number)
{
    if (number - s->next >= SEQUENCE_WINDOW) {
        memset(s->seen, 0, sizeof(s->seen));
        return;
    }
    for (uint64_t n = s->next; n < number; n++) {
        *word_of(s, n) &= ~bit_of(n);
    }
}

static enum sequence_kind late_or_twice(struct sequence *s, bool late)
{
    if (!late) {
        s->dup++;
        return SEQUENCE_TWICE;
    }
    s->ooo++;
    s->distinct++;
    return SEQUENCE_LATE;
}

enum sequence_kind sequence_add(struct sequence *s, uint64_t number)
{
    if (number < s->first) {
        return SEQUENCE_BEFORE;
    }
    if (number >= s->next) {
        forget_gap(s, number);
        *word_of(s, number) |= bit_of(number);
        s->next = number + 1;
        s->distinct++;
        return SEQUENCE_NEXT;
    }
    if (s->next - number > SEQUENCE_WINDOW) {
        return late_or_twice(s, sequence_lost(s) != 0);
    }
    if ((*word_of(s, number) & bit_of(number)) != 0) {
        return late_or_twice(s, false);
    }
    *word_of(s, number) |= bit_of(number);
    return late_or_twice(s, true);
}

void sequence_time(struct sequence *s, uint64_t sent_us, uint64_t arrived_us)
{
    uint64_t transit = arrived_us - sent_us;
    uint64_t step = transit - s->transit;

    if (step > INT64_MAX) {
        step = 0 - step;
    }
    if (s->timed && step <= TRANSIT_STEP_MAX) {
        s->jitter_16 += (uint32_t)step - ((s->jitter_16 + 8) >> JITTER_SHIFT);
    }
    s->transit = transit;
    s->timed = true;
}

uint64_t sequence_lost(const struct sequence *s)
{
    return s->next - s->first - s->distinct;
}

uint32_t sequence_jitter_us(const struct sequence *s)
{
    return s->jitter_16 >> JITTER_SHIFT;
}
