/*
 * NICTEST.COM begins: is this a 386, in real mode?  Up to there only 8086 instructions (but for one
 * that a 286 has), then the C story in main.c.
 *
 * DOS puts a .COM file at 100h of a segment that all segment registers hold, behind the program
 * segment prefix; the stack is at the segment's end.
 */
.set FLAGS_HIGH, 0x70               /* of the high byte: IOPL and nested task */
.set MSW_PE, 1
.set STACK_BYTES, 2048
.set DOS_PRINT, 0x09
.set DOS_EXIT, 0x4C01               /* error level 1 */

.code16
.section .text.8086, "ax"
.globl dos_start
dos_start:
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
    movw $too_old, %dx
    je give_up
    movb $FLAGS_HIGH, %ah
    pushw %ax
    popfw
    pushfw
    popw %ax
    testb $FLAGS_HIGH, %ah
    jz give_up
    movw $too_small, %dx
    cmpw $__bss_end + STACK_BYTES, %sp
    jb give_up
    jmp is_386

give_up:
    movb $DOS_PRINT, %ah
    int $0x21
    movw $DOS_EXIT, %ax
    int $0x21

.section .text.start, "ax"
/* A memory manager runs DOS as a task in virtual 8086 mode, in which nobody may leave it. */
is_386:
    smsw %ax
    testb $MSW_PE, %al
    movw $taken, %dx
    jnz give_up
    pushw $0
    popfw
    sti
    cld
    movzwl %sp, %esp
    xorl %eax, %eax
    movl $__bss_start, %edi
    movl $__bss_bytes, %ecx
    rep stosb
    calll machine_begin
    calll dos_main                  /* does not return */

.globl machine_restart
machine_restart:                    /* to DOS, which is what started us */
    movw $DOS_EXIT, %ax
    int $0x21

.section .rodata
too_old:
    .ascii "NicTest86 needs a 386 or later.\r\n$"
too_small:
    .ascii "NicTest86: too little memory for NICTEST.COM.\r\n$"
taken:
    .ascii "NicTest86: a memory manager (EMM386, QEMM, Windows) holds protected mode.\r\n"
    .ascii "Start DOS without it: press F5 or F8 at \"Starting MS-DOS\", or write REM\r\n"
    .ascii "in front of its line in CONFIG.SYS. HIMEM.SYS may stay.\r\n$"

.section .note.GNU-stack, "", @progbits
