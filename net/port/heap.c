/*
 * Blocks of four sizes, each behind a note of the list it belongs to.
 */
#include "net/port/heap.h"

#include "kernel/string.h"
#include "kernel/trap.h"

enum {
    SIZES = 4,
    FREE = SIZES,
    SMALL = 128,       /* a header, or a short write: pbuf, 54 bytes of headers, 40 of data  */
    MEDIUM = 512,      /* a DHCP message                                                     */
    FRAME = 1616,      /* a segment                                                          */
    LARGE = 24 * 1024, /* an echo reply in fragments                                         */
    PERCENT = 100,
};

struct block {
    struct block *next;
    unsigned size; /* index of its list, once taken; FREE in the list */
};

/* Of what the large blocks (one in 96 KB) leave, each size's percentage. */
static const struct {
    unsigned bytes, percent;
} plan[SIZES] = {{SMALL, 30}, {MEDIUM, 15}, {FRAME, 55}, {LARGE, 0}};

static struct block *lists[SIZES];

static unsigned char *make(unsigned size, unsigned count, unsigned char *at)
{
    lists[size] = NULL;
    while (count-- > 0) {
        struct block *b = (struct block *)(void *)at;

        b->next = lists[size];
        b->size = FREE;
        lists[size] = b;
        at += sizeof(struct block) + plan[size].bytes;
    }
    return at;
}

void heap_init(void *memory, size_t bytes)
{
    unsigned large = (unsigned)(bytes / HEAP_MIN);
    size_t left = bytes - large * (sizeof(struct block) + LARGE);
    unsigned char *at = make(SIZES - 1, large, memory);

    ASSERT(bytes >= HEAP_MIN);
    for (unsigned size = 0; size < SIZES - 1; size++) {
        at = make(size,
                  (unsigned)(left / PERCENT * plan[size].percent /
                             (sizeof(struct block) + plan[size].bytes)),
                  at);
    }
}

void *heap_take(size_t bytes)
{
    unsigned size = bytes <= SMALL ? 0 : bytes <= MEDIUM ? 1 : bytes <= FRAME ? 2 : SIZES - 1;
    struct block *b;

    if (bytes > LARGE) {
        return NULL;
    }
    while ((b = lists[size]) == NULL) {
        if (++size == SIZES) {
            return NULL;
        }
    }
    lists[size] = b->next;
    b->size = size;
    return b + 1;
}

void *heap_take_zeroed(size_t count, size_t bytes)
{
    void *block = bytes != 0 && count > LARGE / bytes ? NULL : heap_take(count * bytes);

    if (block != NULL) {
        memset(block, 0, count * bytes);
    }
    return block;
}

void heap_give(void *block)
{
    struct block *b;
    unsigned size;

    if (block == NULL) {
        return;
    }
    b = (struct block *)block - 1;
    size = b->size;
    b->size = FREE;
    if (size < SIZES) {
        b->next = lists[size];
        lists[size] = b;
    } else {
        panic("a block of lwIP's heap given back twice, or written over");
    }
}
