/*
 * Bringing the network up, and its share of the main loop.
 *
 * The order of a turn is the conclusion of the edge-triggered 8139 (SEEDS.md 3): timers, rare
 * events, then receive and transmit bursts in turn while there is work and budget.
 */
#include "net/net.h"

#include "drivers/nic.h"
#include "kernel/arena.h"
#include "kernel/console.h"
#include "kernel/options.h"
#include "kernel/trap.h"
#include "lwip/init.h"
#include "lwip/timeouts.h"
#include "net/address.h"
#include "net/apps/app.h"
#include "net/clock.h"
#include "net/drops.h"
#include "net/meter.h"
#include "net/nicif.h"
#include "net/pace.h"
#include "net/port/heap.h"
#include "net/tcp_watch.h"

enum {
    FRAMES_MIN = 48, /* two receive bursts, what may be parked, the reserve            */
    FRAMES_MAX = 256,
    RAM_SHARE = 8, /* an eighth of free memory goes to frames, another to lwIP's heap */
    ALIGNMENT = 16,
    RING_FRAME = 1536, /* what a full frame takes in a card's ring: whole 256-byte pages */
    RING_OTHERS = 2,   /* frames of a ring that a window leaves to everybody else        */
    WND_MIN_FRAMES = 2,
    WND_MAX_FRAMES = 44, /* 64240: the most without window scaling                       */
    SND_BUF_FRAMES = 16, /* NEEDS 66: at least 8                                         */
    US_PER_MS = 1000,
    KB = 1024,
};

uint16_t net_tcp_wnd;
uint16_t net_tcp_snd_buf;

extern const struct app __start_apps[];
extern const struct app __stop_apps[];

/*
 * Most of those with a turn are idle, and asking each of them every turn would cost as much as the
 * rest of it: which are awake is found out each tick and when net_wake() was called.
 */
static const struct app *turning[APPS_MAX], *awake[APPS_MAX];
static const unsigned *busy[APPS_MAX]; /* of those turning */
static unsigned turning_count, awake_count;
static bool find_awake;
static void (*ticking[APPS_MAX])(void);
static unsigned ticking_count;

/* ---- set-up ---- */

/* A share of what memory is free, within bounds; *bytes tells how much. */
static void *take_share(size_t least, size_t most, const char *what, size_t *bytes)
{
    size_t share = arena_left() / RAM_SHARE;
    void *memory;

    *bytes = share < least ? least : share > most ? most : share;
    memory = arena_alloc(*bytes, ALIGNMENT);
    if (memory == NULL) {
        panic("not enough memory for %s of %u KB", what, (unsigned)(*bytes / KB));
    }
    return memory;
}

static void make_frames(void)
{
    size_t bytes;
    void *memory = take_share(FRAMES_MIN * sizeof(struct frame), FRAMES_MAX * sizeof(struct frame),
                              "frames", &bytes);

    frame_pool_init(memory, (unsigned)(bytes / sizeof(struct frame)));
}

/* Its size. */
static size_t make_heap(void)
{
    size_t bytes;
    void *memory = take_share(HEAP_MIN, HEAP_MAX, "lwIP's heap", &bytes);

    heap_init(memory, bytes);
    return bytes;
}

/*
 * The window may not exceed what the smallest ring takes while we are busy, or every burst loses
 * frames (NEEDS 66), and there are other connections, too; nor half the pool, which they share.
 */
static void size_windows(void)
{
    unsigned frames = WND_MAX_FRAMES;
    unsigned half_pool = frame_pool_size() / 2;

    for (unsigned i = 0; i < nic_count; i++) {
        unsigned fits = nics[i].ring_kb * (unsigned)KB / RING_FRAME;

        fits = fits < RING_OTHERS ? 0 : fits - RING_OTHERS;
        frames = fits < frames ? fits : frames;
    }
    frames = frames > half_pool ? half_pool : frames;
    frames = frames < WND_MIN_FRAMES ? WND_MIN_FRAMES : frames;
    net_tcp_wnd = (uint16_t)(frames * TCP_MSS);
    net_tcp_snd_buf = SND_BUF_FRAMES * TCP_MSS;
}

static void tell_sizes(size_t heap_bytes)
{
    kprintf("memory: %u frames, %u KB for lwIP, TCP window %u KB, %u KB left of %u\n",
            frame_pool_size(), (unsigned)(heap_bytes / KB), net_tcp_wnd / KB,
            (unsigned)(arena_left() / KB), (unsigned)((arena_left() + arena_used()) / KB));
}

static void sort_apps(void)
{
    turning_count = ticking_count = awake_count = 0;
    find_awake = true;
    for (const struct app *app = __start_apps; app < __stop_apps; app++) {
        ASSERT(turning_count < APPS_MAX && ticking_count < APPS_MAX);
        if (app->turn != NULL) {
            busy[turning_count] = app->busy;
            turning[turning_count++] = app;
        }
        if (app->tick != NULL) {
            ticking[ticking_count++] = app->tick;
        }
    }
}

void net_init(void)
{
    make_frames();
    size_t heap_bytes = make_heap();
    size_windows();
    tell_sizes(heap_bytes);
    clock_turn();
    lwip_init();
    tcp_watch_init();
    drops_init();
    for (unsigned i = 0; i < nic_count; i++) {
        nicif_open(&nics[i]);
    }
    sort_apps();
    for (const struct app *app = __start_apps; app < __stop_apps; app++) {
        if (app->start != NULL) {
            app->start();
        }
    }
    address_init();
}

/* ---- one turn ---- */

static uint64_t next_tick_us;

/*
 * A burst of one frame is mostly the last for a while, and the halt looks once more before it
 * begins: no need to ask the card again.  (Without batching there are no other bursts.)
 */
static bool goes_on(unsigned got)
{
    return options.batch ? got > 1 : got == 1;
}

/* Frames wait for a slot of their card: bursts received are short meanwhile, or of a card that is
 * flooded come sixteen frames for every two that another can send. */
static bool waiting, still_waiting;

/* One burst each way; true if more may be there. */
static bool burst(struct nic *nic, unsigned *budget, enum net_turn *did)
{
    enum { SHORT = 2 };
    unsigned events = nicif_poll(nic);
    unsigned limit = waiting && *budget > SHORT ? SHORT : *budget;
    unsigned got = (events & EV_RX) != 0 ? nicif_rx(nic, limit) : 0;

    *budget -= got;
    if ((nicif_tx(nic) != 0 || got != 0) && *did == NET_NOTHING) {
        *did = NET_WORKED;
    }
    still_waiting |= nic->tx_wanted;
    return goes_on(got);
}

/*
 * The cards in turn, a burst each, as long as one of them has work; each has the same budget.  A
 * card with nothing to receive is asked again with the others, for what it has to send.
 */
static enum net_turn turn_cards(void)
{
    unsigned budget[NIC_MAX];
    enum net_turn did = NET_NOTHING;
    bool more;

    for (unsigned i = 0; i < nic_count; i++) {
        budget[i] = options.rxbudget;
    }
    do {
        unsigned *left = budget;

        more = false;
        waiting = still_waiting;
        still_waiting = false;
        for (struct nic *nic = nics, *end = nics + nic_count; nic != end; nic++, left++) {
            if (*left != 0 && burst(nic, left, &did)) {
                more |= *left != 0;
                did = *left == 0 ? NET_MORE : did;
            }
        }
    } while (more);
    return did;
}

/* What needs no hurry: time-outs, and what once a second is due. */
static void tick(void)
{
    sys_check_timeouts();
    tcp_watch_tick();
    for (unsigned i = 0; i < nic_count; i++) {
        nicif_tick(&nics[i]);
    }
    for (unsigned i = 0; i < ticking_count; i++) {
        ticking[i]();
    }
    address_tick();
    meter_show_progress();
    find_awake = true;
}

void net_wake(void)
{
    find_awake = true;
}

static void rouse(void)
{
    find_awake = false;
    awake_count = 0;
    for (unsigned i = 0; i < turning_count; i++) {
        if (*busy[i] != 0) {
            awake[awake_count++] = turning[i];
        }
    }
}

static bool turn_apps(void)
{
    bool worked = false;

    if (find_awake) {
        rouse();
    }
    for (unsigned i = 0; i < awake_count; i++) {
        if (*awake[i]->busy != 0 && awake[i]->turn()) {
            worked = true;
        }
    }
    return worked;
}

enum net_turn net_turn(void)
{
    enum net_turn did;

    clock_turn();
    if (clock_due(&next_tick_us, APP_TICK_MS * US_PER_MS)) {
        tick();
    }
    did = turn_cards();
    return turn_apps() ? NET_MORE : did;
}

bool net_may_halt(void)
{
    return nicif_quiet() && !pace_near();
}

bool net_all_ready(void)
{
    return address_all_ready();
}
