/*
 * The way back to the BIOS, for good: real mode, to switch the machine off through APM, or to wait
 * there, where the BIOS' own keyboard handler still knows Ctrl-Alt-Del.
 *
 * Sources: Intel 80386 Programmer's Reference Manual (1986), ch. 14.5 (leaving protected mode);
 * Advanced Power Management BIOS Interface Specification 1.2 (1996), ch. 4.6 (INT 15h, AH = 53h).
 *
 * kernel/realmode.c copies what lies between realmode_begin and realmode_end to LOAD_AT, where a
 * boot sector once was, and nobody is any more.  It is data to the linker: the instructions are 16
 * bits wide, and lint_opcodes.py reads them as such.
 */
.set LOAD_AT, 0x7C00                /* kernel/realmode.h */
.set STACK_TOP, LOAD_AT

.set CODE_32, 0x08                  /* as in boot/vectors.S, though nobody comes back */
.set CODE_16, 0x10
.set DATA_16, 0x18

.set TASK_POWER_OFF, 1              /* enum realmode_task */

.set APM_INSTALLATION_CHECK, 0x5300
.set APM_CONNECT_REAL_MODE, 0x5301
.set APM_SET_POWER_STATE, 0x5307
.set APM_ENABLE, 0x5308
.set APM_DRIVER_VERSION, 0x530E
.set APM_BIOS, 0                    /* the device that these calls are about ...     */
.set APM_ALL_DEVICES, 1             /* ... and the one that is to be off             */
.set APM_SIGNATURE, 0x504D          /* "PM" */
.set APM_VERSION_1_2, 0x0102
.set APM_OFF, 3

/* realmode_jump(task in EAX): interrupts disabled, the copy in its place.  Does not return. */
.section .text
.globl realmode_jump
realmode_jump:
    movl %eax, %ebx
    lgdt LOAD_AT + gdt_pointer - realmode_begin
    ljmp $CODE_16, $(LOAD_AT + narrow - realmode_begin)

.section .realmode, "a"
.globl realmode_begin
realmode_begin:

.code16
/* Still protected, in segments of 64 KB from 0, as real mode will have them. */
.globl realmode_code
realmode_code:
narrow:
    movw $DATA_16, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %fs
    movw %ax, %gs
    movw %ax, %ss
    lidt LOAD_AT + bios_vectors - realmode_begin
    movl %cr0, %eax
    andb $0xFE, %al                 /* PE off; the other bits as they are */
    movl %eax, %cr0
    ljmp $0, $(LOAD_AT + real - realmode_begin)

real:
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %fs
    movw %ax, %gs
    movw %ax, %ss
    movw $STACK_TOP, %sp
    sti
    cmpw $TASK_POWER_OFF, %bx
    jne wait

    /* Each call may change any register. */
    movw $APM_INSTALLATION_CHECK, %ax
    movw $APM_BIOS, %bx
    int $0x15
    jc wait
    cmpw $APM_SIGNATURE, %bx
    jne wait
    movw $APM_CONNECT_REAL_MODE, %ax
    movw $APM_BIOS, %bx
    int $0x15                       /* fails if somebody is connected already: as good */
    movw $APM_DRIVER_VERSION, %ax
    movw $APM_BIOS, %bx
    movw $APM_VERSION_1_2, %cx
    int $0x15                       /* a BIOS of 1.0 does not know it */
    movw $APM_ENABLE, %ax
    movw $APM_ALL_DEVICES, %bx
    movw $1, %cx
    int $0x15
    movw $APM_SET_POWER_STATE, %ax
    movw $APM_ALL_DEVICES, %bx
    movw $APM_OFF, %cx
    int $0x15

wait:
    sti
    hlt
    jmp wait
.globl realmode_code_end
realmode_code_end:

    .balign 8
gdt:
    .quad 0
    .quad 0x00CF9A000000FFFF        /* code, 32 bit, base 0, limit 4 GB: what runs now    */
    .quad 0x00009A000000FFFF        /* code, 16 bit, base 0, limit 64 KB                  */
    .quad 0x000092000000FFFF        /* data, the same                                     */
gdt_end:
gdt_pointer:
    .word gdt_end - gdt - 1
    .long LOAD_AT + gdt - realmode_begin
bios_vectors:
    .word 0x3FF
    .long 0

.globl realmode_end
realmode_end:
.code32

.section .note.GNU-stack, "", @progbits
