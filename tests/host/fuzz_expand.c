/*
 * Fuzz target: what is unpacked.  The first byte says what the others are: bytes to be packed and
 * unpacked again; or a packed stream that is then signed, so that it gets beyond the sum, and
 * which damage has made something else of.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot/unpack/expand.h"
#include "iso/pack/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void step(void)
{
}

/* Into an exact allocation, so a byte written too far is seen. */
static int unpack(const uint8_t *packed, size_t n, size_t room, const uint8_t *expected)
{
    uint8_t *out = malloc(room + (room == 0));
    int status = expand(packed, n, out, room, step);
    int same = status == 0 && expected != NULL && memcmp(out, expected, room) == 0;
    free(out);
    return same;
}

static void there_and_back(const uint8_t *data, size_t size)
{
    struct bytes packed = pack_image(data, size);
    if (!unpack(packed.at, packed.n, size, data)) {
        abort();
    }
    free(packed.at);
}

/* Two bytes of room, then changes of three bytes, place and mask, to something that was packed. */
static void damaged(const uint8_t *data, size_t size)
{
    static const uint8_t plain[600] = "one thing, and another thing, and yet another";
    static struct bytes intact;
    if (intact.at == NULL) {
        intact = pack_image(plain, sizeof plain);
    }
    struct bytes packed = {malloc(intact.n), intact.n};
    memcpy(packed.at, intact.at, intact.n);
    size_t room = size >= 2 ? data[0] | (size_t)data[1] << 8 : 0;
    for (size_t i = 2; i + 3 <= size; i += 3) {
        packed.at[(data[i] | (size_t)data[i + 1] << 8) % packed.n] ^= data[i + 2];
    }
    sign(packed);
    unpack(packed.at, packed.n, room, NULL);
    free(packed.at);
}

/* The input itself. */
static void foreign(const uint8_t *data, size_t size)
{
    size_t room = size >= 2 ? data[0] | (size_t)data[1] << 8 : 0, n = SUM_BYTES + size / 4 * 4;
    uint8_t *packed = calloc(1, n);
    memcpy(packed + SUM_BYTES, data, size / 4 * 4);
    sign((struct bytes){packed, n});
    unpack(packed, n, room, NULL);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    if (data[0] == 0) {
        there_and_back(data + 1, size - 1); /* takes long */
    } else if (data[0] % 2 == 0) {
        damaged(data + 1, size - 1);
    } else {
        foreign(data + 1, size - 1);
    }
    return 0;
}
