/*
 * The boot sector: read stage 2, a file in one piece (NICTEST.SYS), and jump.
 *
 * Nothing here is newer than the 8086: stage 2 says what is missing on an older machine.  The
 * BIOS parameter block and the place of stage 2 are filled in by iso/fat12.py.
 * Sources: IBM AT Technical Reference, BIOS listing (INT 13h, INT 1Eh, INT 19h).
 */
#include "boot/floppy/layout.h"

.set READ_SECTORS, 2
.set SECTOR_SHIFT, 9
.set STAGE2_BEGINS, 0x589C          /* its first two instructions, pushfw and popw %ax */
/* So often whole tracks are tried; then as often one sector at a time. */
.set TRIES, 4

.code16
.globl boot_sector
boot_sector:
    jmp begin
    nop
    .org BPB_END

begin:
    cli
    xorw %ax, %ax
    movw %ax, %ss
    movw $NOTES, %sp
    sti
    cld
    movw %ax, %ds
    movw %ax, %es
    ljmp $0, $1f                    /* some BIOSes start us at 07C0:0000 */
1:
    movb %dl, BOOT_SECTOR + BPB_DRIVE

    movw $BIOS_TICK, %si
    movw $NOTE_TICK, %di
    movsw
    movsw

    /* An old table ends a track at sector 9 or 15, and reading beyond fails; the table may be in
     * ROM, so a copy gets this disk's number. */
    movw $DISK_TABLE_VECTOR, %si
    movw $NOTE_VECTOR, %di
    movsw
    movsw
    ldsw %es:DISK_TABLE_VECTOR, %si
    movw $NOTES, %di
    movw $DISK_TABLE_BYTES, %cx
    rep movsb
    movw %ax, %ds
    movb BOOT_SECTOR + BPB_SECTORS_PER_TRACK, %al
    movb %al, NOTES + DISK_TABLE_LAST_SECTOR
    movw $NOTES, DISK_TABLE_VECTOR
    movw $0, DISK_TABLE_VECTOR + 2
    call reset                      /* only now the controller is told */

    movw BOOT_SECTOR + STAGE2_FIRST, %si /* the next sector of the disk */
    movw $STAGE2, %bx               /* and where to */
next:
    movw $2 * TRIES, %bp            /* tries left for this piece */
again:
    movw BOOT_SECTOR + STAGE2_BEHIND, %di
    subw %si, %di                   /* di = sectors to read now: what is left, ... */
    jbe loaded
    movw %si, %ax
    xorw %dx, %dx
    movw BOOT_SECTOR + BPB_SECTORS_PER_TRACK, %cx
    divw %cx                        /* ax = track, dx = sector on it from 0 */
    subw %dx, %cx
    cmpw %cx, %di                   /* ... to the end of the track at most, ... */
    jbe 1f
    movw %cx, %di
1:  cmpw $TRIES, %bp                /* ... or one, where the track would not do */
    ja 2f
    movw $1, %di
2:  movw %dx, %cx
    incw %cx                        /* cl = sector from 1 */
    xorw %dx, %dx
    divw BOOT_SECTOR + BPB_HEADS    /* ax = cylinder, dx = head */
    movb %al, %ch
    movb %dl, %dh
    movb BOOT_SECTOR + BPB_DRIVE, %dl
    movw %di, %ax
    movb $READ_SECTORS, %ah
    pushw %si                       /* the BIOS may destroy anything */
    pushw %di
    pushw %bp
    pushw %bx
    stc                             /* some forget to set it on failure, some to clear it */
    int $0x13
    sti
    cld
    popw %bx
    popw %bp
    popw %di
    popw %si
    jnc 3f
    call reset
    decw %bp
    jnz again
    jmp disk_error
3:
    addw %di, %si
    movw $SECTOR_SHIFT, %cx
    shlw %cl, %di
    addw %di, %bx
    jmp next

loaded:
    cmpw $STAGE2_BEGINS, STAGE2     /* somebody has moved or overwritten it */
    jne disk_error
    movb BOOT_SECTOR + BPB_DRIVE, %dl
    ljmp $0, $STAGE2

/* Keeps si, di, bp, bx. */
reset:
    pushw %si
    pushw %di
    pushw %bp
    pushw %bx
    xorw %ax, %ax
    movb BOOT_SECTOR + BPB_DRIVE, %dl
    int $0x13
    popw %bx
    popw %bp
    popw %di
    popw %si
    ret

disk_error:
    movw $message, %si
#include "boot/floppy/boot_again.S"

message:
    .asciz "\r\nNicTest86: disk read error. Another disk, then a key: "

    .org STAGE2_FIRST
    .word 0, 0
    .org 510
    .word 0xAA55
