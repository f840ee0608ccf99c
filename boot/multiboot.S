/*
 * Where the machine becomes ours: multiboot header and entry.
 *
 * Source: Multiboot Specification 0.6.96, sections 3.1 (header) and 3.2 (machine state: 32-bit
 * flat segments whose selectors are unknown, interrupts off, no stack).  The image is ELF, so the
 * header needs no addresses.
 */
.set HEADER_MAGIC, 0x1BADB002
.set ALIGN_MODULES, 1 << 0
.set WANT_MEMORY, 1 << 1
.set HEADER_FLAGS, ALIGN_MODULES | WANT_MEMORY

.set STACK_BYTES, 16 * 1024

.section .multiboot, "a"
    .balign 4
    .long HEADER_MAGIC
    .long HEADER_FLAGS
    .long -(HEADER_MAGIC + HEADER_FLAGS)

.section .text
.globl boot_entry
boot_entry:
    cli
    cld
    movl $boot_stack_top, %esp
    movl %eax, %edx                 /* loader's magic; the loop below needs eax */

    xorl %eax, %eax                 /* a loader that ignores the ELF bss, as our own may */
    movl $__bss_start, %edi
    movl $__bss_dwords, %ecx
    rep stosl

    pushl $0                        /* no trap, no nested task, no direction flag */
    popfl
    call boot_load_gdt
    movl %edx, %eax                 /* kmain(magic, info) */
    movl %ebx, %edx
    call kmain
1:  cli                             /* kmain does not return */
    hlt
    jmp 1b

.section .bss
    .balign 16
.globl boot_stack_bottom
boot_stack_bottom:
    .skip STACK_BYTES
.globl boot_stack_top
boot_stack_top:

.section .note.GNU-stack, "", @progbits
