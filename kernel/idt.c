/*
 * Interrupt gates.  Source: Intel 80386 Programmer's Reference Manual (1986), ch. 9.5.
 */
#include "kernel/idt.h"

#include <stddef.h>
#include <stdint.h>

enum {
    VECTORS = 256,
    STUBS = 48,      /* with a stub of their own in boot/vectors.S ...  */
    STUB_BYTES = 16, /* ... at this distance; all others share one      */
    CODE_SELECTOR = 0x08,
};

enum gate_type {
    GATE_PRESENT = 1 << 15,
    GATE_INTERRUPT_32 = 0xE << 8, /* ring 0; interrupts are disabled on entry */
};

struct gate {
    uint16_t offset_low;
    uint16_t selector;
    uint16_t type;
    uint16_t offset_high;
};

struct idt_pointer {
    uint16_t limit;
    uint32_t base;
} __attribute__((packed));

extern const char trap_stubs[], trap_other_stub[]; /* boot/vectors.S */

static struct gate idt[VECTORS];

static void load(const struct gate *table, unsigned bytes)
{
    struct idt_pointer pointer = {(uint16_t)(bytes - 1), (uint32_t)(uintptr_t)table};
    __asm__ volatile("lidt %0" : : "m"(pointer) : "memory");
}

void idt_set(unsigned vector, const void *entry)
{
    const char *stub = vector < STUBS ? trap_stubs + vector * STUB_BYTES : trap_other_stub;
    uint32_t offset = (uint32_t)(uintptr_t)(entry != NULL ? entry : stub);

    idt[vector] = (struct gate){
        .offset_low = (uint16_t)offset,
        .selector = CODE_SELECTOR,
        .type = GATE_PRESENT | GATE_INTERRUPT_32,
        .offset_high = (uint16_t)(offset >> 16),
    };
}

void idt_init(void)
{
    for (unsigned i = 0; i < VECTORS; i++) {
        idt_set(i, NULL);
    }
    load(idt, sizeof idt);
}

_Noreturn void idt_triple_fault(void)
{
    load(idt, 1);
    for (;;) {
        __asm__ volatile("int3");
    }
}
