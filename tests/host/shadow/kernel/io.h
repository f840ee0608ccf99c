/*
 * The bus seam on the host: the interface of kernel/io.h on the simulated bus
 * (tests/host/sim/bus.h).
 */
#ifndef KERNEL_IO_H
#define KERNEL_IO_H

#include <stdint.h>

struct ioport {
    uint16_t base;
};

struct iowin {
    uint32_t base;
};

uint32_t sim_bus_in(unsigned port, unsigned width);
void sim_bus_out(unsigned port, uint32_t value, unsigned width);
void sim_bus_in_rep(unsigned port, unsigned width, void *to, unsigned count);
void sim_bus_out_rep(unsigned port, unsigned width, const void *from, unsigned count);
void sim_mem_read(uint32_t address, unsigned width, void *to, unsigned count);
void sim_mem_write(uint32_t address, unsigned width, const void *from, unsigned count);

/* An old chip has recovered from the last access. */
void sim_bus_settle(void);

static inline void io_settle(void)
{
    sim_bus_settle();
}

static inline uint8_t io_in8(struct ioport p, unsigned reg)
{
    return (uint8_t)sim_bus_in(p.base + reg, 8);
}

static inline uint16_t io_in16(struct ioport p, unsigned reg)
{
    return (uint16_t)sim_bus_in(p.base + reg, 16);
}

static inline uint32_t io_in32(struct ioport p, unsigned reg)
{
    return sim_bus_in(p.base + reg, 32);
}

static inline void io_out8(struct ioport p, unsigned reg, uint8_t value)
{
    sim_bus_out(p.base + reg, value, 8);
}

static inline void io_out16(struct ioport p, unsigned reg, uint16_t value)
{
    sim_bus_out(p.base + reg, value, 16);
}

static inline void io_out32(struct ioport p, unsigned reg, uint32_t value)
{
    sim_bus_out(p.base + reg, value, 32);
}

static inline void io_in8_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    sim_bus_in_rep(p.base + reg, 8, to, count);
}

static inline void io_in16_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    sim_bus_in_rep(p.base + reg, 16, to, count);
}

static inline void io_in32_rep(struct ioport p, unsigned reg, void *to, unsigned count)
{
    sim_bus_in_rep(p.base + reg, 32, to, count);
}

static inline void io_out8_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    sim_bus_out_rep(p.base + reg, 8, from, count);
}

static inline void io_out16_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    sim_bus_out_rep(p.base + reg, 16, from, count);
}

static inline void io_out32_rep(struct ioport p, unsigned reg, const void *from, unsigned count)
{
    sim_bus_out_rep(p.base + reg, 32, from, count);
}

static inline void mem_read8(struct iowin w, unsigned offset, void *to, unsigned n)
{
    sim_mem_read(w.base + offset, 8, to, n);
}

static inline void mem_write8(struct iowin w, unsigned offset, const void *from, unsigned n)
{
    sim_mem_write(w.base + offset, 8, from, n);
}

static inline void mem_read16(struct iowin w, unsigned offset, void *to, unsigned words)
{
    sim_mem_read(w.base + offset, 16, to, words);
}

static inline void mem_write16(struct iowin w, unsigned offset, const void *from, unsigned words)
{
    sim_mem_write(w.base + offset, 16, from, words);
}

#endif
