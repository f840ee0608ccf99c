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
#include "net/tcp_watch.h"

enum {
    FRAMES_MIN = 48, /* two receive bursts, what may be parked, the reserve            */
    FRAMES_MAX = 256,
    RAM_SHARE = 8,     /* an eighth of free memory goes to frames                        */
    RING_FRAME = 1536, /* what a full frame takes in a card's ring: whole 256-byte pages */
    WND_MIN_FRAMES = 2,
    WND_MAX_FRAMES = 44, /* 64240: the most without window scaling                       */
    SND_BUF_FRAMES = 16, /* NEEDS 66: at least 8                                         */
};

uint16_t net_tcp_wnd;
uint16_t net_tcp_snd_buf;

extern const struct app __start_apps[];
extern const struct app __stop_apps[];

/* ---- set-up ---- */

static void make_frames(void)
{
    size_t count = arena_left() / RAM_SHARE / sizeof(struct frame);
    void *memory;

    count = count < FRAMES_MIN ? FRAMES_MIN : count > FRAMES_MAX ? FRAMES_MAX : count;
    memory = arena_alloc(count * sizeof(struct frame), 16);
    if (memory == NULL) {
        panic("not enough memory for %u frames", (unsigned)count);
    }
    frame_pool_init(memory, (unsigned)count);
}

/*
 * The window may not exceed what the smallest ring takes while we are busy, or every burst loses
 * frames (NEEDS 66); nor half the pool, since several connections share it.
 */
static void size_windows(void)
{
    unsigned frames = WND_MAX_FRAMES;
    unsigned half_pool = frame_pool_size() / 2;

    for (unsigned i = 0; i < nic_count; i++) {
        unsigned fits = nics[i].ring_kb * 1024u / RING_FRAME;

        frames = fits < frames ? fits : frames;
    }
    frames = frames > half_pool ? half_pool : frames;
    frames = frames < WND_MIN_FRAMES ? WND_MIN_FRAMES : frames;
    net_tcp_wnd = (uint16_t)(frames * TCP_MSS);
    net_wnd_update = net_tcp_wnd / 4;
    net_tcp_snd_buf = SND_BUF_FRAMES * TCP_MSS;
}

void net_init(void)
{
    make_frames();
    size_windows();
    clock_turn();
    lwip_init();
    tcp_watch_init();
    drops_init();
    for (unsigned i = 0; i < nic_count; i++) {
        nicif_open(&nics[i]);
    }
    for (const struct app *app = __start_apps; app < __stop_apps; app++) {
        if (app->start != NULL) {
            app->start();
        }
    }
    address_init();
}

/* ---- one turn ---- */

static bool turn_card(struct nic *nic)
{
    unsigned budget = options.rxbudget;
    bool worked = false;
    unsigned got, sent;

    do {
        unsigned events = nicif_poll(nic);

        got = (events & EV_RX) != 0 ? nicif_rx(nic, budget) : 0;
        sent = nicif_tx(nic);
        budget -= got;
        worked = worked || got != 0 || sent != 0;
    } while ((got != 0 || sent != 0) && budget != 0);
    return worked;
}

bool net_turn(void)
{
    bool worked = false;

    clock_turn();
    sys_check_timeouts();
    for (unsigned i = 0; i < nic_count; i++) {
        worked = turn_card(&nics[i]) || worked;
    }
    for (const struct app *app = __start_apps; app < __stop_apps; app++) {
        if (app->turn != NULL && (app->busy == NULL || *app->busy != 0)) {
            worked = app->turn() || worked;
        }
    }
    address_turn();
    meter_show_progress();
    return worked;
}

bool net_may_halt(void)
{
    return nicif_quiet() && !pace_near();
}

bool net_all_ready(void)
{
    return address_all_ready();
}
