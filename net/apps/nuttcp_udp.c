/*
 * nuttcp's data over UDP.
 *
 * Two marks, BOD0 and a quarter of a second later BOD1, begin the test; datagrams go to the ports
 * of the streams in turn; EOD0 ends it, and EOD1 to EOD4, half a second apart, in case it got lost.
 * The number of an end mark tells how long ago the end was.
 *
 * Datagrams are taken from the control connection's address only, and sent to it only: by opening
 * that connection the client has proven that it is there.
 */
#include "kernel/math64.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/udp.h"
#include "net/apps/datagram.h"
#include "net/apps/nuttcp.h"
#include "net/apps/ttcp_send.h"
#include "net/apps/ttcp_serve.h"
#include "net/apps/udp_expect.h"
#include "net/clock.h"
#include "net/nicif.h"

enum {
    BEFORE_US = 50000,
    BEGIN_US = 250000,
    END_US = 500000,
    LAST_END = 4,
    LATE_US = 3000000, /* so long after the end further end marks come */
    DATAGRAMS_PER_TURN = 64,
    KEEP_FREE = 8, /* slots of the transmit queue left to acknowledgements and replies */
};

/* End marks of a test that is over are nobody else's. */
static struct {
    ip_addr_t peer;
    uint64_t until_us;
} late;

/* ---- receiving ---- */

static void on_end_mark(unsigned number)
{
    uint64_t now = time_us();

    if (number == 0) {
        nuttcp.final_us = nuttcp.last_us = now;
    } else if (nuttcp.final_us != 0) { /* what overtook the first one is in */
        nuttcp_verdict("ok", nuttcp.last_us);
    } else {
        uint64_t ago = (uint64_t)number * END_US;

        nuttcp_verdict("ok", now - ago > nuttcp.meter.last_us ? now - ago : nuttcp.meter.last_us);
    }
}

static void on_mark(const struct pbuf *p)
{
    uint8_t mark[NUTTCP_MARK];
    unsigned number;

    if (pbuf_copy_partial(p, mark, NUTTCP_MARK, 0) != NUTTCP_MARK) {
        return;
    }
    switch (nuttcp_read_mark(mark, &number)) {
    case NUTTCP_BEGIN:
        if (number > 0 || !nuttcp.params.two_begins) {
            nuttcp_begin_count();
        }
        break;
    case NUTTCP_END: on_end_mark(number); break;
    case NUTTCP_NO_MARK: break;
    }
}

/* With -i each datagram tells how many bytes the client has sent: that is its number. */
static void on_info(const struct pbuf *p)
{
    uint8_t info[NUTTCP_INFO_END - NUTTCP_INFO_AT];
    uint32_t rest;
    uint64_t sent, number;

    if (nuttcp.params.interval_us == 0 || nuttcp.params.len < NUTTCP_INFO_END ||
        pbuf_copy_partial(p, info, sizeof(info), NUTTCP_INFO_AT) != sizeof(info)) {
        return;
    }
    sent = nuttcp_read_sent(info);
    number = div64(sent, nuttcp.params.len, &rest);
    if (rest != 0 || number == 0) {
        return; /* not one of nuttcp's */
    }
    sequence_add(&nuttcp.sequence, number);
    nuttcp.sent = sent > nuttcp.sent ? sent : nuttcp.sent;
}

static void on_data(const struct pbuf *p)
{
    nuttcp_received(p->tot_len);
    nuttcp.meter.datagrams++;
    if (nuttcp.final_us != 0) {
        nuttcp.last_us = time_us();
    }
    on_info(p);
}

static bool is_late(const struct pbuf *p, const ip_addr_t *peer)
{
    uint8_t mark[NUTTCP_MARK];
    unsigned number;

    return clock_us() < late.until_us && ip_addr_eq(peer, &late.peer) &&
           p->tot_len == NUTTCP_MARK && pbuf_copy_partial(p, mark, NUTTCP_MARK, 0) == NUTTCP_MARK &&
           nuttcp_read_mark(mark, &number) == NUTTCP_END;
}

bool nuttcp_udp_take(const struct pbuf *p, const ip_addr_t *peer)
{
    if (nuttcp.phase != NUTTCP_RUNNING || !nuttcp.params.udp || nuttcp.params.sends ||
        !ip_addr_eq(peer, &nuttcp.control.peer) ||
        ip_current_input_netif() != nuttcp.control.netif) {
        return is_late(p, peer);
    }
    if (p->tot_len <= NUTTCP_MARK) {
        on_mark(p);
    } else {
        on_data(p);
    }
    return true;
}

static void on_receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                       u16_t port)
{
    (void)arg;
    udp_expect(pcb, port);
    nuttcp_udp_take(p, peer);
    pbuf_free(p);
}

/* ---- ports ---- */

void nuttcp_udp_leave(void)
{
    if (nuttcp.params.udp && !nuttcp.params.sends) {
        late.peer = nuttcp.control.peer;
        late.until_us = clock_us() + LATE_US;
    }
    for (unsigned i = 0; i < NUTTCP_STREAMS_MAX; i++) {
        if (nuttcp.streams[i].udp != NULL) {
            udp_remove(nuttcp.streams[i].udp);
            nuttcp.streams[i].udp = NULL;
        }
    }
}

/* Of a receiver each stream has its port, of a sender all leave from one. */
const char *nuttcp_udp_open(void)
{
    unsigned n = nuttcp.params.sends ? 1 : nuttcp.params.streams;

    nuttcp.mark_us = clock_us() + BEFORE_US;
    for (unsigned i = 0; i < n; i++) {
        uint16_t port = (uint16_t)(nuttcp.params.sends ? 0 : nuttcp.params.port + i);
        struct udp_pcb *pcb;

        if (ttcp_has_port(port)) {
            continue;
        }
        pcb = udp_new();
        nuttcp.streams[i].udp = pcb;
        if (pcb == NULL || udp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK) {
            nuttcp_udp_leave();
            return "has other use for one of these data ports";
        }
        pcb->tos = nuttcp.params.tos;
        udp_recv(pcb, on_receive, NULL);
    }
    return NULL;
}

/* ---- sending ---- */

/* To the stream whose turn it is. */
static bool send(struct pbuf *p, uint32_t length)
{
    uint16_t port = (uint16_t)(nuttcp.params.port + nuttcp.turn);
    struct netif *netif = nuttcp.control.netif;
    bool sent;

    if (p == NULL) {
        return false;
    }
    sent = nicif_tx_room(netif) >= datagram_frames(length) + KEEP_FREE &&
           nicif_udp_send(netif, nuttcp.streams[0].udp, p, &nuttcp.control.peer, port) == ERR_OK;
    pbuf_free(p);
    return sent;
}

static bool send_mark(enum nuttcp_mark kind, unsigned number)
{
    uint8_t mark[NUTTCP_MARK];

    nuttcp_write_mark(mark, kind, number);
    return send(datagram_make(&ttcp_payload, NUTTCP_MARK, mark, NUTTCP_MARK), NUTTCP_MARK);
}

static bool send_datagram(void)
{
    uint32_t length = nuttcp.params.len;
    uint32_t first = length < NUTTCP_INFO_END ? length : NUTTCP_INFO_END;
    uint8_t header[NUTTCP_INFO_END];

    memcpy(header, ttcp_payload.at, first);
    if (first == NUTTCP_INFO_END) {
        nuttcp_write_sent(header + NUTTCP_INFO_AT, nuttcp.meter.bytes + length);
    }
    return send(datagram_make(&ttcp_payload, length, header, first), length);
}

/* The marks before the data.  True when the last of them is gone. */
static bool begin_marks(void)
{
    unsigned all = nuttcp.params.two_begins ? 2 : 1;

    if (nuttcp.marks < all && clock_us() >= nuttcp.mark_us &&
        send_mark(NUTTCP_BEGIN, nuttcp.marks)) {
        nuttcp.marks++;
        nuttcp.mark_us = clock_us() + BEGIN_US;
        if (nuttcp.marks == all) {
            nuttcp_begin_count();
        }
    }
    return nuttcp.marks == all;
}

bool nuttcp_udp_pump(void)
{
    unsigned n = 0;

    if (!nuttcp.begun && !begin_marks()) {
        return false;
    }
    while (n < DATAGRAMS_PER_TURN && nuttcp_may_begin() && nuttcp_may_send() != 0 &&
           send_datagram()) {
        pace_went(&nuttcp.pace, nuttcp.params.len);
        nuttcp.left--;
        nuttcp.meter.datagrams++;
        meter_add(&nuttcp.meter, nuttcp.params.len);
        nuttcp.turn = nuttcp.turn + 1 < nuttcp.params.streams ? nuttcp.turn + 1 : 0;
        n++;
    }
    return n != 0;
}

/* The first two go to the same stream: the client waits there for the second. */
bool nuttcp_udp_closed(void)
{
    if (nuttcp.final_us == 0) {
        if (send_mark(NUTTCP_END, 0)) {
            nuttcp.final_us = clock_us();
            nuttcp.mark_us = clock_us() + END_US;
            nuttcp.marks = 1;
        }
        return false;
    }
    if (nuttcp.meter.open && nicif_tx_empty(nuttcp.control.netif)) {
        nuttcp_stop("ok", time_us());
    }
    if (clock_us() >= nuttcp.mark_us && send_mark(NUTTCP_END, nuttcp.marks)) {
        nuttcp.mark_us = clock_us() + END_US;
        nuttcp.turn = nuttcp.turn + 1 < nuttcp.params.streams ? nuttcp.turn + 1 : 0;
        nuttcp.marks++;
    }
    return nuttcp.marks > LAST_END;
}

void nuttcp_udp_finish(const char *how)
{
    if (nuttcp.params.sends) { /* once: the server is to be free at once */
        send_mark(NUTTCP_END, 0);
        send_mark(NUTTCP_END, 1);
    }
    if (!nuttcp.params.sends && nuttcp.final_us != 0) {
        nuttcp_verdict("ok", nuttcp.last_us);
    } else {
        nuttcp_verdict(how, nuttcp.meter.last_us);
    }
}
