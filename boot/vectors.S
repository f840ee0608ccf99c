/*
 * Segments, and the way from an interrupt into C and back.
 *
 * Source: Intel 80386 Programmer's Reference Manual (1986), ch. 6.3 (descriptors), 9.4-9.8
 * (gates, error codes).  Ring 0 only: the CPU pushes eflags, cs and eip, and never changes stack.
 * Segments stay flat for ever, so they are neither saved nor loaded, and of the registers an
 * interrupt line's path saves those that a C function may change: three pushes, one call, three
 * pops, iret.
 */
.set CODE_SELECTOR, 0x08
.set DATA_SELECTOR, 0x10

.set STUBS, 48                      /* 32 exceptions and 16 interrupt lines           */
.set STUB_BYTES, 16
.set FIRST_LINE, 32                 /* kernel/pic.h: PIC_VECTOR_BASE                  */
.set OTHER_VECTOR, 255              /* every other vector is reported as this one     */

.section .rodata
    .balign 8
gdt:
    .quad 0
    .quad 0x00CF9A000000FFFF        /* code: base 0, limit 4 GB, 32 bit, ring 0, readable */
    .quad 0x00CF92000000FFFF        /* data: the same, writable                           */
gdt_end:

gdt_pointer:
    .word gdt_end - gdt - 1
    .long gdt

.section .text
.globl boot_load_gdt
boot_load_gdt:
    lgdt gdt_pointer
    ljmp $CODE_SELECTOR, $1f
1:  movl $DATA_SELECTOR, %eax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %fs
    movw %ax, %gs
    movw %ax, %ss
    ret

/*
 * One stub a vector, each in its own 16 bytes, so that kernel/idt.c finds them by arithmetic.
 * For some exceptions the CPU itself pushes an error code; the others push a zero in its place.
 */
.set CPU_PUSHES_ERROR, 1 << 8 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 17

    .balign STUB_BYTES
.globl trap_stubs
trap_stubs:
.set vector, 0
.rept STUBS
    .balign STUB_BYTES
    .if vector >= FIRST_LINE
    pushl %eax
    movl $(vector - FIRST_LINE), %eax
    jmp line_common
    .else
    .if !(CPU_PUSHES_ERROR >> vector & 1)
    pushl $0
    .endif
    pushl $vector
    jmp trap_common
    .endif
    .set vector, vector + 1
.endr

    .balign STUB_BYTES
.globl trap_other_stub
trap_other_stub:
    pushl $0
    pushl $OTHER_VECTOR

/* Completes struct trap_frame (kernel/trap.h) and calls trap_dispatch(frame). */
trap_common:
    pushal
    cld                             /* C code relies on it; the interrupted code may be in std */
    movl %esp, %eax
    call trap_dispatch
    popal
    addl $8, %esp                   /* vector and error code */
    iret

/* Calls irq_dispatch(line). */
line_common:
    pushl %ecx
    pushl %edx
    cld
    call irq_dispatch
    popl %edx
    popl %ecx
    popl %eax
    iret

.section .note.GNU-stack, "", @progbits
