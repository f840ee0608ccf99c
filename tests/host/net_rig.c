/*
 * Bringing the box up, turning it, and seeing that nothing is left.
 */
#include "tests/host/net_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/arena.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/load.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/record_log.h"
#include "kernel/shell.h"
#include "kernel/time.h"
#include "lwip/memp.h"
#include "lwip/stats.h"
#include "net/names.h"
#include "net/net.h"
#include "tests/host/net_lender.h"
#include "tests/host/net_peer.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum {
    TICK_US = 10000,
    SETTLE_TICK_US = 100000, /* time goes by faster with fewer ticks */
    TICK_LINE = 0,
    SETTLE_SECONDS = 90,
    NAMED_MS = 3000,
    ANNOUNCED_MS = 1100, /* the second announcement comes a second after the first */
    WORDS_MAX = 512,
    PROM_LAST_MAC_BYTE = 2 * 5, /* doubled PROM */
};

struct sim_card rig_cards[RIG_CARDS];
unsigned rig_start_us;
unsigned rig_specimen;
bool rig_lends;
bool rig_unnamed;

static const char *const pool_names[] = {
#define LWIP_MEMPOOL(name, number, size, description) #name,
#include "lwip/priv/memp_std.h"
};

/* What was in use when the box had come up. */
static struct {
    unsigned frames;
    size_t heap;
    unsigned pool[MEMP_MAX];
} start;

static void failed(const char *what)
{
    sim_print_log();
    fprintf(stderr, "%s\nwhat the box said:\n%s\n", what, rig_text());
    abort();
}

/* ---- up ---- */

static void plug_cards(unsigned n)
{
    static const struct {
        unsigned base;
        int irq;
    } jumpers[RIG_CARDS] = {{0x300, 10}, {0x320, 11}};

    for (unsigned i = 0; i < n; i++) {
        struct sim_card *card = &rig_cards[i];
        uint8_t last = (uint8_t)(sim_card_mac[5] + i);

        sim_card_plug(card, &sim_cards[rig_specimen], jumpers[i].base, jumpers[i].irq);
        card->chip.on_sent = peer_hear; /* also while the machine halts */
        card->chip.mem[PROM_LAST_MAC_BYTE] = card->chip.mem[PROM_LAST_MAC_BYTE + 1] = last;
    }
}

static void note_start(void)
{
    start.frames = frame_pool_free();
    start.heap = lwip_stats.mem.used;
    for (unsigned i = 0; i < MEMP_MAX; i++) {
        start.pool[i] = lwip_stats.memp[i]->used;
    }
}

static bool named(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < nic_count; i++) {
        if (i < options.ips && !options.ip[i].dhcp && !names_ours(i)) {
            return false;
        }
    }
    return true;
}

/* Cards with a static address have asked for the box's name and announced it. */
static void settle_names(void)
{
    if (options.ips != 0 && !options.ip[0].dhcp) {
        if (!rig_until(named, NULL, NAMED_MS)) {
            failed("the name is not ours");
        }
        rig_run_ms(ANNOUNCED_MS);
        peer_forget();
    }
}

static void report_word(const char *word, const char *why)
{
    fprintf(stderr, "option %s: %s\n", word, why);
    abort();
}

void rig_up_with(const char *words, unsigned cards, unsigned memory_kb)
{
    static const char places[] = "nic=ne2000:0x300,10 nic=ne2000:0x320,11";
    char line[WORDS_MAX];

    record_set_sink(record_log_add);
    sim_reset();
    sim_run_us(rig_start_us);
    plug_cards(cards);
    arena_init(malloc(memory_kb * 1024), memory_kb * 1024);
    options_default(&options);
    snprintf(line, sizeof(line), "%.*s %s", cards == 1 ? 20 : (int)sizeof(places), places, words);
    options_parse(&options, cards == 0 ? words : line, report_word);
    sim_tick(TICK_US);
    nics_init();
    if (nic_count != cards) {
        failed("a card is missing");
    }
    for (unsigned i = 0; rig_lends && i < cards; i++) {
        lender_take(&nics[i]);
    }
    peer_up();
    net_init();
    rig_run_ms(1); /* the first turn */
    if (!rig_unnamed) {
        settle_names();
    }
    note_start();
}

void rig_up(void)
{
    rig_up_with(RIG_STATIC, 1, RIG_MEMORY_KB);
}

/* ---- turning ---- */

/* As kernel/kmain.c. */
static bool may_halt(void)
{
    return net_may_halt() && nics_may_halt();
}

static bool resting;
static uint64_t rest_began_us;

static void rest(uint64_t from_us)
{
    resting = true;
    rest_began_us = from_us;
}

static uint64_t until_ns = UINT64_MAX; /* rig_until() ends then: no halt may begin later */

static void halt(void)
{
    uint64_t began = time_us();
    unsigned ticks = irq_count(TICK_LINE);

    cpu_cli();
    if (sim_now_ns() >= until_ns || !nics_arm()) {
        cpu_sti();
        return;
    }
    rest(began);
    cpu_sti_hlt();
    cpu_cli();
    if (irq_count(TICK_LINE) != ticks) {
        nics_check_lost();
    }
    nics_disarm();
    cpu_sti();
}

/* As kernel/kmain.c, but a test may look between a turn that worked and its halt. */
void rig_turn(void)
{
    static bool halt_first;
    uint64_t now;

    if (halt_first && may_halt()) {
        halt();
    }
    halt_first = false;
    now = time_us();

    if (resting) {
        load_add_idle(now - rest_began_us, 0);
        resting = false;
    }
    enum net_turn did = net_turn();
    bool more = did == NET_MORE;

    if (shell_turn()) {
        net_wake();
        more = true;
    }
    if (!more && did == NET_WORKED) {
        halt_first = true;
    } else if (!more && may_halt()) {
        halt();
    } else if (did == NET_NOTHING) {
        rest(now);
    }
    peer_hear();
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

bool rig_until(bool (*done)(void *arg), void *arg, unsigned ms)
{
    uint64_t end_ns = sim_now_ns() + ms * 1000000ull;
    unsigned end = sim_tick_once(end_ns);
    bool is_done;

    until_ns = end_ns;
    while (!(is_done = done(arg)) && sim_now_ns() < end_ns) {
        rig_turn();
    }
    until_ns = UINT64_MAX;
    sim_cancel(end);
    return is_done;
}

void rig_run_ms(unsigned ms)
{
    rig_until(never, NULL, ms);
}

/* ---- down ---- */

static const char *held(void)
{
    static char what[96];

    if (frame_pool_free() != start.frames) {
        snprintf(what, sizeof(what), "%d frames", (int)(start.frames - frame_pool_free()));
        return what;
    }
    if (lwip_stats.mem.used != start.heap) {
        snprintf(what, sizeof(what), "%ld bytes of lwIP's heap",
                 (long)lwip_stats.mem.used - (long)start.heap);
        return what;
    }
    for (unsigned i = 0; i < MEMP_MAX; i++) {
        bool fewer = i == MEMP_SYS_TIMEOUT; /* mDNS's timers run for 30 s after an announcement */

        if (fewer ? lwip_stats.memp[i]->used > start.pool[i]
                  : lwip_stats.memp[i]->used != start.pool[i]) {
            snprintf(what, sizeof(what), "%d of lwIP's pool %s",
                     (int)lwip_stats.memp[i]->used - (int)start.pool[i], pool_names[i]);
            return what;
        }
    }
    return NULL;
}

const char *rig_settle(void)
{
    sim_tick(SETTLE_TICK_US);
    for (unsigned s = 0; s < SETTLE_SECONDS && held() != NULL; s++) {
        rig_run_ms(1000);
    }
    sim_tick(TICK_US);
    return held();
}

void rig_down(void)
{
    const char *what = rig_settle();

    if (what != NULL) {
        failed(what);
    }
    nics_close();
    peer_down();
    for (unsigned i = 0; i < nic_count; i++) {
        sim_card_free(&rig_cards[i]);
    }
}

/* ---- commands ---- */

static bool idle_shell(void *arg)
{
    unsigned before = *(unsigned *)arg;

    return rig_record_count("done") > before;
}

int rig_command(const char *line, unsigned ms)
{
    unsigned before = rig_record_count("done");

    rig_type(line);
    rig_type("\n");
    if (!rig_until(idle_shell, &before, ms)) {
        return -1;
    }
    return (int)rig_number(rig_record("done", before), "status");
}
