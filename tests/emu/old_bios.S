/*
 * An option ROM that makes QEMU's BIOS one of 1991 with a worn disk, for test_floppy.py.
 *
 * INT 13h: reads of one sector fail so often (--defsym BAD=lba, TIMES=n; FFFFh: always); a read
 * beyond the end of a track, beyond the last sector of the disk parameter table, or across a 64 KB
 * border of memory fails; every register that is no result is destroyed.  INT 15h: E820h, E801h and
 * 2401h are unknown, 88h leaves the caller's carry.  A20 is closed when the first sector is read.
 *
 * State in the inter-application area of the BIOS data, 004F0h.
 */
.set LEFT, 0x4F0
.set A20_DONE, 0x4F2
.set OLD_DISK, 0x4F4
.set OLD_SYSTEM, 0x4F8

.set SECTORS_PER_TRACK, 18
.set HEADS, 2
.set READ, 2
.set BAD_CRC, 0x10
.set NOT_FOUND, 0x04
.set DMA_BORDER, 0x09
.set UNKNOWN, 0x86

.code16
rom:
    .byte 0x55, 0xAA, 2             /* signature; 2 x 512 bytes; the test sets the checksum */
    pushw %ds
    pushl %eax
    xorw %ax, %ax
    movw %ax, %ds
    movl 0x13 * 4, %eax
    movl %eax, OLD_DISK
    movl 0x15 * 4, %eax
    movl %eax, OLD_SYSTEM
    movw $disk, 0x13 * 4
    movw %cs, 0x13 * 4 + 2
    movw $system, 0x15 * 4
    movw %cs, 0x15 * 4 + 2
    movw $TIMES, LEFT
    movb $0, A20_DONE
    popl %eax
    popw %ds
    lretw

disk:
    pushw %ds
    pushw $0
    popw %ds
    pushal
    movw %sp, %bp                   /* 0: edi esi ebp esp ebx edx ecx eax */
    cmpb $0, A20_DONE
    jne 1f
    movb $1, A20_DONE
    inb $0x92, %al
    andb $0xFC, %al
    outb %al, $0x92
1:  movw 28(%bp), %ax
    cmpb $READ, %ah
    jne pass
    testb %dl, %dl
    jnz pass

    movw %cx, %di                   /* di = last sector of the read, from 1 */
    andw $0x3F, %di
    movw %ax, %si
    andw $0xFF, %si
    addw %si, %di
    decw %di
    movb $NOT_FOUND, %ah
    cmpw $SECTORS_PER_TRACK, %di
    ja refuse
    pushl %ebx
    movl 0x1E * 4, %ebx             /* the disk parameter table */
    pushw %es
    pushl %ebx
    popw %bx
    popw %es
    movzbw %es:4(%bx), %bx
    popw %es
    cmpw %bx, %di
    popl %ebx
    ja refuse

    movb $DMA_BORDER, %ah
    movw %es, %di
    shlw $4, %di
    addw %bx, %di                   /* the address in its 64 KB */
    shlw $9, %si
    decw %si
    addw %si, %di
    jc refuse

    movzbw %ch, %ax                 /* the first sector, from 0 on the disk */
    imulw $HEADS, %ax, %ax
    movzbw %dh, %dx
    addw %dx, %ax
    imulw $SECTORS_PER_TRACK, %ax, %ax
    andw $0x3F, %cx
    addw %cx, %ax
    decw %ax
    movw $BAD, %bx
    subw %ax, %bx
    jc pass
    movzbw 28(%bp), %cx
    cmpw %cx, %bx
    jae pass
    cmpw $0, LEFT
    je pass
    cmpw $0xFFFF, LEFT
    je 1f
    decw LEFT
1:  movb $BAD_CRC, %ah

refuse:                             /* ah = why */
    movb %ah, 29(%bp)
    popal
    popw %ds
    stc
    jmp destroy

pass:
    popal
    pushfw
    lcallw *OLD_DISK
    popw %ds
destroy:
    movl $0xDEADBEEF, %ebx
    movl %ebx, %ecx
    movl %ebx, %edx
    movl %ebx, %esi
    movl %ebx, %edi
    movl %ebx, %ebp
    lretw $2

system:
    cmpw $0xE820, %ax
    je 1f
    cmpw $0xE801, %ax
    je 1f
    cmpw $0x2401, %ax
    je 1f
    cmpb $0x88, %ah
    je 2f
    pushw %ds
    pushw $0
    popw %ds
    pushfw
    lcallw *OLD_SYSTEM
    popw %ds
    lretw $2
1:  movb $UNKNOWN, %ah
    stc
    lretw $2
2:  pushw %ds
    pushw $0
    popw %ds
    pushfw
    lcallw *OLD_SYSTEM
    popw %ds
    stc
    lretw $2

    .org 1024
