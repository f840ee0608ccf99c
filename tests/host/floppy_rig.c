/*
 * Written from ECMA-107 and the ELF specification, not from the loader.
 */
#include "tests/host/floppy_rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/firmware.h"

enum { SECTOR = 512, ENTRY = 32, END_OF_CHAIN = 0xFFF };

const struct format format_1440 = {2880, 18, 1, 18, 64, 9};
const struct format format_720 = {1440, 9, 2, 1, 112, 3};

static struct format now;
static unsigned entries;

uint8_t rig_kernel[400 * 1024];

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value & 0xFFFF);
    put16(at + 2, value >> 16);
}

void rig_format(const struct format *f)
{
    now = *f;
    entries = 0;
    memset(pc.disk, 0, sizeof pc.disk);
    pc.per_track = f->per_track;
    pc.heads = 2;
    put16(pc.disk + 11, SECTOR);
    pc.disk[13] = (uint8_t)f->per_cluster;
    put16(pc.disk + 14, f->reserved);
    pc.disk[16] = 2;
    put16(pc.disk + 17, f->roots);
    put16(pc.disk + 19, f->sectors);
    pc.disk[21] = 0xF0;
    put16(pc.disk + 22, f->per_fat);
    put16(pc.disk + 24, f->per_track);
    put16(pc.disk + 26, 2);
    rig_set_fat(0, 0xFF0);
    rig_set_fat(1, END_OF_CHAIN);
}

void rig_set_fat(unsigned cluster, unsigned value)
{
    for (unsigned copy = 0; copy < 2; copy++) {
        uint8_t *at = pc.disk + (now.reserved + copy * now.per_fat) * SECTOR + cluster * 3 / 2;
        if (cluster % 2 == 0) {
            at[0] = (uint8_t)value;
            at[1] = (uint8_t)((at[1] & 0xF0) | value >> 8);
        } else {
            at[0] = (uint8_t)((at[0] & 0x0F) | value << 4);
            at[1] = (uint8_t)(value >> 4);
        }
    }
}

unsigned rig_sector(unsigned cluster)
{
    return now.reserved + 2 * now.per_fat + now.roots * ENTRY / SECTOR +
           (cluster - 2) * now.per_cluster;
}

size_t rig_add(const char *padded, const void *content, size_t bytes, unsigned first, int step)
{
    size_t in_cluster = now.per_cluster * SECTOR;
    size_t at = (now.reserved + 2 * now.per_fat) * SECTOR + entries++ * ENTRY;
    unsigned cluster = first;

    memcpy(pc.disk + at, padded, 11);
    put16(pc.disk + at + 26, bytes > 0 ? first : 0);
    put32(pc.disk + at + 28, (uint32_t)bytes);
    for (size_t done = 0; done < bytes; done += in_cluster) {
        size_t n = bytes - done < in_cluster ? bytes - done : in_cluster;
        memcpy(pc.disk + rig_sector(cluster) * SECTOR, (const uint8_t *)content + done, n);
        unsigned next = (unsigned)((int)cluster + step);
        rig_set_fat(cluster, done + in_cluster < bytes ? next : END_OF_CHAIN);
        cluster = next;
    }
    return at;
}

static void program_header(uint8_t *at, uint32_t offset, uint32_t to, uint32_t file,
                           uint32_t memory)
{
    put32(at, 1); /* PT_LOAD */
    put32(at + 4, offset);
    put32(at + 8, to);
    put32(at + 12, to);
    put32(at + 16, file);
    put32(at + 20, memory);
}

size_t rig_build_kernel(unsigned text)
{
    enum { HEADERS = 52, OFFSET = RIG_TEXT_OFFSET };
    size_t bytes = OFFSET + text + RIG_DATA;

    if (bytes > sizeof rig_kernel) {
        abort();
    }
    for (size_t i = 0; i < bytes; i++) {
        rig_kernel[i] = (uint8_t)(i * 7 + i / 251);
    }
    memset(rig_kernel, 0, OFFSET);
    memcpy(rig_kernel,
           "\x7f"
           "ELF\1\1\1",
           7);
    put16(rig_kernel + 16, 2);
    put16(rig_kernel + 18, 3);
    put32(rig_kernel + 24, RIG_ENTRY);
    put32(rig_kernel + 28, HEADERS);
    put16(rig_kernel + 42, 32);
    put16(rig_kernel + 44, 2);
    program_header(rig_kernel + HEADERS, OFFSET, 1 << 20, text, text);
    program_header(rig_kernel + HEADERS + 32, OFFSET + text, (1 << 20) + text, RIG_DATA,
                   RIG_DATA + RIG_BSS);
    return bytes;
}

void rig_usual(const char *options)
{
    size_t bytes = rig_build_kernel(RIG_TEXT);

    rig_format(&format_1440);
    if (options != NULL) {
        rig_add("NICTEST CFG", options, strlen(options), 2, 1);
    }
    rig_add("NICTEST ELF", rig_kernel, bytes, 10, 1);
}

const struct multiboot_info *rig_info(void)
{
    return firmware_at(pc.info);
}

const char *rig_command_line(void)
{
    return firmware_at(rig_info()->cmdline);
}

void rig_check_entered(unsigned text)
{
    enum { MB = 1 << 20, NEVER_CLEARED = 0xA5 };

    ck_assert_msg(pc.end == FIRMWARE_ENTERED, "%s", pc.text);
    ck_assert_uint_eq(pc.entry, RIG_ENTRY);
    ck_assert_mem_eq(pc.memory + MB, rig_kernel + RIG_TEXT_OFFSET, text + RIG_DATA);
    for (unsigned i = 0; i < RIG_BSS; i++) {
        ck_assert_uint_eq(pc.memory[MB + text + RIG_DATA + i], 0);
    }
    ck_assert_uint_eq(pc.memory[MB + text + RIG_DATA + RIG_BSS], NEVER_CLEARED);
    ck_assert(pc.motor_off);
    ck_assert(!pc.keys_off);
    ck_assert_uint_eq(pc.pic_mask, FIRMWARE_PIC_MASK);
    ck_assert_str_eq(firmware_at(rig_info()->boot_loader_name), "NicTest86 floppy");
}
