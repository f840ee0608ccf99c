/*
 * Which processor?  Source: Intel AP-485 "Processor Identification and the CPUID Instruction",
 * ch. 3 (flags) and 5 (leaves 0 and 1).
 */
#include "kernel/cpu_class.h"

#include "kernel/string.h"

enum {
    FAMILY_SHIFT = 8,
    FAMILY_MASK = 0xF,
    FEATURE_TSC = 1 << 4, /* leaf 1, edx */
};

enum cpu_class cpu_classify(bool ac_changes, bool id_changes, uint32_t leaf1_eax)
{
    uint32_t family = id_changes ? leaf1_eax >> FAMILY_SHIFT & FAMILY_MASK : 0;
    if (family >= CPU_686) { /* 15 and the like are newer still */
        return CPU_686;
    }
    if (family == CPU_586) { /* also the NexGen, which has no AC flag */
        return CPU_586;
    }
    return ac_changes ? CPU_486 : CPU_386;
}

static void put_vendor(char to[static 13], const struct cpuid_regs *r)
{
    memcpy(to, &r->ebx, sizeof r->ebx);
    memcpy(to + 4, &r->edx, sizeof r->edx);
    memcpy(to + 8, &r->ecx, sizeof r->ecx);
    to[12] = '\0';
}

struct cpu_info cpu_identify(const struct cpu_access *access, bool no_cpuid)
{
    struct cpu_info info = {.class = CPU_386};
    struct cpuid_regs leaf1 = {0};
    bool ac_changes = access->flag_changes(EFLAGS_AC);
    info.has_cpuid = !no_cpuid && access->flag_changes(EFLAGS_ID);
    if (info.has_cpuid) {
        struct cpuid_regs leaf0 = access->cpuid(0);
        put_vendor(info.vendor, &leaf0);
        if (leaf0.eax >= 1) {
            leaf1 = access->cpuid(1);
        }
    }
    info.has_tsc = (leaf1.edx & FEATURE_TSC) != 0;
    info.class = cpu_classify(ac_changes, info.has_cpuid, leaf1.eax);
    return info;
}
