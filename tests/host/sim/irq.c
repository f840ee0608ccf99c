/*
 * Simulated interrupt controller and interrupt flag.
 */
#include "tests/host/sim/irq.h"

#include <stdint.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "tests/host/sim/bus.h"

enum {
    SHARERS = 4,
    SOURCES = 8,
    TICK_LINE = 0,
    FIND_ROUNDS = 3,
    FIND_WAIT_US = 2000,
    CASCADE = 2,
    STORM = 20000,
    LIVELOCK = 1000000,
    ELCR_PORT = 0x4D0,
    ELCR_ALWAYS_EDGE = 0x2107
};

struct line {
    const void *high[SOURCES]; /* sources that hold the line up */
    bool latched;
    struct {
        irq_handler handler;
        void *arg;
    } user[SHARERS];
    unsigned users, count, unclaimed, unclaimed_in_a_row;
    unsigned claimed_in_a_row; /* at the same moment: nobody silences the device */
    uint64_t last_ns;
    unsigned to_lose; /* edges that will not be latched */
    bool masked;      /* by a storm */
};

static struct line lines[IRQ_LINES];
static unsigned perhaps; /* lines that may ask, a bit each: latched or high not long ago */
static bool enabled, handling;
static unsigned spurious, delivered, halts;
static unsigned tick_us, tick_event;
static uint16_t elcr, stormed; /* elcr 0xFFFF: no such register */
static unsigned lost;

struct cpu_info cpu = {.class = CPU_386};

void sim_irq_reset(void)
{
    memset(lines, 0, sizeof lines);
    perhaps = 0;
    enabled = true;
    handling = false;
    spurious = delivered = halts = 0;
    tick_us = tick_event = 0;
    elcr = 0xFFFF;
    stormed = 0;
    lost = 0;
}

void sim_irq_forget_handlers(void)
{
    for (unsigned i = 0; i < IRQ_LINES; i++) {
        lines[i].users = 0;
        lines[i].latched = false;
    }
    enabled = true;
    handling = false;
}

/* ---- lines ---- */

bool sim_irq_line(int line)
{
    for (unsigned i = 0; i < SOURCES; i++) {
        if (lines[line].high[i] != NULL) {
            return true;
        }
    }
    return false;
}

void sim_irq_drive(int line, const void *source, bool high)
{
    struct line *l = &lines[line];
    bool before = sim_irq_line(line);
    unsigned hole = SOURCES, own = SOURCES;
    for (unsigned i = 0; i < SOURCES; i++) {
        if (l->high[i] == source) {
            own = i;
        } else if (l->high[i] == NULL) {
            hole = i;
        }
    }
    if (high && own == SOURCES) {
        l->high[hole] = source;
        perhaps |= 1U << line;
    } else if (!high && own < SOURCES) {
        l->high[own] = NULL;
    }
    if (before || !sim_irq_line(line)) {
        return;
    }
    if (l->to_lose > 0) {
        l->to_lose--;
        lost++;
    } else {
        l->latched = true;
    }
}

void sim_irq_lose_edges(int line, unsigned n)
{
    lines[line].to_lose = n;
}

unsigned sim_irq_edges_lost(void)
{
    return lost;
}

static bool is_level(int line)
{
    return elcr != 0xFFFF && (elcr >> line & 1) != 0;
}

static bool asks(int line)
{
    const struct line *l = &lines[line];
    if (!l->latched && !sim_irq_line(line)) {
        perhaps &= ~(1U << line);
        return false;
    }
    return !l->masked && (is_level(line) ? sim_irq_line(line) : l->latched);
}

/* As kernel/irq.c: a line on which nobody claims anything for long is masked. */
static void count_storm(struct line *l, int line, bool claimed)
{
    if (claimed) {
        l->unclaimed_in_a_row = 0;
        l->claimed_in_a_row = l->last_ns == sim_now_ns() ? l->claimed_in_a_row + 1 : 0;
        l->last_ns = sim_now_ns();
        if (l->claimed_in_a_row == LIVELOCK) {
            sim_misuse("irq %d: claimed for ever, and the device not touched", line);
        }
    } else if (++l->unclaimed_in_a_row >= STORM) {
        l->unclaimed_in_a_row = 0;
        l->masked = true;
        stormed |= (uint16_t)(1U << line);
    }
}

static void handle(struct line *l, int line)
{
    bool claimed = false;
    handling = true;
    enabled = false;
    for (unsigned i = 0; i < l->users; i++) {
        claimed |= l->user[i].handler(l->user[i].arg);
    }
    l->count++;
    l->unclaimed += !claimed;
    count_storm(l, line, claimed);
    enabled = true;
    handling = false;
}

void sim_irq_deliver(void)
{
    for (int i = 0; perhaps >> i != 0 && enabled && !handling; i++) {
        struct line *l = &lines[i];
        if ((perhaps >> i & 1) == 0 || !asks(i) || (l->users == 0 && i != TICK_LINE)) {
            continue;
        }
        l->latched = false;
        delivered++;
        if (i == TICK_LINE) {
            l->count++;
        } else if (!sim_irq_line(i)) {
            spurious++;
        } else {
            handle(l, i);
            i = -1; /* highest priority first */
        }
    }
}

static void latch_tick(void *arg)
{
    (void)arg;
    lines[TICK_LINE].latched = true;
    perhaps |= 1U << TICK_LINE;
}

static void tick(void *arg)
{
    latch_tick(arg);
    tick_event = sim_at(sim_now_ns() + 1000ULL * tick_us, tick, NULL);
}

void sim_tick(unsigned us)
{
    sim_cancel(tick_event);
    tick_us = us;
    tick_event = us == 0 ? 0 : sim_at(sim_now_ns() + 1000ULL * us, tick, NULL);
}

unsigned sim_tick_once(uint64_t at_ns)
{
    return sim_at(at_ns, latch_tick, NULL);
}

bool sim_in_irq(void)
{
    return handling;
}

bool sim_irq_enabled(void)
{
    return enabled;
}

unsigned sim_irqs_delivered(void)
{
    return delivered;
}

unsigned sim_halts(void)
{
    return halts;
}

/* ---- kernel/cpu.h ---- */

void cpu_probe(bool no_cpuid)
{
    (void)no_cpuid;
}

uint64_t cpu_tsc(void)
{
    return sim_now_ns() / 62; /* 16 MHz */
}

bool cpu_irq_save(void)
{
    bool was = enabled;
    enabled = false;
    return was;
}

void cpu_irq_restore(bool was)
{
    if (was) {
        cpu_sti();
    }
}

void cpu_cli(void)
{
    enabled = false;
}

void cpu_sti(void)
{
    if (handling) {
        sim_misuse("cpu: interrupts enabled inside a handler");
    }
    enabled = true;
    sim_irq_deliver();
}

void cpu_sti_hlt(void)
{
    unsigned before = delivered;
    halts++;
    sim_log(SIM_HALT, 0, 0, 0);
    cpu_sti();
    while (delivered == before) {
        if (!sim_next_event() && !sim_fire_access_event()) {
            sim_misuse("cpu: halted for ever: nothing pending can raise an interrupt");
        }
        sim_irq_deliver();
    }
}

/* ---- kernel/irq.h ---- */

void irq_init(void)
{
}

static int real_line(int line)
{
    return line == CASCADE ? 9 : line;
}

int irq_attach(int line, irq_handler handler, void *arg)
{
    line = real_line(line);
    if (line <= TICK_LINE || line >= IRQ_LINES) {
        return E_RANGE;
    }
    struct line *l = &lines[line];
    if (l->users == SHARERS) {
        return E_NO_MEMORY;
    }
    l->user[l->users].handler = handler;
    l->user[l->users++].arg = arg;
    sim_irq_deliver();
    return OK;
}

void irq_detach(int line, irq_handler handler, void *arg)
{
    struct line *l = &lines[real_line(line)];
    for (unsigned i = 0; i < l->users; i++) {
        if (l->user[i].handler == handler && l->user[i].arg == arg) {
            l->user[i] = l->user[--l->users];
            return;
        }
    }
}

unsigned irq_count(int line)
{
    return lines[real_line(line)].count;
}

unsigned irq_unclaimed(int line)
{
    return lines[real_line(line)].unclaimed;
}

unsigned irq_spurious(void)
{
    return spurious;
}

uint16_t irq_lines_in_use(void)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < IRQ_LINES; i++) {
        mask |= lines[i].users > 0 ? 1U << i : 0;
    }
    return (uint16_t)mask;
}

int irq_take_storm(void)
{
    for (int line = 0; line < IRQ_LINES; line++) {
        if ((stormed >> line & 1) != 0) {
            stormed &= (uint16_t) ~(1U << line);
            return line;
        }
    }
    return IRQ_NONE;
}

void irq_trust_again(int line)
{
    lines[real_line(line)].masked = false;
    lines[real_line(line)].unclaimed_in_a_row = 0;
    sim_irq_deliver();
}

/* ---- trigger modes ---- */

static uint32_t elcr_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    return width == 8 ? elcr >> 8 * reg & 0xFFU : 0xFFFFFFFF;
}

static void elcr_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    if (width != 8) {
        sim_misuse("elcr: %u-bit write", width);
    }
    elcr = (uint16_t)((elcr & ~(0xFFU << 8 * reg)) | (value & 0xFF) << 8 * reg);
    if ((elcr & ELCR_ALWAYS_EDGE) != 0) {
        sim_misuse("elcr: a line of the mainboard's set to level (%04x)", elcr);
    }
}

void sim_irq_elcr(uint16_t levels)
{
    elcr = levels;
    sim_attach(&(struct sim_device){
        .name = "elcr", .base = ELCR_PORT, .ports = 2, .in = elcr_in, .out = elcr_out});
}

/* As kernel/pic.c, which test_irq.c tries. */
static const struct ioport elcr_port = {ELCR_PORT};

bool pic_is_level(int line)
{
    unsigned levels = (unsigned)io_in8(elcr_port, 1) << 8 | io_in8(elcr_port, 0);
    return (levels & ELCR_ALWAYS_EDGE) == 0 && (levels >> line & 1) != 0;
}

bool pic_set_level(int line, bool level)
{
    unsigned levels = (unsigned)io_in8(elcr_port, 1) << 8 | io_in8(elcr_port, 0);
    if ((levels & ELCR_ALWAYS_EDGE) != 0 || (ELCR_ALWAYS_EDGE >> line & 1) != 0) {
        return false;
    }
    levels = level ? levels | 1U << line : levels & ~(1U << line);
    io_out8(elcr_port, 0, (uint8_t)levels);
    io_out8(elcr_port, 1, (uint8_t)(levels >> 8));
    return pic_is_level(line) == level;
}

/* Lines without a handler that saw an edge since the last call. */
static unsigned take_edges(void)
{
    unsigned seen = 0;
    for (unsigned i = TICK_LINE + 1; i < IRQ_LINES; i++) {
        if (lines[i].users == 0) {
            seen |= lines[i].latched ? 1U << i : 0;
            lines[i].latched = false;
        }
    }
    return seen;
}

int irq_find(uint16_t candidates, void (*provoke)(void *arg), void (*quiet)(void *arg), void *arg)
{
    unsigned found = candidates;
    for (unsigned round = 0; round < FIND_ROUNDS; round++) {
        take_edges();
        provoke(arg);
        sim_run_us(FIND_WAIT_US);
        found &= take_edges();
        quiet(arg);
        sim_run_us(FIND_WAIT_US);
        found &= ~take_edges();
    }
    for (int line = TICK_LINE + 1; line < IRQ_LINES; line++) {
        if (found == 1U << line) {
            return line;
        }
    }
    return IRQ_NONE;
}
