/*
 * A PC with a BIOS of 1991 and a floppy, as stage 2 sees it (boot/floppy/machine.h), stricter than
 * most: what an old BIOS may refuse is refused, what it may destroy is destroyed, and memory above
 * 1 MB must not be touched before A20 is open.
 */
#ifndef TESTS_HOST_SIM_FIRMWARE_H
#define TESTS_HOST_SIM_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/multiboot.h"

enum { FIRMWARE_MEMORY = 4 << 20, FIRMWARE_TEXT = 16384, FIRMWARE_TRACKS = 256 };
enum { FIRMWARE_DISK = 2880 * 512, ALWAYS = 1 << 30 };
enum { FIRMWARE_PIC_MASK = 0xB8 }; /* IRQ 0, 1, 2 and 6 are open */

enum firmware_end {
    FIRMWARE_ENTERED,   /* the kernel runs                     */
    FIRMWARE_RESTARTED, /* INT 19h                            */
    FIRMWARE_WAITS,     /* for a key that nobody presses       */
};

struct firmware {
    uint8_t memory[FIRMWARE_MEMORY];

    uint8_t disk[FIRMWARE_DISK];
    unsigned per_track, heads; /* of the disk in the drive */
    uint32_t bad_sector;
    unsigned bad_times; /* so often its reads fail, or ALWAYS */
    unsigned reads, single_reads, resets, track_reads[FIRMWARE_TRACKS];
    bool motor_off;

    bool has_e820, has_e801, e801_in_cx_dx; /* else AH=88h alone */
    unsigned regions;
    struct multiboot_region region[64];
    uint32_t e820_answer; /* in eax: SMAP where it works */
    uint32_t e820_bytes;  /* in ecx: 20 where it works   */
    uint16_t lower_kb, below_16mb_kb, above_16mb_64kb, upper_kb;

    bool a20;                                        /* open */
    bool bios_opens, port92_opens, controller_opens; /* the ways that work */
    bool has_port92, has_controller;
    unsigned a20_lag;      /* looks before it follows */
    bool keys_off;         /* by the controller's command ADh */
    bool controller_mute;  /* command D0h brings no answer */
    uint8_t pic_mask;      /* a controller's answer with IRQ 1 open is the BIOS's */
    bool upper_with_carry; /* AH=88h gives a size and returns carry as it was */

    const char *keys; /* pressed one after the other, the first at this tick after the start */
    uint32_t first_key_tick;
    bool timer_stands;

    char text[FIRMWARE_TEXT];
    size_t text_bytes;
    enum firmware_end end;
    uint32_t entry, info;
};

extern struct firmware pc;

/* A machine with 4 MB, E820h, A20 that the BIOS opens, and no disk. */
void firmware_reset(void);

/* Boot sector into memory, and loader_main(); how it ended is in `pc`. */
void firmware_boot(void);

/* An object of ours by the address the loader told; or what lies in memory. */
const void *firmware_at(uint32_t address);

#endif
