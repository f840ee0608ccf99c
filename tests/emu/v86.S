/*
 * A boot sector that runs a .COM program as a memory manager does: in virtual 8086 mode (Intel
 * 80386 Programmer's Reference Manual, chapter 15), with IOPL 3, so only INT n comes here.  Of DOS
 * there is INT 21h AH=09h, which prints to port E9h, and AH=4Ch, which ends the emulator with that
 * status.  Anything else ends it with status 7Fh.  The program lies in the sectors behind this one.
 */
.set SECTORS, 17
.set LINEAR, 0x20000                /* segment 2000h */
.set SEGMENT, 0x2000
.set STATUS_PORT, 0xF4
.set UNEXPECTED, 0x7F
.set VM_IOPL3, 0x23002
.set IDT, 0x10000
.set TSS, 0x10800

.code16
.globl begin
begin:
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %ss
    movw $0x7C00, %sp
    movw $SEGMENT, %ax
    movw %ax, %es
    movw $0x100, %bx
    movw $0x0200 | SECTORS, %ax
    movw $0x0002, %cx
    movb $0, %dh
    int $0x13
    cli
    lgdt gdt_at
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    ljmp $0x08, $flat

.code32
flat:
    movw $0x10, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movl $0x7C00, %esp
    movl $IDT, %edi                 /* all vectors lead to `other`, 21h to `dos` */
    movl $256, %ecx
1:  movl $other, %eax
    cmpl $256 - 0x21, %ecx
    jne 2f
    movl $dos, %eax
2:  orl $0x080000, %eax
    stosl
    movl $0x0000EE00, %eax          /* 32-bit interrupt gate, DPL 3, handlers below 64 KB */
    stosl
    loop 1b
    lidt idt_at
    movl $0x7C00, TSS + 4           /* esp0, ss0 */
    movl $0x10, TSS + 8
    movw $0x18, %ax
    ltr %ax
    pushl $SEGMENT                  /* gs fs ds es ss esp eflags cs eip */
    pushl $SEGMENT
    pushl $SEGMENT
    pushl $SEGMENT
    pushl $SEGMENT
    pushl $0xFFFE
    pushl $VM_IOPL3
    pushl $SEGMENT
    pushl $0x100
    iretl

dos:
    cmpb $0x09, %ah
    je print
    cmpb $0x4C, %ah
    je leave
other:
    movb $UNEXPECTED, %al
leave:
    outb %al, $STATUS_PORT
    hlt

print:
    movzwl %dx, %esi
    movw $0x10, %dx
    movw %dx, %ds
    addl $LINEAR, %esi
1:  lodsb
    cmpb $'$', %al
    je 2f
    outb %al, $0xE9
    jmp 1b
2:  iretl

    .balign 8
gdt:
    .quad 0
    .quad 0x00CF9A000000FFFF
    .quad 0x00CF92000000FFFF
    .word 0x67, TSS & 0xFFFF, 0x8900 | TSS >> 16, 0
gdt_at:
    .word gdt_at - gdt - 1
    .long gdt
idt_at:
    .word 256 * 8 - 1
    .long IDT

    .org 510
    .word 0xAA55
