/*
 * The clock on the host: the interface of kernel/time.h on simulated time (tests/host/sim/bus.c).
 */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* There is nothing to program and no tick: tests that want one schedule it (sim_tick). */
static inline void time_init(void)
{
}

static inline void time_start_tick(void)
{
}

static inline void time_leave(void)
{
}

static inline void time_calibrate(void)
{
}

/* As on metal, reading the clock takes time: bounded loops end. */
uint64_t time_us(void);
uint64_t time_recent_us(void);
uint32_t time_ms(void);

static inline unsigned time_cpu_mhz(void)
{
    return 16;
}

static inline unsigned time_crosscheck_ppm(void)
{
    return 0;
}

static inline unsigned time_holes(void)
{
    return 0;
}

struct deadline {
    uint64_t at_us;
};

struct deadline deadline_us(uint32_t from_now);
struct deadline deadline_coarse_us(uint32_t from_now);
bool expired(const struct deadline *d);
void delay_us(uint32_t us);

#endif
