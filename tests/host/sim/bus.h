/*
 * A simulated ISA bus and the clock everything hangs on.
 *
 * Reading and writing ports takes simulated time, computing takes none.  Whatever happens by itself
 * (a frame ends, a reset is over) is an event at a point of that time and runs before the first
 * access that comes later.  Misuse of a chip ends the program with a message and the last accesses.
 */
#ifndef TESTS_SIM_BUS_H
#define TESTS_SIM_BUS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_LOG_SIZE = 40,
    SIM_NS_BYTE = 1000, /* one 8-bit access of an ISA card (DESIGN section 10)       */
    SIM_NS_WORD = 850,  /* one 16-bit access of a data port                         */
    SIM_NS_MEM8 = 800,  /* one cycle of 8 or 16 bits in card memory                 */
    SIM_NS_MEM16 = 410,
    SIM_NS_CLOCK = 3000 /* reading the 8254                                          */
};

/* Something that claims ports.  `reg` counts from `base`; `width` is 8, 16 or 32.  Where two claim
 * one port, both see the access, and a read gives only the ones that both drive. */
struct sim_device {
    const char *name;
    unsigned base, ports;
    uint32_t (*in)(void *self, unsigned reg, unsigned width);
    void (*out)(void *self, unsigned reg, uint32_t value, unsigned width);
    void *self;
};

/* Empty bus, time 0, no events, interrupts enabled, no line in use. */
void sim_reset(void);

void sim_attach(const struct sim_device *device);

/* What was attached last decodes A0-A9 only, as old cards do: it answers at +400h, +800h ... too.
 */
void sim_decode_ten_bits(void);

/* Off the bus again: every device with this `self`. */
void sim_detach(const void *self);

/* What a port nobody claims reads as: ones by pull-ups (the default), zeros, or the byte that was
 * on the bus last, read or written. */
enum sim_float { SIM_FLOAT_ONES, SIM_FLOAT_ZEROS, SIM_FLOAT_LAST };
void sim_bus_float(enum sim_float how);

/*
 * Something that has memory on the bus.  Asked in every cycle there; false: not its address.  Reads
 * put the value into `*value`, writes find it there.  Where nobody answers, reads give ones; where
 * two do, the test ends.
 */
struct sim_memory {
    const char *name;
    bool (*cycle)(void *self, uint32_t address, unsigned width, bool write, uint32_t *value);
    void *self;
};

void sim_attach_memory(const struct sim_memory *memory);

/* For cycle(): `who` has its memory off the bus.  If nobody else takes this write, that is misuse.
 */
void sim_memory_off(const char *who);

/* ---- time ---- */

uint64_t sim_now_ns(void);

/* Let time pass: events and, when enabled, interrupts happen on the way. */
void sim_run_ns(uint64_t ns);
void sim_run_us(uint64_t us);

typedef void (*sim_event)(void *arg);

/* Call `event` at absolute time `at_ns`, or at once if that is past.  Returns a handle, never 0. */
unsigned sim_at(uint64_t at_ns, sim_event event, void *arg);
void sim_cancel(unsigned handle);

/* Run the next event, however far away.  False if there is none. */
bool sim_next_event(void);

/* ---- counting accesses ---- */

uint64_t sim_accesses(void);

/* Call `event` immediately before access number `number`; or when the CPU halts with nothing
 * else to come.  One at a time; null takes it off. */
void sim_at_access(uint64_t number, sim_event event, void *arg);

/* For cpu_sti_hlt(): fire what waits for an access.  False if nothing does. */
bool sim_fire_access_event(void);

/* ---- leaving ---- */

/* Test side: the machine is being left in the middle of something, and what was begun may be broken
 * off.  Cleared by sim_reset(). */
extern bool sim_leaving;

/* ---- failing ---- */

/* Note an access: `place` is a port or an address, `value` of the repeated ones their count. */
enum sim_access {
    SIM_NO_ACCESS,
    SIM_IN,
    SIM_OUT,
    SIM_INS,
    SIM_OUTS,
    SIM_READ,
    SIM_WRITE,
    SIM_HALT
};
void sim_log(enum sim_access kind, unsigned width, unsigned place, unsigned value);
void sim_print_log(void);

/* The driver did what the datasheet forbids.  The place of the call is printed, too: the check of
 * the host tests (tests/tools/aborts.py) wants each to have been reached by a wrong step. */
#define sim_misuse(...) sim_end_at("MISUSE", __FILE__, __LINE__, __VA_ARGS__)

/* No fault of the driver's: the test asks more of the simulated machine than it has room for. */
#define sim_bad_test(...) sim_end_at("BAD TEST", __FILE__, __LINE__, __VA_ARGS__)

_Noreturn void sim_end_at(const char *what, const char *file, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
