/*
 * The bus seam: every access of a driver to a card goes through this file.
 *
 * On metal each function is one instruction.  On the host, tests/host/shadow/kernel/io.h has the
 * same interface and calls the simulated bus instead, so that a driver is compiled unchanged.
 *
 * A port base is a struct, not an integer: `io_out8(5, base, v)` does not compile.  The order is
 * always destination first, then value.  All of them clobber memory, so the compiler cannot move
 * a buffer store past the doorbell that hands the buffer over.
 */
#ifndef KERNEL_IO_H
#define KERNEL_IO_H

#include <stdint.h>

/* First port of a device.  Registers are addressed relative to it. */
struct ioport {
    uint16_t base;
};

/* First byte of a card's memory in the address space of the bus; nothing is paged, so the CPU's
 * address is the same. */
struct iowin {
    uint32_t base;
};

/*
 * Between two accesses to one old chip on the system board, which must be some 200 ns apart (Intel
 * 8254, tRV; 8259A, tRHRL, tWHWL): a jump empties the prefetch queue, which takes a 386 that long.
 * On faster processors the bus itself keeps the distance.
 */
static inline void io_settle(void)
{
    __asm__ volatile("jmp 1f\n1:" : : : "memory");
}

static inline uint8_t io_in8(struct ioport p, unsigned reg)
{
    uint8_t value;
    __asm__ volatile("inb %w1, %b0" : "=a"(value) : "Nd"(p.base + reg) : "memory");
    return value;
}

static inline uint16_t io_in16(struct ioport p, unsigned reg)
{
    uint16_t value;
    __asm__ volatile("inw %w1, %w0" : "=a"(value) : "Nd"(p.base + reg) : "memory");
    return value;
}

static inline uint32_t io_in32(struct ioport p, unsigned reg)
{
    uint32_t value;
    __asm__ volatile("inl %w1, %0" : "=a"(value) : "Nd"(p.base + reg) : "memory");
    return value;
}

static inline void io_out8(struct ioport p, unsigned reg, uint8_t value)
{
    __asm__ volatile("outb %b0, %w1" : : "a"(value), "Nd"(p.base + reg) : "memory");
}

static inline void io_out16(struct ioport p, unsigned reg, uint16_t value)
{
    __asm__ volatile("outw %w0, %w1" : : "a"(value), "Nd"(p.base + reg) : "memory");
}

static inline void io_out32(struct ioport p, unsigned reg, uint32_t value)
{
    __asm__ volatile("outl %0, %w1" : : "a"(value), "Nd"(p.base + reg) : "memory");
}

/* Read `count` bytes (words, double words) from one register into `to`.  `count` may be 0. */
static inline void io_in8_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    __asm__ volatile("rep insb" : "+D"(to), "+c"(count) : "d"(p.base + reg) : "memory");
}

static inline void io_in16_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    __asm__ volatile("rep insw" : "+D"(to), "+c"(count) : "d"(p.base + reg) : "memory");
}

static inline void io_in32_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    __asm__ volatile("rep insl" : "+D"(to), "+c"(count) : "d"(p.base + reg) : "memory");
}

/* Write `count` bytes (words, double words) from `from` to one register.  `count` may be 0. */
static inline void io_out8_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    __asm__ volatile("rep outsb" : "+S"(from), "+c"(count) : "d"(p.base + reg) : "memory");
}

static inline void io_out16_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    __asm__ volatile("rep outsw" : "+S"(from), "+c"(count) : "d"(p.base + reg) : "memory");
}

static inline void io_out32_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    __asm__ volatile("rep outsl" : "+S"(from), "+c"(count) : "d"(p.base + reg) : "memory");
}

/*
 * Card memory: `n` bytes at `offset`, in bus cycles of 8 bits ...
 */
static inline void mem_read8(struct iowin w, unsigned offset, void *to, unsigned n)
{
    uint32_t from = w.base + offset;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static inline void mem_write8(struct iowin w, unsigned offset, const void *from, unsigned n)
{
    uint32_t to = w.base + offset;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/*
 * ... and `words` words at even `offset`, in cycles of 16 bits: the bus makes two of each 32-bit
 * access of the CPU, which saves instructions, not cycles.
 */
static inline void mem_read16(struct iowin w, unsigned offset, void *to, unsigned words)
{
    uint32_t from = w.base + offset;
    unsigned n = words / 2;
    __asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    n = words % 2;
    __asm__ volatile("rep movsw" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static inline void mem_write16(struct iowin w, unsigned offset, const void *from, unsigned words)
{
    uint32_t to = w.base + offset;
    unsigned n = words / 2;
    __asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    n = words % 2;
    __asm__ volatile("rep movsw" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

#endif
