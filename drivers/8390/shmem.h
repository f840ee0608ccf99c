/*
 * Card memory that the host sees directly: what WD80x3 and 3C503 boards share.
 *
 * Everything goes in the width the card allows: in a 16-bit window by whole words at even
 * addresses, in an 8-bit one by bytes.
 */
#ifndef DRIVERS_8390_SHMEM_H
#define DRIVERS_8390_SHMEM_H

#include "drivers/8390/dp8390.h"

/* `n` bytes at even `offset` into `to`. */
void shmem_read(struct iowin w, bool word, unsigned offset, void *to, unsigned n);

/* Gather a frame to even `offset`, followed by zeros up to `padded` bytes (one more if odd). */
void shmem_write(struct iowin w, bool word, unsigned offset, const struct tx_frame *frame,
                 unsigned padded);

enum shmem_state {
    SHMEM_GOOD,
    SHMEM_ONES,  /* reads FF: nothing is there, or something covers it */
    SHMEM_BAD,   /* does not keep what is written, or is smaller       */
    SHMEM_TAKEN, /* somebody answers there before the card does       */
};

/* Write and read samples all over `bytes` of card memory from `first` on, by the board's own ways;
 * what it held is lost.  The board is enabled, the chip stopped. */
enum shmem_state shmem_test(struct dp8390 *d, unsigned first, unsigned bytes);

/* The same, in the window; does it fail there, window 0, by the board's other way, and a line that
 * says so, with the `other` in it.  False: that fails, too; `why` then holds the words. */
bool shmem_settle(struct dp8390 *d, unsigned first, unsigned bytes, const char *other, char *why,
                  size_t why_size);

/* Looking only, in bytes: does nobody answer in `bytes` from there? */
bool shmem_is_free(struct iowin w, unsigned bytes);

/* Can `bytes` of card memory be at `base`?  Between the video memory and the firmware, aligned. */
bool shmem_base_possible(uint32_t base, unsigned bytes);

/* The words for a card whose memory at `base` is not SHMEM_GOOD, into `why`. */
void shmem_explain(enum shmem_state state, uint32_t base, char *why, size_t why_size);

/* A frame by and by, for boards that take it through a port: the next `n` bytes of it into `to`,
 * zeros after its end.  A walk begins with all but `frame` zero. */
struct gather {
    const struct tx_frame *frame;
    unsigned slice, used;
};
void gather_next(struct gather *g, uint8_t *to, unsigned n);

#endif
