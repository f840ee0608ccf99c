/*
 * The pool of receive frames: a list, last in first out, so that the frame taken next is the one
 * most likely still in the cache.
 */
#include "drivers/frame.h"

#include "kernel/string.h"
#include "kernel/trap.h"

_Static_assert((offsetof(struct frame, data) + 14) % 4 == 0, "the IP header is aligned");
_Static_assert(offsetof(struct frame, data) ==
                   offsetof(struct frame, above) + FRAME_ABOVE + FRAME_ALIGN_SHIFT,
               "nothing lies between the space above and the data");

static struct {
    struct frame *first, *end; /* the whole pool, [first, end) */
    struct frame *top;
    unsigned size, free, low, dry;
} pool;

void frame_pool_init(void *memory, unsigned count)
{
    pool.first = memory;
    pool.end = pool.first + count;
    pool.top = NULL;
    for (unsigned i = count; i-- > 0;) {
        struct frame *f = &pool.first[i];

        f->next = pool.top;
        f->nic = FRAME_IN_POOL;
        pool.top = f;
    }
    pool.size = pool.free = pool.low = count;
    pool.dry = 0;
}

struct frame *frame_alloc(void)
{
    struct frame *f = pool.top;

    if (f == NULL) {
        pool.dry++;
        return NULL;
    }
    pool.top = f->next;
    f->nic = FRAME_UNUSED;
    f->packet = f->data;
    pool.free--;
    if (pool.free < pool.low) {
        pool.low = pool.free;
    }
    return f;
}

void frame_free(struct frame *f)
{
    ASSERT(f >= pool.first && f < pool.end);
    if (f->nic == FRAME_IN_POOL) {
        panic("frame %u given back twice", (unsigned)(f - pool.first));
    }
    f->nic = FRAME_IN_POOL;
    f->next = pool.top;
    pool.top = f;
    pool.free++;
}

ptrdiff_t frame_keep(struct frame *f)
{
    ptrdiff_t moved = f->data - f->packet;

    memcpy(f->data, f->packet, f->length);
    f->packet = f->data;
    return moved;
}

unsigned frame_pool_size(void)
{
    return pool.size;
}

unsigned frame_pool_free(void)
{
    return pool.free;
}

unsigned frame_pool_low(void)
{
    return pool.low;
}

unsigned frame_pool_dry(void)
{
    return pool.dry;
}
