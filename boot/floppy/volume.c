/*
 * BIOS parameter block, directory, chain.  Nothing on the disk is believed: what would lead outside
 * of the volume or round in circles ends the loader with a line.
 */
#include "boot/floppy/volume.h"

#include <stddef.h>

#include "boot/floppy/layout.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"

/* ECMA-107 section 9.2: the extended parameter block, from offset 11 of the boot sector. */
struct bpb {
    uint16_t sector_bytes;
    uint8_t cluster_sectors;
    uint16_t reserved;
    uint8_t fats;
    uint16_t root_entries;
    uint16_t sectors; /* 0: more than 65535, which is no floppy */
    uint8_t media;
    uint16_t fat_sectors;
    uint16_t sectors_per_track;
    uint16_t heads;
} __attribute__((packed));
enum { BPB_OFFSET = 11 };

/* Section 11.1. */
struct entry {
    char name[11];
    uint8_t attributes;
    uint8_t unused[14];
    uint16_t first;
    uint32_t bytes;
} __attribute__((packed));
enum { ATTRIBUTE_LABEL = 0x08, ATTRIBUTE_FOLDER = 0x10 };

enum {
    FIRST_CLUSTER = 2,
    CLUSTERS_MAX = 4084, /* more would be FAT16 */
    FAT_BYTES =
        ((CLUSTERS_MAX + FIRST_CLUSTER) * 3 / 2 + SECTOR_BYTES) / SECTOR_BYTES * SECTOR_BYTES,
    ENTRIES_A_SECTOR = SECTOR_BYTES / sizeof(struct entry),
};

static struct bpb bpb;
static uint32_t root_at, data_at; /* sectors */
static unsigned clusters;
static uint8_t fat[FAT_BYTES];

static bool bpb_is_sane(void)
{
    return bpb.sector_bytes == SECTOR_BYTES && bpb.cluster_sectors != 0 && bpb.reserved != 0 &&
           bpb.fats != 0 && bpb.root_entries != 0 && bpb.fat_sectors != 0 &&
           bpb.sectors_per_track >= 1 && bpb.sectors_per_track <= DISK_MAX_SECTORS &&
           bpb.heads >= 1 && bpb.heads <= 2;
}

/* Sectors and clusters; false if they do not fit together. */
static bool lay_out(void)
{
    root_at = bpb.reserved + (uint32_t)bpb.fats * bpb.fat_sectors;
    data_at = root_at + ((unsigned)bpb.root_entries + ENTRIES_A_SECTOR - 1) / ENTRIES_A_SECTOR;
    if (data_at >= bpb.sectors) {
        return false;
    }
    clusters = (bpb.sectors - data_at) / bpb.cluster_sectors;
    return clusters >= 1 && clusters <= CLUSTERS_MAX &&
           bpb.fat_sectors * SECTOR_BYTES >= (clusters + FIRST_CLUSTER) * 3 / 2;
}

/* What cannot be read of one FAT is taken from the next. */
static void read_fat(void)
{
    for (unsigned at = 0; at < FAT_BYTES && at / SECTOR_BYTES < bpb.fat_sectors;
         at += SECTOR_BYTES) {
        uint32_t sector = bpb.reserved + at / SECTOR_BYTES;
        for (unsigned copy = 1; copy < bpb.fats && !disk_readable(sector); copy++) {
            sector += bpb.fat_sectors;
        }
        memory_read(fat + at, disk_sector(sector), SECTOR_BYTES);
    }
}

void volume_open(uint8_t drive, void (*read_a_track)(void))
{
    memory_read(&bpb, BOOT_SECTOR + BPB_OFFSET, sizeof bpb);
    if (!bpb_is_sane() || !lay_out()) {
        fail("boot sector damaged: no FAT12 floppy");
    }
    disk_open(&(struct disk){.drive = drive,
                             .sectors_per_track = bpb.sectors_per_track,
                             .heads = bpb.heads,
                             .read_a_track = read_a_track});
    read_fat();
}

static bool same_name(const struct entry *e, const char *padded)
{
    for (unsigned i = 0; i < sizeof e->name; i++) {
        if (e->name[i] != padded[i]) {
            return false;
        }
    }
    return (e->attributes & (ATTRIBUTE_LABEL | ATTRIBUTE_FOLDER)) == 0;
}

bool volume_find(const char *padded, const char *name, struct file *f)
{
    struct entry e;

    for (unsigned i = 0; i < bpb.root_entries; i++) {
        uint32_t sector = disk_sector(root_at + i / ENTRIES_A_SECTOR);
        memory_read(&e, sector + i % ENTRIES_A_SECTOR * sizeof e, sizeof e);
        if (e.name[0] == '\0') {
            return false; /* never used, nor any behind it */
        }
        if (same_name(&e, padded)) {
            *f = (struct file){name, e.bytes, e.first};
            return true;
        }
    }
    return false;
}

/* 12 bits an entry, two entries in three bytes (section 8.3). */
static unsigned next_cluster(unsigned cluster)
{
    unsigned at = cluster + cluster / 2;
    unsigned pair = fat[at] | (unsigned)fat[at + 1] << 8;

    return cluster % 2 != 0 ? pair >> 4 : pair & 0xFFF;
}

void volume_read(const struct file *f, void (*take)(uint32_t at, uint32_t from, uint32_t bytes))
{
    unsigned cluster = f->first;
    uint32_t at = 0;

    if (f->bytes > bpb.sectors * SECTOR_BYTES) {
        fail_about(f->name, "longer than the disk");
    }
    /* Bounded by the file's length, even if the chain were a circle. */
    for (; at < f->bytes; cluster = next_cluster(cluster)) {
        if (cluster < FIRST_CLUSTER || cluster >= clusters + FIRST_CLUSTER) {
            fail_about(f->name, "its chain of clusters is broken");
        }
        uint32_t sector = data_at + (cluster - FIRST_CLUSTER) * bpb.cluster_sectors;
        for (unsigned i = 0; i < bpb.cluster_sectors && at < f->bytes; i++) {
            uint32_t left = f->bytes - at;
            uint32_t n = left < SECTOR_BYTES ? left : SECTOR_BYTES;
            take(at, disk_sector(sector + i), n);
            at += n;
        }
    }
}
