/*
 * The story in one page: bring the machine up, then turn for ever.
 *
 * A turn does everything that has work; a turn that found none ends in idle(), which halts until
 * an interrupt, or only counts the time where something has to be polled.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/multiboot.h"
#include "drivers/nic.h"
#include "kernel/arena.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/keyboard.h"
#include "kernel/load.h"
#include "kernel/loader.h"
#include "kernel/machine.h"
#include "kernel/memory.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/record_log.h"
#include "kernel/shell.h"
#include "kernel/time.h"
#include "kernel/version.h"
#include "net/net.h"

enum {
    ARENA_MIN = 256 * 1024, /* frames and lwIP's pools of the smallest set-up */
    REFUSED = 3,            /* exit status, as for a panic                    */
    FLUSH_US = 1000000,
    TICK_LINE = 0,
    KEYBOARD_LINE = 1,
    COM1_LINE = 4,
    CONSOLE_US = 9000, /* a tick is a little less than 10 ms */
    ONE_MB = 1 << 20,  /* bit 20 of an address is line A20 */
    KB = 1024,
};

void kmain(uint32_t magic, const struct multiboot_info *info);

extern char __image_end[]; /* linker.ld */

static volatile uint32_t memory_mark; /* of memory.h: a word of the image */

/* ---- coming up ---- */

static _Noreturn void refuse(const char *why)
{
    kprintf_colour(COLOUR_BAD, "NicTest86 cannot run: %s\n", why);
    if (options.exit) {
        machine_quit(REFUSED);
    }
    console_flush(FLUSH_US);
    machine_halt();
}

/* Parsed before our own memory is used: the loader's string may lie there. */
static void read_options(const struct multiboot_info *info)
{
    options_default(&options);
    if ((info->flags & MULTIBOOT_CMDLINE) != 0) {
        const char *line = loader_take((const char *)(uintptr_t)info->cmdline);
        options_parse(&options, line, options_report);
    }
    console_select(options.vga, options.com1, options.baud);
    console_set_width(options.text);
}

/* With A20 off the loader's copy of us went where odd megabytes now lead: we run, but on the memory
 * of even ones.  Switching the line on here would take the code away from under us. */
static void check_a20(void)
{
    uintptr_t other = (uintptr_t)&memory_mark ^ ONE_MB;
    if (memory_same(&memory_mark, (const volatile uint32_t *)other)) {
        refuse("address line A20 is off, odd megabytes are not there; "
               "another loader may switch it on");
    }
}

/* Old BIOSes know no map, some loaders give an empty one, others tell nothing. */
static struct memory find_memory(const struct multiboot_info *info)
{
    uint32_t image_end = (uint32_t)(uintptr_t)__image_end;
    struct memory m = {0};
    if ((info->flags & MULTIBOOT_MMAP) != 0) {
        m = memory_from_map((const void *)(uintptr_t)info->mmap_addr, info->mmap_length, image_end);
    }
    if (m.start == m.end && (info->flags & MULTIBOOT_MEMORY) != 0) {
        m = memory_from_upper(info->mem_upper, image_end);
    }
    bool told = m.start != m.end;
    if (!told) { /* see how far it answers */
        m = memory_from_upper((MEMORY_HOLE - ONE_MB) / KB, image_end);
    }
    memory_verify(&m, &memory_mark);
    m.claimed_kb = told ? m.claimed_kb : m.top_kb;
    return m;
}

static void take_memory(const struct memory *m)
{
    if (m->top_kb != m->claimed_kb) {
        kprintf_colour(COLOUR_WARN, "memory: the BIOS says %u KB, it answers up to %u KB\n",
                       (unsigned)m->claimed_kb, (unsigned)m->top_kb);
    }
    uint32_t size = m->end - m->start;
    if (size < ARENA_MIN) {
        record_fault("low_memory", IRQ_NONE);
        record_int("free_kb", size / KB);
        record_end();
        refuse("too little memory");
    }
    arena_init((void *)(uintptr_t)m->start, size);
}

static const char *class_name(enum cpu_class class)
{
    return class == CPU_686 ? "686" : class == CPU_586 ? "586" : class == CPU_486 ? "486" : "386";
}

static void record_load_time(void)
{
    uint32_t ms;

    if (loader_load_ms(&ms)) {
        record_int("load_ms", ms);
    } else {
        record_null("load_ms");
    }
}

static void announce(const struct memory *m)
{
    kprintf("NicTest86 %s: %s at %u MHz%s, %u KB\n", NICTEST_VERSION, class_name(cpu.class),
            time_cpu_mhz(), cpu.has_tsc ? "" : " (estimated)", (unsigned)m->top_kb);
    record_begin("boot");
    record_str("version", NICTEST_VERSION);
    record_str("cpu", class_name(cpu.class));
    if (time_cpu_mhz() != 0) {
        record_int("mhz", time_cpu_mhz());
    } else {
        record_null("mhz");
    }
    record_bool("tsc", cpu.has_tsc);
    record_int("mem_kb", m->top_kb);
    record_load_time();
    record_int("clock_ppm", time_crosscheck_ppm());
    record_end();
}

static __attribute__((cold)) void bring_up(uint32_t magic, const struct multiboot_info *info)
{
    time_init();
    irq_init(); /* exceptions are caught from here on */
    console_init();
    record_set_sink(record_log_add);
    if (magic != MULTIBOOT_MAGIC) {
        refuse("not started by a multiboot loader");
    }
    check_a20();
    if (!time_works()) {
        refuse("neither counter of the 8254 timer counts");
    }
    read_options(info);
    cpu_probe(options.no_cpuid);
    time_calibrate();
    struct memory memory = find_memory(info);
    machine_kb = memory.top_kb;
    announce(&memory);
    take_memory(&memory);
    time_start_tick();
    console_start_irq();
    cpu_sti();
    machine_at_exit(nics_close);
    nics_init();
    net_init();
}

/* ---- turning ---- */

/* Nothing needs the CPU until an interrupt comes. */
static bool may_halt(void)
{
    return time_may_halt() && net_may_halt() && nics_may_halt();
}

/* What the machine does between two turns counts as idle from here on. */
static struct {
    bool on;
    uint64_t from_us;
    uint32_t busy; /* it began so many counts of the clock later */
} rest;

static void rest_from(uint64_t us, uint32_t busy)
{
    rest.on = true;
    rest.from_us = us;
    rest.busy = busy;
}

static void end_rest(uint64_t now_us)
{
    if (rest.on) {
        load_add_idle(now_us - rest.from_us, rest.busy);
        rest.on = false;
    }
}

/* ---- keys and texts ---- */

/*
 * What goes in and out beside the network is looked at when an interrupt of keyboard or serial line
 * may have brought something, while there is more, and some times a second.  The turns between
 * belong to the cards alone: a packet that comes by itself pays for a whole turn.
 */
static struct {
    bool more;
    unsigned interrupts; /* seen */
    uint32_t looked_us;
} console;

static unsigned console_interrupts(void)
{
    return irq_count(KEYBOARD_LINE) + irq_count(COM1_LINE);
}

static bool console_calls(void)
{
    return console.more || console_interrupts() != console.interrupts;
}

/*
 * Interrupts are disabled from the last look at the work until the halt itself, so one that comes
 * in between ends the halt.  The cards are armed only meanwhile.
 */
static void halt(void)
{
    unsigned ticks = irq_count(TICK_LINE);

    cpu_cli();
    if (console_calls() || !nics_arm()) {
        cpu_sti();
        return;
    }
    rest_from(time_recent_us(), time_counts_unread());
    cpu_sti_hlt();
    cpu_cli();
    if (irq_count(TICK_LINE) != ticks) {
        nics_check_lost();
    }
    nics_disarm();
    cpu_sti();
}

static void report_storm(void)
{
    int line = irq_take_storm();
    if (line != IRQ_NONE) {
        kprintf_colour(COLOUR_BAD, "irq %d: storm with no taker, line masked\n", line);
        record_fault("irq_storm", IRQ_NONE);
        record_int("irq", line);
        record_end();
        nics_line_dead(line);
    }
}

/* run= waits for every card's address. */
static void start_run(void)
{
    static bool started;
    if (!started && options.run[0] != '\0' && net_all_ready()) {
        started = true;
        shell_run(options.run, options.exit);
    }
}

/* True if there is more to do than printing. */
static bool serve_console(uint64_t now)
{
    console.interrupts = console_interrupts();
    console.looked_us = (uint32_t)now;
    start_run();
    bool worked = shell_turn();
    if (worked) {
        net_wake();
    }
    if (keyboard_reset_asked()) {
        machine_reboot();
    }
    console.more = console_drain() || worked;
    return worked;
}

static void turn(void)
{
    uint64_t now = time_us(); /* the one reading of a turn */

    end_rest(now);
    enum net_turn did = net_turn();
    bool more = did == NET_MORE;
    if (console_calls() || (uint32_t)now - console.looked_us >= CONSOLE_US) {
        more |= serve_console(now);
    }
    if (more) {
        return;
    }
    if (did == NET_NOTHING) {
        report_storm();
    }
    if (!console.more && may_halt()) {
        halt();
    } else if (did == NET_NOTHING) {
        rest_from(now, 0); /* only looked */
    }
}

/* Told to be hot, or what is only called behind bring_up() is taken for as cold as that. */
static _Noreturn __attribute__((hot, noinline)) void turn_for_ever(void)
{
    for (;;) {
        turn();
    }
}

void kmain(uint32_t magic, const struct multiboot_info *info)
{
    bring_up(magic, info);
    turn_for_ever();
}
