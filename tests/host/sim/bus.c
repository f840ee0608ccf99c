/*
 * The simulated bus: ports, time, events, and the log of the last accesses.
 */
#include "tests/host/sim/bus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/io.h"
#include "kernel/time.h"
#include "tests/host/sim/irq.h"

enum { DEVICES_MAX = 64, MEMORIES_MAX = 8, EVENTS_MAX = 4096 };

struct pending_event {
    uint64_t at_ns;
    unsigned handle; /* 0: free */
    sim_event event;
    void *arg;
};

static struct slot {
    struct sim_device device;
    bool ten_bits;
} devices[DEVICES_MAX];
static unsigned device_count;
static enum sim_float floating;
static uint8_t last_byte;

static struct sim_memory memories[MEMORIES_MAX];
static unsigned memory_count;

static struct pending_event events[EVENTS_MAX];
static unsigned event_slots; /* slots in use or freed below this one */
static unsigned last_handle;

bool sim_leaving;

static uint64_t now_ns;
static uint64_t accesses;
static uint64_t access_event_at;
static sim_event access_event;
static void *access_event_arg;

static struct logged {
    uint64_t at_ns;
    enum sim_access kind;
    unsigned width, place, value;
} log_entries[SIM_LOG_SIZE];
static unsigned log_next;

void sim_reset(void)
{
    device_count = memory_count = 0;
    floating = SIM_FLOAT_ONES;
    last_byte = 0xFF;
    sim_leaving = false;
    memset(events, 0, event_slots * sizeof events[0]);
    event_slots = 0;
    now_ns = 0;
    accesses = 0;
    access_event = NULL;
    memset(log_entries, 0, sizeof log_entries);
    log_next = 0;
    sim_irq_reset();
}

void sim_attach(const struct sim_device *device)
{
    if (device_count == DEVICES_MAX) {
        sim_bad_test("bus: more than %d devices", DEVICES_MAX);
    }
    devices[device_count++] = (struct slot){.device = *device};
}

void sim_decode_ten_bits(void)
{
    devices[device_count - 1].ten_bits = true;
}

void sim_detach(const void *self)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < device_count; i++) {
        if (devices[i].device.self != self) {
            devices[kept++] = devices[i];
        }
    }
    device_count = kept;
}

void sim_bus_float(enum sim_float how)
{
    floating = how;
}

void sim_attach_memory(const struct sim_memory *memory)
{
    if (memory_count == MEMORIES_MAX) {
        sim_bad_test("bus: more than %d cards with memory", MEMORIES_MAX);
    }
    memories[memory_count++] = *memory;
}

/* ---- failing ---- */

/* Kept as numbers: made into words only when somebody wants to read it. */
void sim_log(enum sim_access kind, unsigned width, unsigned place, unsigned value)
{
    log_entries[log_next++ % SIM_LOG_SIZE] = (struct logged){now_ns, kind, width, place, value};
}

static void print_entry(const struct logged *l)
{
    if (l->kind == SIM_NO_ACCESS) {
        return;
    }
    fprintf(stderr, "  %10llu ns  ", (unsigned long long)l->at_ns);
    switch (l->kind) {
    case SIM_IN:
        fprintf(stderr, "in%-2u  %03x -> %0*x", l->width, l->place, (int)l->width / 4, l->value);
        break;
    case SIM_OUT:
        fprintf(stderr, "out%-2u %03x <- %0*x", l->width, l->place, (int)l->width / 4, l->value);
        break;
    case SIM_INS: fprintf(stderr, "in%-2u  %03x x %u", l->width, l->place, l->value); break;
    case SIM_OUTS: fprintf(stderr, "out%-2u %03x x %u", l->width, l->place, l->value); break;
    case SIM_READ: fprintf(stderr, "rd%-2u  %05x x %u", l->width, l->place, l->value); break;
    case SIM_WRITE: fprintf(stderr, "wr%-2u  %05x x %u", l->width, l->place, l->value); break;
    default: fprintf(stderr, "hlt"); break;
    }
    fprintf(stderr, "\n");
}

void sim_print_log(void)
{
    fprintf(stderr, "last bus accesses, oldest first:\n");
    for (unsigned i = 0; i < SIM_LOG_SIZE; i++) {
        print_entry(&log_entries[(log_next + i) % SIM_LOG_SIZE]);
    }
}

void sim_end_at(const char *what, const char *file, unsigned line, const char *fmt, ...)
{
    va_list args;
    sim_print_log();
    fprintf(stderr, "%s at %llu ns%s: ", what, (unsigned long long)now_ns,
            sim_in_irq() ? " in interrupt context" : "");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, " [%s:%u]\n", file, line);
    fflush(NULL);
    abort();
}

/* ---- events ---- */

unsigned sim_at(uint64_t at_ns, sim_event event, void *arg)
{
    unsigned slot = 0;
    while (slot < event_slots && events[slot].handle != 0) {
        slot++;
    }
    if (slot == EVENTS_MAX) {
        sim_bad_test("bus: more than %d events pending", EVENTS_MAX);
    }
    if (slot == event_slots) {
        event_slots++;
    }
    last_handle++;
    events[slot] =
        (struct pending_event){.at_ns = at_ns, .handle = last_handle, .event = event, .arg = arg};
    return last_handle;
}

void sim_cancel(unsigned handle)
{
    for (unsigned i = 0; i < event_slots; i++) {
        if (handle != 0 && events[i].handle == handle) {
            events[i].handle = 0;
        }
    }
}

/* The event that is due first; of two at the same time, the one scheduled first. */
static struct pending_event *earliest(void)
{
    struct pending_event *best = NULL;
    for (unsigned i = 0; i < event_slots; i++) {
        struct pending_event *e = &events[i];
        if (e->handle != 0 && (best == NULL || e->at_ns < best->at_ns ||
                               (e->at_ns == best->at_ns && e->handle < best->handle))) {
            best = e;
        }
    }
    return best;
}

static void fire(struct pending_event *e)
{
    struct pending_event copy = *e;
    e->handle = 0;
    while (event_slots > 0 && events[event_slots - 1].handle == 0) {
        event_slots--;
    }
    if (copy.at_ns > now_ns) {
        now_ns = copy.at_ns;
    }
    copy.event(copy.arg);
}

bool sim_next_event(void)
{
    struct pending_event *e = earliest();
    if (e == NULL) {
        return false;
    }
    fire(e);
    return true;
}

/* ---- time ---- */

uint64_t sim_now_ns(void)
{
    return now_ns;
}

/* Time passes and events happen; interrupts stay pending. */
static void pass(uint64_t ns)
{
    uint64_t until = now_ns + ns;
    for (struct pending_event *e = earliest(); e != NULL && e->at_ns <= until; e = earliest()) {
        fire(e);
    }
    if (now_ns < until) {
        now_ns = until;
    }
}

/* In steps between events, so that a handler runs when its interrupt comes, not at the end. */
void sim_run_ns(uint64_t ns)
{
    uint64_t until = now_ns + ns;
    sim_irq_deliver();
    while (now_ns < until) {
        struct pending_event *e = earliest();
        uint64_t stop = e != NULL && e->at_ns < until ? e->at_ns : until;
        pass(stop > now_ns ? stop - now_ns : 0);
        sim_irq_deliver();
    }
}

void sim_run_us(uint64_t us)
{
    sim_run_ns(us * 1000);
}

uint64_t time_us(void)
{
    sim_run_ns(SIM_NS_CLOCK);
    return now_ns / 1000;
}

uint64_t time_recent_us(void)
{
    return now_ns / 1000;
}

uint32_t time_ms(void)
{
    return (uint32_t)(time_us() / 1000);
}

struct deadline deadline_us(uint32_t from_now)
{
    return (struct deadline){time_us() + from_now};
}

struct deadline deadline_coarse_us(uint32_t from_now)
{
    return (struct deadline){time_recent_us() + from_now};
}

bool expired(const struct deadline *d)
{
    return time_us() > d->at_us;
}

void delay_us(uint32_t us)
{
    sim_run_us(us);
}

/* ---- accesses ---- */

uint64_t sim_accesses(void)
{
    return accesses;
}

void sim_at_access(uint64_t number, sim_event event, void *arg)
{
    access_event_at = number;
    access_event = event;
    access_event_arg = arg;
}

bool sim_fire_access_event(void)
{
    sim_event event = access_event;
    access_event = NULL;
    if (event == NULL) {
        return false;
    }
    event(access_event_arg);
    return true;
}

/* The register of `d` at `port`; false if it is none of its. */
static bool claims(const struct slot *s, unsigned port, unsigned *reg)
{
    enum { TEN_BITS = 0x3FF };
    unsigned p = s->ten_bits ? port & TEN_BITS : port;
    *reg = p - s->device.base;
    return p >= s->device.base && *reg < s->device.ports;
}

/* The access takes effect at the end of its bus cycle; what came before that is seen by it. */
static void begin_cycle(uint64_t ns)
{
    if (access_event != NULL && accesses >= access_event_at) {
        sim_fire_access_event();
    }
    sim_irq_deliver();
    accesses++;
    pass(ns);
}

/* No chip on this bus is that slow. */
void sim_bus_settle(void)
{
}

static void cycle(unsigned width)
{
    begin_cycle(width == 8 ? SIM_NS_BYTE : width == 16 ? SIM_NS_WORD : 2 * SIM_NS_WORD);
}

static uint32_t in_once(unsigned port, unsigned width)
{
    uint32_t ones = width == 32 ? 0xFFFFFFFFU : (1U << width) - 1, value = ones;
    bool claimed = false;
    unsigned reg;
    cycle(width);
    for (unsigned i = 0; i < device_count; i++) {
        if (claims(&devices[i], port, &reg)) {
            const struct sim_device d = devices[i].device; /* it may detach itself */
            value &= d.in(d.self, reg, width);
            claimed = true;
        }
    }
    if (!claimed) {
        value = floating == SIM_FLOAT_ONES    ? ones
                : floating == SIM_FLOAT_ZEROS ? 0
                                              : last_byte * 0x01010101U & ones;
    }
    last_byte = (uint8_t)value;
    return value;
}

static void out_once(unsigned port, uint32_t value, unsigned width)
{
    unsigned reg;
    cycle(width);
    last_byte = (uint8_t)value;
    for (unsigned i = 0; i < device_count; i++) {
        if (claims(&devices[i], port, &reg)) {
            const struct sim_device d = devices[i].device;
            d.out(d.self, reg, value, width);
        }
    }
}

uint32_t sim_bus_in(unsigned port, unsigned width)
{
    uint32_t value = in_once(port, width);
    sim_log(SIM_IN, width, port, value);
    sim_irq_deliver();
    return value;
}

/* Logged first: the line must be there if the device calls it misuse. */
void sim_bus_out(unsigned port, uint32_t value, unsigned width)
{
    sim_log(SIM_OUT, width, port, value);
    out_once(port, value, width);
    sim_irq_deliver();
}

void sim_bus_in_rep(unsigned port, unsigned width, void *to, unsigned count)
{
    sim_log(SIM_INS, width, port, count);
    uint8_t *at = to;
    for (unsigned i = 0; i < count; i++) {
        uint32_t value = in_once(port, width);
        for (unsigned bit = 0; bit < width; bit += 8) {
            *at++ = (uint8_t)(value >> bit);
        }
    }
}

void sim_bus_out_rep(unsigned port, unsigned width, const void *from, unsigned count)
{
    sim_log(SIM_OUTS, width, port, count);
    const uint8_t *at = from;
    for (unsigned i = 0; i < count; i++) {
        uint32_t value = 0;
        for (unsigned bit = 0; bit < width; bit += 8) {
            value |= (uint32_t)*at++ << bit;
        }
        out_once(port, value, width);
    }
}

/* ---- card memory ---- */

static const char *memory_off; /* whose it is, in this cycle */

void sim_memory_off(const char *who)
{
    memory_off = who;
}

static uint32_t mem_once(uint32_t address, unsigned width, bool write, uint32_t value)
{
    const char *answered = NULL;
    uint32_t given = width == 8 ? 0xFF : 0xFFFF;
    memory_off = NULL;
    begin_cycle(width == 8 ? SIM_NS_MEM8 : SIM_NS_MEM16);
    for (unsigned i = 0; i < memory_count; i++) {
        uint32_t mine = value;
        if (!memories[i].cycle(memories[i].self, address, width, write, &mine)) {
            continue;
        }
        if (answered != NULL) {
            sim_misuse("bus: %s and %s both answer at %05x", answered, memories[i].name, address);
        }
        answered = memories[i].name;
        given = mine;
    }
    if (write && answered == NULL && memory_off != NULL) {
        sim_misuse("%s: written with the memory off the bus", memory_off);
    }
    return given;
}

void sim_mem_read(uint32_t address, unsigned width, void *to, unsigned count)
{
    uint8_t *at = to;
    sim_log(SIM_READ, width, address, count);
    for (unsigned i = 0; i < count; i++, address += width / 8) {
        uint32_t value = mem_once(address, width, false, 0);
        for (unsigned bit = 0; bit < width; bit += 8) {
            *at++ = (uint8_t)(value >> bit);
        }
    }
}

void sim_mem_write(uint32_t address, unsigned width, const void *from, unsigned count)
{
    const uint8_t *at = from;
    sim_log(SIM_WRITE, width, address, count);
    for (unsigned i = 0; i < count; i++, address += width / 8) {
        uint32_t value = 0;
        for (unsigned bit = 0; bit < width; bit += 8) {
            value |= (uint32_t)*at++ << bit;
        }
        mem_once(address, width, true, value);
    }
}
