/*
 * Windows of several streams.
 */
#include "net/apps/windows.h"

#include "kernel/string.h"
#include "lwip/priv/tcp_priv.h"
#include "net/clock.h"

enum {
    SPARE_FRAMES = 2,   /* of the ring, not for data ...                             */
    SPARE_FROM = 5,     /* ... if it holds so many; smaller ones spare one           */
    OVERDUE_US = 20000, /* so long after the last turn the next one takes his anyway */
    FLYING_FRAMES = 32, /* of all streams: half the transmit queue of a card (net/nicif.c)  */
    FLYING_LEAST = 4,   /* of one: three duplicate acknowledgements need four segments      */
};

/* Segments that may be on their way to us in all. */
static unsigned frames_for_data(bool sends)
{
    unsigned all = TCP_WND / TCP_MSS;

    if (sends) {
        return all < 2 ? 1 : all / 2;
    }
    return all >= SPARE_FROM ? all - SPARE_FRAMES : all > 2 ? all - 1 : all;
}

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
    tcp_ack_now(pcb);
    tcp_output(pcb);
}

/* ---- taking turns ---- */

static void open_next(struct windows *ws)
{
    struct window *w = ws->queue[ws->head];

    ws->head = (ws->head + 1) % WINDOWS_MAX;
    ws->waiting--;
    ws->open++;
    ws->turn_us = clock_us();
    w->waits = false;
    set_window(w->pcb, TCP_MSS);
}

static void wait(struct windows *ws, struct window *w)
{
    ws->queue[(ws->head + ws->waiting) % WINDOWS_MAX] = w;
    ws->waiting++;
    w->waits = true;
}

void windows_go(struct windows *ws)
{
    while (ws->waiting != 0 && ws->open < ws->turns) {
        open_next(ws);
    }
}

void windows_turn(struct windows *ws)
{
    if (ws->waiting != 0 && clock_us() - ws->turn_us > OVERDUE_US) {
        open_next(ws); /* those who may do not: they have nothing to send, or it was lost */
    }
}

/* A stream is gone: the others move up. */
static void unqueue(struct windows *ws, struct window *w)
{
    unsigned n = ws->waiting;

    if (!w->waits) {
        ws->open--;
        return;
    }
    for (; n != 0; n--) {
        struct window *first = ws->queue[ws->head];

        ws->head = (ws->head + 1) % WINDOWS_MAX;
        ws->waiting--;
        if (first != w) {
            wait(ws, first);
        }
    }
    w->waits = false;
}

/* ---- for the streams ---- */

void window_close(struct tcp_pcb *pcb)
{
    set_window(pcb, 0);
}

void windows_begin(struct windows *ws, unsigned streams, bool sends, uint32_t wish)
{
    unsigned frames = frames_for_data(sends);
    uint32_t part = frames * TCP_MSS / streams;

    if (wish != 0 && wish < part) {
        part = wish < 2 * TCP_MSS ? 2 * TCP_MSS : wish;
    }
    memset(ws, 0, sizeof(*ws));
    ws->part = part;
    ws->turns = part >= 2 * TCP_MSS ? 0 : frames;
}

void window_begin(struct windows *ws, struct window *w, struct tcp_pcb *pcb)
{
    w->pcb = pcb;
    w->of = ws->turns != 0 ? ws : NULL;
    if (w->of != NULL) {
        wait(ws, w);
    } else {
        set_window(pcb, ws->part);
    }
}

void window_took(struct window *w, struct tcp_pcb *pcb, uint16_t n)
{
    if (w->of == NULL) {
        tcp_recved(pcb, n);
    } else if (!w->waits) {
        w->of->open--;
        wait(w->of, w);
        windows_go(w->of);
    }
}

void window_lost(struct window *w)
{
    struct windows *ws = w->of;

    if (ws != NULL) {
        w->of = NULL;
        unqueue(ws, w);
        windows_go(ws);
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
