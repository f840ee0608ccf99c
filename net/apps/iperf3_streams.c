/*
 * The run of an iperf3 session: its streams together, their rates and sums.
 */
#include "kernel/math64.h"
#include "kernel/string.h"
#include "net/apps/iperf3.h"
#include "net/clock.h"

enum {
    PASSES_PER_TURN = 16,    /* datagrams of each stream; then the cards get their turn */
    CATCH_UP_NS = 250000000, /* what a rate may be behind and still make up for */
    NS_PER_US = 1000,
    NS_PER_S = 1000000000,
    BITS = 8,
};

static const uint64_t NEVER_NS = UINT64_MAX;

uint8_t iperf3_payload[IPERF3_PAYLOAD];

/* ---- places ---- */

struct iperf3_stream *iperf3_new_stream(void)
{
    unsigned wanted = iperf3_streams(&iperf3.params);

    for (unsigned i = 0; i < wanted; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        if (!s->used) {
            memset(s, 0, sizeof(*s));
            s->used = true;
            s->arrival = iperf3.arrivals++;
            return s;
        }
    }
    return NULL;
}

/* The place in the order of arrival. */
static unsigned rank(const struct iperf3_stream *s)
{
    unsigned before = 0;

    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        before += iperf3.streams[i].used && iperf3.streams[i].arrival < s->arrival;
    }
    return before;
}

/* ---- rates ---- */

static uint64_t now_ns(void)
{
    return clock_us() * NS_PER_US;
}

bool iperf3_may_send(const struct iperf3_stream *s)
{
    return iperf3.params.bits_s == 0 || s->burst != 0 || now_ns() >= s->due_ns;
}

void iperf3_has_sent(struct iperf3_stream *s, uint32_t bytes, bool whole)
{
    const struct iperf3_params *p = &iperf3.params;

    if (p->bits_s == 0) {
        return;
    }
    s->due_ns += muldiv64((uint64_t)bytes * BITS, NS_PER_S, p->bits_s);
    if (s->due_ns + CATCH_UP_NS < now_ns()) {
        s->due_ns = now_ns() - CATCH_UP_NS;
    }
    if (whole && ++s->burst >= p->burst) {
        s->burst = 0;
    }
}

/* ---- sending ---- */

static bool pump(struct iperf3_stream *s)
{
    return iperf3.params.udp ? iperf3_udp_pump(s) : iperf3_tcp_pump(s);
}

/* Every sender once, beginning with another each time: what is scarce goes round. */
static bool pump_round(void)
{
    unsigned n = iperf3_streams(&iperf3.params);
    unsigned at = iperf3.first;
    bool sent = false;

    for (unsigned i = 0; i < n; i++) {
        struct iperf3_stream *s = &iperf3.streams[at];

        if (s->sender) {
            sent = pump(s) || sent;
        }
        at = at + 1 < n ? at + 1 : 0;
    }
    iperf3.first = iperf3.first + 1 < n ? iperf3.first + 1 : 0;
    return sent;
}

/* When to look again, and whether only the rate timers keep us waiting. */
static void plan(void)
{
    bool held = iperf3.params.bits_s != 0;

    iperf3.wake_ns = NEVER_NS;
    for (unsigned i = 0; i < iperf3_streams(&iperf3.params); i++) {
        const struct iperf3_stream *s = &iperf3.streams[i];

        if (!s->sender) {
            continue;
        }
        if (s->block == IPERF3_AGAIN) {
            iperf3.wake_ns = 0;
        } else if (s->block == IPERF3_TIMER && s->due_ns < iperf3.wake_ns) {
            iperf3.wake_ns = s->due_ns;
        }
        held = held && s->block == IPERF3_TIMER;
    }
    iperf3.held_since_us = held ? clock_us() : 0;
}

static void end_hold(void)
{
    if (iperf3.held_since_us != 0) {
        iperf3.tx.held_us += clock_us() - iperf3.held_since_us;
        iperf3.held_since_us = 0;
    }
}

static bool send_turn(void)
{
    unsigned passes = iperf3.params.udp ? PASSES_PER_TURN : 1; /* TCP fills its room in one */
    bool sent = false;

    if (!iperf3.stirred && now_ns() < iperf3.wake_ns) {
        return false;
    }
    iperf3.stirred = false;
    end_hold();
    for (unsigned i = 0; i < passes && pump_round(); i++) {
        sent = true;
    }
    plan();
    return sent;
}

/* ---- begin, omit, end ---- */

static void start_meter(struct meter *m, enum meter_dir dir)
{
    const struct iperf3_params *p = &iperf3.params;

    meter_start(m, "iperf3", dir, p->udp, iperf3.netif, &iperf3.peer, iperf3.control->remote_port);
    m->streams = p->parallel;
    m->asked_bit_s = (uint64_t)p->bits_s * p->parallel;
}

static void make_stream(struct iperf3_stream *s)
{
    const struct iperf3_params *p = &iperf3.params;
    unsigned n = rank(s);

    s->id = n == 0 ? 1 : n + 2;
    s->sender = !p->receives || n >= (p->sends ? p->parallel : IPERF3_STREAMS_MAX);
    s->meter = s->sender ? &iperf3.tx : &iperf3.rx;
    s->due_ns = now_ns();
    if (p->udp) {
        iperf3_udp_restart(s);
    }
}

void iperf3_run(void)
{
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        if (iperf3.streams[i].used) {
            make_stream(&iperf3.streams[i]);
        }
    }
    if (iperf3.params.sends) {
        start_meter(&iperf3.tx, METER_TX);
    }
    if (iperf3.params.receives) {
        start_meter(&iperf3.rx, METER_RX);
    }
    if (!iperf3.params.udp) {
        iperf3_window_begin();
    }
    iperf3.omitting = iperf3.params.omit_s != 0;
    iperf3.omit_until_us = clock_us() + iperf3.params.omit_s * 1000000ull;
    iperf3.first = 0;
    iperf3.wake_ns = 0;
    iperf3.held_since_us = 0;
}

/* The omitted seconds are over: everything is counted anew. */
static void end_omit(void)
{
    iperf3.omitting = false;
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        if (s->used && !iperf3.params.udp) {
            iperf3_tcp_restart(s);
        } else if (s->used) {
            iperf3_udp_restart(s);
        }
    }
    if (iperf3.params.sends) {
        meter_restart(&iperf3.tx);
    }
    if (iperf3.params.receives) {
        meter_restart(&iperf3.rx);
    }
}

bool iperf3_run_turn(void)
{
    if (iperf3.omitting && clock_us() >= iperf3.omit_until_us) {
        end_omit();
    }
    if (!iperf3.params.udp) {
        iperf3_window_turn();
    }
    return iperf3.params.sends && send_turn();
}

void iperf3_count_received(struct iperf3_stream *s, uint32_t bytes)
{
    if (!iperf3.omitting) {
        s->bytes += bytes;
        meter_add(s->meter, bytes);
    }
}

void iperf3_drop_streams(void)
{
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        iperf3_tcp_leave(s, true);
        s->used = false;
    }
}

static void add_up(struct iperf3_stream *s)
{
    if (!iperf3.params.udp) {
        iperf3_tcp_settle(s);
        meter_add_tcp(s->meter, &s->tcp);
    } else if (!s->sender) {
        meter_add_sequence(s->meter, &s->sequence);
    }
}

/* Both meters stop before the first is reported. */
static void stop_meter(struct meter *m)
{
    if (m->open) {
        meter_stop(m);
        iperf3.cpu_permille = meter_sum_at(m, m->stopped_us).cpu_permille;
    }
}

static void end_meter(struct meter *m, const char *how)
{
    if (iperf3.omitting) {
        meter_drop(m);
    } else {
        meter_end(m, how);
    }
}

void iperf3_stop(const char *how)
{
    end_hold();
    iperf3.cpu_permille = 0;
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        if (iperf3.streams[i].used) {
            add_up(&iperf3.streams[i]);
        }
    }
    stop_meter(&iperf3.rx);
    stop_meter(&iperf3.tx);
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        iperf3_tcp_leave(&iperf3.streams[i], strcmp(how, "ok") != 0);
    }
    end_meter(&iperf3.rx, how);
    end_meter(&iperf3.tx, how);
}
