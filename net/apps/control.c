/*
 * Leaving control connections, and watching them.
 */
#include "net/apps/control.h"

#include "lwip/priv/tcp_priv.h"

enum {
    PROBE_HALF_SECONDS = 4,
    DEAD_HALF_SECONDS = 16,
    LINGER_HALF_SECONDS = 10,
};

static err_t linger_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (p != NULL) {
        tcp_recved(pcb, p->tot_len);
        pbuf_free(p);
    }
    return ERR_OK; /* its FIN: ours is out already, lwIP does the rest */
}

static err_t linger_poll(void *arg, struct tcp_pcb *pcb)
{
    (void)arg;
    tcp_abort(pcb);
    return ERR_ABRT;
}

void control_linger(struct tcp_pcb *pcb)
{
    tcp_arg(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    tcp_recv(pcb, linger_receive);
    tcp_poll(pcb, linger_poll, LINGER_HALF_SECONDS);
    tcp_shutdown(pcb, 0, 1);
}

bool control_is_dead(struct tcp_pcb *pcb)
{
    uint32_t silent = tcp_ticks - pcb->tmr; /* lwIP notes there when it last heard of the peer */

    if (silent >= PROBE_HALF_SECONDS && pcb->unacked == NULL) {
        tcp_keepalive(pcb);
    }
    return silent >= DEAD_HALF_SECONDS;
}
