/*
 * What can be copied to each place: all earlier places that begin with the same two bytes, nearest
 * first, each longer match that turns up.
 */
#include <stdint.h>
#include <stdlib.h>

#include "iso/pack/pack.h"

enum {
    PAIRS = 1 << 16,
    LOOKS_MAX = 4096, /* earlier places, where there are only zeros */
    NONE = UINT32_MAX,
};

struct search {
    const uint8_t *image;
    size_t n;
    uint32_t *last;     /* place of each pair of bytes, or NONE */
    uint32_t *previous; /* one with the same pair, or NONE      */
};

static unsigned match_length(const struct search *s, size_t a, size_t b)
{
    unsigned length = 0;
    while (length < COPY_MAX && b + length < s->n && s->image[a + length] == s->image[b + length]) {
        length++;
    }
    return length;
}

/* Those of one place, into `to`, which holds COPY_MAX; returns how many. */
static unsigned look(struct search *s, size_t at, struct match *to)
{
    unsigned pair = s->image[at] | (unsigned)s->image[at + 1] << 8;
    unsigned count = 0, longest = COPY_MIN - 1, looks = 0;
    for (uint32_t old = s->last[pair]; old != NONE && looks < LOOKS_MAX; old = s->previous[old]) {
        unsigned length = match_length(s, old, at);
        looks++;
        if (length > longest) {
            longest = length;
            to[count++] = (struct match){(uint16_t)length, (uint32_t)at - old};
        }
        if (length == COPY_MAX) {
            break;
        }
    }
    s->previous[at] = s->last[pair];
    s->last[pair] = (uint32_t)at;
    return count;
}

struct matches find_matches(const uint8_t *image, size_t n)
{
    struct search s = {image, n, room_for(PAIRS * sizeof *s.last),
                       room_for(n * sizeof *s.previous)};
    struct matches m = {NULL, room_for((n + 1) * sizeof *m.first)};
    size_t room = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        s.last[pair] = NONE;
    }
    for (size_t at = 0; at < n; at++) {
        if (room - m.first[at] < COPY_MAX) {
            room = 2 * room + COPY_MAX;
            m.all = more_room(m.all, room * sizeof *m.all);
        }
        unsigned count = at + COPY_MIN <= n ? look(&s, at, m.all + m.first[at]) : 0;
        m.first[at + 1] = m.first[at] + count;
    }
    free(s.last);
    free(s.previous);
    return m;
}
