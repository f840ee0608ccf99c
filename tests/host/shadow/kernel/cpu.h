/*
 * The processor on the host: the interface of kernel/cpu.h on the simulated interrupt flag
 * (tests/host/sim/irq.c).
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
    char vendor[13];
};

extern struct cpu_info cpu;

void cpu_probe(bool no_cpuid);
enum cpu_class cpu_classify(bool ac_changes, bool id_changes, uint32_t leaf1_eax);
uint64_t cpu_tsc(void);

bool cpu_irq_save(void);
void cpu_irq_restore(bool enabled);
void cpu_cli(void);
void cpu_sti(void);

/* Runs simulated time up to the next interrupt.  A halt that nothing can end is a failure. */
void cpu_sti_hlt(void);

/* Only a test of the ways out has one. */
_Noreturn void cpu_halt(void);

static inline void breakpoint(void)
{
}

#endif
