/*
 * All that our loaders ask of the machine: the seam at which the host tests put a PC of their own.
 *
 * Addresses are physical.  A loader runs in real mode in one segment (stage 2's is 0), and a
 * pointer is an offset in it; what lies elsewhere is reached only through these functions.
 */
#ifndef BOOT_FLOPPY_MACHINE_H
#define BOOT_FLOPPY_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct bios_regs {
    uint32_t eax, ebx, ecx, edx, esi, edi;
    uint16_t es, flags; /* flags: only out */
};
enum { FLAG_CARRY = 1 << 0, FLAG_ZERO = 1 << 6 };

/* Calls a BIOS service, carry set beforehand; whatever else it destroys is put right. */
void bios_call(struct bios_regs *r, unsigned interrupt);

uint8_t port_in(uint16_t port);
void port_out(uint16_t port, uint8_t value);

/* Ranges may lie anywhere below 4 GB, A20 permitting; they must not overlap. */
void memory_copy(uint32_t to, uint32_t from, uint32_t bytes);
void memory_zero(uint32_t to, uint32_t bytes);

/* Into an object of ours. */
void memory_read(void *to, uint32_t from, uint32_t bytes);

/* The physical address of an object of ours. */
uint32_t memory_address(const void *object);

/* Is the 21st address line let through?  By writing and comparing 1 MB apart. */
bool memory_a20_is_open(void);

/* Enter a multiboot kernel (Multiboot Specification 0.6.96, section 3.2). */
_Noreturn void machine_enter(uint32_t entry, uint32_t info);

/* Back to who started us: the BIOS boots again (INT 19h), with the disk parameter table it had;
 * from NICTEST.COM back to DOS. */
_Noreturn void machine_restart(void);

#endif
