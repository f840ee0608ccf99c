/*
 * iperf3's data over TCP.
 *
 * A stream begins with the session's cookie; what follows is payload.  Sending is by reference from
 * a constant block.  Several streams share the card: net/apps/windows.h.
 */
#include "kernel/string.h"
#include "lwip/tcp.h"
#include "net/apps/iperf3.h"
#include "net/port/hooks.h"

enum {
    PIECES_PER_TURN = 64,
    COPY_BELOW = 256, /* shorter writes are copied together into full segments            */
};

/* ---- how much was sent ---- */

/* Bytes that have left at least once: acknowledged, or beyond that up to the highest sent. */
static uint64_t sent_bytes(const struct iperf3_stream *s)
{
    uint32_t flying = 0;

    if (s->pcb != NULL && s->tcp.sent != 0) {
        flying = s->tcp.highest - s->pcb->lastack;
    }
    return s->acked + (flying <= INT32_MAX ? flying : 0); /* a FIN is acknowledged, too */
}

void iperf3_tcp_settle(struct iperf3_stream *s)
{
    uint64_t bytes;

    if (!s->sender || iperf3.omitting || s->pcb == NULL) {
        return;
    }
    bytes = sent_bytes(s) - s->sent_before;
    if (bytes != s->bytes) {
        s->meter->bytes += bytes - s->bytes;
        s->bytes = bytes;
        meter_touch(s->meter);
    }
}

void iperf3_tcp_restart(struct iperf3_stream *s)
{
    s->bytes = 0;
    s->sent_before = sent_bytes(s);
    s->resent_before = s->tcp.resent;
    meter_less_tcp(s->meter, &s->tcp);
}

/* ---- callbacks ---- */

static void detach(struct iperf3_stream *s)
{
    tcp_watch_attach(s->pcb, NULL);
    tcp_arg(s->pcb, NULL);
    tcp_recv(s->pcb, NULL);
    tcp_sent(s->pcb, NULL);
    tcp_err(s->pcb, NULL);
    s->pcb = NULL;
}

/* lwIP has freed the pcb already.  The session goes on with the others; the client notices. */
static void on_error(void *arg, err_t err)
{
    struct iperf3_stream *s = arg;

    (void)err;
    window_lost(&s->window);
    s->pcb = NULL;
    if (iperf3.phase == IPERF3_CREATING) {
        s->used = false;
    }
}

/* The cookie, as far as it is in this piece.  Returns how many bytes were of it, or -1 if it is
 * not ours. */
static int take_cookie(struct iperf3_stream *s, const struct pbuf *p)
{
    unsigned n = IPERF3_COOKIE - s->cookie_bytes;

    n = p->tot_len < n ? p->tot_len : n;
    if (pbuf_memcmp(p, 0, iperf3.cookie + s->cookie_bytes, (u16_t)n) != 0) {
        return -1;
    }
    s->cookie_bytes += n;
    return (int)n;
}

static err_t on_end(struct iperf3_stream *s)
{
    struct tcp_pcb *pcb = s->pcb;

    iperf3_tcp_settle(s);
    window_lost(&s->window);
    window_free(s->pcb);
    detach(s);
    if (iperf3.phase == IPERF3_CREATING) {
        s->used = false;
    }
    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

/* Somebody else's connection came while this session's streams were expected. */
static void turn_away(struct iperf3_stream *s, struct pbuf *p)
{
    struct tcp_pcb *pcb = s->pcb;

    window_free(pcb);
    pbuf_free(p);
    detach(s);
    s->used = false;
    iperf3_refuse_busy(pcb);
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct iperf3_stream *s = arg;
    unsigned n;

    (void)err;
    if (p == NULL) {
        return on_end(s);
    }
    n = p->tot_len;
    if (s->cookie_bytes < IPERF3_COOKIE) {
        int of_cookie = take_cookie(s, p);

        if (of_cookie < 0) {
            turn_away(s, p);
            return ERR_OK;
        }
        n -= (unsigned)of_cookie;
        tcp_recved(pcb, p->tot_len);
        if (s->cookie_bytes == IPERF3_COOKIE) {
            window_close(pcb);
            iperf3_stream_ready();
        }
    } else {
        window_took(&s->window, pcb, p->tot_len);
    }
    if (n != 0 && !s->sender &&
        (iperf3.phase == IPERF3_RUNNING || iperf3.phase == IPERF3_DRAINING)) {
        iperf3_count_received(s, n);
    }
    pbuf_free(p);
    return ERR_OK;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t acknowledged)
{
    struct iperf3_stream *s = arg;

    (void)pcb;
    s->acked += acknowledged;
    iperf3.stirred = true;
    if (iperf3.phase == IPERF3_RUNNING) {
        iperf3_tcp_settle(s);
    }
    return ERR_OK;
}

/* ---- life ---- */

bool iperf3_tcp_accept(struct tcp_pcb *pcb)
{
    struct iperf3_stream *s;

    if (iperf3.params.udp || !ip_addr_eq(&pcb->remote_ip, &iperf3.peer)) {
        return false;
    }
    s = iperf3_new_stream();
    if (s == NULL) {
        return false;
    }
    s->pcb = pcb;
    pcb->tos = iperf3.params.tos;
    if (iperf3.params.nodelay) {
        tcp_nagle_disable(pcb);
    }
    tcp_watch_attach(pcb, &s->tcp);
    tcp_arg(pcb, s);
    tcp_recv(pcb, on_receive);
    tcp_sent(pcb, on_sent);
    tcp_err(pcb, on_error);
    return true;
}

void iperf3_tcp_leave(struct iperf3_stream *s, bool reset)
{
    struct tcp_pcb *pcb = s->pcb;

    if (pcb == NULL) {
        return;
    }
    window_lost(&s->window);
    window_free(s->pcb);
    detach(s);
    if (reset || tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
    }
}

/* ---- sending ---- */

/* What may be written now of the write under way: whole segments where that is possible. */
static uint32_t room(struct iperf3_stream *s)
{
    uint32_t left = iperf3.params.len - s->written;
    uint32_t piece = left < TCP_MSS ? left : TCP_MSS;
    uint32_t flying = (uint32_t)(s->queued - s->acked);
    uint32_t most = flying_part(iperf3.params.parallel, iperf3.params.window);
    uint32_t free = flying < most ? most - flying : 0;
    uint32_t may;

    free = free < tcp_sndbuf(s->pcb) ? free : tcp_sndbuf(s->pcb);
    if (free < piece) {
        s->block = IPERF3_NO_ROOM;
        return 0;
    }
    may = iperf3_may_send(s);
    if (may == 0) {
        s->block = IPERF3_TIMER;
        return 0;
    }
    free -= free % piece;
    free = free < IPERF3_PAYLOAD ? free : IPERF3_PAYLOAD;
    free = free < may ? free : may;
    return free < left ? free : left;
}

/* One piece; false if it cannot go now. */
static bool write_piece(struct iperf3_stream *s)
{
    uint8_t flags = iperf3.params.len < COPY_BELOW ? TCP_WRITE_FLAG_COPY : 0;
    uint32_t n = room(s);

    if (n == 0) {
        return false;
    }
    if (tcp_write(s->pcb, iperf3_payload, (u16_t)n, flags) != ERR_OK) {
        s->block = IPERF3_AGAIN;
        return false;
    }
    s->meter->calls += s->written == 0 && !iperf3.omitting;
    s->queued += n;
    s->written += n;
    if (s->written == iperf3.params.len) {
        s->written = 0;
    }
    iperf3_has_sent(s, n);
    return true;
}

bool iperf3_tcp_pump(struct iperf3_stream *s)
{
    unsigned pieces = 0;

    s->block = IPERF3_NO_ROOM;
    if (s->pcb == NULL) {
        return false;
    }
    while (write_piece(s)) {
        if (iperf3.params.nodelay) {
            tcp_output(s->pcb);
        }
        if (++pieces == PIECES_PER_TURN) {
            s->block = IPERF3_AGAIN;
            break;
        }
    }
    if (pieces != 0) {
        tcp_output(s->pcb);
        iperf3_tcp_settle(s);
    }
    return pieces != 0;
}
