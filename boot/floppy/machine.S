/*
 * The machine's side of machine.h.  Arguments in eax, edx, ecx (-mregparm=3); all is called from
 * 32-bit code in 16-bit segments, hence the long returns.
 *
 * Memory above 1 MB is reached by a short visit to protected mode for every copy, interrupts off:
 * INT 15h AH=87h is slow on some 386 BIOSes and closes A20 behind us on others, and segments
 * stretched once ("unreal mode") do not outlive a BIOS that does such a visit itself.
 */
#include "boot/floppy/layout.h"

.set CR0_PE, 1
.set MULTIBOOT_MAGIC, 0x2BADB002      /* boot/multiboot.h */
.set FLAT_DATA, 0x08                /* selectors in the table below */
.set FLAT_CODE, 0x10
.set REAL_DATA, 0x18

/* struct bios_regs */
.set R_EAX, 0
.set R_EBX, 4
.set R_ECX, 8
.set R_EDX, 12
.set R_ESI, 16
.set R_EDI, 20
.set R_ES, 24
.set R_FLAGS, 26

.code16
.text

.globl bios_call
bios_call:
    pushal
    pushfl
    movw %ax, regs
    movl (, %edx, 4), %ecx          /* the vector; called, so no instruction has to be patched */
    movl %ecx, service
    movw %ax, %bx
    movl R_EAX(%bx), %eax
    movl R_ECX(%bx), %ecx
    movl R_EDX(%bx), %edx
    movl R_ESI(%bx), %esi
    movl R_EDI(%bx), %edi
    movw R_ES(%bx), %es
    movl R_EBX(%bx), %ebx
    stc
    pushfw
    cli
    lcallw *service
    pushfw
    pushl %ebx
    movw %cs, %bx                   /* 0 */
    movw %bx, %ds
    movw regs, %bx
    movl %eax, R_EAX(%bx)
    movl %ecx, R_ECX(%bx)
    movl %edx, R_EDX(%bx)
    movl %esi, R_ESI(%bx)
    movl %edi, R_EDI(%bx)
    movw %es, R_ES(%bx)
    popl R_EBX(%bx)
    popw R_FLAGS(%bx)
    movw %cs, %ax
    movw %ax, %es
    popfl                           /* interrupts and direction as they were */
    popal
    retl

.globl port_in
port_in:
    movw %ax, %dx
    inb %dx, %al
    retl

.globl port_out
port_out:
    xchgw %ax, %dx
    outb %al, %dx
    retl

.globl memory_address
memory_address:
    retl

.globl memory_read
.globl memory_copy
memory_read:                        /* for us a pointer is an address */
memory_copy:                        /* eax = to, edx = from, ecx = bytes */
    pushl %esi
    pushl %edi
    movl %eax, %edi
    movl %edx, %esi
    calll visit_high
    movl %ecx, %edx
    shrl $2, %ecx
    addr32 rep movsl
    movl %edx, %ecx
    andl $3, %ecx
    addr32 rep movsb
    jmp back_low

.globl memory_zero
memory_zero:                        /* eax = to, edx = bytes */
    pushl %esi
    pushl %edi
    movl %eax, %edi
    movl %edx, %ecx
    calll visit_high
    xorl %eax, %eax
    movl %ecx, %edx
    shrl $2, %ecx
    addr32 rep stosl
    movl %edx, %ecx
    andl $3, %ecx
    addr32 rep stosb
    jmp back_low

/* To protected mode with flat ds and es, interrupts off; cs and ss stay as they are. */
visit_high:
    cli
    lgdtl table_pointer
    movl %cr0, %eax
    orb $CR0_PE, %al
    movl %eax, %cr0
    jmp 1f
1:  movw $FLAT_DATA, %dx
    movw %dx, %ds
    movw %dx, %es
    retl

/* Ends memory_copy and memory_zero: real mode, segments of 64 KB. */
back_low:
    movw $REAL_DATA, %dx
    movw %dx, %ds
    movw %dx, %es
    movl %cr0, %eax
    andb $~CR0_PE, %al
    movl %eax, %cr0
    ljmp $0, $1f
1:  xorw %dx, %dx
    movw %dx, %ds
    movw %dx, %es
    sti
    popl %edi
    popl %esi
    retl

/* FFFF:(x + 10h) is x + 1 MB, or x where the line is held down.  What lies there is put back; two
 * values, as one may be there by chance. */
.globl memory_a20_is_open
memory_a20_is_open:
    pushfl
    cli
    pushl %ebx
    movw $0xFFFF, %ax
    movw %ax, %fs
    movw $marker + 0x10, %bx
    movw %fs:(%bx), %dx
    xorl %eax, %eax
    movw $0x55AA, %cx
    movw %cx, marker
    notw %cx
    movw %cx, %fs:(%bx)
    cmpw %cx, marker
    je 1f
    movw %cx, marker
    notw %cx
    movw %cx, %fs:(%bx)
    cmpw %cx, marker
    je 1f
    incl %eax
1:  movw %dx, %fs:(%bx)
    popl %ebx
    popfl
    retl

.globl machine_restart
machine_restart:
    movl NOTE_VECTOR, %eax
    movl %eax, DISK_TABLE_VECTOR
    int $0x19

.globl machine_enter
machine_enter:                      /* eax = entry, edx = info */
    cli
    movl %eax, %ecx
    movl %edx, %ebx
    lgdtl table_pointer
    movl %cr0, %eax
    orb $CR0_PE, %al
    movl %eax, %cr0
    ljmpl $FLAT_CODE, $flat

.section .text.32, "ax"             /* apart, as a disassembler has to be told */
.code32
flat:
    movw $FLAT_DATA, %dx
    movw %dx, %ds
    movw %dx, %es
    movw %dx, %fs
    movw %dx, %gs
    movw %dx, %ss
    movl $MULTIBOOT_MAGIC, %eax
    jmp *%ecx

.section .rodata
    .balign 8
table:
    .quad 0
    .quad 0x00CF92000000FFFF        /* data, 4 GB                     */
    .quad 0x00CF9A000000FFFF        /* 32-bit code, 4 GB              */
    .quad 0x000092000000FFFF        /* data, 64 KB: as real mode has  */
table_end:
table_pointer:
    .word table_end - table - 1
    .long table

.bss
    .balign 4
service:
    .skip 4
regs:
    .skip 2
marker:
    .skip 2

.section .note.GNU-stack, "", @progbits
