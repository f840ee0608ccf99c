/*
 * Sending numbered datagrams.
 */
#include "net/apps/iperf2_send_udp.h"

#include "kernel/error.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/apps/datagram.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/net.h"
#include "net/nicif.h"
#include "net/pace.h"
#include "net/unreachable.h"

enum {
    CALLS_PER_TURN = 64,
    FINALS_TO_SERVER = 10, /* a quarter of a second apart, as iperf2 does            */
    FINALS_TO_CLIENT = 3,  /* it does not answer: in case one gets lost              */
    AGAIN_SERVER_US = 250000,
    AGAIN_CLIENT_US = 20000,
    STALL_US = 30000000,
};

enum phase { PHASE_FREE, PHASE_SENDING, PHASE_ENDING };

static struct sender {
    enum phase phase;
    struct iperf2_udp_job job;
    struct udp_pcb *pcb;
    struct meter meter;
    struct pace pace;
    uint64_t left;   /* bytes, if the amount is in bytes */
    uint64_t end_us; /* or when to end                   */
    int64_t id;
    uint64_t final_us; /* when the first final datagram had left: the end; 0: not yet */
    unsigned finals_left;
    struct deadline again;
    const char *failed; /* how it ended, if badly */
} senders[IPERF2_SENDERS];

static unsigned active;

/* ---- the end ---- */

static void release(struct sender *s)
{
    if (s->job.from == NULL) {
        udp_remove(s->pcb);
    }
    unreachable_end();
    s->phase = PHASE_FREE;
    active--;
}

static void finish(struct sender *s, const char *how, const struct iperf2_report *report)
{
    iperf2_udp_done done = s->job.done;
    void *arg = s->job.arg;

    if (report != NULL) {
        /* 2.1.8 takes the difference of the clocks for jitter at first. */
        bool sane = report->jitter_us <= report->us;

        s->meter.loss = (struct meter_loss){.lost = report->lost,
                                            .dup = -1,
                                            .ooo = report->ooo,
                                            .jitter_us = sane ? (int64_t)report->jitter_us : -1};
    }
    release(s);
    meter_end_at(&s->meter, how, s->final_us != 0 ? s->final_us : s->meter.last_us);
    done(arg, how, report, &s->meter);
}

/* ---- datagrams ---- */

static struct pbuf *make_datagram(const struct sender *s, uint32_t length, int64_t id)
{
    uint8_t header[IPERF2_UDP_HEADERS];
    uint32_t n = length < sizeof(header) ? length : sizeof(header);
    const struct tcp_payload digits = {iperf2_digits(), IPERF2_DIGITS, IPERF2_PERIOD};

    iperf2_write_datagram(header, id, time_us() + s->job.clock_us, &s->job.request);
    return datagram_make(&digits, length, header, n);
}

/* False if memory or the queue is full. */
static bool send_datagram(struct sender *s, uint32_t length, int64_t id)
{
    unsigned frames = datagram_frames(length);
    struct pbuf *p;
    bool sent;

    if (nicif_tx_room(s->job.netif) < frames) {
        return false;
    }
    p = make_datagram(s, length, id);
    if (p == NULL) {
        return false;
    }
    sent = nicif_udp_send(s->job.netif, s->pcb, p, &s->job.host, s->job.port) == ERR_OK;
    pbuf_free(p);
    return sent;
}

static void count(struct sender *s, uint32_t length)
{
    s->meter.datagrams++;
    meter_add(&s->meter, length);
    s->id++;
}

/* The last one may be short, but it holds an id. */
static uint32_t next_length(const struct sender *s)
{
    uint32_t length = s->job.request.length;

    if (s->end_us != 0 || s->left >= length) {
        return length;
    }
    return s->left < IPERF2_UDP_NEW ? IPERF2_UDP_NEW : (uint32_t)s->left;
}

static bool all_sent(const struct sender *s)
{
    return s->end_us != 0 ? clock_us() >= s->end_us : s->left == 0;
}

static void wait_again(struct sender *s)
{
    s->again = deadline_us(s->job.wants_report ? AGAIN_SERVER_US : AGAIN_CLIENT_US);
}

static bool pump(struct sender *s)
{
    unsigned calls = 0;

    while (calls < CALLS_PER_TURN && !all_sent(s) && pace_due(&s->pace, &s->meter.held_us)) {
        uint32_t length = next_length(s);

        if (!send_datagram(s, length, s->id)) {
            break;
        }
        pace_sent(&s->pace);
        count(s, length);
        s->left -= s->left < length ? s->left : length;
        calls++;
    }
    if (all_sent(s) && pace_due(&s->pace, &s->meter.held_us) &&
        send_datagram(s, s->job.request.length, -s->id)) {
        count(s, s->job.request.length);
        s->phase = PHASE_ENDING;
        wait_again(s);
        return true;
    }
    return calls != 0;
}

/* Again until the report is there; the repeats are not counted. */
static bool end_turn(struct sender *s)
{
    bool over = expired(&s->again);

    if (s->final_us == 0 && (over || nicif_tx_empty(s->job.netif))) {
        s->final_us = time_us();
    }
    if (!over) {
        return false;
    }
    if (s->finals_left == 0) {
        finish(s, s->job.wants_report ? "timeout" : "ok", NULL);
        return true;
    }
    if (send_datagram(s, s->job.request.length, -s->id)) {
        s->id++; /* the repeats count on, as iperf2's do */
        s->finals_left--;
        wait_again(s);
    }
    return true;
}

static bool turn_sender(struct sender *s)
{
    if (s->failed != NULL) {
        finish(s, s->failed, NULL);
        return true;
    }
    if (s->phase == PHASE_SENDING && meter_idle_us(&s->meter) > STALL_US) {
        finish(s, "timeout", NULL);
        return true;
    }
    return s->phase == PHASE_SENDING ? pump(s) : end_turn(s);
}

static bool turn(void)
{
    bool worked = false;

    for (unsigned i = 0; i < IPERF2_SENDERS && active != 0; i++) {
        if (senders[i].phase != PHASE_FREE) {
            worked |= turn_sender(&senders[i]);
        }
    }
    return worked;
}

/* ---- what comes back ---- */

static bool is_peer(const struct sender *s, const ip_addr_t *peer, uint16_t port)
{
    return s->phase != PHASE_FREE && s->job.port == port && ip_addr_eq(&s->job.host, peer);
}

static void on_receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                       u16_t port)
{
    struct sender *s = arg;
    uint8_t bytes[IPERF2_REPORT_MAX];
    struct iperf2_report report;
    unsigned n = pbuf_copy_partial(p, bytes, sizeof(bytes), 0);

    (void)pcb;
    pbuf_free(p);
    if (s->phase == PHASE_ENDING && is_peer(s, peer, port) &&
        iperf2_read_report(bytes, n, &report)) {
        finish(s, "ok", &report);
    }
}

/* Here the pcb may be the one that is receiving: it ends in its turn.  A client that has all it
 * wanted closes its port, and says so when our final datagrams come again. */
static void on_unreachable(const ip_addr_t *to, uint16_t from_port, uint16_t port)
{
    for (unsigned i = 0; i < IPERF2_SENDERS; i++) {
        struct sender *s = &senders[i];

        if (is_peer(s, to, port) && s->pcb->local_port == from_port) {
            bool ended = s->phase == PHASE_ENDING && !s->job.wants_report;

            s->failed = ended ? "ok" : "refused";
        }
    }
}

/* ---- outside ---- */

static struct sender *free_sender(void)
{
    for (unsigned i = 0; i < IPERF2_SENDERS; i++) {
        if (senders[i].phase == PHASE_FREE) {
            return &senders[i];
        }
    }
    return NULL;
}

int iperf2_udp_send(const struct iperf2_udp_job *job)
{
    struct sender *s = free_sender();

    if (s == NULL || !unreachable_begin(on_unreachable)) {
        return E_NO_MEMORY;
    }
    memset(s, 0, sizeof(*s));
    s->job = *job;
    s->pcb = job->from != NULL ? job->from : udp_new();
    if (s->pcb == NULL) {
        unreachable_end();
        return E_NO_MEMORY;
    }
    if (job->from == NULL) {
        udp_recv(s->pcb, on_receive, s);
        udp_bind(s->pcb, IP_ADDR_ANY, 0);
    }
    s->id = 1;
    s->left = job->request.bytes;
    s->end_us = job->request.us != 0 ? clock_us() + job->request.us : 0;
    s->finals_left = job->wants_report ? FINALS_TO_SERVER - 1 : FINALS_TO_CLIENT - 1;
    pace_start(&s->pace, job->request.rate, job->request.length);
    meter_start(&s->meter, "iperf2", METER_TX, true, job->netif, &job->host, job->port);
    s->meter.asked_bit_s = job->request.rate;
    s->phase = PHASE_SENDING;
    active++;
    net_wake();
    return OK;
}

void iperf2_udp_stop(void *arg)
{
    for (unsigned i = 0; i < IPERF2_SENDERS; i++) {
        struct sender *s = &senders[i];

        if (s->phase != PHASE_FREE && s->job.arg == arg) {
            release(s);
            meter_end(&s->meter, "abort");
        }
    }
}

APP_WHILE(iperf2_send_udp, NULL, active, turn);
