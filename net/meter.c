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

enum {
    SHORTEST_BOUND_US = 10000, /* below this, what bounded a run is chance */
    WIRE_PERMILLE = 950,
    CPU_PERMILLE = 950,
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

struct meter_sum meter_compute(uint64_t us, uint64_t bytes, uint64_t calls, uint64_t idle_us,
                               uint64_t wire_bytes, uint32_t link_kbit)
{
    struct meter_sum sum = {
        .us = us,
        .kb_s_milli = div64(per_second(bytes, 1000, us), 1024, NULL),
        .mbit_s_milli = div64(per_second(bytes * BITS, 1, us), 1000, NULL),
        .calls_s_milli = per_second(calls, 1000, us),
        .cpu_permille = 1000 - (us == 0 ? 0 : permille(idle_us, us)),
        .bound = NULL,
    };

    if (us >= SHORTEST_BOUND_US) {
        uint64_t bits_s = per_second(wire_bytes * BITS, 1, us);

        if (link_kbit != 0 && bits_s >= (uint64_t)link_kbit * WIRE_PERMILLE) {
            sum.bound = "wire";
        } else if (sum.cpu_permille >= CPU_PERMILLE) {
            sum.bound = "cpu";
        } else {
            sum.bound = "peer";
        }
    }
    return sum;
}

/* ---- life of a meter ---- */

static bool wire_is_tx(const struct meter *m)
{
    return m->dir == METER_TX;
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
    m->start_us = m->last_us = time_us();
    m->idle_at_start = load_idle_us();
    m->wire_at_start = nicif_wire_bytes(nicif_nic(netif), wire_is_tx(m));
    m->next_line_us = m->start_us + LINE_US;
    m->open = true;
    m->next = open_meters;
    open_meters = m;
}

static void progress_at(struct meter *m, uint64_t now)
{
    if (now <= m->last_us) { /* the turn began before the meter did, or is the same */
        return;
    }
    if (now - m->last_us > m->gap_us) {
        m->gap_us = now - m->last_us;
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

/* ---- what people see ---- */

static char side(const struct meter *m)
{
    return m->dir == METER_TX ? 't' : 'r';
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
    kprintf("%s-%c: %s %I:%u", m->test, side(m), m->dir == METER_TX ? "to" : "from",
            ip4_addr_get_u32(ip_2_ip4(&m->peer)), m->peer_port);
    if (!m->udp && m->dir == METER_TX) {
        kprintf(", %u segments sent again", m->tcp.resent);
    }
    kprintf("%s%s\n", strcmp(how, "ok") == 0 ? "" : ", ended by ",
            strcmp(how, "ok") == 0 ? "" : how);
}

static void emit_record(const struct meter *m, const struct meter_sum *sum, const char *how)
{
    char peer[24];
    uint32_t segments = m->dir == METER_TX ? m->tcp.sent : m->tcp.received;

    format(peer, sizeof(peer), "%I:%u", ip4_addr_get_u32(ip_2_ip4(&m->peer)), m->peer_port);
    record_begin("result");
    record_int("nic", nicif_nic(m->netif)->index);
    record_str("test", m->test);
    record_str("dir", m->dir == METER_TX ? "tx" : "rx");
    record_str("proto", m->udp ? "udp" : "tcp");
    record_str("peer", peer);
    record_int("streams", 1);
    record_int("bytes", (int64_t)m->bytes);
    record_int("calls", (int64_t)m->calls);
    record_int("us", (int64_t)sum->us);
    record_fixed("kb_s", sum->kb_s_milli, 3);
    record_fixed("mbit_s", sum->mbit_s_milli, 3);
    record_fixed("calls_s", sum->calls_s_milli, 3);
    record_int("packets", m->udp ? (int64_t)m->datagrams : (int64_t)segments);
    if (m->udp || m->dir == METER_RX) {
        record_null("retrans"); /* only the sender of a TCP stream can know */
    } else {
        record_int("retrans", m->tcp.resent);
    }
    record_null("lost"); /* ttcp datagrams carry no sequence number */
    record_null("dup");
    record_null("ooo");
    record_null("jitter_us");
    record_int("gap_us", (int64_t)m->gap_us);
    record_fixed("cpu_pct", sum->cpu_permille, 1);
    record_str("bound", sum->bound);
    record_str("end", how);
    record_end();
}

__attribute__((noipa)) void meter_end_at(struct meter *m, const char *how, uint64_t end_us)
{
    const struct nic *nic;
    struct meter_sum sum;
    uint64_t idle, waited;

    if (!m->open) {
        return;
    }
    unlink_meter(m);
    if (m->bytes == 0) {
        return;
    }
    progress_at(m, end_us); /* silence before the end is a gap like any other */
    nic = nicif_nic(m->netif);
    idle = load_idle_us() - m->idle_at_start;
    waited = time_us() - end_us; /* after the end it was idle, or busy with others */
    sum = meter_compute(end_us - m->start_us, m->bytes, m->calls, idle > waited ? idle - waited : 0,
                        nicif_wire_bytes(nic, wire_is_tx(m)) - m->wire_at_start, nic->link_kbit);
    print_report(m, &sum, how);
    emit_record(m, &sum, how);
}

void meter_end(struct meter *m, const char *how)
{
    meter_end_at(m, how, strcmp(how, "ok") == 0 ? time_us() : m->last_us);
}

void meter_show_progress(void)
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
