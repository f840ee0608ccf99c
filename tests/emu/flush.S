/*
 * A resident DOS program, for test_dos.py: flushing the disks (INT 21h AH=0Dh) closes A20, as with
 * SMARTDRV's delayed writing, which HIMEM moves from memory above 1 MB.
 */
.set FLUSH, 0x0D
.set SET_VECTOR, 0x2521
.set GET_VECTOR, 0x3521
.set PORT_A, 0x92

.code16
.globl begin
begin:
    jmp install

dos:
    cmpb $FLUSH, %ah
    jne 1f
    pushw %ax
    inb $PORT_A, %al
    andb $0xFC, %al
    outb %al, $PORT_A
    popw %ax
1:  ljmpw *%cs:old

old:
    .long 0

install:
    movw $GET_VECTOR, %ax
    int $0x21
    movw %bx, old
    movw %es, old + 2
    movw $dos, %dx
    movw $SET_VECTOR, %ax
    int $0x21
    movw $install, %dx              /* resident up to here */
    int $0x27
