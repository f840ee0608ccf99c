/*
 * nuttcp's data over TCP: sending.
 *
 * With several streams the client reads a whole buffer from the first, then one from the second and
 * so on, and stops at the first that has ended when its turn comes.  So buffers are begun strictly
 * in turn; several may be under way at once, and whatever is begun is read to its end.
 */
#include "kernel/string.h"
#include "lwip/tcp.h"
#include "net/apps/nuttcp.h"
#include "net/apps/ttcp_send.h"

enum { PIECES_PER_TURN = 64 };

static bool tells_retrans(void)
{
    return nuttcp.params.interval_us != 0 && nuttcp.params.streams == 1 &&
           nuttcp.params.len >= NUTTCP_INFO_END;
}

/* What may be written now of the buffer under way. */
static uint32_t room(const struct nuttcp_stream *s)
{
    uint32_t part = flying_part(nuttcp.params.streams, nuttcp.params.window);
    uint32_t n = connection_room(&s->data, nuttcp.params.len - s->at, part);
    uint32_t may = n == 0 ? 0 : nuttcp_may_send();

    n = n < ttcp_payload.bytes ? n : ttcp_payload.bytes;
    return n < may ? n : may;
}

/* The first bytes of a buffer, with what the client's intervals tell. */
static err_t write_info(struct nuttcp_stream *s)
{
    uint8_t first[NUTTCP_INFO_END];

    memcpy(first, ttcp_payload.at, NUTTCP_INFO_AT);
    nuttcp_write_retrans(first + NUTTCP_INFO_AT, s->data.tcp.resent);
    return connection_write(&s->data, first, sizeof(first), sizeof(first));
}

/* One piece; false if it cannot go now. */
static bool write_piece(struct nuttcp_stream *s)
{
    uint32_t n = room(s);
    err_t err;

    if (n == 0) {
        return false;
    }
    if (s->at == 0 && tells_retrans()) {
        n = NUTTCP_INFO_END;
        err = write_info(s);
    } else {
        err = connection_write(&s->data, ttcp_payload.at + s->at % ttcp_payload.period, n,
                               nuttcp.params.len);
    }
    if (err != ERR_OK) {
        nuttcp.stirred = true; /* memory was short: next turn */
        return false;
    }
    s->at += n;
    pace_went(&nuttcp.pace, n);
    return true;
}

/* The buffer under way, as far as it goes; counts the pieces. */
static unsigned write_on(struct nuttcp_stream *s)
{
    unsigned pieces = 0;

    while (s->writing && pieces < PIECES_PER_TURN && write_piece(s)) {
        pieces++;
        if (s->at == nuttcp.params.len) {
            s->writing = false;
        }
    }
    return pieces;
}

/* A new buffer, if it may begin: it does with its first byte. */
static unsigned begin_next(void)
{
    struct nuttcp_stream *s = &nuttcp.streams[nuttcp.turn];
    unsigned pieces;

    if (s->data.pcb == NULL || s->writing || !nuttcp_may_begin()) {
        return 0;
    }
    s->at = 0;
    s->writing = true;
    pieces = write_on(s);
    if (pieces == 0) {
        s->writing = false;
        return 0;
    }
    nuttcp.left--;
    nuttcp.meter.calls++;
    nuttcp.turn = nuttcp.turn + 1 < nuttcp.params.streams ? nuttcp.turn + 1 : 0;
    return pieces;
}

static unsigned write_round(void)
{
    unsigned pieces = 0, more;

    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        if (nuttcp.streams[i].data.pcb != NULL) {
            pieces += write_on(&nuttcp.streams[i]);
        }
    }
    do {
        more = begin_next();
        pieces += more;
    } while (more != 0 && pieces < PIECES_PER_TURN);
    return pieces;
}

/* In most turns there is nothing to do: nothing was acknowledged, no rate is due. */
bool nuttcp_tcp_pump(void)
{
    unsigned pieces;

    if (!nuttcp.stirred && (nuttcp.params.bits_s == 0 || nuttcp_may_send() == 0)) {
        return false;
    }
    nuttcp.stirred = false;
    pieces = write_round();
    if (pieces == 0) {
        return false;
    }
    nuttcp.stirred = nuttcp.stirred || pieces >= PIECES_PER_TURN;
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        if (nuttcp.streams[i].data.pcb != NULL) {
            tcp_output(nuttcp.streams[i].data.pcb);
        }
    }
    return true;
}
