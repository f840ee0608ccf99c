/*
 * Meters: arithmetic, report, record.
 */
#include "net/meter.h"

#include "kernel/console.h"
#include "kernel/load.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/clock.h"
#include "net/nicif.h"
#include "net/report.h"

enum {
    SHORTEST_BOUND_US = 10000, /* below this, what bounded a run is chance */
    WIRE_PERMILLE = 950,
    CPU_PERMILLE = 950,
    REACHED_PERMILLE = 950, /* of a requested rate: within 5 %            */
    BITS = 8,
    LINE_US = 1000000,
};

static struct meter *open_meters;

/* ---- arithmetic ---- */

/* events * scale per second, with `us` microseconds; 0 if no time has passed. */
static uint64_t per_second(uint64_t events, uint32_t scale, uint64_t us)
{
    if (us == 0) {
        return 0;
    }
    while (us > UINT32_MAX) { /* beyond 71 minutes a microsecond does not matter */
        us >>= 1;
        events >>= 1;
    }
    return muldiv64(events * scale, 1000000, (uint32_t)us);
}

static uint64_t per_call(uint64_t us, uint64_t calls)
{
    while (calls > UINT32_MAX) {
        calls >>= 1;
        us >>= 1;
    }
    return calls == 0 ? 0 : div64(us, (uint32_t)calls, NULL);
}

/* part / whole in thousandths, at most 1000. */
static unsigned permille(uint64_t part, uint64_t whole)
{
    uint64_t value;

    if (part >= whole) {
        return 1000;
    }
    while (whole > UINT32_MAX) {
        whole >>= 1;
        part >>= 1;
    }
    value = muldiv64(part, 1000, (uint32_t)whole);
    return (unsigned)value;
}

static bool paced(const struct meter_run *run)
{
    uint64_t bits_s = per_second(run->bytes * BITS, 1, run->us);

    return (run->asked_bit_s != 0 && bits_s * 1000 >= run->asked_bit_s * REACHED_PERMILLE) ||
           run->held_us * 2 >= run->us;
}

/* The first that is true (DESIGN 4). */
static const char *bound_of(const struct meter_run *run, unsigned cpu_permille)
{
    uint64_t bits_s = per_second(run->wire_bytes * BITS, 1, run->us);

    if (run->us < SHORTEST_BOUND_US) {
        return NULL;
    }
    if (run->link_kbit != 0 && bits_s >= (uint64_t)run->link_kbit * WIRE_PERMILLE) {
        return "wire";
    }
    if (cpu_permille >= CPU_PERMILLE) {
        return "cpu";
    }
    return paced(run) ? "pacing" : "peer";
}

__attribute__((cold)) struct meter_sum meter_compute(const struct meter_run *run)
{
    struct meter_sum sum = {
        .us = run->us,
        .kb_s_milli = div64(per_second(run->bytes, 1000, run->us), 1024, NULL),
        .mbit_s_milli = div64(per_second(run->bytes * BITS, 1, run->us), 1000, NULL),
        .calls_s_milli = per_second(run->calls, 1000, run->us),
        .cpu_permille = 1000 - (run->us == 0 ? 0 : permille(run->idle_us, run->us)),
    };

    sum.bound = bound_of(run, sum.cpu_permille);
    return sum;
}

/* ---- life of a meter ---- */

static bool wire_is_tx(const struct meter *m)
{
    return m->dir == METER_TX;
}

static void begin(struct meter *m)
{
    m->loss = (struct meter_loss){-1, -1, -1, -1};
    m->start_us = m->last_us = time_us();
    m->idle_at_start = load_idle_us();
    m->wire_at_start = nicif_wire_bytes(nicif_nic(m->netif), wire_is_tx(m));
}

__attribute__((noipa)) void meter_start(struct meter *m, const char *test, enum meter_dir dir,
                                        bool udp, struct netif *netif, const ip_addr_t *peer,
                                        uint16_t port)
{
    memset(m, 0, sizeof(*m));
    m->test = test;
    m->dir = dir;
    m->udp = udp;
    m->netif = netif;
    m->peer = *peer;
    m->peer_port = port;
    m->streams = 1;
    begin(m);
    m->next_line_us = m->start_us + LINE_US;
    m->open = true;
    m->next = open_meters;
    open_meters = m;
}

void meter_restart(struct meter *m)
{
    m->bytes = m->calls = m->datagrams = m->shown_bytes = 0;
    m->gap_us = m->held_us = 0;
    m->jitter_sum_us = m->sequences = 0;
    memset(&m->tcp_more, 0, sizeof(m->tcp_more));
    meter_less_tcp(m, &m->tcp); /* it goes on counting */
    begin(m);
}

static void progress_at(struct meter *m, uint64_t now)
{
    uint64_t gap = now - m->last_us;

    if ((int64_t)gap <= 0) { /* the turn began before the meter did, or is the same */
        return;
    }
    if (gap > m->gap_us) {
        m->gap_us = gap;
    }
    m->last_us = now;
}

void meter_touch(struct meter *m)
{
    progress_at(m, clock_us());
}

void meter_add(struct meter *m, uint32_t bytes)
{
    m->bytes += bytes;
    m->calls++;
    meter_touch(m);
}

uint64_t meter_idle_us(const struct meter *m)
{
    return clock_us() > m->last_us ? clock_us() - m->last_us : 0;
}

void meter_stop(struct meter *m)
{
    m->stopped_us = time_us();
    m->idle_at_stop = load_idle_us();
    m->wire_at_stop = nicif_wire_bytes(nicif_nic(m->netif), wire_is_tx(m));
}

void meter_stopped_at(struct meter *m, uint64_t us)
{
    uint64_t waited = m->stopped_us > us ? m->stopped_us - us : 0;
    uint64_t idle = m->idle_at_stop - m->idle_at_start;

    m->idle_at_stop -= idle < waited ? idle : waited; /* idle then, or busy with others */
    m->stopped_us -= waited;
}

static void unlink_meter(struct meter *m)
{
    struct meter **at = &open_meters;

    while (*at != NULL && *at != m) {
        at = &(*at)->next;
    }
    if (*at == m) {
        *at = m->next;
    }
    m->open = false;
}

void meter_drop(struct meter *m)
{
    if (m->open) {
        unlink_meter(m);
    }
}

/* ---- sums ---- */

void meter_add_tcp(struct meter *m, const struct tcp_count *count)
{
    m->tcp_more.sent += count->sent;
    m->tcp_more.resent += count->resent;
    m->tcp_more.received += count->received;
}

void meter_less_tcp(struct meter *m, const struct tcp_count *count)
{
    m->tcp_more.sent -= count->sent;
    m->tcp_more.resent -= count->resent;
    m->tcp_more.received -= count->received;
}

void meter_add_sequence(struct meter *m, const struct sequence *s)
{
    struct meter_loss *l = &m->loss;

    if (m->sequences++ == 0) {
        *l = (struct meter_loss){0, 0, 0, 0};
    }
    l->lost += (int64_t)sequence_lost(s);
    l->dup += (int64_t)s->dup;
    l->ooo += (int64_t)s->ooo;
    m->jitter_sum_us += sequence_jitter_us(s);
    l->jitter_us = (int64_t)div64(m->jitter_sum_us, m->sequences, NULL);
}

uint32_t meter_segments(const struct meter *m)
{
    return m->dir == METER_TX ? m->tcp.sent + m->tcp_more.sent
                              : m->tcp.received + m->tcp_more.received;
}

uint32_t meter_resent(const struct meter *m)
{
    return m->tcp.resent + m->tcp_more.resent;
}

__attribute__((cold)) struct meter_sum meter_sum_at(const struct meter *m, uint64_t end_us)
{
    struct nic *nic = nicif_nic(m->netif);
    bool stopped = m->stopped_us != 0;
    uint64_t now = stopped ? m->stopped_us : time_us();
    uint64_t idle = (stopped ? m->idle_at_stop : load_idle_us()) - m->idle_at_start;
    uint64_t wire = stopped ? m->wire_at_stop : nicif_wire_bytes(nic, wire_is_tx(m));
    uint64_t waited = now > end_us ? now - end_us : 0; /* idle then, or busy with others */
    struct meter_run run = {
        .us = end_us > m->start_us ? end_us - m->start_us : 0,
        .bytes = m->bytes,
        .calls = m->calls,
        .idle_us = idle > waited ? idle - waited : 0,
        .wire_bytes = wire - m->wire_at_start,
        .link_kbit = nic->link_kbit,
        .asked_bit_s = m->asked_bit_s,
        .held_us = m->held_us,
    };

    return meter_compute(&run);
}

/* ---- what people see ---- */

static char side(const struct meter *m)
{
    return m->dir == METER_TX ? 't' : 'r';
}

static void print_ends(const struct meter *m, const char *how)
{
    kprintf("%s-%c: %s %I:%u", m->test, side(m), m->dir == METER_TX ? "to" : "from",
            ip4_addr_get_u32(ip_2_ip4(&m->peer)), m->peer_port);
    if (m->streams > 1) {
        kprintf(", %u streams", m->streams);
    }
    if (!m->udp && m->dir == METER_TX) {
        kprintf(", %u segments sent again", meter_resent(m));
    }
    kprintf("%s%s\n", strcmp(how, "ok") == 0 ? "" : ", ended by ",
            strcmp(how, "ok") == 0 ? "" : how);
}

static void print_loss(const struct meter *m)
{
    char jitter[24];

    kprintf("%s-%c: %llu datagrams, %lld lost, %lld out of order", m->test, side(m),
            (unsigned long long)m->datagrams, (long long)m->loss.lost, (long long)m->loss.ooo);
    if (m->loss.dup >= 0) {
        kprintf(", %lld twice", (long long)m->loss.dup);
    }
    if (m->loss.jitter_us >= 0) {
        kprintf(", jitter %s ms", format_fixed(jitter, (uint64_t)m->loss.jitter_us, 3));
    }
    kprintf("\n");
}

/* The report people know from ttcp, plus what only we can say. */
static void print_report(const struct meter *m, const struct meter_sum *sum, const char *how)
{
    char seconds[24], rate[24], ms_call[24], calls_s[24];
    uint64_t us_call = per_call(sum->us, m->calls);

    console_fresh_line();
    kprintf("%s-%c: %llu bytes in %s real seconds = %s KB/sec +++\n", m->test, side(m),
            (unsigned long long)m->bytes, format_fixed(seconds, div64(sum->us, 10000, NULL), 2),
            format_fixed(rate, div64(sum->kb_s_milli, 10, NULL), 2));
    kprintf("%s-%c: %llu I/O calls, msec/call = %s, calls/sec = %s\n", m->test, side(m),
            (unsigned long long)m->calls, format_fixed(ms_call, us_call, 3),
            format_fixed(calls_s, div64(sum->calls_s_milli, 10, NULL), 2));
    kprintf("%s-%c: CPU %u.%u %% busy, bound by %s\n", m->test, side(m), sum->cpu_permille / 10,
            sum->cpu_permille % 10,
            sum->bound == NULL ? "nothing (too short to tell)" : sum->bound);
    print_ends(m, how);
    if (m->loss.lost >= 0) {
        print_loss(m);
    }
}

static void record_known(const char *key, int64_t value)
{
    if (value < 0) {
        record_null(key);
    } else {
        record_int(key, value);
    }
}

static void record_counts(const struct meter *m)
{
    record_int("packets", m->udp ? (int64_t)m->datagrams : (int64_t)meter_segments(m));
    if (m->udp || m->dir == METER_RX) {
        record_null("retrans"); /* only the sender of a TCP stream can know */
    } else {
        record_int("retrans", meter_resent(m));
    }
    record_known("lost", m->loss.lost);
    record_known("dup", m->loss.dup);
    record_known("ooo", m->loss.ooo);
    record_known("jitter_us", m->loss.jitter_us);
    record_int("gap_us", (int64_t)m->gap_us);
}

static void emit_record(const struct meter *m, const struct meter_sum *sum, const char *how)
{
    char peer[24];

    format(peer, sizeof(peer), "%I:%u", ip4_addr_get_u32(ip_2_ip4(&m->peer)), m->peer_port);
    record_begin("result");
    record_int("nic", nicif_nic(m->netif)->index);
    record_str("test", m->test);
    record_str("dir", m->dir == METER_TX ? "tx" : "rx");
    record_str("proto", m->udp ? "udp" : "tcp");
    record_str("peer", peer);
    record_int("streams", m->streams);
    record_int("bytes", (int64_t)m->bytes);
    record_int("calls", (int64_t)m->calls);
    record_int("us", (int64_t)sum->us);
    record_fixed("kb_s", sum->kb_s_milli, 3);
    record_fixed("mbit_s", sum->mbit_s_milli, 3);
    record_fixed("calls_s", sum->calls_s_milli, 3);
    record_counts(m);
    record_fixed("cpu_pct", sum->cpu_permille, 1);
    record_str("bound", sum->bound);
    record_str("end", how);
    record_end();
}

__attribute__((noipa, cold)) void meter_end_at(struct meter *m, const char *how, uint64_t end_us)
{
    struct meter_sum sum;

    if (!m->open) {
        return;
    }
    unlink_meter(m);
    if (m->bytes == 0) {
        return;
    }
    progress_at(m, end_us); /* silence before the end is a gap like any other */
    sum = meter_sum_at(m, end_us);
    print_report(m, &sum, how);
    emit_record(m, &sum, how);
    report_keep(m, &sum, how);
}

void meter_end(struct meter *m, const char *how)
{
    uint64_t now = m->stopped_us != 0 ? m->stopped_us : time_us();

    meter_end_at(m, how, strcmp(how, "ok") == 0 ? now : m->last_us);
}

__attribute__((cold)) void meter_show_progress(void)
{
    for (struct meter *m = open_meters; m != NULL; m = m->next) {
        uint64_t us = clock_us() - m->start_us;
        char rate[24];

        if (m->bytes == 0 || !clock_due(&m->next_line_us, LINE_US)) {
            continue; /* nothing sent yet, or not yet its second */
        }
        console_fresh_line();
        kprintf("%s-%c %I: %u s, %s KB/s\n", m->test, side(m), ip4_addr_get_u32(ip_2_ip4(&m->peer)),
                (unsigned)div64(us, 1000000, NULL),
                format_fixed(rate, div64((m->bytes - m->shown_bytes) * 100, 1024, NULL), 2));
        m->shown_bytes = m->bytes;
    }
}
