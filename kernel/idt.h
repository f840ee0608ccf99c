/*
 * The interrupt descriptor table: all 256 vectors lead to trap_dispatch() (kernel/trap.h).
 */
#ifndef KERNEL_IDT_H
#define KERNEL_IDT_H

/* Fill and load the table.  Exceptions are caught from here on; interrupts stay disabled. */
void idt_init(void);

/* Let `vector` lead to `entry`, which ends with iret; null: to trap_dispatch() again.  Interrupts
 * disabled. */
void idt_set(unsigned vector, const void *entry);

/* Load an empty table and trap: without a handler even for the double fault, the CPU resets. */
_Noreturn void idt_triple_fault(void);

#endif
