/*
 * pack IMAGE PACKED: pack a file, and see that unpacking gives it back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/unpack/expand.h"
#include "iso/pack/pack.h"

static _Noreturn void give_up(const char *path, const char *why)
{
    fprintf(stderr, "pack: %s: %s\n", path, why);
    exit(1);
}

static struct bytes read_file(const char *path)
{
    struct bytes b = {room_for(PACK_MAX), 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        give_up(path, "cannot be opened");
    }
    b.n = fread(b.at, 1, PACK_MAX, file);
    if (ferror(file) || fgetc(file) != EOF) {
        give_up(path, "cannot be read, or is longer than 1 MB");
    }
    fclose(file);
    return b;
}

static void write_file(const char *path, struct bytes b)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(b.at, 1, b.n, file) != b.n || fclose(file) != 0) {
        give_up(path, "cannot be written");
    }
}

static void working(void)
{
}

static void check(const char *path, struct bytes packed, struct bytes image)
{
    uint8_t *again = room_for(image.n);
    if (expand(packed.at, packed.n, again, image.n, working) != 0 ||
        memcmp(again, image.at, image.n) != 0) {
        give_up(path, "does not come out as it went in");
    }
    free(again);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: pack IMAGE PACKED\n");
        return 2;
    }
    struct bytes image = read_file(argv[1]);
    struct bytes packed = pack_image(image.at, image.n);
    check(argv[1], packed, image);
    write_file(argv[2], packed);
    free(packed.at);
    free(image.at);
    return 0;
}
