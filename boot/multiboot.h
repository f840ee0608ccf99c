/*
 * What a multiboot loader tells us; only the fields that we read or our own loader writes.
 * Source: Multiboot Specification 0.6.96, section 3.3.
 */
#ifndef BOOT_MULTIBOOT_H
#define BOOT_MULTIBOOT_H

#include <stdint.h>

enum { MULTIBOOT_MAGIC = 0x2BADB002 }; /* in eax at entry */

enum multiboot_flag {
    MULTIBOOT_MEMORY = 1 << 0,
    MULTIBOOT_BOOT_DEVICE = 1 << 1,
    MULTIBOOT_CMDLINE = 1 << 2,
    MULTIBOOT_MMAP = 1 << 6,
    MULTIBOOT_LOADER_NAME = 1 << 9,
};

struct multiboot_info {
    uint32_t flags;
    uint32_t mem_lower; /* KB from 0                    */
    uint32_t mem_upper; /* KB from 1 MB, up to a hole   */
    uint32_t boot_device;
    uint32_t cmdline; /* address of a C string        */
    uint32_t mods_count, mods_addr;
    uint32_t syms[4];
    uint32_t mmap_length; /* bytes                      */
    uint32_t mmap_addr;   /* of struct multiboot_region */
    uint32_t drives_length, drives_addr;
    uint32_t config_table;
    uint32_t boot_loader_name; /* address of a C string */
};

enum { MULTIBOOT_REGION_FREE = 1 };

/* `size` does not count itself: the next region begins size + 4 bytes on. */
struct multiboot_region {
    uint32_t size;
    uint32_t base_low, base_high;
    uint32_t length_low, length_high;
    uint32_t type;
};

#endif
