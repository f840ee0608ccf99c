/*
 * Windows of several streams.
 */
#include "net/apps/windows.h"

#include "lwip/priv/tcp_priv.h"
#include "net/apps/app.h"
#include "net/clock.h"
#include "net/nicif.h"
#include "net/tcp_watch.h"

enum {
    UNUSED_US = 20000,  /* may pass beside what all windows take at 10 Mbit/s: 1 us a byte  */
    IDLE_US = 500000,   /* unused so long: forgotten even if nobody waits                   */
    LEAST_FRAMES = 2,   /* of a turn                                                        */
    FLYING_FRAMES = 32, /* of all streams: half the transmit queue of a card (net/nicif.c)  */
    FLYING_LEAST = 4,   /* of one: three duplicate acknowledgements need four segments      */
};

#define LEAST ((uint32_t)LEAST_FRAMES * TCP_MSS)

/* The streams of a card; whose last turn was longest ago is first. */
static struct window *cards[NIC_MAX];

/*
 * Say now, with an acknowledgement, that the window is so wide.  What is parked ahead of its turn
 * may lie beyond a narrower one, which lwIP does not expect: it goes, and comes again.
 */
static void set_window(struct tcp_pcb *pcb, uint32_t window)
{
    if (window < pcb->rcv_wnd && pcb->ooseq != NULL) {
        tcp_free_ooseq(pcb);
    }
    pcb->rcv_wnd = (tcpwnd_size_t)window;
    pcb->rcv_ann_wnd = (tcpwnd_size_t)window;
    pcb->rcv_ann_right_edge = pcb->rcv_nxt + window; /* output may have to wait for input's end */
    tcp_ack_now(pcb);
    tcp_output(pcb);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Its window begins to age: it is used when a turn of it has come, or all if it is less. */
static void renew(struct window *w)
{
    w->moved_us = clock_us();
    w->used_at = w->pcb->rcv_nxt + lesser(w->pcb->rcv_wnd, LEAST);
    w->lapsed = false;
}

/* ---- the list ---- */

static void append(struct window *w)
{
    struct window **end = &cards[w->card];

    while (*end != NULL) {
        end = &(*end)->next;
    }
    w->next = NULL;
    *end = w;
}

static void take_out(struct window *w)
{
    struct window **at = &cards[w->card];

    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
}

static bool is_alone(const struct window *w)
{
    return cards[w->card] == w && w->next == NULL;
}

/* ---- sharing ---- */

struct share {
    uint32_t part; /* of each stream that uses its window */
    uint32_t free; /* bytes that are promised to nobody   */
};

static struct share divide(unsigned card)
{
    uint32_t all = TCP_WND, promised = 0, streams = 0, part;

    for (const struct window *w = cards[card]; w != NULL; w = w->next) {
        promised += w->lapsed ? 0 : w->pcb->rcv_wnd;
        streams += !w->lapsed && !w->silent;
        all = w->sends ? TCP_WND / 2 : all;
    }
    part = streams < 2 ? all : all / streams / TCP_MSS * TCP_MSS;
    return (struct share){.part = part < LEAST ? lesser(LEAST, all) : part,
                          .free = all > promised ? all - promised : 0};
}

static uint32_t lacking(const struct window *w, uint32_t part)
{
    uint32_t has = w->pcb->rcv_wnd;

    part = w->silent ? TCP_MSS : lesser(part, w->lapsed ? lesser(LEAST, w->most) : w->most);
    return has < part ? part - has : 0;
}

/* A peer that has to stop hears of it at once; others with the next acknowledgement. */
static void give(struct window *w, uint32_t more)
{
    struct tcp_pcb *pcb = w->pcb;

    if ((int32_t)(pcb->rcv_ann_right_edge - pcb->rcv_nxt) < TCP_MSS) {
        set_window(pcb, pcb->rcv_wnd + more);
    } else {
        tcp_recved(pcb, (u16_t)more);
    }
    if (more >= TCP_MSS) { /* who trickles gets his crumbs back, but grows no younger by them */
        renew(w);
    }
}

static void serve(unsigned card)
{
    struct share share = divide(card);
    struct window *next;

    for (struct window *w = cards[card]; w != NULL; w = next) {
        uint32_t lacks = lacking(w, share.part);

        next = w->next;
        if (share.free < lesser(lacks, LEAST)) {
            return;
        }
        if (lacks != 0) {
            uint32_t more = lesser(lacks, share.free);

            share.free -= w->lapsed && more < TCP_MSS ? 0 : more; /* crumbs are not counted */
            take_out(w);
            append(w);
            give(w, more);
        }
    }
}

void windows_go(void)
{
    for (unsigned i = 0; i < NIC_MAX; i++) {
        if (cards[i] != NULL) {
            serve(i);
        }
    }
}

/*
 * Of the windows that lie unused the one that does so longest is forgotten: soon if somebody waits
 * for as long, else only when it is idle for good.
 */
static void forget_one(unsigned card)
{
    uint64_t now = clock_us(), unused_us = UNUSED_US + TCP_WND;
    struct window *oldest = NULL;
    uint32_t part = divide(card).part;
    bool waits = false, all_old = true;

    for (struct window *w = cards[card]; w != NULL; w = w->next) {
        bool old = now - w->moved_us > unused_us;

        all_old &= old;
        waits |= old && lacking(w, part) >= TCP_MSS;
        if (old && !w->lapsed && w->pcb->rcv_wnd >= TCP_MSS &&
            (oldest == NULL || w->moved_us < oldest->moved_us)) {
            oldest = w;
        }
    }
    if (oldest != NULL && (waits || now - oldest->moved_us > IDLE_US)) {
        oldest->lapsed = true;
    } else if (all_old) { /* a pause of all: they will go on together */
        for (struct window *w = cards[card]; w != NULL; w = w->next) {
            w->moved_us = now;
        }
    }
}

static void tick(void)
{
    for (unsigned i = 0; i < NIC_MAX; i++) {
        if (cards[i] != NULL && !cards[i]->alone) {
            forget_one(i);
            serve(i); /* also who began with no window, and may not say anything */
        }
    }
}

APP_TICKING(windows, NULL, tick);

/* ---- for the streams ---- */

static err_t begin_narrow(u8_t id, struct tcp_pcb_listen *listener, struct tcp_pcb *pcb)
{
    uint32_t free = divide(nicif_nic(ip_current_netif())->index).free;
    uint32_t half_open = 0;

    (void)id;
    (void)listener;
    for (const struct tcp_pcb *other = tcp_active_pcbs; other != NULL; other = other->next) {
        if (other->state == SYN_RCVD && other != pcb && other->rcv_wnd <= TCP_MSS &&
            ip_addr_cmp(&other->local_ip, &pcb->local_ip)) { /* of this card, and narrow, too */
            half_open += other->rcv_wnd;
        }
    }
    pcb->rcv_wnd = pcb->rcv_ann_wnd = free >= half_open + TCP_MSS ? TCP_MSS : 0;
    return ERR_OK;
}

void windows_listen(struct tcp_pcb *listener)
{
    static const struct tcp_ext_arg_callbacks callbacks = {.passive_open = begin_narrow};

    tcp_watch_callbacks(listener, &callbacks);
}

void window_close(struct tcp_pcb *pcb)
{
    set_window(pcb, 0);
}

void window_begin(struct window *w, struct tcp_pcb *pcb, const struct netif *netif, uint32_t wish)
{
    w->pcb = pcb;
    w->card = nicif_nic(netif)->index;
    w->sends = false;
    w->most = wish == 0 ? TCP_WND : wish < LEAST ? LEAST : wish;
    w->silent = w->alone = false;
    renew(w);
    for (struct window *other = cards[w->card]; other != NULL; other = other->next) {
        if (other->alone) {
            other->alone = false;
            renew(other);
        }
    }
    append(w);
}

void window_share(struct window *w)
{
    w->silent = false;
    if (is_alone(w) || (int32_t)(w->pcb->rcv_nxt - w->used_at) >= 0) {
        renew(w);
    }
    serve(w->card);
    w->alone = is_alone(w);
    if (w->pcb->rcv_wnd < TCP_MSS) { /* acknowledged when its turn comes: one for all that came */
        tcp_clear_flags(w->pcb, TF_ACK_NOW | TF_ACK_DELAY);
    }
}

void window_lost(struct window *w)
{
    if (w->pcb != NULL) {
        take_out(w);
        w->pcb = NULL;
        serve(w->card);
    }
}

void window_free(struct tcp_pcb *pcb)
{
    tcp_recved(pcb, (u16_t)(TCP_WND - pcb->rcv_wnd));
}

/* ---- sending ---- */

uint32_t flying_part(unsigned streams, uint32_t wish)
{
    uint32_t part = FLYING_FRAMES / streams * TCP_MSS;
    uint32_t least = FLYING_LEAST * TCP_MSS;

    if (wish != 0 && wish < part) {
        part = wish;
    }
    return part < least ? least : part;
}
