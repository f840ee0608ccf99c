/*
 * The end of boot sector and stage 2 where they cannot go on; both include it, as neither can be
 * sure of the other.  si = message; it is said, a key waited for, and the BIOS boots again, with
 * the disk parameter table it had.  All segments are 0.  Not newer than the 8086.
 */
1:  lodsb
    testb %al, %al
    jz 2f
    pushw %si
    movw $0x0007, %bx
    movb $0x0E, %ah
    int $0x10
    popw %si
    jmp 1b
2:  xorw %ax, %ax
    int $0x16
    movw $NOTE_VECTOR, %si
    movw $DISK_TABLE_VECTOR, %di
    movsw
    movsw
    int $0x19
