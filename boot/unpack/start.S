/*
 * The product's entry: the kernel lies packed in this ELF, is unpacked to where it was linked, and
 * is entered as if the loader had done so.
 *
 * unpack.ld puts all of this behind the kernel's last byte, bss included, and claims the kernel's
 * place too, so a loader that keeps to the Multiboot Specification (0.6.96, 3.1 and 3.3) puts what
 * it hands over (information, memory map, command line, modules) into neither.
 */
.set HEADER_MAGIC, 0x1BADB002
.set ALIGN_MODULES, 1 << 0
.set WANT_MEMORY, 1 << 1
.set HEADER_FLAGS, ALIGN_MODULES | WANT_MEMORY
.set STACK_BYTES, 2 * 1024

.section .multiboot, "a"
    .balign 4
    .long HEADER_MAGIC
    .long HEADER_FLAGS
    .long -(HEADER_MAGIC + HEADER_FLAGS)

.section .text
.globl unpack_entry
unpack_entry:
    cli
    cld
    movl $stack_top, %esp
    pushl %eax                      /* the loader's magic and information, for the kernel */
    pushl %ebx
    call unpack_kernel              /* does not return from a damaged image */
    popl %ebx
    popl %eax
    jmp kernel_entry                /* unpack.mk: the kernel's boot_entry */

.section .payload, "a"
.globl payload, payload_end
payload:
    .incbin "kernel.z"
payload_end:

.section .bss
    .balign 16
    .skip STACK_BYTES
stack_top:

.section .note.GNU-stack, "", @progbits
