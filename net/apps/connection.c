/*
 * Data connections.
 */
#include "net/apps/connection.h"

enum {
    COPY_BELOW = 256, /* shorter writes are copied together into full segments */
    LINGER_HALF_SECONDS = 10,
};

/* ---- leaving ---- */

void tcp_let_go(struct tcp_pcb *pcb)
{
    tcp_watch_attach(pcb, NULL);
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    tcp_poll(pcb, NULL, 0);
}

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

void tcp_linger(struct tcp_pcb *pcb)
{
    tcp_let_go(pcb);
    tcp_recv(pcb, linger_receive);
    tcp_poll(pcb, linger_poll, LINGER_HALF_SECONDS);
    tcp_shutdown(pcb, 0, 1);
}

/* ---- with data ---- */

void connection_adopt(struct connection *c, struct tcp_pcb *pcb,
                      const struct connection_calls *calls, void *arg)
{
    c->pcb = pcb;
    tcp_watch_attach(pcb, &c->tcp);
    tcp_arg(pcb, arg);
    tcp_recv(pcb, calls->receive);
    tcp_sent(pcb, calls->sent);
    tcp_err(pcb, calls->error);
}

void connection_lost(struct connection *c)
{
    window_lost(&c->window);
    c->pcb = NULL;
}

void connection_stop_growing(struct connection *c)
{
    c->window.silent = false;
    c->window.most = 0;
}

/*
 * lwIP resets a connection that is closed with less than all of its window, for it takes the rest
 * for data that nobody has read.  The peer is to hear of no more room than it knows of: whatever it
 * still has to send would come at once.
 */
static void give_back_silently(struct tcp_pcb *pcb)
{
    uint32_t told = pcb->rcv_ann_right_edge - pcb->rcv_nxt;

    pcb->rcv_wnd = TCP_WND;
    pcb->rcv_ann_wnd = told <= TCP_WND ? (tcpwnd_size_t)told : 0;
}

struct tcp_pcb *connection_let_go(struct connection *c)
{
    struct tcp_pcb *pcb = c->pcb;

    connection_lost(c);
    give_back_silently(pcb);
    tcp_let_go(pcb);
    return pcb;
}

err_t connection_leave(struct connection *c, bool reset)
{
    struct tcp_pcb *pcb = connection_let_go(c);

    if (reset || tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

uint32_t connection_room(const struct connection *c, uint32_t left, uint32_t part)
{
    uint32_t piece = left < TCP_MSS ? left : TCP_MSS;
    uint32_t flying = (uint32_t)(c->queued - c->acked);
    uint32_t room = flying < part ? part - flying : 0;

    room = room < tcp_sndbuf(c->pcb) ? room : tcp_sndbuf(c->pcb);
    room -= room % piece;
    return room < left ? room : left;
}

err_t connection_write(struct connection *c, const void *data, uint32_t n, uint32_t length)
{
    err_t err = tcp_write(c->pcb, data, (u16_t)n, length < COPY_BELOW ? TCP_WRITE_FLAG_COPY : 0);

    if (err == ERR_OK) {
        c->queued += n;
    }
    return err;
}
