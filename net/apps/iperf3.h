/*
 * The iperf3 responder (NEEDS.md 3.3): one session at a time, on port 5201.
 *
 *   iperf3_serve.c    the control connection: who may come in, states, time limits
 *   iperf3_streams.c  what the two kinds of data stream have in common: the run and its sums
 *   iperf3_tcp.c      data over TCP
 *   iperf3_udp.c      data over UDP
 *   iperf3_results.c  the document of results
 *
 * Nobody is sent anything but a control connection's own peer, which a TCP handshake has proven.
 * Streams, connections and memory are those of one static session; whoever comes while it is
 * taken is told that the server is busy.
 */
#ifndef NET_APPS_IPERF3_H
#define NET_APPS_IPERF3_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"
#include "net/apps/connection.h"
#include "net/apps/control.h"
#include "net/apps/iperf3_params.h"
#include "net/apps/windows.h"
#include "net/meter.h"
#include "net/pace.h"

enum {
    IPERF3_PORT = 5201,
    IPERF3_COOKIE = 37,     /* 36 characters and a NUL, the same on all connections of a session */
    IPERF3_TEXT_MAX = 8192, /* the longest document: that of newer iperf3                        */
};

/* Why a sender has stopped for now. */
enum iperf3_block {
    IPERF3_NO_ROOM, /* window, buffer or queue: an acknowledgement or a free slot ends it */
    IPERF3_AGAIN,   /* next turn: it has sent enough for one, or memory was short          */
    IPERF3_TIMER,   /* its rate                                                          */
};

struct iperf3_stream {
    bool used;
    bool sender;      /* we send                                          */
    unsigned id;      /* 1, 3, 4, 5, ...: iperf3 leaves out 2             */
    unsigned arrival; /* streams are numbered in the order they came      */
    struct meter *meter;
    uint64_t bytes; /* since the omitted seconds; ours: sent for the first time */

    /* sending */
    enum iperf3_block block;
    uint32_t written; /* of the write under way                           */
    struct pace pace;
    uint64_t held_us; /* by the rate timer                                */

    /* TCP */
    struct connection data;
    unsigned cookie_bytes;  /* of the cookie that have come              */
    uint32_t resent_before; /* segments sent again when the count began  */
    uint64_t sent_before;   /* bytes sent when the count began           */

    /* UDP */
    uint16_t port;            /* the client's                               */
    uint64_t datagrams;       /* number of the last one sent, or the highest received */
    struct sequence sequence; /* of those received                          */
};

enum iperf3_phase {
    IPERF3_FREE,
    IPERF3_COOKIE_PHASE, /* a client has connected                        */
    IPERF3_PARAMS,       /* its parameters are to come                    */
    IPERF3_CREATING,     /* its streams are to come                       */
    IPERF3_RUNNING,
    IPERF3_DRAINING, /* ended by its amount, some of which is still to come */
    IPERF3_RESULTS,  /* ended; its results are to come                     */
    IPERF3_DISPLAY,  /* it has ours; its goodbye is to come                */
};

struct iperf3_session {
    enum iperf3_phase phase;
    struct control control; /* its limit is that of the phase */
    char cookie[IPERF3_COOKIE];
    struct iperf3_params params;
    struct iperf3_stream streams[IPERF3_STREAMS_MAX];
    unsigned arrivals;
    struct meter rx, tx; /* of all streams of a direction */
    bool omitting;
    uint64_t omit_until_us;
    bool stirred;               /* something was acknowledged, or could not be queued      */
    struct iperf3_stream *next; /* paced: due first, if all that send wait for their rates */
    unsigned first;             /* sender whose turn it is                                 */
    unsigned cpu_permille;
};

extern struct iperf3_session iperf3;

/* ---- streams (iperf3_streams.c) ---- */

/* A place for a stream, or null: all that were asked for are there. */
struct iperf3_stream *iperf3_new_stream(void);

/* All streams are there: number them, start the meters. */
void iperf3_run(void);

/* One turn of a running session: end of the omitted seconds, sending.  True if it sent. */
bool iperf3_run_turn(void);

/* The end of the run, by the client's word ("ok") or otherwise: reports what was moved.  The
 * streams are closed if it was well, else reset. */
void iperf3_stop(const char *how);

/*
 * The client says that it has sent an amount, by -n or -k: has all of it come?  Its word may
 * overtake data that waited for room in a stream's window.  True when it has, or nothing has come
 * for a second.
 */
bool iperf3_is_drained(void);

/* For the end of a session that did not run: let go of the streams it has. */
void iperf3_drop_streams(void);

/* A received piece: counted unless it is to be omitted. */
void iperf3_count_received(struct iperf3_stream *s, uint32_t bytes);

/* ---- data over TCP (iperf3_tcp.c) ---- */

/* A connection that may be a stream of this session; false if it cannot be one. */
bool iperf3_tcp_accept(struct tcp_pcb *pcb);

/* As much as may be sent.  True if anything was queued; else, and after it, s->block. */
bool iperf3_tcp_pump(struct iperf3_stream *s);

/* Count from here on. */
void iperf3_tcp_restart(struct iperf3_stream *s);

/* Bring s->bytes and the meter up to date. */
void iperf3_tcp_settle(struct iperf3_stream *s);

/* Close, or reset. */
void iperf3_tcp_leave(struct iperf3_stream *s, bool reset);

/* ---- data over UDP (iperf3_udp.c) ---- */

/* Open the port: once. */
void iperf3_udp_start(void);

/* One datagram, if it may be sent. */
bool iperf3_udp_pump(struct iperf3_stream *s);

void iperf3_udp_restart(struct iperf3_stream *s);

/* ---- control (iperf3_serve.c) ---- */

/* For the streams: another one is ready; when all are, the test begins. */
void iperf3_stream_ready(void);

/* For one that is no stream: he is told that the server is busy. */
extern const struct control_protocol iperf3_protocol;

/* ---- results (iperf3_results.c) ---- */

/* Is this a document of results? */
bool iperf3_results_ok(const char *text, size_t n);

/* Ours, into `text`; its length.  IPERF3_TEXT_MAX is always enough. */
unsigned iperf3_write_results(char *text);

#endif
