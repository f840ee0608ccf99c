/*
 * The small services, TCP and UDP: echo on 7 (RFC 862), discard on 9 (RFC 863), chargen on 19
 * (RFC 864).  Nothing here is measured.
 *
 * TCP: connections are few, and none holds a frame.  What is to be echoed is copied into a ring of
 * the connection's own and stays there until the client has acknowledged it; the client's window is
 * never wider than what the ring has room for.  The client's FIN is answered with ours, behind all
 * that was to be said.
 *
 * UDP: an answer is never longer than its request, goes to nobody who may not be answered
 * (net/answer.h), and there are only so many a second (DESIGN 8).
 */
#include "kernel/string.h"
#include "kernel/trap.h"
#include "lwip/ip.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/udp.h"
#include "net/answer.h"
#include "net/apps/app.h"
#include "net/apps/listen.h"
#include "net/clock.h"

enum {
    ECHO_PORT = 7,
    DISCARD_PORT = 9,
    CHARGEN_PORT = 19,
    CONNECTIONS = 6, /* of all three */
    RING = 2 * TCP_MSS,
    FLYING = 4 * TCP_MSS, /* chargen: what one client may have on its way        */
    DEAD_US = 30000000,   /* nothing has moved for so long: the client is gone   */
    POLL_HALF_SECONDS = 4,
    LINE_KINDS = 95, /* printable characters: each begins a line in its turn */
    LINE_CHARS = 72,
    LINE = LINE_CHARS + 2,
    CYCLE = LINE_KINDS * LINE,
    ANSWER_MAX = 512,           /* RFC 864: of a datagram                              */
    ANSWER_INTERVAL_US = 1000,  /* of datagrams that are answered ...                  */
    ANSWERS_AT_ONCE_US = 64000, /* ... in the long run; 64 may come together           */
};

struct connection;

struct service {
    uint16_t port;
    const char *name;
    void (*take)(struct connection *c, const struct pbuf *p); /* what has come             */
    bool (*give)(struct connection *c); /* say what can be said; false: there is more to say   */
    void (*answer)(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *to, uint16_t port);
};

struct connection {
    struct tcp_pcb *pcb; /* null: free */
    const struct service *service;
    bool fin, closing; /* the client's FIN has come; ours is on its way */
    uint64_t moved_us;
    uint32_t taken, given, acked; /* bytes; places in the ring, or in the cycle, are modulo those */
    uint8_t ring[RING];
};

static struct connection connections[CONNECTIONS];
static uint8_t lines[CYCLE + ANSWER_MAX]; /* a datagram may begin with any line */

/* ---- echo ---- */

/* No more can come than the window allowed. */
static void echo_take(struct connection *c, const struct pbuf *p)
{
    uint32_t at = c->taken % RING;
    uint32_t first = p->tot_len < RING - at ? p->tot_len : RING - at;

    ASSERT(c->taken - c->acked + p->tot_len <= RING);
    pbuf_copy_partial(p, c->ring + at, (u16_t)first, 0);
    pbuf_copy_partial(p, c->ring, (u16_t)(p->tot_len - first), (u16_t)first);
    c->taken += p->tot_len;
}

static bool echo_give(struct connection *c)
{
    while (c->given != c->taken) {
        uint32_t at = c->given % RING;
        uint32_t n = c->taken - c->given;

        n = n < RING - at ? n : RING - at;
        n = n < tcp_sndbuf(c->pcb) ? n : tcp_sndbuf(c->pcb);
        if (n == 0 || tcp_write(c->pcb, c->ring + at, (u16_t)n, 0) != ERR_OK) {
            return false;
        }
        c->given += n;
    }
    return true;
}

static void send_back(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *to, uint16_t port)
{
    udp_sendto_if(pcb, p, to, port, ip_current_input_netif());
}

/* ---- discard; chargen is as deaf ---- */

static void take_nothing(struct connection *c, const struct pbuf *p)
{
    tcp_recved(c->pcb, p->tot_len);
}

static bool give_nothing(struct connection *c)
{
    (void)c;
    return true;
}

/* ---- chargen ---- */

/* There is always more to say, until the client has said its last. */
static bool chargen_give(struct connection *c)
{
    while (c->given - c->acked < FLYING && !c->fin) {
        uint32_t at = c->given % CYCLE;
        uint32_t n = FLYING - (c->given - c->acked);

        n = n < CYCLE - at ? n : CYCLE - at;
        n = n < tcp_sndbuf(c->pcb) ? n : tcp_sndbuf(c->pcb);
        if (n == 0 || tcp_write(c->pcb, lines + at, (u16_t)n, 0) != ERR_OK) {
            break;
        }
        c->given += n;
    }
    return c->fin;
}

static void send_lines(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *to, uint16_t port)
{
    static unsigned line;
    unsigned n = p->tot_len < ANSWER_MAX ? p->tot_len : ANSWER_MAX;
    struct pbuf *answer = pbuf_alloc(PBUF_TRANSPORT, (u16_t)n, PBUF_RAM);

    if (answer != NULL) {
        memcpy(answer->payload, lines + line * LINE, n);
        line = (line + 1) % LINE_KINDS;
        send_back(pcb, answer, to, port);
        pbuf_free(answer);
    }
}

static const struct service services[] = {
    {ECHO_PORT, "echo", echo_take, echo_give, send_back},
    {DISCARD_PORT, "discard", take_nothing, give_nothing, NULL},
    {CHARGEN_PORT, "chargen", take_nothing, chargen_give, send_lines},
};

enum { SERVICES = sizeof(services) / sizeof(services[0]) };

/* ---- TCP ---- */

static void talk(struct connection *c)
{
    if (!c->closing && c->service->give(c) && c->fin) {
        c->closing = true;
        tcp_shutdown(c->pcb, 0, 1);
    }
    tcp_output(c->pcb);
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct connection *c = arg;

    (void)pcb;
    (void)err;
    c->moved_us = clock_us();
    if (p != NULL) {
        c->service->take(c, p);
        pbuf_free(p);
    } else {
        c->fin = true;
    }
    talk(c);
    return ERR_OK;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t n)
{
    struct connection *c = arg;
    uint32_t most = c->given - c->acked; /* a FIN is acknowledged, too */

    n = n < most ? n : (u16_t)most;
    c->acked += n;
    c->moved_us = clock_us();
    if (c->service->port == ECHO_PORT) {
        tcp_recved(pcb, n); /* the ring has room again */
    }
    talk(c);
    return ERR_OK;
}

/* lwIP has freed the pcb already: the client has reset it, or both FINs are acknowledged. */
static void on_error(void *arg, err_t err)
{
    struct connection *c = arg;

    (void)err;
    c->pcb = NULL;
}

static err_t on_poll(void *arg, struct tcp_pcb *pcb)
{
    struct connection *c = arg;

    if (clock_us() - c->moved_us >= DEAD_US) {
        tcp_abort(pcb); /* on_error() frees the place */
        return ERR_ABRT;
    }
    talk(c); /* memory may have been short */
    return ERR_OK;
}

/* The window was announced with the handshake, wider: what comes beyond the ring's is dropped and
 * sent again. */
static void narrow_window(struct tcp_pcb *pcb)
{
    if (pcb->rcv_wnd > RING) {
        pcb->rcv_wnd = RING;
        pcb->rcv_ann_wnd = RING;
        tcp_ack_now(pcb);
    }
}

static err_t accept_for(const struct service *service, struct tcp_pcb *pcb)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &connections[i];

        if (c->pcb != NULL) {
            continue;
        }
        c->pcb = pcb;
        c->service = service;
        c->fin = c->closing = false;
        c->taken = c->given = c->acked = 0;
        c->moved_us = clock_us();
        tcp_arg(pcb, c);
        tcp_recv(pcb, on_receive);
        tcp_sent(pcb, on_sent);
        tcp_err(pcb, on_error);
        tcp_poll(pcb, on_poll, POLL_HALF_SECONDS);
        if (service->port == ECHO_PORT) {
            narrow_window(pcb);
        }
        talk(c);
        return ERR_OK;
    }
    return ERR_MEM; /* lwIP resets it */
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    for (unsigned i = 0; i < SERVICES; i++) {
        if (services[i].port == pcb->local_port) {
            return accept_for(&services[i], pcb);
        }
    }
    return ERR_VAL;
}

/* ---- UDP ---- */

/* One more answer now?  All three services together. */
static bool answer_is_due(void)
{
    static uint64_t due_us;
    uint64_t now = clock_us();

    if (due_us > now + ANSWERS_AT_ONCE_US - ANSWER_INTERVAL_US) {
        return false;
    }
    due_us = (due_us > now ? due_us : now) + ANSWER_INTERVAL_US;
    return true;
}

static void on_datagram(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                        u16_t port)
{
    const struct service *service = arg;

    if (service->answer != NULL && may_answer(from, port) && answer_is_due()) {
        service->answer(pcb, p, from, port);
    }
    pbuf_free(p);
}

static void open_udp(const struct service *service)
{
    struct udp_pcb *pcb = udp_new();

    if (pcb == NULL || udp_bind(pcb, IP_ADDR_ANY, service->port) != ERR_OK) {
        panic("%s: no pcb for port %u", service->name, service->port);
    }
    udp_recv(pcb, on_datagram, (void *)(uintptr_t)service);
}

/* ---- start ---- */

static void start(void)
{
    for (unsigned i = 0; i < sizeof(lines); i++) {
        unsigned line = i / LINE, column = i % LINE;

        lines[i] = column < LINE_CHARS    ? (uint8_t)(' ' + (line + column) % LINE_KINDS)
                   : column == LINE_CHARS ? '\r'
                                          : '\n';
    }
    for (unsigned i = 0; i < SERVICES; i++) {
        listen_tcp_always(services[i].port, on_accept, services[i].name);
        open_udp(&services[i]);
    }
}

APP_ENTRY(small, .start = start);
