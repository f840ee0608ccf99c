/*
 * ttcp over TCP: bytes until FIN, nothing is said back.
 *
 * There is no header and no handshake; the total is not known beforehand.  The time runs from
 * accept to FIN.  (The UDP side, with its sentinels, is ttcp_udp.c.)
 */
#include "net/apps/ttcp_serve.h"

#include "kernel/error.h"
#include "kernel/trap.h"
#include "lwip/tcp.h"
#include "net/apps/app.h"
#include "net/apps/ttcp_udp.h"
#include "net/meter.h"

enum {
    DEAD_PEER_US = 30000000,
    POLL_HALF_SECONDS = 4,
};

struct sink {
    struct tcp_pcb *pcb; /* null: free */
    uint16_t port;       /* ours       */
    struct meter meter;
};

static struct sink sinks[MEMP_NUM_TCP_PCB];

static struct {
    ttcp_watcher watcher;
    uint16_t port;
    bool udp;
    struct tcp_pcb *listener; /* opened for it, or null */
} watch;

/* ---- who waits for the end of a test ---- */

void ttcp_test_ended(uint16_t port, bool udp, bool ok)
{
    ttcp_watcher watcher = watch.watcher;

    if (watcher != NULL && watch.port == port && watch.udp == udp) {
        ttcp_unwatch();
        watcher(ok);
    }
}

/* ---- one connection ---- */

/* The test is over; the pcb is no longer ours. */
static void finish(struct sink *s, const char *how)
{
    bool counted = s->meter.bytes != 0;

    s->pcb = NULL;
    meter_end(&s->meter, how);
    if (counted) {
        ttcp_test_ended(s->port, false, how[0] == 'o');
    }
}

/* The same while the pcb still lives: it must not call us or count for us any more. */
static void release(struct sink *s, const char *how)
{
    tcp_watch_attach(s->pcb, NULL);
    tcp_arg(s->pcb, NULL);
    tcp_recv(s->pcb, NULL);
    tcp_err(s->pcb, NULL);
    tcp_poll(s->pcb, NULL, 0);
    finish(s, how);
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct sink *s = arg;

    (void)err;
    if (p == NULL) {
        release(s, "ok");
        if (tcp_close(pcb) != ERR_OK) {
            tcp_abort(pcb);
            return ERR_ABRT;
        }
        return ERR_OK;
    }
    meter_add(&s->meter, p->tot_len);
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
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

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    struct sink *s;

    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    s = free_sink();
    if (s == NULL) {
        return ERR_MEM; /* lwIP aborts the connection: the client sees a reset */
    }
    s->pcb = pcb;
    s->port = pcb->local_port;
    meter_start(&s->meter, "ttcp", METER_RX, false, ip_current_netif(), &pcb->remote_ip,
                pcb->remote_port);
    tcp_watch_attach(pcb, &s->meter.tcp);
    tcp_arg(pcb, s);
    tcp_recv(pcb, on_receive);
    tcp_err(pcb, on_error);
    tcp_poll(pcb, on_poll, POLL_HALF_SECONDS);
    return ERR_OK;
}

/* ---- ports ---- */

static struct tcp_pcb *listen_on(uint16_t port)
{
    struct tcp_pcb *pcb = tcp_new();
    struct tcp_pcb *listener;

    if (pcb == NULL) {
        return NULL;
    }
    ip_set_option(pcb, SOF_REUSEADDR); /* its connections inherit it, and may outlive it */
    if (tcp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK) {
        tcp_close(pcb);
        return NULL;
    }
    listener = tcp_listen(pcb);
    if (listener == NULL) {
        tcp_close(pcb);
        return NULL;
    }
    tcp_accept(listener, on_accept);
    return listener;
}

static const uint16_t fixed_ports[] = {TTCP_PORT, TTCP_PORT_OLD, TTCP_PORT_BRL};

static bool is_fixed(uint16_t port)
{
    return port == TTCP_PORT || port == TTCP_PORT_OLD || port == TTCP_PORT_BRL;
}

int ttcp_watch(uint16_t port, bool udp, ttcp_watcher watcher)
{
    if (watch.watcher != NULL) {
        return E_BUSY;
    }
    if (!is_fixed(port)) {
        if (udp && ttcp_udp_open(port) != OK) {
            return E_NO_MEMORY;
        }
        if (!udp && (watch.listener = listen_on(port)) == NULL) {
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
    if (watch.listener != NULL) {
        tcp_close(watch.listener);
        watch.listener = NULL;
    }
    if (watch.udp && !is_fixed(watch.port)) {
        ttcp_udp_close(watch.port);
    }
}

static void start(void)
{
    for (unsigned i = 0; i < sizeof(fixed_ports) / sizeof(fixed_ports[0]); i++) {
        if (listen_on(fixed_ports[i]) == NULL || ttcp_udp_open(fixed_ports[i]) != OK) {
            panic("ttcp: no pcb for port %u", fixed_ports[i]);
        }
    }
}

APP(ttcp_serve, start, ttcp_udp_turn);
