/*
 * The processor: interrupt flag, halt, and what kind it is.
 *
 * Only kernel/cpu.c may hold instructions newer than the 386 (cpuid, rdtsc), each behind the
 * probe that shows the CPU has it; the opcode lint enforces that.  The host's shadow has the same
 * interface on a simulated CPU.
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include <stdbool.h>
#include <stdint.h>

enum cpu_class { CPU_386 = 3, CPU_486 = 4, CPU_586 = 5, CPU_686 = 6 };

struct cpu_info {
    enum cpu_class class;
    bool has_cpuid;
    bool has_tsc;
    char vendor[13]; /* "" without cpuid */
};

/* What this machine has.  Valid after cpu_probe(). */
extern struct cpu_info cpu;

/*
 * Fill in `cpu`.  AC flag changeable: 486 or later; ID flag changeable: cpuid exists (Intel
 * AP-485 ch. 3).  `no_cpuid` forces the path of a CPU without cpuid (hidden option, for tests).
 */
void cpu_probe(bool no_cpuid);

/* The decision behind cpu_probe(), pure, for tests: flags that could be changed, and leaf 1 eax
 * (0 if there is none). */
enum cpu_class cpu_classify(bool ac_changes, bool id_changes, uint32_t leaf1_eax);

/* Cycle counter; only if cpu.has_tsc. */
uint64_t cpu_tsc(void);

/* Disable interrupts, return whether they were enabled; and the way back. */
static inline bool cpu_irq_save(void)
{
    uint32_t flags;
    __asm__ volatile("pushfl; popl %0; cli" : "=r"(flags) : : "memory", "cc");
    return (flags & 0x200) != 0;
}

static inline void cpu_irq_restore(bool enabled)
{
    if (enabled) {
        __asm__ volatile("sti" : : : "memory", "cc");
    }
}

static inline void cpu_cli(void)
{
    __asm__ volatile("cli" : : : "memory", "cc");
}

static inline void cpu_sti(void)
{
    __asm__ volatile("sti" : : : "memory", "cc");
}

/*
 * Enable interrupts and halt with nothing between: sti takes effect after the next instruction,
 * so an interrupt that is already pending ends the halt instead of slipping in before it.
 */
static inline void cpu_sti_hlt(void)
{
    __asm__ volatile("sti; hlt" : : : "memory", "cc");
}

/* Until the machine is reset. */
static inline _Noreturn void cpu_halt(void)
{
    for (;;) {
        __asm__ volatile("cli; hlt" : : : "memory", "cc");
    }
}

/* Bochs' magic break (xchg %bx,%bx); a no-op everywhere else. */
static inline void breakpoint(void)
{
    __asm__ volatile("xchgw %%bx, %%bx" : : : "memory");
}

#endif
