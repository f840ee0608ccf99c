/*
 * How several TCP streams of one session share the card: how much may come, and how much may be
 * on its way from us.
 *
 * What all streams together may send must fit into the card's ring, or the ring overflows: with a
 * window of a segment or two nothing but a time-out repairs a lost one, so a stream that loses one
 * starves.  And something must be left for the control connection or, if we send as well, for the
 * acknowledgements of what we send.  Hence:
 *
 *   wide      each stream has a part of the window of at least two segments, and lwIP does the rest
 *   sharing   there is not so much: a window is one segment or closed, and so many are open as fit.
 *             Whoever has sent waits, and the one that has waited longest is acknowledged and may
 *             send: nobody gets more than his turn.
 */
#ifndef NET_APPS_WINDOWS_H
#define NET_APPS_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"

enum { WINDOWS_MAX = 16 };

/* Of a receiving stream; all zeros: none.  The stream's own. */
struct window {
    struct windows *of; /* null: not sharing */
    struct tcp_pcb *pcb;
    bool waits;
};

/* Of a session. */
struct windows {
    unsigned turns; /* windows that may be open at once; 0: wide */
    uint32_t part;  /* wide: bytes of a stream                   */
    unsigned open;
    struct window *queue[WINDOWS_MAX]; /* those whose window is closed */
    unsigned head, waiting;
    uint64_t turn_us; /* of the last one to open */
};

/*
 * Before the first byte of payload: no data before the run begins; acknowledges what has come.
 * That takes back what was announced before, which RFC 9293 (3.8.6) advises against for the sake
 * of data on its way; but no client sends until all its streams are there.
 */
void window_close(struct tcp_pcb *pcb);

/* The run begins: `streams` of them receive; do we send, too; the client's wish for a window in
 * bytes, or 0.  Then window_begin() for each, and windows_go(). */
void windows_begin(struct windows *ws, unsigned streams, bool sends, uint32_t wish);
void window_begin(struct windows *ws, struct window *w, struct tcp_pcb *pcb);
void windows_go(struct windows *ws);

/* So much has come: room for more. */
void window_took(struct window *w, struct tcp_pcb *pcb, uint16_t n);

/* Once a turn of a running session. */
void windows_turn(struct windows *ws);

/* The stream's connection is gone: the others move up. */
void window_lost(struct window *w);

/* All of the connection's window is given back, or lwIP would take the rest for data that nobody
 * has read.  Before it is closed. */
void window_free(struct tcp_pcb *pcb);

/* How many bytes one of `streams` sending streams may have on its way; `wish` is a limit asked
 * for, or 0. */
uint32_t flying_part(unsigned streams, uint32_t wish);

#endif
