/*
 * ttcp over UDP, receiving.  The rules are in ttcp_udp.h.
 */
#include "net/apps/ttcp_udp.h"

#include "kernel/error.h"
#include "kernel/time.h"
#include "lwip/udp.h"
#include "net/apps/iperf2_udp.h"
#include "net/apps/ttcp_serve.h"
#include "net/apps/udp_expect.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/nicif.h"

enum {
    PORTS = 6,
    FLOWS = 8,
    SENTINEL_MAX = 4,    /* bytes                                              */
    SILENT_US = 4000000, /* a flow with no datagram for so long has ended      */
    LOOK_US = 50000,
    LATE_US = 200000,    /* data so soon after the end belongs to the test that ended   */
    ECHOES_US = 2000000, /* repeated end sentinels are ignored for so long     */
};

enum flow_state {
    FLOW_FREE,
    FLOW_OPEN,   /* started, by a sentinel or by data                            */
    FLOW_ENDING, /* started by data, one sentinel seen: the end, if no data comes */
    FLOW_ENDED,  /* reported; swallowing further end sentinels                   */
};

struct flow {
    enum flow_state state;
    uint16_t port; /* ours */
    bool by_sentinel;
    struct meter meter;
    uint64_t sentinel_us; /* of the last sentinel  */
    uint64_t touched_us;  /* of the last datagram  */
};

static struct {
    struct udp_pcb *pcb;
    uint64_t close_us; /* when to close it; 0: stays */
} ports[PORTS];
static struct flow flows[FLOWS];
static uint64_t next_look_us; /* for silent flows */

/* ---- flows ---- */

static bool same_peer(const struct flow *f, uint16_t port, const ip_addr_t *peer,
                      uint16_t peer_port)
{
    return f->state != FLOW_FREE && f->port == port && f->meter.peer_port == peer_port &&
           ip_addr_eq(&f->meter.peer, peer);
}

static struct flow *find(uint16_t port, const ip_addr_t *peer, uint16_t peer_port)
{
    for (unsigned i = 0; i < FLOWS; i++) {
        if (same_peer(&flows[i], port, peer, peer_port)) {
            return &flows[i];
        }
    }
    return NULL;
}

/* Nothing would be lost if this flow had to go: it is over, or only a sentinel ever came. */
static bool expendable(const struct flow *f)
{
    return f->state == FLOW_ENDED || f->meter.bytes == 0;
}

/* A place for a new flow: a free one, else the oldest expendable; null if all are under way. */
static struct flow *vacant(void)
{
    struct flow *oldest = NULL;

    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];

        if (f->state == FLOW_FREE) {
            return f;
        }
        if (expendable(f) && (oldest == NULL || f->touched_us < oldest->touched_us)) {
            oldest = f;
        }
    }
    if (oldest != NULL) {
        meter_end(&oldest->meter, "abort"); /* no payload, or closed already: says nothing */
    }
    return oldest;
}

static struct flow *begin(struct flow *f, uint16_t port, const ip_addr_t *peer, uint16_t peer_port,
                          bool by_sentinel)
{
    if (f == NULL) {
        f = vacant();
    }
    if (f == NULL) {
        return NULL;
    }
    f->state = FLOW_OPEN;
    f->port = port;
    f->by_sentinel = by_sentinel;
    meter_start(&f->meter, "ttcp", METER_RX, true, ip_current_input_netif(), peer, peer_port);
    return f;
}

static __attribute__((cold)) void end(struct flow *f, const char *how, uint64_t at_us)
{
    bool counted = f->meter.bytes != 0;

    f->state = FLOW_ENDED;
    f->touched_us = time_us();
    meter_end_at(&f->meter, how, at_us);
    if (counted) {
        ttcp_test_ended(f->port, true, how[0] == 'o');
    }
}

/* ---- datagrams ---- */

static void on_sentinel(struct flow *f, uint16_t port, const ip_addr_t *peer, uint16_t peer_port)
{
    uint64_t now = time_us();

    if (f == NULL || (f->state == FLOW_ENDED && now - f->touched_us > ECHOES_US)) {
        f = begin(f, port, peer, peer_port, true);
    } else if (f->state == FLOW_OPEN && f->by_sentinel) {
        end(f, "ok", now);
    } else if (f->state == FLOW_OPEN) {
        f->state = FLOW_ENDING;
    } else if (f->state == FLOW_ENDING) {
        end(f, "ok", f->sentinel_us);
    }
    if (f != NULL && f->state != FLOW_ENDED) {
        f->sentinel_us = f->touched_us = now;
    }
}

static void on_data(struct flow *f, uint16_t port, const ip_addr_t *peer, uint16_t peer_port,
                    unsigned length)
{
    if (f != NULL && f->state == FLOW_ENDED && time_us() - f->touched_us < LATE_US) {
        return; /* overtaken by the end sentinel: too late to count, and no new test */
    }
    if (f == NULL || f->state == FLOW_ENDED) {
        f = begin(f, port, peer, peer_port, false);
    }
    if (f == NULL) {
        return; /* eight tests at once already: not counted, as the report shows */
    }
    if (f->state == FLOW_ENDING) { /* that sentinel was a late start */
        f->state = FLOW_OPEN;
        f->by_sentinel = true;
    }
    f->touched_us = clock_us();
    f->meter.datagrams++;
    meter_add(&f->meter, length);
}

/* The port is shared.  A ttcp test under way keeps its datagrams, whatever they look like. */
static bool is_under_way(const struct flow *f)
{
    return f != NULL && (f->state == FLOW_OPEN || f->state == FLOW_ENDING);
}

static bool is_others(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                      uint16_t peer_port)
{
    if (ttcp_claimed_udp(pcb, p, peer, peer_port)) {
        return true;
    }
    if (pcb->local_port != TTCP_PORT ||
        (p->tot_len <= SENTINEL_MAX && !iperf2_udp_is_open(pcb, peer, peer_port))) {
        return false;
    }
    return iperf2_udp_take(pcb, p, peer, peer_port);
}

static void on_receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                       u16_t peer_port)
{
    struct flow *f = find(pcb->local_port, peer, peer_port);

    (void)arg;
    udp_expect(pcb, peer_port);
    if (!is_under_way(f) && is_others(pcb, p, peer, peer_port)) {
        pbuf_free(p);
        return;
    }
    if (p->tot_len <= SENTINEL_MAX) {
        on_sentinel(f, pcb->local_port, peer, peer_port);
    } else {
        on_data(f, pcb->local_port, peer, peer_port, p->tot_len);
    }
    pbuf_free(p);
}

/* ---- ports ---- */

static unsigned find_port(uint16_t port)
{
    unsigned i = 0;

    while (i < PORTS && (ports[i].pcb == NULL || ports[i].pcb->local_port != port)) {
        i++;
    }
    return i;
}

static unsigned free_port(void)
{
    unsigned i = 0;

    while (i < PORTS && ports[i].pcb != NULL) {
        i++;
    }
    return i;
}

__attribute__((cold)) int ttcp_udp_open(uint16_t port)
{
    unsigned known = find_port(port), i = free_port();
    struct udp_pcb *pcb;

    if (known < PORTS && ports[known].close_us != 0) {
        ports[known].close_us = 0;
        return OK;
    }
    if (known < PORTS) {
        return E_BUSY;
    }
    if (i == PORTS || (pcb = udp_new()) == NULL) {
        return E_NO_MEMORY;
    }
    if (udp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK) {
        udp_remove(pcb);
        return E_BUSY;
    }
    udp_recv(pcb, on_receive, NULL);
    ports[i].pcb = pcb;
    ports[i].close_us = 0;
    return OK;
}

__attribute__((cold)) void ttcp_udp_close(uint16_t port)
{
    unsigned at = find_port(port);

    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];

        if (f->port == port && (f->state == FLOW_OPEN || f->state == FLOW_ENDING)) {
            end(f, "abort", f->meter.last_us);
        }
    }
    if (at < PORTS) {
        udp_remove(ports[at].pcb);
        ports[at].pcb = NULL;
    }
}

void ttcp_udp_close_later(uint16_t port)
{
    unsigned at = find_port(port);

    if (at < PORTS) {
        ports[at].close_us = time_us() + ECHOES_US;
    }
}

/* ---- turn ---- */

static void look_at(struct flow *f, uint64_t now)
{
    if (f->state == FLOW_ENDED) {
        if (now - f->touched_us > ECHOES_US) {
            f->state = FLOW_FREE;
        }
    } else if (f->state != FLOW_FREE && now - f->touched_us > SILENT_US) {
        /* One of the five end sentinels did arrive: then that was the end. */
        if (f->state == FLOW_ENDING) {
            end(f, "ok", f->sentinel_us);
        } else {
            end(f, "timeout", f->meter.last_us);
        }
    }
}

void ttcp_udp_tick(void)
{
    uint64_t now;

    if (!clock_due(&next_look_us, LOOK_US)) {
        return;
    }
    now = clock_us();
    for (unsigned i = 0; i < FLOWS; i++) {
        look_at(&flows[i], now);
    }
    for (unsigned i = 0; i < PORTS; i++) {
        if (ports[i].pcb != NULL && ports[i].close_us != 0 && now >= ports[i].close_us) {
            ttcp_udp_close(ports[i].pcb->local_port);
        }
    }
}
