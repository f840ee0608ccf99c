/*
 * Card memory in the address space of the bus: copying in its width, and testing it.
 */
#include "drivers/8390/shmem.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    HOLE_FIRST = 0xC0000, /* adapters' memory on a PC: IBM AT Technical Reference, memory map */
    HOLE_END = 0xF0000,
    SAMPLE = 32,
    SAMPLE_EVERY = 2048,
    ONES = 0xFF,
};

void shmem_read(struct iowin w, bool word, unsigned offset, void *to, unsigned n)
{
    uint16_t last;

    if (!word) {
        mem_read8(w, offset, to, n);
        return;
    }
    mem_read16(w, offset, to, n / 2);
    if (n % 2 != 0) {
        mem_read16(w, offset + n - 1, &last, 1);
        ((uint8_t *)to)[n - 1] = (uint8_t)last;
    }
}

static const uint8_t zeros[FRAME_MIN];

static void write_bytes(struct iowin w, unsigned offset, const struct tx_frame *frame,
                        unsigned padding)
{
    for (unsigned i = 0; i < frame->n; i++) {
        mem_write8(w, offset, frame->v[i].at, frame->v[i].length);
        offset += frame->v[i].length;
    }
    mem_write8(w, offset, zeros, padding);
}

/* The odd byte at the end of a slice is the low half of a word whose high half comes from the
 * next: no word is written twice, none in halves. */
static void write_words(struct iowin w, unsigned offset, const struct tx_frame *frame,
                        unsigned padding)
{
    uint8_t pair[2] = {0, 0};
    bool odd = false;

    for (unsigned i = 0; i < frame->n; i++) {
        const uint8_t *at = frame->v[i].at;
        unsigned n = frame->v[i].length;

        if (odd && n > 0) {
            pair[1] = *at++;
            n--;
            mem_write16(w, offset, pair, 1);
            offset += 2;
            odd = false;
        }
        mem_write16(w, offset, at, n / 2);
        offset += n / 2 * 2;
        if (n % 2 != 0) {
            pair[0] = at[n - 1];
            odd = true;
        }
    }
    if (odd) {
        pair[1] = 0; /* padding, or beyond the frame */
        mem_write16(w, offset, pair, 1);
        offset += 2;
        padding -= padding > 0;
    }
    mem_write16(w, offset, zeros, (padding + 1) / 2);
}

void shmem_write(struct iowin w, bool word, unsigned offset, const struct tx_frame *frame,
                 unsigned padded)
{
    if (word) {
        write_words(w, offset, frame, padded - frame->total);
    } else {
        write_bytes(w, offset, frame, padded - frame->total);
    }
}

void gather_next(struct gather *g, uint8_t *to, unsigned n)
{
    while (n > 0 && g->slice < g->frame->n) {
        const struct slice *v = &g->frame->v[g->slice];
        const unsigned left = v->length - g->used;
        const unsigned part = left < n ? left : n;

        memcpy(to, (const uint8_t *)v->at + g->used, part);
        to += part;
        n -= part;
        g->used += part;
        if (g->used == v->length) {
            g->slice++;
            g->used = 0;
        }
    }
    memset(to, 0, n);
}

/* ---- testing ---- */

static uint8_t pattern(unsigned offset, unsigned i)
{
    return (uint8_t)(offset / SAMPLE_EVERY * 0x3B + i * 0x1D + 0x5A);
}

/* All samples are written before the first is read: a smaller memory repeats itself. */
enum shmem_state shmem_test(struct dp8390 *d, unsigned first, unsigned bytes)
{
    const unsigned end = first + bytes;
    uint8_t sample[SAMPLE];
    bool ones = true;
    bool good = true;

    for (unsigned at = first; at < end; at += SAMPLE_EVERY) {
        const struct slice slice = {sample, SAMPLE};
        const struct tx_frame block = {&slice, 1, SAMPLE};

        for (unsigned i = 0; i < SAMPLE; i++) {
            sample[i] = pattern(at, i);
        }
        if (d->board->write(d, at, &block, SAMPLE) != 0) {
            return SHMEM_BAD;
        }
    }
    for (unsigned at = first; at < end; at += SAMPLE_EVERY) {
        d->board->read(d, at, sample, SAMPLE);
        for (unsigned i = 0; i < SAMPLE; i++) {
            ones = ones && sample[i] == ONES;
            good = good && sample[i] == pattern(at, i);
        }
    }
    return good ? SHMEM_GOOD : ones ? SHMEM_ONES : SHMEM_BAD;
}

bool shmem_is_free(struct iowin w, unsigned bytes)
{
    uint8_t sample[SAMPLE];

    for (unsigned offset = 0; offset < bytes; offset += SAMPLE_EVERY) {
        mem_read8(w, offset, sample, SAMPLE);
        for (unsigned i = 0; i < SAMPLE; i++) {
            if (sample[i] != ONES) {
                return false;
            }
        }
    }
    return true;
}

bool shmem_base_possible(uint32_t base, unsigned bytes)
{
    return base >= HOLE_FIRST && base + bytes <= HOLE_END && base % bytes == 0;
}

void shmem_explain(enum shmem_state state, uint32_t base, char *why, size_t why_size)
{
    static const char *const words[] = {
        [SHMEM_GOOD] = "its memory at 0x%x is good",
        [SHMEM_ONES] =
            "its memory at 0x%x reads ff: no cache, shadow RAM or other card may be there",
        [SHMEM_BAD] = "its memory at 0x%x does not keep data: is another card or shadow RAM there?",
        [SHMEM_TAKEN] = "another card or a ROM is at 0x%x, where its memory should be: move one",
    };

    format(why, why_size, words[state], (unsigned)base);
}

bool shmem_settle(struct dp8390 *d, unsigned first, unsigned bytes, const char *other, char *why,
                  size_t why_size)
{
    enum shmem_state state = shmem_test(d, first, bytes);

    if (state != SHMEM_GOOD && d->window.base != 0) {
        shmem_explain(state, d->window.base, why, why_size);
        nic_log(d->nic, "%s; using its %s", why, other);
        d->window.base = 0;
        state = shmem_test(d, first, bytes);
    }
    format(why, why_size, "its memory does not answer through the %s either", other);
    return state == SHMEM_GOOD;
}
