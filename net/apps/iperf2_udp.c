/*
 * iperf2's UDP flows.  A flow is one client's port.  It begins with whatever comes first, ends with
 * the first datagram whose number is negative, and for some seconds more every repeat of that is
 * answered with the very same report.
 */
#include "net/apps/iperf2_udp.h"

#include "kernel/math64.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/ip.h"
#include "net/answer.h"
#include "net/apps/app.h"
#include "net/apps/iperf2_reverse.h"
#include "net/apps/iperf2_wire.h"
#include "net/apps/ttcp_udp.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/proof.h"
#include "net/sequence.h"

enum {
    FLOWS = 16,
    SILENT_US = 4000000,       /* a flow with no datagram for so long has ended ...            */
    SILENT_MOST_US = 60000000, /* ... at the slowest rates a client asks for                   */
    SILENT_INTERVALS = 3,      /* ... unless its rate makes it wait longer                     */
    REPEAT_US = 5000000,       /* old clients repeat the end for 2.5 s                         */
    LATE_US = 200000,          /* data so soon after the end belongs to the flow that ended    */
    LONELY_US = 300000,        /* a flow of one datagram may go after that, if room is needed  */
    LOOK_US = 50000,
    BITS = 8,
};

enum flow_state { FLOW_FREE, FLOW_EXPECTED, FLOW_OPEN, FLOW_ENDED };

static struct flow {
    enum flow_state state;
    struct udp_pcb *pcb;
    uint16_t port; /* ours; also when the pcb is gone */
    bool old_era;
    bool proving, proven; /* for a report longer than the datagram it answers */
    struct meter meter;
    struct sequence seq;
    struct iperf2_request later; /* its `answer`: when the flow has ended */
    uint64_t touched_us, silent_us;
    uint64_t final; /* the number of the final datagram */
    unsigned report_bytes;
    uint8_t report[IPERF2_REPORT_MAX];
    iperf2_flow_ended ended;
    void *arg;
} flows[FLOWS];

static unsigned used;
static uint64_t next_look_us;

/* ---- flows ---- */

static struct flow *find(const struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port)
{
    for (unsigned i = 0; i < FLOWS && used != 0; i++) {
        struct flow *f = &flows[i];

        if (f->state != FLOW_FREE && f->pcb == pcb && f->meter.peer_port == port &&
            ip_addr_eq(&f->meter.peer, peer)) {
            return f;
        }
    }
    return NULL;
}

static void end(struct flow *f, const char *how, uint64_t at_us)
{
    iperf2_flow_ended ended = f->ended;
    bool counted = f->meter.bytes != 0;

    meter_add_sequence(&f->meter, &f->seq);
    f->state = FLOW_ENDED;
    f->touched_us = time_us();
    f->ended = NULL;
    meter_end_at(&f->meter, how, at_us);
    if (ended != NULL) {
        ended(f->arg, how, &f->meter);
    } else if (counted) {
        ttcp_test_ended(f->port, true, how[0] == 'o');
    }
}

static void free_flow(struct flow *f)
{
    f->state = FLOW_FREE;
    used--;
}

/* Not much is lost if this flow has to go. */
static bool expendable(const struct flow *f)
{
    return f->state == FLOW_ENDED || (f->state == FLOW_OPEN && f->meter.datagrams <= 1 &&
                                      clock_us() > f->touched_us + LONELY_US);
}

static struct flow *vacant(void)
{
    struct flow *oldest = NULL;

    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];

        if (f->state == FLOW_FREE) {
            used++;
            return f;
        }
        if (expendable(f) && !f->proving &&
            (oldest == NULL || f->touched_us < oldest->touched_us)) {
            oldest = f;
        }
    }
    if (oldest != NULL && oldest->state == FLOW_OPEN) {
        end(oldest, "timeout", oldest->meter.last_us);
    }
    return oldest;
}

static void begin(struct flow *f, struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port,
                  struct netif *netif)
{
    memset(f, 0, sizeof(*f));
    f->state = FLOW_OPEN;
    f->pcb = pcb;
    f->port = pcb->local_port;
    f->silent_us = SILENT_US;
    f->touched_us = time_us();
    meter_start(&f->meter, "iperf2", METER_RX, true, netif, peer, port);
}

/* ---- the report ---- */

static uint32_t capped(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void make_report(struct flow *f, const uint8_t *datagram, uint64_t end_us)
{
    struct iperf2_report report = {
        .bytes = f->meter.bytes,
        .us = end_us - f->meter.start_us,
        .lost = capped(sequence_lost(&f->seq)),
        .ooo = capped(f->seq.ooo),
        .datagrams = capped(f->seq.next - 1),
        .jitter_us = sequence_jitter_us(&f->seq),
    };

    f->report_bytes = iperf2_write_report(f->report, datagram, f->old_era, &report);
}

static void send_report(const struct flow *f)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)f->report_bytes, PBUF_RAM);

    if (p != NULL) {
        memcpy(p->payload, f->report, f->report_bytes);
        udp_sendto_if(f->pcb, p, &f->meter.peer, f->meter.peer_port, f->meter.netif);
        pbuf_free(p);
    }
}

static void report_proven(void *arg, bool proven)
{
    struct flow *f = arg;

    f->proving = false;
    f->proven = proven;
    if (proven && f->state == FLOW_ENDED) {
        send_report(f);
    }
}

/* Nothing longer than what was asked goes to somebody who may be anybody (DESIGN 8). */
static void answer(struct flow *f, unsigned length)
{
    if (!may_answer(&f->meter.peer, f->meter.peer_port)) {
        return;
    }
    if (length >= f->report_bytes || f->proven) {
        send_report(f);
    } else if (!f->proving) {
        f->proving = proof_ask(&f->meter.peer, report_proven, f);
    }
}

/* ---- datagrams ---- */

/* The sender's clock before ours. */
static uint64_t ahead(const struct iperf2_datagram *d)
{
    return d->sent_us - clock_us();
}

static void on_final(struct flow *f, const struct iperf2_datagram *d, const uint8_t *bytes,
                     unsigned length)
{
    bool client = f->ended != NULL;
    struct udp_pcb *pcb = f->pcb;
    uint64_t now = time_us();

    f->final = d->number;
    make_report(f, bytes, now);
    end(f, "ok", now);
    if (!client) {
        answer(f, length);
        if (f->later.answer) {
            iperf2_answer_udp(&f->later, pcb, &f->meter.peer, f->meter.peer_port, ahead(d));
        }
    }
}

static void on_data(struct flow *f, const struct iperf2_datagram *d, const uint8_t *bytes,
                    unsigned length)
{
    f->touched_us = clock_us();
    f->meter.datagrams++;
    meter_add(&f->meter, length);
    if (sequence_add(&f->seq, d->number) < SEQUENCE_TWICE && d->timed) {
        sequence_time(&f->seq, d->sent_us, clock_us());
    }
    if (d->final) {
        on_final(f, d, bytes, length);
    }
}

/* At low rates the silence between two datagrams is no end. */
static void learn(struct flow *f, const struct iperf2_request *r, unsigned length)
{
    uint64_t wait;

    f->meter.asked_bit_s = r->rate;
    if (r->rate == 0 || r->rate > UINT32_MAX) {
        return;
    }
    wait = div64((uint64_t)length * BITS * SILENT_INTERVALS * 1000000, (uint32_t)r->rate, NULL);
    if (wait > SILENT_US) {
        f->silent_us = wait < SILENT_MOST_US ? wait : SILENT_MOST_US;
    }
}

/* The first of a flow.  False if all places are taken: not counted, as the report shows. */
static bool on_first(struct flow *f, struct udp_pcb *pcb, const struct iperf2_datagram *d,
                     const ip_addr_t *peer, uint16_t port, unsigned length)
{
    if (f == NULL) {
        f = vacant();
    }
    if (f == NULL) {
        return false;
    }
    begin(f, pcb, peer, port, ip_current_input_netif());
    f->old_era = d->old_era;
    sequence_start(&f->seq, d->number == 0 ? 0 : 1); /* some clients begin with 0 */
    if (d->has_request) {
        learn(f, &d->request, length);
        if (d->request.at_once) {
            iperf2_answer_udp(&d->request, pcb, peer, port, ahead(d));
        } else {
            f->later = d->request;
        }
    }
    return true;
}

/* After the end of a flow from that port: a repeat, something late, or a new test. */
static bool is_old_news(struct flow *f, const uint8_t *bytes, unsigned n, unsigned length)
{
    struct iperf2_datagram d;

    if (!iperf2_read_next(bytes, n, f->old_era, &d)) {
        return false;
    }
    if (d.final && d.number >= f->final && d.number < f->final + 1000) {
        answer(f, length);
        return true;
    }
    return !d.final && d.number > f->seq.first && d.number < f->final &&
           time_us() - f->touched_us < LATE_US;
}

static bool take_first(struct flow *f, struct udp_pcb *pcb, const uint8_t *bytes, unsigned n,
                       const ip_addr_t *peer, uint16_t port, unsigned length)
{
    struct iperf2_datagram d;

    if (!iperf2_read_first(bytes, n, &d)) {
        return false;
    }
    if (d.has_request && d.request.reverse) { /* asks for a test, and is none itself */
        iperf2_answer_udp(&d.request, pcb, peer, port, ahead(&d));
        return true;
    }
    if (on_first(f, pcb, &d, peer, port, length)) {
        on_data(f != NULL ? f : find(pcb, peer, port), &d, bytes, length);
    }
    return true;
}

/* The first answer to our own -R says how it numbers. */
static void take_expected(struct flow *f, const uint8_t *bytes, unsigned n)
{
    struct iperf2_datagram d;

    f->old_era = iperf2_read_first(bytes, n, &d) && d.old_era;
    sequence_start(&f->seq, 1);
    f->state = FLOW_OPEN;
}

bool iperf2_udp_is_open(const struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port)
{
    const struct flow *f = find(pcb, peer, port);

    return f != NULL && f->state == FLOW_OPEN;
}

bool iperf2_udp_take(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port)
{
    uint8_t bytes[IPERF2_UDP_NEW + IPERF2_HEADER_LONG];
    unsigned n = pbuf_copy_partial(p, bytes, sizeof(bytes), 0);
    struct flow *f = find(pcb, peer, port);
    struct iperf2_datagram d;

    if (f != NULL && f->state == FLOW_EXPECTED) {
        take_expected(f, bytes, n);
    }
    if (f != NULL && f->state == FLOW_OPEN) {
        if (iperf2_read_next(bytes, n, f->old_era, &d)) {
            on_data(f, &d, bytes, p->tot_len);
        } else {
            f->meter.datagrams++;
            meter_add(&f->meter, p->tot_len);
        }
        return true;
    }
    if (f != NULL && is_old_news(f, bytes, n, p->tot_len)) {
        return true;
    }
    return take_first(f, pcb, bytes, n, peer, port, p->tot_len);
}

/* ---- our client's -R ---- */

bool iperf2_udp_expect(struct udp_pcb *pcb, const ip_addr_t *peer, uint16_t port,
                       struct netif *netif, iperf2_flow_ended ended, void *arg)
{
    struct flow *f = vacant();

    if (f == NULL) {
        return false;
    }
    begin(f, pcb, peer, port, netif);
    f->state = FLOW_EXPECTED;
    f->ended = ended;
    f->arg = arg;
    return true;
}

void iperf2_udp_forget(struct udp_pcb *pcb)
{
    for (unsigned i = 0; i < FLOWS; i++) {
        struct flow *f = &flows[i];

        if (f->state == FLOW_FREE || f->pcb != pcb) {
            continue;
        }
        f->ended = NULL;
        if (f->state != FLOW_ENDED) {
            end(f, "abort", f->meter.last_us);
        }
        free_flow(f);
    }
}

/* ---- turn ---- */

static void look_at(struct flow *f, uint64_t now)
{
    if (f->state == FLOW_ENDED) {
        if (now > f->touched_us + REPEAT_US && !f->proving) {
            free_flow(f);
        }
    } else if (f->state != FLOW_FREE && now > f->touched_us + f->silent_us) {
        end(f, "timeout", f->meter.last_us);
    }
}

static bool turn(void)
{
    if (!clock_due(&next_look_us, LOOK_US)) {
        return false;
    }
    for (unsigned i = 0; i < FLOWS; i++) {
        look_at(&flows[i], clock_us());
    }
    return false;
}

APP_WHILE(iperf2_udp, NULL, used, turn);
