/*
 * The reasoning of the CPU probe, apart from the instructions it needs, so that the host can show
 * it a 386, an early 486 or a NexGen.
 */
#ifndef KERNEL_CPU_CLASS_H
#define KERNEL_CPU_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cpu.h"

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

enum eflags_bit {
    EFLAGS_AC = 1 << 18, /* alignment check: 486 and later                       */
    EFLAGS_ID = 1 << 21, /* changeable: the CPU has cpuid                        */
};

/* How to touch the CPU. */
struct cpu_access {
    bool (*flag_changes)(uint32_t flag); /* can this bit of EFLAGS be changed?    */
    struct cpuid_regs (*cpuid)(uint32_t leaf);
};

/* What the CPU behind `access` is.  Calls access->cpuid only if the ID flag changes and `no_cpuid`
 * does not forbid it, and only for leaves the CPU says it has. */
struct cpu_info cpu_identify(const struct cpu_access *access, bool no_cpuid);

#endif
