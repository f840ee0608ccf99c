/*
 * The run of an iperf3 session: its streams together, their rates and sums.
 */
#include "kernel/math64.h"
#include "kernel/string.h"
#include "net/apps/iperf3.h"
#include "net/clock.h"

enum {
    PASSES_PER_TURN = 16, /* datagrams of each stream; then the cards get their turn */
    DRAIN_US = 1000000,
    SETTLE_US = 100000,
};

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

/* What goes together when paced.  A datagram, or as many writes as -b RATE/BURST says. */
static uint32_t unit_of(const struct iperf3_params *p)
{
    return p->udp || p->burst > 1 ? p->len * p->burst : pace_part(p->len);
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

/* When to look again. */
static void plan(void)
{
    iperf3.next = NULL;
    for (unsigned i = 0; i < iperf3_streams(&iperf3.params); i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        if (!s->sender || s->block == IPERF3_NO_ROOM) {
            continue;
        }
        if (s->block == IPERF3_AGAIN) {
            iperf3.stirred = true;
        } else if (iperf3.next == NULL || s->pace.due_ns < iperf3.next->pace.due_ns) {
            iperf3.next = s;
        }
    }
}

/* In most turns there is nothing to do: nothing was acknowledged, no rate is due. */
static bool send_turn(void)
{
    unsigned passes = iperf3.params.udp ? PASSES_PER_TURN : 1; /* TCP fills its room in one */
    bool sent = false;

    if (!iperf3.stirred &&
        (iperf3.next == NULL || pace_room(&iperf3.next->pace, &iperf3.next->held_us) == 0)) {
        return false;
    }
    iperf3.stirred = false;
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

    meter_start(m, "iperf3", dir, p->udp, iperf3.control.netif, &iperf3.control.peer,
                iperf3.control.pcb->remote_port);
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
    pace_start(&s->pace, p->bits_s, unit_of(p));
    if (p->udp) {
        iperf3_udp_restart(s);
    }
}

static void open_windows(void)
{
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        if (s->used && s->data.pcb != NULL && s->sender) {
            window_free(s->data.pcb);
        } else if (s->used && s->data.pcb != NULL) {
            window_begin(&s->data.window, s->data.pcb, iperf3.control.netif, iperf3.params.window);
            s->data.window.sends = iperf3.params.sends;
        }
    }
    windows_go();
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
        open_windows();
    }
    iperf3.omitting = iperf3.params.omit_s != 0;
    iperf3.omit_until_us = clock_us() + iperf3.params.omit_s * 1000000ull;
    iperf3.first = 0;
    iperf3.next = NULL;
    iperf3.stirred = true;
}

/* The omitted seconds are over: everything is counted anew. */
static void end_omit(void)
{
    iperf3.omitting = false;
    if (iperf3.params.sends) {
        meter_restart(&iperf3.tx);
    }
    if (iperf3.params.receives) {
        meter_restart(&iperf3.rx);
    }
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        struct iperf3_stream *s = &iperf3.streams[i];

        s->held_us = 0;
        if (s->used && !iperf3.params.udp) {
            iperf3_tcp_restart(s);
        } else if (s->used) {
            iperf3_udp_restart(s);
        }
    }
}

bool iperf3_run_turn(void)
{
    if (iperf3.omitting && clock_us() >= iperf3.omit_until_us) {
        end_omit();
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

static void leave_all(bool reset)
{
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        connection_stop_growing(&iperf3.streams[i].data);
    }
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        iperf3_tcp_leave(&iperf3.streams[i], reset);
    }
}

void iperf3_drop_streams(void)
{
    leave_all(true);
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        iperf3.streams[i].used = false;
    }
}

bool iperf3_is_drained(void)
{
    uint64_t silent = meter_idle_us(&iperf3.rx);
    uint64_t asked = iperf3.params.bytes;

    if (!iperf3.params.receives || iperf3.params.udp || asked == 0 || iperf3.omitting) {
        return true;
    }
    /* One stream stops at the end of a write; several may each have begun another. */
    return silent >= DRAIN_US ||
           (iperf3.rx.bytes >= asked && (iperf3.params.parallel == 1 || silent >= SETTLE_US));
}

static void add_up(struct iperf3_stream *s)
{
    if (s->sender) { /* the mean: held is who cannot send at all */
        s->meter->held_us += div64(s->held_us, s->meter->streams, NULL);
    }
    if (!iperf3.params.udp) {
        iperf3_tcp_settle(s);
        meter_add_tcp(s->meter, &s->data.tcp);
    } else if (!s->sender) {
        meter_add_sequence(s->meter, &s->sequence);
    }
}

/* Both meters stop before the first is reported. */
static void stop_meter(struct meter *m)
{
    if (m->open) {
        meter_stop(m);
        if (iperf3.phase == IPERF3_DRAINING && m->dir == METER_RX) {
            meter_stopped_at(m, m->last_us); /* what was waited for in vain is no part of it */
        }
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
    iperf3.cpu_permille = 0;
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        if (iperf3.streams[i].used) {
            add_up(&iperf3.streams[i]);
        }
    }
    stop_meter(&iperf3.rx);
    stop_meter(&iperf3.tx);
    leave_all(strcmp(how, "ok") != 0);
    end_meter(&iperf3.rx, how);
    end_meter(&iperf3.tx, how);
}
