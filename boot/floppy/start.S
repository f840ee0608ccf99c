/*
 * Stage 2 begins: is this a 386 at all?  Up to there only 8086 instructions (lint_opcodes.py looks
 * at the section by its name), then the C story in main.c.
 *
 * Entered by boot.S with dl = drive and all segments 0.
 */
#include "boot/floppy/layout.h"

.set FLAGS_HIGH, 0x70               /* of the high byte: IOPL and nested task */

.code16
.section .text.8086, "ax"
.globl stage2_start
stage2_start:
    /* Bits 12 to 15 of the flags are stuck at one on an 8086 and at zero on a 286 in real mode
     * (Intel application note AP-485, section 4). */
    pushfw
    popw %ax
    andb $0x0F, %ah
    pushw %ax
    popfw
    pushfw
    popw %ax
    andb $0xF0, %ah
    cmpb $0xF0, %ah
    je too_old
    movb $FLAGS_HIGH, %ah
    pushw %ax
    popfw
    pushfw
    popw %ax
    testb $FLAGS_HIGH, %ah
    jnz is_386

too_old:
    movw $message, %si
#include "boot/floppy/boot_again.S"

is_386:
    jmp go_on

.section .rodata
message:
    .asciz "\r\nNicTest86 needs a 386 or later. Another disk, then a key: "

.section .text.start, "ax"
go_on:
    pushw $0
    popfw
    sti
    cld
    movzwl %sp, %esp
    movzbl %dl, %edx
    xorl %eax, %eax
    movl $__bss_start, %edi
    movl $__bss_bytes, %ecx
    rep stosb
    pushl %edx
    calll machine_begin
    popl %eax
    calll loader_main
1:  hlt                             /* it does not return */
    jmp 1b

.globl machine_restart
machine_restart:
    movl NOTE_VECTOR, %eax
    movl %eax, DISK_TABLE_VECTOR
    int $0x19

.section .note.GNU-stack, "", @progbits
