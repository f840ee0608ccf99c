/*
 * ttcp over TCP, and the raw sink: bytes until FIN, nothing is said back.
 *
 * There is no header and no handshake; the total is not known beforehand.  The time runs from
 * accept to FIN.  (The UDP side, with its sentinels, is ttcp_udp.c.)
 *
 * On port 5001 iperf2's clients come as well.  Whatever the first bytes turn out to be, all are
 * counted until FIN; only the name of the test depends on them, and whether the client wants a test
 * in the other direction (net/apps/iperf2_reverse.h).
 *
 * Clients that send at the same time (iperf2's -P, several ttcps) share windows from the first
 * byte to the last: net/apps/windows.h.
 */
#include "net/apps/ttcp_serve.h"

#include "kernel/error.h"
#include "kernel/string.h"
#include "kernel/trap.h"
#include "lwip/tcp.h"
#include "net/apps/app.h"
#include "net/apps/connection.h"
#include "net/apps/iperf2_reverse.h"
#include "net/apps/iperf2_wire.h"
#include "net/apps/listen.h"
#include "net/apps/ttcp_udp.h"
#include "net/apps/windows.h"
#include "net/meter.h"
#include "net/tcp_watch.h"

enum {
    DEAD_PEER_US = 30000000,
    POLL_HALF_SECONDS = 4,
};

struct sink {
    struct tcp_pcb *pcb; /* null: free */
    uint16_t port;       /* ours       */
    struct meter meter;
    struct window window;
    bool looking; /* the beginning may still turn out to be iperf2's */
    unsigned seen;
    uint8_t beginning[IPERF2_HEADER_LONG];
    struct iperf2_request request;
};

static struct sink sinks[MEMP_NUM_TCP_PCB];

static const struct ttcp_claim *claim;

static struct {
    ttcp_watcher watcher;
    uint16_t port;
    bool udp;
    struct tcp_pcb *listener; /* opened for it, or null */
} watch;

/* ---- who waits for the end of a test ---- */

static const struct {
    uint16_t port;
    const char *test;
    bool udp; /* as well */
} fixed[] = {{TTCP_PORT, "ttcp", true},
             {TTCP_PORT_OLD, "ttcp", true},
             {TTCP_PORT_BRL, "ttcp", true},
             {SINK_PORT, "sink", false}};

enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static bool is_fixed(uint16_t port, bool udp)
{
    for (unsigned i = 0; i < FIXED; i++) {
        if (fixed[i].port == port) {
            return !udp || fixed[i].udp;
        }
    }
    return false;
}

bool ttcp_has_port(uint16_t port)
{
    return is_fixed(port, true);
}

/* What a test on a port is called. */
static const char *test_on(uint16_t port)
{
    for (unsigned i = 0; i < FIXED; i++) {
        if (fixed[i].port == port) {
            return fixed[i].test;
        }
    }
    return "ttcp"; /* where `ttcp -r -p` listens */
}

static void close_listener(void)
{
    if (watch.listener != NULL) {
        tcp_close(watch.listener);
        watch.listener = NULL;
    }
}

void ttcp_test_ended(uint16_t port, bool udp, bool ok)
{
    ttcp_watcher watcher = watch.watcher;

    if (watcher != NULL && watch.port == port && watch.udp == udp) {
        watch.watcher = NULL;
        close_listener();
        if (udp && !is_fixed(port, true)) {
            ttcp_udp_close_later(port);
        }
        watcher(ok);
    }
}

/* ---- one connection ---- */

/* The test is over; the pcb is no longer ours. */
static void finish(struct sink *s, const char *how)
{
    bool counted = s->meter.bytes != 0;

    window_lost(&s->window);
    s->pcb = NULL;
    meter_end(&s->meter, how);
    if (counted) {
        ttcp_test_ended(s->port, false, how[0] == 'o');
    }
}

/* The same while the pcb still lives: it must not call us or count for us any more. */
static __attribute__((cold)) void release(struct sink *s, const char *how)
{
    struct tcp_pcb *pcb = s->pcb;

    tcp_let_go(pcb);
    finish(s, how);
    window_free(pcb);
}

/* What comes first, until it is known what it is. */
static void look(struct sink *s, const struct pbuf *p)
{
    s->seen +=
        pbuf_copy_partial(p, s->beginning + s->seen, (u16_t)(sizeof(s->beginning) - s->seen), 0);
    switch (iperf2_read_tcp(s->beginning, s->seen, &s->request)) {
    case IPERF2_UNDECIDED: break;
    case IPERF2_NO: s->looking = false; break;
    case IPERF2_YES:
        s->looking = false;
        s->meter.test = "iperf2";
        s->meter.asked_bit_s = s->request.rate;
        if (s->request.at_once) {
            s->window.sends = true;
            iperf2_answer_tcp(&s->request, s->meter.netif, &s->meter.peer);
        }
        break;
    }
}

/* -R: from here on the connection is a sender's. */
static err_t turn_round(struct sink *s)
{
    struct tcp_pcb *pcb = s->pcb;

    s->meter.bytes = 0; /* its header is no test */
    release(s, "ok");
    if (!iperf2_reverse_tcp(&s->request, s->meter.netif, pcb)) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

static err_t on_fin(struct sink *s)
{
    struct tcp_pcb *pcb = s->pcb;
    err_t err = ERR_OK;

    release(s, "ok");
    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        err = ERR_ABRT;
    }
    if (s->request.answer && !s->request.at_once) {
        iperf2_answer_tcp(&s->request, s->meter.netif, &s->meter.peer);
    }
    return err;
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct sink *s = arg;

    (void)err;
    if (p == NULL) {
        return on_fin(s);
    }
    meter_add(&s->meter, p->tot_len);
    if (s->looking) {
        look(s, p);
    }
    window_took(&s->window, pcb, p->tot_len);
    pbuf_free(p);
    return s->request.reverse ? turn_round(s) : ERR_OK;
}

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    (void)err;
    finish(arg, "reset");
}

static err_t on_poll(void *arg, struct tcp_pcb *pcb)
{
    struct sink *s = arg;

    if (meter_idle_us(&s->meter) >= DEAD_PEER_US) {
        release(s, "timeout");
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

static struct sink *free_sink(void)
{
    for (unsigned i = 0; i < MEMP_NUM_TCP_PCB; i++) {
        if (sinks[i].pcb == NULL) {
            return &sinks[i];
        }
    }
    return NULL;
}

static __attribute__((cold)) err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    struct sink *s;

    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    if (claim != NULL && ttcp_has_port(pcb->local_port) && claim->tcp(pcb)) {
        return ERR_OK;
    }
    s = free_sink();
    if (s == NULL) {
        return ERR_MEM; /* lwIP aborts the connection: the client sees a reset */
    }
    memset(s, 0, sizeof(*s));
    s->pcb = pcb;
    s->port = pcb->local_port;
    s->looking = s->port == TTCP_PORT;
    meter_start(&s->meter, test_on(s->port), METER_RX, false, ip_current_netif(), &pcb->remote_ip,
                pcb->remote_port);
    window_begin(&s->window, pcb, s->meter.netif, 0);
    s->window.silent = true;
    tcp_watch_attach(pcb, &s->meter.tcp);
    tcp_arg(pcb, s);
    tcp_recv(pcb, on_receive);
    tcp_err(pcb, on_error);
    tcp_poll(pcb, on_poll, POLL_HALF_SECONDS);
    return ERR_OK;
}

/* ---- ports ---- */

static struct tcp_pcb *listen_narrow(uint16_t port)
{
    struct tcp_pcb *listener = listen_tcp(port, on_accept);

    if (listener != NULL) {
        windows_listen(listener);
    }
    return listener;
}

void ttcp_put_claim(const struct ttcp_claim *new_claim)
{
    claim = new_claim;
}

bool ttcp_claimed_udp(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port)
{
    return claim != NULL && claim->udp(pcb, p, peer, port);
}

__attribute__((cold)) int ttcp_watch(uint16_t port, bool udp, ttcp_watcher watcher)
{
    if (watch.watcher != NULL) {
        return E_BUSY;
    }
    if (!is_fixed(port, udp)) {
        if (udp && ttcp_udp_open(port) != OK) {
            return E_NO_MEMORY;
        }
        if (!udp && (watch.listener = listen_narrow(port)) == NULL) {
            return E_NO_MEMORY;
        }
    }
    watch.watcher = watcher;
    watch.port = port;
    watch.udp = udp;
    return OK;
}

void ttcp_unwatch(void)
{
    watch.watcher = NULL;
    close_listener();
    if (watch.udp && !is_fixed(watch.port, true)) {
        ttcp_udp_close(watch.port);
    }
}

static __attribute__((cold)) void start(void)
{
    for (unsigned i = 0; i < FIXED; i++) {
        if (listen_narrow(fixed[i].port) == NULL ||
            (fixed[i].udp && ttcp_udp_open(fixed[i].port) != OK)) {
            panic("ttcp: no pcb for port %u", fixed[i].port);
        }
    }
}

APP_TICKING(ttcp_serve, start, ttcp_udp_tick);
