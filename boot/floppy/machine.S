/*
 * The machine's side of machine.h, for stage 2 and for NICTEST.COM.  All segments are the
 * program's, which lies anywhere in the first 640 KB: a pointer is an offset in it.
 *
 * Arguments in eax, edx, ecx (-mregparm=3); all is called from 32-bit code in 16-bit segments,
 * hence the long returns.
 *
 * Memory above 1 MB is reached by a short visit to protected mode for every copy, interrupts off:
 * INT 15h AH=87h is slow on some 386 BIOSes and closes A20 behind us on others, and segments
 * stretched once ("unreal mode") do not outlive a BIOS that does such a visit itself.
 */
.set CR0_PE, 1
.set MULTIBOOT_MAGIC, 0x2BADB002    /* boot/multiboot.h */
.set FLAT_DATA, 0x08                /* selectors in the table below */
.set FLAT_CODE, 0x10
.set REAL_DATA, 0x18
.set MB, 1 << 20

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

/* Physical addresses that the processor wants in memory. */
.globl machine_begin
machine_begin:
    xorl %eax, %eax
    movw %cs, %ax
    shll $4, %eax
    movl %eax, base
    addl %eax, table_at
    addl %eax, flat_at
    retl

/* es:edi may be a buffer's physical address: put into a form for 16 bits. */
.globl bios_call
bios_call:
    pushal
    pushfl
    movw %ax, regs
    xorw %bx, %bx
    movw %bx, %fs
    movl %fs:(, %edx, 4), %ecx      /* the vector; called, so no instruction has to be patched */
    movl %ecx, service
    movw %ax, %bx
    movl R_EDI(%bx), %edi
    movl %edi, %eax
    shrl $4, %eax
    addw R_ES(%bx), %ax
    movw %ax, %es
    andl $15, %edi
    movl R_EAX(%bx), %eax
    movl R_ECX(%bx), %ecx
    movl R_EDX(%bx), %edx
    movl R_ESI(%bx), %esi
    movl R_EBX(%bx), %ebx
    stc
    pushfw
    cli
    lcallw *service
    pushfw
    pushl %ebx
    movw %cs, %bx
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
    addl base, %eax
    retl

.globl memory_read
memory_read:                        /* eax = an object of ours, edx = from, ecx = bytes */
    addl base, %eax

.globl memory_copy
memory_copy:                        /* eax = to, edx = from, ecx = bytes */
    pushl %esi
    pushl %edi
    movl %eax, %edi
    movl %edx, %esi
    calll visit_flat
    movl %ecx, %edx
    shrl $2, %ecx
    addr32 rep movsl
    movl %edx, %ecx
    andl $3, %ecx
    addr32 rep movsb
    jmp back

.globl memory_zero
memory_zero:                        /* eax = to, edx = bytes */
    pushl %esi
    pushl %edi
    movl %eax, %edi
    movl %edx, %ecx
    calll visit_flat
    xorl %eax, %eax
    movl %ecx, %edx
    shrl $2, %ecx
    addr32 rep stosl
    movl %edx, %ecx
    andl $3, %ecx
    addr32 rep stosb
    jmp back

/* A variable of ours and what lies 1 MB above it, which is put back. */
.globl memory_a20_is_open
memory_a20_is_open:
    pushl %esi
    pushl %edi
    movl $marker, %esi
    addl base, %esi
    calll visit_flat
    movl MB(%esi), %edx
    movl $0x55AA33CC, %eax
    xorl %ecx, %ecx
    movl %eax, (%esi)
    notl %eax
    movl %eax, MB(%esi)
    cmpl %eax, (%esi)
    je 1f
    movl %eax, (%esi)
    notl %eax
    movl %eax, MB(%esi)
    cmpl %eax, (%esi)
    je 1f
    incl %ecx
1:  movl %edx, MB(%esi)
    calll return_real
    movl %ecx, %eax
    popl %edi
    popl %esi
    retl

/* To protected mode with flat ds and es, interrupts off; cs and ss stay as they are. */
visit_flat:
    cli
    lgdtl table_pointer
    movl %cr0, %eax
    orb $CR0_PE, %al
    movl %eax, %cr0
    jmp 1f
1:  movw $FLAT_DATA, %ax
    movw %ax, %ds
    movw %ax, %es
    retl

/* Real mode again, ds and es the program's, interrupts on.  Leaves ecx. */
return_real:
    movw $REAL_DATA, %ax
    movw %ax, %ds
    movw %ax, %es
    movl %cr0, %eax
    andb $~CR0_PE, %al
    movl %eax, %cr0
    pushw %cs                       /* the long jump that the manual wants (386 PRM, 14.5) */
    pushw $1f
    lretw
1:  movw %cs, %ax
    movw %ax, %ds
    movw %ax, %es
    sti
    retl

/* Ends memory_copy and memory_zero. */
back:
    calll return_real
    popl %edi
    popl %esi
    retl

.globl machine_enter
machine_enter:                      /* eax = entry, edx = info */
    cli
    movl %eax, %ecx
    movl %edx, %ebx
    lgdtl table_pointer
    movl %cr0, %eax
    orb $CR0_PE, %al
    movl %eax, %cr0
    ljmpl *flat_at

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

.data
    .balign 8
table:
    .quad 0
    .quad 0x00CF92000000FFFF        /* data, 4 GB                     */
    .quad 0x00CF9A000000FFFF        /* 32-bit code, 4 GB              */
    .quad 0x000092000000FFFF        /* data, 64 KB: as real mode has  */
table_end:
table_pointer:
    .word table_end - table - 1
table_at:
    .long table
flat_at:
    .long flat
    .word FLAT_CODE

.bss
    .balign 4
base:
    .skip 4
service:
    .skip 4
marker:
    .skip 4
regs:
    .skip 2

.section .note.GNU-stack, "", @progbits
