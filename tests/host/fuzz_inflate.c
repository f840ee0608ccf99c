/*
 * Fuzz target: a damaged product.  The first two bytes are the room, the rest is the packed stream.
 * What zlib unpacks exactly, ours must unpack to the same (but for headers with names).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "boot/unpack/inflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GZIP_WINDOW = 16 + 15, FLAGS = 3 };

static void step(void)
{
}

/* zlib finds exactly `room` bytes and uses all of the input. */
static int zlib_takes(const uint8_t *packed, size_t n, uint8_t *out, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)packed,
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = (uInt)room};
    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
        abort();
    }
    int end = inflate(&z, Z_FINISH);
    int takes = end == Z_STREAM_END && packed[FLAGS] == 0 && z.avail_in == 0 && z.avail_out == 0;
    inflateEnd(&z);
    return takes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t room = data[0] | (size_t)data[1] << 8, n = size - 2;
    uint8_t *packed = malloc(n + (n == 0)), *its = malloc(room + 1);
    memcpy(packed, data + 2, n);
    uint8_t *exact = malloc(room + (room == 0)); /* a byte written too far is seen */
    int status = inflate_stream(packed, n, exact, room, step);
    if (zlib_takes(packed, n, its, room) && (status != 0 || memcmp(exact, its, room) != 0)) {
        abort();
    }
    free(packed);
    free(its);
    free(exact);
    return 0;
}
