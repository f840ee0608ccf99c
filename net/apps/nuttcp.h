/*
 * The nuttcp responder (NEEDS.md 3.4): one session at a time, control connection on port 5000.
 *
 *   nuttcp_params.c what a client asks for         nuttcp_wire.c  marks and counts in its data
 *   nuttcp_serve.c  the control connection: who may come in, steps, time limits
 *   nuttcp_run.c    a test under way: its streams, sums and intervals
 *   nuttcp_tcp.c    data over TCP                 nuttcp_send.c  ... sending
 *   nuttcp_udp.c    data over UDP
 *   nuttcp_text.c   the report, as nuttcp's own server writes it
 *
 * Nobody is sent anything but a control connection's own peer, which a TCP handshake has proven.
 * Everything is that of one static session; whoever comes while it is taken is told so.
 *
 * Data ports are the client's choice, 5001 by default.  While a test runs, data that comes from its
 * client to 5001 belongs to it as well: through a port forwarding the client's port is another.
 */
#ifndef NET_APPS_NUTTCP_H
#define NET_APPS_NUTTCP_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "net/apps/connection.h"
#include "net/apps/control.h"
#include "net/apps/nuttcp_params.h"
#include "net/apps/nuttcp_wire.h"
#include "net/apps/windows.h"
#include "net/meter.h"
#include "net/pace.h"

enum { NUTTCP_PORT = 5000 };

struct nuttcp_stream {
    struct connection data; /* TCP ...                                                       */
    struct tcp_pcb *listener;
    struct udp_pcb *udp;
    bool opened, ended;
    uint32_t at;     /* bytes of the buffer under way that were received, or written */
    bool writing;    /* ... and it is not complete                                   */
    uint8_t info[8]; /* received: see NUTTCP_INFO_AT */
};

enum nuttcp_phase {
    NUTTCP_FREE,
    NUTTCP_HELLO,   /* greeting or parameters are to come                            */
    NUTTCP_OPENING, /* the data connections are to come                              */
    NUTTCP_RUNNING,
    NUTTCP_CLOSING, /* we have sent all: it is to be acknowledged (TCP), or marked (UDP) */
    NUTTCP_TELLING, /* the report is on its way                                      */
};

struct nuttcp_session {
    enum nuttcp_phase phase;
    struct control control; /* its limit is that of the phase */
    struct nuttcp_params params;
    struct nuttcp_stream streams[NUTTCP_STREAMS_MAX];
    struct meter meter; /* of all streams */

    /* opening */
    unsigned opened;
    uint64_t open_us;  /* the next attempt to connect     */
    uint64_t asked_us; /* when it was made; 0: none under way */
    uint32_t rtt_us;
    uint16_t mss; /* of the last stream              */

    /* the run */
    unsigned turn;   /* the stream whose turn is next    */
    uint64_t left;   /* writes or datagrams still to begin */
    uint64_t end_us; /* no more from then on             */
    struct pace pace;
    bool stirred;        /* something was acknowledged, or could not be queued */
    unsigned marks;      /* sent                             */
    uint64_t mark_us;    /* when the next is due             */
    bool begun;          /* UDP: begin mark or data was heard */
    uint64_t final_us;   /* UDP: end by the marks; 0: not yet */
    uint64_t last_us;    /* UDP: last payload or first end mark */
    const char *verdict; /* how it has ended; null: not yet */
    uint64_t verdict_us; /* ... and when                    */
    uint32_t resent;     /* told by the client               */
    uint64_t sent;       /* UDP: told by the client          */
    struct sequence sequence;

    /* intervals */
    uint64_t interval_us; /* when the next ends */
    uint64_t shown_us, shown_bytes, shown_sent;
    uint32_t shown_resent;

    /* what it came to, for the report */
    uint64_t us, busy_us;
    unsigned cpu_permille;
};

extern struct nuttcp_session nuttcp;

/* ---- control (nuttcp_serve.c) ---- */

/* All streams are open, or none need be: the run begins. */
void nuttcp_opened(void);

/* The test is over and counted: tell the client and let it go. */
void nuttcp_tell(void);

/* It cannot be done after all; `why` is to be read behind the word "server". */
void nuttcp_refuse(const char *why);

/* ---- the run (nuttcp_run.c) ---- */

void nuttcp_run(void);

/* One turn of it.  True if it worked. */
bool nuttcp_run_turn(void);

/* How many bytes may be sent now, if any rate is to be kept? */
uint32_t nuttcp_may_send(void);

/* Another write or datagram may begin: neither time nor amount is used up. */
bool nuttcp_may_begin(void);

/* The time runs from here: at once over TCP; over UDP from the last begin mark, or the first
 * datagram if the marks got lost. */
void nuttcp_begin_count(void);

/* Count a received piece. */
void nuttcp_received(uint32_t bytes);

/* It has ended; the next turn draws the consequences.  The first verdict holds. */
void nuttcp_verdict(const char *how, uint64_t at_us);

/* The end as measured, for the record and the report: "ok" or other words of meter.h. */
void nuttcp_stop(const char *how, uint64_t end_us);

/* ---- data over TCP (nuttcp_tcp.c) ---- */

/* Listen on the data ports, or get ready to connect.  Null, or why not. */
const char *nuttcp_tcp_open(void);
void nuttcp_tcp_open_turn(void);
bool nuttcp_tcp_claim(struct tcp_pcb *pcb);

/* The run begins: windows. */
void nuttcp_tcp_begin(void);

/* As much as may be sent.  True if anything was.  (nuttcp_send.c) */
bool nuttcp_tcp_pump(void);

/* All was sent: close.  Then, once a turn, until true: all of it was acknowledged. */
void nuttcp_tcp_close(void);
bool nuttcp_tcp_closed(void);

/* Leave all connections and ports; reset what is still open, or close it. */
void nuttcp_tcp_leave(bool reset);

/* ---- data over UDP (nuttcp_udp.c) ---- */

const char *nuttcp_udp_open(void);
bool nuttcp_udp_take(const struct pbuf *p, const ip_addr_t *peer);
bool nuttcp_udp_pump(void);

/* The client has hung up: what came is all; if it was to receive, its end marks follow at once. */
void nuttcp_udp_finish(const char *how);

/* After the last datagram: the end marks.  True when all are sent. */
bool nuttcp_udp_closed(void);
void nuttcp_udp_leave(void);

/* ---- the report (nuttcp_text.c) ---- */

/* What is to be said on the control connection and has not been yet. */
extern struct nuttcp_text {
    char text[4096];
    unsigned bytes;
} nuttcp_text;

void nuttcp_say(const char *fmt, ...);

/* The lines before the test, of an interval, and after the test. */
void nuttcp_say_settings(void);
void nuttcp_say_interval(uint64_t now_us);
void nuttcp_say_results(void);

#endif
