/*
 * Program headers, in the first sector: for each piece of the file, copy what belongs to a segment
 * to its place.  So no second copy of the file has to find room on a machine with 2 MB.
 */
#include "boot/floppy/image.h"

#include <stdbool.h>

#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"

struct elf_header {
    uint8_t magic[4], class, order, unused[10];
    uint16_t type, machine;
    uint32_t version, entry, headers_at, sections_at, flags;
    uint16_t size, header_size, headers;
};
struct program_header {
    uint32_t type, offset, virtual_at, physical_at, file_bytes, memory_bytes, flags, align;
};
enum { CLASS_32 = 1, LITTLE_ENDIAN = 1, TYPE_EXECUTABLE = 2, MACHINE_386 = 3, LOAD = 1 };

enum { SEGMENTS_MAX = 8, MB = 1 << 20 };

static struct image {
    const char *name;
    uint32_t memory_end;
    uint32_t entry;    /* as the header says it: a virtual address */
    uint32_t entry_at; /* the same, physical; 0 if no segment holds it */
    unsigned segments;
    struct program_header segment[SEGMENTS_MAX];
} image;

void image_begin(const char *name, uint32_t memory_end)
{
    image = (struct image){.name = name, .memory_end = memory_end};
}

static bool is_for_us(const struct elf_header *h, uint32_t bytes)
{
    return h->magic[0] == 0x7F && h->magic[1] == 'E' && h->magic[2] == 'L' && h->magic[3] == 'F' &&
           h->class == CLASS_32 && h->order == LITTLE_ENDIAN && h->type == TYPE_EXECUTABLE &&
           h->machine == MACHINE_386 && h->header_size == sizeof(struct program_header) &&
           h->headers_at <= bytes &&
           h->headers <= (bytes - h->headers_at) / sizeof(struct program_header);
}

static void add_segment(const struct program_header *p)
{
    if (image.segments == SEGMENTS_MAX || p->file_bytes > p->memory_bytes || p->physical_at < MB ||
        p->offset + p->file_bytes < p->offset) {
        fail_about(image.name, "damaged, its segments make no sense");
    }
    if (p->physical_at > image.memory_end || p->memory_bytes > image.memory_end - p->physical_at) {
        fail("too little memory, 2 MB are needed");
    }
    image.segment[image.segments++] = *p;
    if (image.entry - p->virtual_at < p->memory_bytes) {
        image.entry_at = image.entry - p->virtual_at + p->physical_at;
    }
}

static void read_headers(uint32_t from, uint32_t bytes)
{
    struct elf_header h;
    struct program_header p;

    if (bytes < sizeof h) {
        fail_about(image.name, "not a program for a 386");
    }
    memory_read(&h, from, sizeof h);
    if (!is_for_us(&h, bytes)) {
        fail_about(image.name, "not a program for a 386");
    }
    image.entry = h.entry;
    for (unsigned i = 0; i < h.headers; i++) {
        memory_read(&p, from + h.headers_at + i * sizeof p, sizeof p);
        if (p.type == LOAD && p.memory_bytes != 0) {
            add_segment(&p);
        }
    }
}

void image_take(uint32_t at, uint32_t from, uint32_t bytes)
{
    if (at == 0) {
        read_headers(from, bytes);
    }
    for (unsigned i = 0; i < image.segments; i++) {
        const struct program_header *p = &image.segment[i];
        uint32_t begin = at > p->offset ? at : p->offset;
        uint32_t end = p->offset + p->file_bytes;
        end = at + bytes < end ? at + bytes : end;
        if (begin < end) {
            memory_copy(p->physical_at + (begin - p->offset), from + (begin - at), end - begin);
        }
    }
}

static void check_whole(uint32_t file_bytes)
{
    if (image.entry_at == 0) {
        fail_about(image.name, "not a program for a 386");
    }
    for (unsigned i = 0; i < image.segments; i++) {
        const struct program_header *p = &image.segment[i];
        if (p->offset + p->file_bytes > file_bytes) {
            fail_about(image.name, "cut off, copy it anew");
        }
    }
}

void image_check(const char *name, uint32_t memory_end, uint32_t from, uint32_t bytes)
{
    image_begin(name, memory_end);
    read_headers(from, bytes);
    check_whole(bytes);
}

uint32_t image_end(uint32_t file_bytes)
{
    check_whole(file_bytes);
    for (unsigned i = 0; i < image.segments; i++) {
        const struct program_header *p = &image.segment[i];
        memory_zero(p->physical_at + p->file_bytes, p->memory_bytes - p->file_bytes);
    }
    return image.entry_at;
}
