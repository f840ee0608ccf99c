/*
 * The BIOS services that stage 2 uses, and the few ports.
 */
#include "tests/host/sim/firmware.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/floppy/layout.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/main.h"

enum { SECTOR = 512, MB = 1 << 20, SMAP = 0x534D4150, TICKS_A_READ = 4, POLLS_A_TICK = 100 };
enum { OBJECTS = 0xE0000000, OBJECT_SHIFT = 20, OBJECTS_MAX = 128 };
enum { DRIVE = 0, START_TICK = 5000, IRQ_1 = 1 << 1 };

struct firmware pc;

static jmp_buf back;
static const void *object[OBJECTS_MAX];
static unsigned objects, polls;
static uint8_t controller_command, controller_output;
static bool controller_answers;

static _Noreturn void misuse(const char *what)
{
    fprintf(stderr, "firmware: %s\n", what);
    abort();
}

static _Noreturn void end(enum firmware_end how)
{
    pc.end = how;
    longjmp(back, 1);
}

/* ---- memory ---- */

static uint8_t *resolve(uint32_t address, uint32_t bytes)
{
    if (address >= (uint32_t)OBJECTS) {
        unsigned which = (address - (uint32_t)OBJECTS) >> OBJECT_SHIFT;
        if (which >= objects) {
            misuse("an address that nobody has asked for");
        }
        return (uint8_t *)(uintptr_t)object[which] + (address & ((1 << OBJECT_SHIFT) - 1));
    }
    if (address > FIRMWARE_MEMORY || bytes > FIRMWARE_MEMORY - address) {
        misuse("memory that is not there");
    }
    if (!pc.a20 && address + bytes > MB) {
        misuse("memory above 1 MB with A20 closed");
    }
    return pc.memory + address;
}

void memory_copy(uint32_t to, uint32_t from, uint32_t bytes)
{
    memcpy(resolve(to, bytes), resolve(from, bytes), bytes);
}

void memory_zero(uint32_t to, uint32_t bytes)
{
    memset(resolve(to, bytes), 0, bytes);
}

void memory_read(void *to, uint32_t from, uint32_t bytes)
{
    memcpy(to, resolve(from, bytes), bytes);
}

uint32_t memory_address(const void *of)
{
    unsigned i = 0;

    while (i < objects && object[i] != of) {
        i++;
    }
    if (i == OBJECTS_MAX) {
        misuse("too many objects");
    }
    object[i] = of;
    objects = i == objects ? i + 1 : objects;
    return (uint32_t)OBJECTS + ((uint32_t)i << OBJECT_SHIFT);
}

const void *firmware_at(uint32_t address)
{
    return resolve(address, 1);
}

/* ---- A20 ---- */

static void open_a20(bool works)
{
    pc.a20 |= works;
}

bool memory_a20_is_open(void)
{
    if (pc.a20 && pc.a20_lag > 0) {
        pc.a20_lag--;
        return false;
    }
    return pc.a20;
}

static void controller_takes(uint8_t command)
{
    controller_command = command;
    pc.keys_off = command == 0xAD || (pc.keys_off && command != 0xAE);
    controller_answers = command == 0xD0 && !pc.controller_mute && (pc.pic_mask & IRQ_1) != 0;
    controller_output = 0xDC; /* A20 off; the reset bit, active when low, reads as it likes */
}

uint8_t port_in(uint16_t port)
{
    switch (port) {
    case 0x21: return pc.pic_mask;
    case 0x64: return pc.has_controller ? controller_answers : 0xFF;
    case 0x60: controller_answers = false; return pc.has_controller ? controller_output : 0xFF;
    case 0x92: return pc.has_port92 ? 0x01 : 0xFF; /* the reset bit reads as set on some */
    default: return 0xFF;
    }
}

void port_out(uint16_t port, uint8_t value)
{
    if (port == 0x21) {
        pc.pic_mask = value;
    } else if (port == 0x92) {
        if ((value & 1) != 0 || !pc.has_port92) {
            misuse("port 92h: this resets the machine");
        }
        open_a20(pc.port92_opens && (value & 2) != 0);
    } else if (port == 0x64) {
        controller_takes(value);
    } else if (port == 0x60) {
        if (controller_command != 0xD1 || (value & 1) == 0) {
            misuse("keyboard controller: this resets the machine");
        }
        open_a20(pc.has_controller && pc.controller_opens && (value & 2) != 0);
    } else if (port == 0x3F2) {
        pc.motor_off = (value & 0xF4) == 0x04;
    } else {
        misuse("a port that is none of the loader's");
    }
}

/* ---- services ---- */

static uint32_t tick(void)
{
    uint32_t now;

    memcpy(&now, pc.memory + BIOS_TICK, sizeof now);
    return now;
}

static void pass(unsigned ticks)
{
    uint32_t now = (tick() + ticks) % 0x1800B0;

    if (!pc.timer_stands) {
        memcpy(pc.memory + BIOS_TICK, &now, sizeof now);
    }
}

static bool key_waits(void)
{
    uint32_t begun;

    memcpy(&begun, pc.memory + NOTE_TICK, sizeof begun);
    return pc.keys != NULL && *pc.keys != '\0' && tick() - begun >= pc.first_key_tick;
}

static void keyboard(struct bios_regs *r)
{
    if ((r->eax >> 8 & 0xFF) == 0) {
        if (pc.keys == NULL || *pc.keys == '\0') {
            end(FIRMWARE_WAITS);
        }
        r->eax = (uint8_t)*pc.keys++;
        return;
    }
    if (++polls % POLLS_A_TICK == 0) {
        pass(1);
    }
    r->flags = key_waits() ? 0 : FLAG_ZERO;
}

static void video(struct bios_regs *r)
{
    if (r->eax >> 8 == 0x03) {
        const char *line = strrchr(pc.text, '\n');
        r->edx = (uint32_t)strlen(line != NULL ? line + 1 : pc.text) % 40;
        return;
    }
    if ((char)r->eax != '\r' && pc.text_bytes + 1 < sizeof pc.text) {
        pc.text[pc.text_bytes++] = (char)r->eax;
    }
}

/* True if a sector of the read is the bad one, and it is bad once more. */
static bool hits_bad(uint32_t first, unsigned n)
{
    if (pc.bad_sector < first || pc.bad_sector >= first + n || pc.bad_times == 0) {
        return false;
    }
    pc.bad_times -= pc.bad_times != ALWAYS;
    return true;
}

static uint8_t read_sectors(const struct bios_regs *r)
{
    unsigned n = r->eax & 0xFF, sector = r->ecx & 0x3F, head = r->edx >> 8 & 0xFF;
    unsigned cylinder = (r->ecx >> 8 & 0xFF) | (r->ecx << 2 & 0x300);
    uint32_t track = cylinder * pc.heads + head, first = track * pc.per_track + sector - 1;
    uint32_t to = (uint32_t)r->es * 16 + (r->ebx & 0xFFFF);

    if ((r->edx & 0xFF) != DRIVE || n == 0 || sector == 0 || head >= pc.heads) {
        return 0x01;
    }
    if (sector + n - 1 > pc.per_track || (first + n) * SECTOR > FIRMWARE_DISK) {
        return 0x04; /* over the end of the track, to another head */
    }
    if ((to & 0xFFFF) + n * SECTOR > 0x10000) {
        return 0x09; /* over a DMA page */
    }
    pc.reads++;
    pc.single_reads += n == 1;
    pc.track_reads[track % FIRMWARE_TRACKS]++;
    pass(TICKS_A_READ);
    if (hits_bad(first, n)) {
        return 0x10;
    }
    memcpy(resolve(to, n * SECTOR), pc.disk + first * SECTOR, n * SECTOR);
    return 0;
}

static void disk(struct bios_regs *r)
{
    uint8_t status = 0;

    if (r->eax >> 8 == 0) {
        pc.resets++;
    } else {
        status = read_sectors(r);
    }
    *r = (struct bios_regs){.eax = (uint32_t)status << 8,
                            .ebx = 0xDEADBEEF,
                            .ecx = 0xDEADBEEF,
                            .edx = 0xDEADBEEF,
                            .flags = status != 0 ? FLAG_CARRY : 0};
}

static void map_entry(struct bios_regs *r)
{
    unsigned which = r->ebx;

    if (r->edx != SMAP || r->ecx < 20 || which >= pc.regions) {
        r->flags = FLAG_CARRY;
        return;
    }
    memcpy(resolve(r->edi, 20), &pc.region[which].base_low, 20);
    r->eax = pc.e820_answer;
    r->ecx = pc.e820_bytes;
    r->ebx = which + 1 < pc.regions ? which + 1 : 0;
}

static void two_sizes(struct bios_regs *r)
{
    if (pc.e801_in_cx_dx) {
        r->eax = r->ebx = 0;
        r->ecx = pc.below_16mb_kb;
        r->edx = pc.above_16mb_64kb;
    } else {
        r->eax = pc.below_16mb_kb;
        r->ebx = pc.above_16mb_64kb;
    }
}

static void system_service(struct bios_regs *r)
{
    if (r->eax == 0xE820 && pc.has_e820) {
        map_entry(r);
    } else if (r->eax == 0xE801 && pc.has_e801) {
        two_sizes(r);
    } else if (r->eax == 0x2401 && pc.bios_opens) {
        open_a20(true);
    } else if (r->eax >> 8 == 0x88) {
        r->eax = pc.upper_kb;
        r->flags = pc.upper_with_carry ? FLAG_CARRY : 0; /* bios_call() has set it before */
    } else {
        r->eax = 0x8600;
        r->flags = FLAG_CARRY;
    }
}

void bios_call(struct bios_regs *r, unsigned interrupt)
{
    r->flags = 0;
    switch (interrupt) {
    case 0x10: video(r); break;
    case 0x12: r->eax = 0xABCD0000 | pc.lower_kb; break;
    case 0x13: disk(r); break;
    case 0x15: system_service(r); break;
    case 0x16: keyboard(r); break;
    default: misuse("an interrupt that no BIOS of 1991 need have");
    }
}

/* ---- the end, and the beginning ---- */

_Noreturn void machine_enter(uint32_t entry, uint32_t info)
{
    pc.entry = entry;
    pc.info = info;
    end(FIRMWARE_ENTERED);
}

_Noreturn void machine_restart(void)
{
    end(FIRMWARE_RESTARTED);
}

static void add_region(uint32_t base, uint32_t bytes, uint32_t type)
{
    pc.region[pc.regions++] =
        (struct multiboot_region){.base_low = base, .length_low = bytes, .type = type};
}

void firmware_reset(void)
{
    memset(&pc, 0, sizeof pc);
    pc.has_e820 = true;
    pc.e820_answer = SMAP;
    pc.e820_bytes = 20;
    add_region(0, 639 << 10, MULTIBOOT_REGION_FREE);
    add_region(0xF0000, 0x10000, 2);
    add_region(MB, FIRMWARE_MEMORY - MB, MULTIBOOT_REGION_FREE);
    pc.lower_kb = 639;
    pc.bios_opens = true;
    pc.pic_mask = FIRMWARE_PIC_MASK;
    memset(pc.memory, 0xA5, sizeof pc.memory); /* nobody has cleared it */
    uint32_t start = START_TICK;
    memcpy(pc.memory + BIOS_TICK, &start, sizeof start);
}

void firmware_boot(void)
{
    objects = polls = 0;
    controller_answers = false;
    memcpy(pc.memory + BOOT_SECTOR, pc.disk, SECTOR);
    memcpy(pc.memory + NOTE_TICK, pc.memory + BIOS_TICK, sizeof(uint32_t));
    if (setjmp(back) == 0) {
        loader_main(DRIVE);
    }
}
