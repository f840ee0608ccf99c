/*
 * iperf3's data over TCP.
 *
 * A stream begins with the session's cookie; what follows is payload.  Sending is by reference from
 * a constant block.  Several streams share the card: net/apps/windows.h.
 */
#include "kernel/string.h"
#include "lwip/tcp.h"
#include "net/apps/iperf3.h"
#include "net/apps/ttcp_send.h"

enum { PIECES_PER_TURN = 64 };

/* ---- how much was sent ---- */

/* Bytes that have left at least once: acknowledged, or beyond that up to the highest sent. */
static uint64_t sent_bytes(const struct iperf3_stream *s)
{
    const struct connection *c = &s->data;
    uint32_t flying = 0;

    if (c->pcb != NULL && c->tcp.sent != 0) {
        flying = c->tcp.highest - c->pcb->lastack;
    }
    return c->acked + (flying <= INT32_MAX ? flying : 0); /* a FIN is acknowledged, too */
}

void iperf3_tcp_settle(struct iperf3_stream *s)
{
    uint64_t bytes;

    if (!s->sender || iperf3.omitting || s->data.pcb == NULL) {
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
    s->resent_before = s->data.tcp.resent;
    meter_less_tcp(s->meter, &s->data.tcp);
}

/* ---- callbacks ---- */

/* lwIP has freed the pcb already.  The session goes on with the others; the client notices. */
static void on_error(void *arg, err_t err)
{
    struct iperf3_stream *s = arg;

    (void)err;
    connection_lost(&s->data);
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
    iperf3_tcp_settle(s);
    if (iperf3.phase == IPERF3_CREATING) {
        s->used = false;
    }
    return connection_leave(&s->data, false);
}

/* Somebody else's connection came while this session's streams were expected. */
static void turn_away(struct iperf3_stream *s, struct pbuf *p)
{
    pbuf_free(p);
    s->used = false;
    control_refuse(&iperf3_protocol, connection_let_go(&s->data));
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
        window_took(&s->data.window, pcb, p->tot_len);
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
    s->data.acked += acknowledged;
    iperf3.stirred = true;
    if (iperf3.phase == IPERF3_RUNNING) {
        iperf3_tcp_settle(s);
    }
    return ERR_OK;
}

/* ---- life ---- */

bool iperf3_tcp_accept(struct tcp_pcb *pcb)
{
    static const struct connection_calls calls = {on_receive, on_sent, on_error};
    struct iperf3_stream *s;

    if (iperf3.params.udp || !ip_addr_eq(&pcb->remote_ip, &iperf3.control.peer)) {
        return false;
    }
    s = iperf3_new_stream();
    if (s == NULL) {
        return false;
    }
    pcb->tos = iperf3.params.tos;
    if (iperf3.params.nodelay) {
        tcp_nagle_disable(pcb);
    }
    connection_adopt(&s->data, pcb, &calls, s);
    return true;
}

void iperf3_tcp_leave(struct iperf3_stream *s, bool reset)
{
    if (s->data.pcb != NULL) {
        connection_leave(&s->data, reset);
    }
}

/* ---- sending ---- */

/* What may be written now of the write under way; if nothing, s->block says why. */
static uint32_t room(struct iperf3_stream *s)
{
    uint32_t part = flying_part(iperf3.params.parallel, iperf3.params.window);
    uint32_t n = connection_room(&s->data, iperf3.params.len - s->written, part);
    uint32_t may;

    if (n == 0) {
        s->block = IPERF3_NO_ROOM;
        return 0;
    }
    may = pace_room(&s->pace, &s->held_us);
    if (may == 0) {
        s->block = IPERF3_TIMER;
        return 0;
    }
    n = n < ttcp_payload.bytes ? n : ttcp_payload.bytes;
    return n < may ? n : may;
}

/* One piece; false if it cannot go now. */
static bool write_piece(struct iperf3_stream *s)
{
    uint32_t n = room(s);

    if (n == 0) {
        return false;
    }
    if (connection_write(&s->data, ttcp_payload.at, n, iperf3.params.len) != ERR_OK) {
        s->block = IPERF3_AGAIN;
        return false;
    }
    s->meter->calls += s->written == 0 && !iperf3.omitting;
    s->written += n;
    if (s->written == iperf3.params.len) {
        s->written = 0;
    }
    pace_went(&s->pace, n);
    return true;
}

bool iperf3_tcp_pump(struct iperf3_stream *s)
{
    unsigned pieces = 0;

    s->block = IPERF3_NO_ROOM;
    if (s->data.pcb == NULL) {
        return false;
    }
    while (write_piece(s)) {
        if (iperf3.params.nodelay) {
            tcp_output(s->data.pcb);
        }
        if (++pieces == PIECES_PER_TURN) {
            s->block = IPERF3_AGAIN;
            break;
        }
    }
    if (pieces != 0) {
        tcp_output(s->data.pcb);
        iperf3_tcp_settle(s);
    }
    return pieces != 0;
}
