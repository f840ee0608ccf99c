/*
 * nuttcp's data over TCP: its connections, and what comes over them.
 */
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/tcp.h"
#include "net/apps/listen.h"
#include "net/apps/nuttcp.h"
#include "net/apps/ttcp_serve.h"
#include "net/clock.h"

enum {
    BEFORE_US = 50000,  /* after "OK": the client begins to listen; its own server's wait */
    BETWEEN_US = 20000, /* the same for the next stream                             */
    AGAIN_US = 100000,  /* it did not listen yet                                    */
    MSS_LEAST = 64,
};

/* ---- connections ---- */

static void close_ports(void)
{
    for (unsigned i = 0; i < NUTTCP_STREAMS_MAX; i++) {
        if (nuttcp.streams[i].listener != NULL) {
            tcp_close(nuttcp.streams[i].listener);
            nuttcp.streams[i].listener = NULL;
        }
    }
}

void nuttcp_tcp_leave(bool reset)
{
    close_ports();
    for (unsigned i = 0; i < NUTTCP_STREAMS_MAX; i++) {
        connection_stop_growing(&nuttcp.streams[i].data);
    }
    for (unsigned i = 0; i < NUTTCP_STREAMS_MAX; i++) {
        if (nuttcp.streams[i].data.pcb != NULL) {
            connection_leave(&nuttcp.streams[i].data, reset);
        }
    }
}

/* ---- callbacks ---- */

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    struct nuttcp_stream *s = arg;

    connection_lost(&s->data);
    s->ended = true;
    if (nuttcp.phase == NUTTCP_OPENING && nuttcp.params.connects && !s->opened) {
        s->ended = false;
        nuttcp.asked_us = 0;
        nuttcp.open_us = clock_us() + AGAIN_US;
    } else if (err != ERR_CLSD) {
        nuttcp_verdict("reset", nuttcp.meter.last_us);
    }
}

static bool all_ended(void)
{
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        if (!nuttcp.streams[i].ended) {
            return false;
        }
    }
    return true;
}

static bool is_delivered(const struct nuttcp_stream *s)
{
    return s->data.acked >= s->data.queued; /* a FIN is acknowledged, too */
}

/*
 * Both have sent a FIN.  A pcb in TIME_WAIT is freed without a word, so it is left before it can
 * come there, or in the same callback: with the last byte's acknowledgement.
 */
static err_t leave_if_delivered(struct nuttcp_stream *s)
{
    return is_delivered(s) ? connection_leave(&s->data, false) : ERR_OK;
}

static err_t on_fin(struct nuttcp_stream *s)
{
    s->ended = true;
    if (nuttcp.phase == NUTTCP_CLOSING) {
        return leave_if_delivered(s); /* as it should, in answer to ours */
    }
    if (nuttcp.params.sends || nuttcp.phase == NUTTCP_OPENING) {
        nuttcp_verdict("reset", nuttcp.meter.last_us);
    } else if (all_ended()) {
        nuttcp_verdict("ok", time_us());
    }
    return connection_leave(&s->data, false);
}

/* What the sender tells about itself, wherever it lies in this piece of the stream. */
static void look_for_info(struct nuttcp_stream *s, const struct pbuf *p)
{
    unsigned n = p->tot_len, at = 0;

    if (nuttcp.params.len < NUTTCP_INFO_END || nuttcp.params.interval_us == 0) {
        return;
    }
    while (at < n) {
        uint32_t here = nuttcp.params.len - s->at < n - at ? nuttcp.params.len - s->at : n - at;

        for (unsigned i = NUTTCP_INFO_AT; i < NUTTCP_INFO_END; i++) {
            if (i >= s->at && i < s->at + here) {
                s->info[i - NUTTCP_INFO_AT] = pbuf_get_at(p, (u16_t)(at + i - s->at));
            }
        }
        if (s->at < NUTTCP_INFO_END && s->at + here >= NUTTCP_INFO_END) {
            nuttcp_read_retrans(s->info, &nuttcp.resent);
        }
        at += here;
        s->at = s->at + here == nuttcp.params.len ? 0 : s->at + here;
    }
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct nuttcp_stream *s = arg;

    (void)err;
    if (p == NULL) {
        return on_fin(s);
    }
    if (nuttcp.phase == NUTTCP_RUNNING && !nuttcp.params.sends) {
        nuttcp_received(p->tot_len);
        look_for_info(s, p);
        window_took(&s->data.window, pcb, p->tot_len);
    } else {
        tcp_recved(pcb, p->tot_len);
    }
    pbuf_free(p);
    return ERR_OK;
}

static uint64_t delivered(const struct nuttcp_stream *s)
{
    return is_delivered(s) ? s->data.queued : s->data.acked;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t acknowledged)
{
    struct nuttcp_stream *s = arg;
    uint64_t before = delivered(s);

    (void)pcb;
    s->data.acked += acknowledged;
    nuttcp.stirred = true;
    nuttcp.meter.bytes += delivered(s) - before;
    meter_touch(&nuttcp.meter);
    return s->ended ? leave_if_delivered(s) : ERR_OK;
}

/* ---- opening ---- */

static void adopt(struct nuttcp_stream *s, struct tcp_pcb *pcb)
{
    static const struct connection_calls calls = {on_receive, on_sent, on_error};

    pcb->tos = nuttcp.params.tos;
    if (nuttcp.params.nodelay) {
        tcp_nagle_disable(pcb);
    }
    connection_adopt(&s->data, pcb, &calls, s);
}

static void opened(struct nuttcp_stream *s)
{
    struct tcp_pcb *pcb = s->data.pcb;

    if (nuttcp.params.mss >= MSS_LEAST && nuttcp.params.mss < pcb->mss) {
        pcb->mss = nuttcp.params.mss;
    }
    s->opened = true;
    nuttcp.mss = pcb->mss;
    nuttcp.asked_us = 0;
    nuttcp.open_us = clock_us() + BETWEEN_US;
    if (!nuttcp.params.sends && nuttcp.params.streams > 1) {
        window_close(pcb);
    }
    if (++nuttcp.opened == nuttcp.params.streams) {
        close_ports();
        nuttcp_opened();
    }
}

/* On its own port; or the next one on 5001, where a port that was forwarded ends.  On another port
 * the same host may be a ttcp just now. */
static struct nuttcp_stream *stream_at(uint16_t port)
{
    unsigned i = (unsigned)(port - nuttcp.params.port);

    if (port < nuttcp.params.port || i >= nuttcp.params.streams) {
        i = port == TTCP_PORT ? nuttcp.opened : nuttcp.params.streams;
    }
    return i < nuttcp.params.streams && !nuttcp.streams[i].opened ? &nuttcp.streams[i] : NULL;
}

bool nuttcp_tcp_claim(struct tcp_pcb *pcb)
{
    struct nuttcp_stream *s;

    if (nuttcp.phase != NUTTCP_OPENING || nuttcp.params.udp || nuttcp.params.connects ||
        !ip_addr_eq(&pcb->remote_ip, &nuttcp.control.peer) ||
        ip_current_netif() != nuttcp.control.netif) {
        return false;
    }
    s = stream_at(pcb->local_port);
    if (s == NULL) {
        return false;
    }
    adopt(s, pcb);
    opened(s);
    return true;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    return nuttcp_tcp_claim(pcb) ? ERR_OK : ERR_VAL; /* a stranger's is reset by lwIP */
}

const char *nuttcp_tcp_open(void)
{
    nuttcp.open_us = clock_us() + BEFORE_US;
    if (nuttcp.params.connects) {
        return NULL;
    }
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        uint16_t port = (uint16_t)(nuttcp.params.port + i);

        if (!ttcp_has_port(port)) {
            nuttcp.streams[i].listener = listen_tcp(port, on_accept);
            if (nuttcp.streams[i].listener == NULL) {
                close_ports();
                return "has other use for one of these data ports";
            }
        }
    }
    return NULL;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)pcb;
    (void)err;
    nuttcp.rtt_us = (uint32_t)(time_us() - nuttcp.asked_us);
    opened(arg);
    return ERR_OK;
}

/* The client listens for one stream after the other. */
void nuttcp_tcp_open_turn(void)
{
    struct nuttcp_stream *s = &nuttcp.streams[nuttcp.opened];
    uint16_t port = (uint16_t)(nuttcp.params.port + nuttcp.opened);
    struct tcp_pcb *pcb;

    if (!nuttcp.params.connects || nuttcp.asked_us != 0 || clock_us() < nuttcp.open_us) {
        return;
    }
    nuttcp.open_us = clock_us() + AGAIN_US;
    pcb = tcp_new();
    if (pcb == NULL) {
        return; /* later, or until the time is over */
    }
    tcp_bind_netif(pcb, nuttcp.control.netif);
    memset(&s->data, 0, sizeof(s->data));
    adopt(s, pcb);
    nuttcp.asked_us = time_us();
    if (tcp_connect(pcb, &nuttcp.control.peer, port, on_connected) != ERR_OK) {
        nuttcp.asked_us = 0;
        connection_leave(&s->data, true);
    }
}

void nuttcp_tcp_begin(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    for (unsigned i = 0; i < p->streams; i++) {
        struct connection *c = &nuttcp.streams[i].data;

        if (c->pcb != NULL && p->sends) {
            window_free(c->pcb);
        } else if (c->pcb != NULL) {
            window_begin(&c->window, c->pcb, nuttcp.control.netif, p->window);
        }
    }
    windows_go();
}

/* ---- closing ---- */

void nuttcp_tcp_close(void)
{
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        if (nuttcp.streams[i].data.pcb != NULL) {
            tcp_shutdown(nuttcp.streams[i].data.pcb, 0, 1); /* without memory lwIP does it later */
        }
    }
}

bool nuttcp_tcp_closed(void)
{
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        const struct tcp_pcb *pcb = nuttcp.streams[i].data.pcb;

        if (pcb != NULL && pcb->state != FIN_WAIT_2) {
            return false;
        }
    }
    return true;
}
