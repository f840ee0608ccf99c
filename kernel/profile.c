/*
 * Sampling with the periodic interrupt of the real-time clock.
 *
 * Source: Motorola MC146818 data sheet (1984), registers A (rate), B (enables) and C (flags,
 * cleared by reading); IBM AT Technical Reference (1985): ports 70h and 71h, IRQ 8, bit 7 of port
 * 70h masks the NMI.  Which code belongs to which layer is written into the linked image
 * (tests/bench/layer_map.py): four bits for each 64 bytes of code.
 */
#include "kernel/profile.h"

#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/idt.h"
#include "kernel/io.h"
#include "kernel/pic.h"
#include "kernel/time.h"

enum {
    CMOS_INDEX = 0, /* w   register; bit 7 set keeps the NMI away */
    CMOS_DATA = 1,  /* rw */
    RTC_A = 0x0A,
    RTC_B = 0x0B,
    RTC_C = 0x0C,
    A_RATE = 0x0F,     /* 32768 Hz >> (rate - 1) */
    B_PERIODIC = 0x40, /* interrupt enable */
    RATE_1024 = 6,
    RATE_2048 = 5,
    RATE_8192 = 3,
    RTC_LINE = 8,
    FIRST_SAMPLE_US = 20000,
    OPCODE_HLT = 0xF4,

    /* of the map */
    MAP_BYTES = 2048,
    MAP_MAGIC = 0x5A, /* its first byte, once it has been filled in */
    BLOCK_SHIFT = 6,
    NIBBLE = 4,
    NIBBLE_MASK = 15,
};

/* What the CPU pushes for an interrupt of ring 0. */
struct interrupted {
    uint32_t eip, cs, eflags;
};

static const struct ioport cmos = {0x70};
extern const char __image_start[];           /* linker.ld */
extern const uint8_t profile_map[MAP_BYTES]; /* boot/layer_map.S */

static volatile uint32_t samples[PROFILE_LAYERS];
static uint8_t saved_a, saved_b;

static uint8_t cmos_read(unsigned index)
{
    io_out8(cmos, CMOS_INDEX, (uint8_t)index);
    return io_in8(cmos, CMOS_DATA);
}

static void cmos_write(unsigned index, unsigned value)
{
    io_out8(cmos, CMOS_INDEX, (uint8_t)index);
    io_out8(cmos, CMOS_DATA, (uint8_t)value);
}

static unsigned layer_at(uint32_t eip)
{
    const uint8_t *before = (const uint8_t *)(uintptr_t)eip - 1;
    uint32_t block = (eip - (uint32_t)(uintptr_t)__image_start) >> BLOCK_SHIFT;
    unsigned layer;

    if (*before == OPCODE_HLT) {
        return PROFILE_IDLE; /* the block may hold the arming of the cards, too */
    }
    if (block / 2 + 1 >= MAP_BYTES) {
        return PROFILE_OTHER;
    }
    layer = profile_map[1 + block / 2] >> (block % 2 * NIBBLE) & NIBBLE_MASK;
    return layer < PROFILE_LAYERS ? layer : PROFILE_OTHER;
}

__attribute__((interrupt)) static void on_sample(struct interrupted *at)
{
    (void)cmos_read(RTC_C);
    samples[layer_at(at->eip)]++;
    pic_eoi(RTC_LINE);
}

/* Often enough for a second to say something, seldom enough to take a few percent at most. */
static unsigned rate(void)
{
    return cpu.class == CPU_386 ? RATE_1024 : cpu.class == CPU_486 ? RATE_2048 : RATE_8192;
}

static uint32_t total(void)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        sum += samples[i];
    }
    return sum;
}

bool profile_start(void)
{
    struct deadline late = deadline_us(FIRST_SAMPLE_US);
    bool enabled;

    if (profile_map[0] != MAP_MAGIC) {
        return false;
    }
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        samples[i] = 0;
    }
    enabled = cpu_irq_save();
    saved_a = cmos_read(RTC_A);
    saved_b = cmos_read(RTC_B);
    cmos_write(RTC_A, (saved_a & ~(unsigned)A_RATE) | rate());
    cmos_write(RTC_B, saved_b | B_PERIODIC);
    (void)cmos_read(RTC_C);
    idt_set(PIC_VECTOR_BASE + RTC_LINE, (const void *)on_sample);
    pic_unmask(RTC_LINE);
    cpu_irq_restore(enabled);
    while (total() == 0) {
        if (expired(&late)) {
            profile_stop();
            return false;
        }
    }
    return true;
}

void profile_stop(void)
{
    bool enabled = cpu_irq_save();

    pic_mask(RTC_LINE);
    cmos_write(RTC_B, saved_b);
    cmos_write(RTC_A, saved_a);
    (void)cmos_read(RTC_C);
    idt_set(PIC_VECTOR_BASE + RTC_LINE, NULL);
    cpu_irq_restore(enabled);
}

void profile_counts(uint32_t counts[PROFILE_LAYERS])
{
    for (unsigned i = 0; i < PROFILE_LAYERS; i++) {
        counts[i] = samples[i];
    }
}

const char *profile_layer_name(enum profile_layer layer)
{
    static const char *const names[PROFILE_LAYERS] = {
        [PROFILE_OTHER] = "other",         [PROFILE_DRIVER] = "driver",
        [PROFILE_NETIF] = "netif",         [PROFILE_LWIP] = "lwip",
        [PROFILE_CHECKSUM] = "checksum",   [PROFILE_COPY] = "copy",
        [PROFILE_RESPONDER] = "responder", [PROFILE_INTERRUPT] = "interrupt",
        [PROFILE_CLOCK] = "clock",         [PROFILE_IDLE] = "idle",
    };

    return names[layer];
}
