/*
 * Control connections.
 */
#include "net/apps/control.h"

#include "lwip/ip.h"
#include "lwip/priv/tcp_priv.h"
#include "net/apps/connection.h"
#include "net/apps/listen.h"
#include "net/clock.h"

enum {
    WATCH_HALF_SECONDS = 2,
    PROBE_HALF_SECONDS = 4,
    DEAD_HALF_SECONDS = 16,
};

/* ---- the end ---- */

void control_refuse(const struct control_protocol *p, struct tcp_pcb *pcb)
{
    tcp_write(pcb, p->busy, p->busy_bytes, 0);
    tcp_linger(pcb);
}

/* Nothing is left of it but what the pcb, given back, still has to do. */
static struct tcp_pcb *leave(const struct control_protocol *p, const char *how)
{
    struct tcp_pcb *pcb = p->control->pcb;

    p->over(how);
    p->control->pcb = NULL;
    tcp_let_go(pcb);
    return pcb;
}

err_t control_close(const struct control_protocol *p, const char *how)
{
    struct tcp_pcb *pcb = leave(p, how);

    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

err_t control_abort(const struct control_protocol *p, const char *how)
{
    tcp_abort(leave(p, how));
    return ERR_ABRT;
}

void control_linger(const struct control_protocol *p, const char *how)
{
    tcp_linger(leave(p, how));
}

/* ---- while it lasts ---- */

void control_limit(struct control *c, uint64_t us)
{
    c->limit_us = clock_us() + us;
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    const struct control_protocol *protocol = arg;

    if (p == NULL) {
        return protocol->hung_up();
    }
    tcp_recved(pcb, p->tot_len);
    err = protocol->hear(p);
    pbuf_free(p);
    return err;
}

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    const struct control_protocol *p = arg;

    (void)err;
    p->control->pcb = NULL;
    p->over("reset");
}

/*
 * During a test a control connection is silent.  The acknowledgement of a keepalive segment
 * (RFC 9293, 3.8.4) says that the peer is still there; without any for 8 s it is not.
 */
static err_t on_watch(void *arg, struct tcp_pcb *pcb)
{
    uint32_t silent = tcp_ticks - pcb->tmr; /* lwIP notes there when it last heard of the peer */

    if (silent >= DEAD_HALF_SECONDS) {
        return control_abort(arg, "timeout");
    }
    if (silent >= PROBE_HALF_SECONDS && pcb->unacked == NULL) {
        tcp_keepalive(pcb);
    }
    return ERR_OK;
}

/* ---- coming in ---- */

static void begin(const struct control_protocol *p, struct tcp_pcb *pcb)
{
    struct control *c = p->control;

    p->begin();
    c->pcb = pcb;
    c->netif = ip_current_netif();
    c->peer = pcb->remote_ip;
    control_limit(c, CONTROL_ANSWER_US);
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, on_receive);
    tcp_err(pcb, on_error);
    tcp_poll(pcb, on_watch, WATCH_HALF_SECONDS);
}

/* The connection has inherited the listener's argument. */
static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    const struct control_protocol *p = arg;

    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    if (p->control->pcb == NULL) {
        begin(p, pcb);
    } else if (p->claim == NULL || !p->claim(pcb)) {
        control_refuse(p, pcb);
    }
    return ERR_OK;
}

void control_listen(const struct control_protocol *p)
{
    tcp_arg(listen_tcp_always(p->port, on_accept, p->name), (void *)(uintptr_t)p);
}
