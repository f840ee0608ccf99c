/*
 * The documents of results that both sides exchange (NEEDS.md 3.3, 9).
 */
#include <stdarg.h>

#include "kernel/math64.h"
#include "kernel/print.h"
#include "net/apps/iperf3.h"
#include "net/apps/json.h"

enum { US_PER_S = 1000000 };

bool iperf3_results_ok(const char *text, size_t n)
{
    struct json root;

    return json_open(text, n, &root) && root.type == JSON_OBJECT;
}

/* ---- writing ---- */

static struct {
    char *at, *end;
} out;

static void put(const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vformat(out.at, (size_t)(out.end - out.at), fmt, args);
    va_end(args);
    out.at = n < out.end - out.at ? out.at + n : out.end - 1;
}

/* Microseconds as seconds with all digits. */
static void put_seconds(const char *key, uint64_t us)
{
    uint32_t rest;
    uint32_t seconds = (uint32_t)div64(us, US_PER_S, &rest);

    put("\"%s\":%u.%06u", key, seconds, rest);
}

static void put_stream(const struct iperf3_stream *s)
{
    bool udp = iperf3.params.udp;
    bool counts_loss = udp && !s->sender;

    put("{\"id\":%u,\"bytes\":%llu,\"retransmits\":%d,", s->id, (unsigned long long)s->bytes,
        s->sender && !udp ? (int)(s->data.tcp.resent - s->resent_before) : -1);
    put_seconds("jitter", counts_loss ? sequence_jitter_us(&s->sequence) : 0);
    put(",\"errors\":%llu,\"packets\":%llu,\"start_time\":0,",
        (unsigned long long)(counts_loss ? sequence_lost(&s->sequence) : 0),
        (unsigned long long)(udp ? s->datagrams : 0));
    put_seconds("end_time", iperf3.omitting ? 0 : s->meter->stopped_us - s->meter->start_us);
    put("}");
}

/* What --get-server-output shows: our own report in short. */
static void put_report(const struct meter *m)
{
    struct meter_sum sum = meter_sum_at(m, m->stopped_us);
    char seconds[24], rate[24];

    put("%s-%c: %llu bytes in %s s = %s KB/s, CPU %u.%u %% busy, bound by %s\\n", m->test,
        m->dir == METER_TX ? 't' : 'r', (unsigned long long)m->bytes,
        format_fixed(seconds, div64(sum.us, 10000, NULL), 2),
        format_fixed(rate, div64(sum.kb_s_milli, 10, NULL), 2), iperf3.cpu_permille / 10,
        iperf3.cpu_permille % 10, sum.bound == NULL ? "nothing" : sum.bound);
}

unsigned iperf3_write_results(char *text)
{
    const struct iperf3_params *p = &iperf3.params;
    char cpu[24];
    bool first = true;

    out.at = text;
    out.end = text + IPERF3_TEXT_MAX;
    format_fixed(cpu, iperf3.cpu_permille, 1);
    put("{\"cpu_util_total\":%s,\"cpu_util_user\":0.0,\"cpu_util_system\":%s,"
        "\"sender_has_retransmits\":%d,",
        cpu, cpu, p->sends && !p->udp);
    if (!p->udp) {
        put("\"congestion_used\":\"reno\",");
    }
    if (p->server_output) {
        put("\"server_output_text\":\"");
        if (p->receives) {
            put_report(&iperf3.rx);
        }
        if (p->sends) {
            put_report(&iperf3.tx);
        }
        put("\",");
    }
    put("\"streams\":[");
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        if (iperf3.streams[i].used) {
            put(first ? "" : ",");
            put_stream(&iperf3.streams[i]);
            first = false;
        }
    }
    put("]}");
    return (unsigned)(out.at - text);
}
