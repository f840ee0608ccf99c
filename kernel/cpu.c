/*
 * The only file with instructions a 386 lacks.  Each sits in a function of its own, never inlined,
 * that is called only after the probe has shown that the CPU has it; the opcode lint allows cpuid
 * and rdtsc in exactly these.
 */
#include "kernel/cpu.h"

#include "kernel/cpu_class.h"

struct cpu_info cpu;

static bool flag_changes(uint32_t flag)
{
    uint32_t before, after;
    __asm__ volatile("pushfl\n\t"
                     "popl %0\n\t"
                     "movl %0, %1\n\t"
                     "xorl %2, %1\n\t"
                     "pushl %1\n\t"
                     "popfl\n\t"
                     "pushfl\n\t"
                     "popl %1\n\t"
                     "pushl %0\n\t" /* as it was: AC set makes odd addresses trap in ring 3 only */
                     "popfl"
                     : "=&r"(before), "=&r"(after)
                     : "ri"(flag)
                     : "cc", "memory");
    return ((before ^ after) & flag) != 0;
}

static __attribute__((noinline)) struct cpuid_regs cpu_cpuid(uint32_t leaf)
{
    struct cpuid_regs r;
    __asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "0"(leaf));
    return r;
}

void cpu_probe(bool no_cpuid)
{
    static const struct cpu_access access = {flag_changes, cpu_cpuid};
    cpu = cpu_identify(&access, no_cpuid);
}

__attribute__((noinline)) uint64_t cpu_tsc(void)
{
    uint64_t cycles;
    __asm__ volatile("rdtsc" : "=A"(cycles));
    return cycles;
}
