/*
 * The receive windows of iperf3's TCP streams.
 *
 * What all streams together may send must fit into the card's ring, or the ring overflows: with a
 * window of a segment or two nothing but a time-out repairs a lost one, so a stream that loses one
 * starves.  And something must be left for the control connection or, with --bidir, for the
 * acknowledgements of what we send.  Hence:
 *
 *   wide      each stream has a part of the window of at least two segments, and lwIP does the rest
 *   sharing   there is not so much: a window is one segment or closed, and so many are open as fit.
 *             Whoever has sent waits, and the one that has waited longest is acknowledged and may
 *             send: nobody gets more than his turn.
 *
 * Windows are closed with the acknowledgement of the cookie.  That takes back what was announced
 * before, which RFC 9293 (3.8.6) advises against for the sake of data on its way; but behind its
 * cookie the client sends nothing until all streams are there.
 */
#include "lwip/priv/tcp_priv.h"
#include "net/apps/iperf3.h"
#include "net/clock.h"

enum {
    SPARE_FRAMES = 2,   /* of the ring, not for data ...                             */
    SPARE_FROM = 5,     /* ... if it holds so many; smaller ones spare one           */
    OVERDUE_US = 20000, /* so long after the last turn the next one takes his anyway */
};

static struct {
    unsigned turns; /* windows that may be open at once; 0: wide */
    unsigned open;
    struct iperf3_stream *queue[IPERF3_STREAMS_MAX]; /* those whose window is closed */
    unsigned head, waiting;
    uint64_t turn_us; /* of the last one to open */
} share;

/* Segments that may be on their way to us in all. */
static unsigned frames_for_data(void)
{
    unsigned all = TCP_WND / TCP_MSS;

    if (iperf3.params.sends) {
        return all < 2 ? 1 : all / 2;
    }
    return all >= SPARE_FROM ? all - SPARE_FRAMES : all > 2 ? all - 1 : all;
}

static uint32_t wide_part(void)
{
    uint32_t part = frames_for_data() * TCP_MSS / iperf3.params.parallel;

    if (iperf3.params.window != 0 && iperf3.params.window < part) {
        part = iperf3.params.window < 2 * TCP_MSS ? 2 * TCP_MSS : iperf3.params.window;
    }
    return part;
}

/* Say now, with an acknowledgement, that the window is so wide. */
static void set_window(struct tcp_pcb *pcb, uint32_t window)
{
    pcb->rcv_wnd = (tcpwnd_size_t)window;
    pcb->rcv_ann_wnd = (tcpwnd_size_t)window;
    tcp_ack_now(pcb);
    tcp_output(pcb);
}

/* ---- taking turns ---- */

static void open_next(void)
{
    struct iperf3_stream *s = share.queue[share.head];

    share.head = (share.head + 1) % IPERF3_STREAMS_MAX;
    share.waiting--;
    share.open++;
    share.turn_us = clock_us();
    s->waits = false;
    set_window(s->pcb, TCP_MSS);
}

static void wait(struct iperf3_stream *s)
{
    share.queue[(share.head + share.waiting) % IPERF3_STREAMS_MAX] = s;
    share.waiting++;
    s->waits = true;
}

static void go_on(void)
{
    while (share.waiting != 0 && share.open < share.turns) {
        open_next();
    }
}

void iperf3_window_turn(void)
{
    if (share.waiting != 0 && clock_us() - share.turn_us > OVERDUE_US) {
        open_next(); /* those who may do not: they have nothing to send, or it was lost */
    }
}

/* A stream is gone: the others move up. */
static void unqueue(struct iperf3_stream *s)
{
    unsigned n = share.waiting;

    if (!s->waits) {
        share.open--;
        return;
    }
    for (; n != 0; n--) {
        struct iperf3_stream *first = share.queue[share.head];

        share.head = (share.head + 1) % IPERF3_STREAMS_MAX;
        share.waiting--;
        if (first != s) {
            wait(first);
        }
    }
    s->waits = false;
}

/* ---- for the streams ---- */

void iperf3_window_close(struct tcp_pcb *pcb)
{
    set_window(pcb, 0);
}

void iperf3_window_begin(void)
{
    uint32_t part = wide_part();

    share.turns = part >= 2 * TCP_MSS ? 0 : frames_for_data();
    share.open = share.head = share.waiting = 0;
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        if (!s->used || s->pcb == NULL) {
            continue;
        }
        s->shares = !s->sender && share.turns != 0;
        if (s->sender) {
            iperf3_window_free(s->pcb);
        } else if (s->shares) {
            wait(s);
        } else {
            set_window(s->pcb, part);
        }
    }
    go_on();
}

void iperf3_window_took(struct iperf3_stream *s, uint16_t n)
{
    if (!s->shares) {
        tcp_recved(s->pcb, n);
    } else if (!s->waits) {
        share.open--;
        wait(s);
        go_on();
    }
}

void iperf3_window_lost(struct iperf3_stream *s)
{
    if (s->shares) {
        s->shares = false;
        unqueue(s);
        go_on();
    }
}

void iperf3_window_leave(struct iperf3_stream *s)
{
    iperf3_window_lost(s);
    iperf3_window_free(s->pcb);
}

void iperf3_window_free(struct tcp_pcb *pcb)
{
    tcp_recved(pcb, (u16_t)(TCP_WND - pcb->rcv_wnd));
}
