/*
 * nuttcp's report.  Line by line what the server of 6.1.2 writes, which the client reads again for
 * its own summary: seconds, rates, CPU, retransmissions and round trip.
 *
 * Of the figures of Unix processes only CPU time exists here, all of it the system's; pages,
 * memory and context switches are zero.
 */
#include <stdarg.h>

#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "net/apps/nuttcp.h"

enum {
    MEGABYTE = 1048576,
    MB_SCALE = 10000, /* four decimals */
    US_PER_S = 1000000,
    US_PER_CENTISECOND = 10000,
    LINE_ROOM = 256, /* of an interval: shorter is left out than cut */
};

struct nuttcp_text nuttcp_text;

void nuttcp_say(const char *fmt, ...)
{
    unsigned room = sizeof(nuttcp_text.text) - nuttcp_text.bytes;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vformat(nuttcp_text.text + nuttcp_text.bytes, room, fmt, args);
    va_end(args);
    nuttcp_text.bytes += (unsigned)n < room ? (unsigned)n : room - 1;
}

/* ---- figures ---- */

/* Megabytes with four decimals, rounded as printf does: the client subtracts ours from its own. */
static uint64_t megabytes(uint64_t bytes)
{
    uint32_t rest;
    uint64_t value = div64(bytes * MB_SCALE, MEGABYTE, &rest);

    return value + (rest > MEGABYTE / 2 || (rest == MEGABYTE / 2 && (value & 1) != 0));
}

/* value * scale / by, where `by` may be large. */
static uint64_t ratio(uint64_t value, uint32_t scale, uint64_t by)
{
    while (by > UINT32_MAX) {
        by >>= 1;
        value >>= 1;
    }
    return by == 0 ? 0 : muldiv64(value, scale, (uint32_t)by);
}

static const char *fixed(char to[24], uint64_t value, unsigned decimals)
{
    return format_fixed(to, value, decimals);
}

struct figures {
    char mb[24], seconds[24], kb_s[24], mbit_s[24];
};

static void figure(struct figures *f, uint64_t bytes, uint64_t us)
{
    uint64_t hundredths = div64(us + US_PER_CENTISECOND / 2, US_PER_CENTISECOND, NULL);

    us = us == 0 ? 1 : us;
    fixed(f->mb, megabytes(bytes), 4);
    fixed(f->seconds, hundredths, 2);
    fixed(f->kb_s, div64(ratio(bytes, US_PER_S, us) * 100, 1024, NULL), 2);
    fixed(f->mbit_s, ratio(bytes * 8, 10000, us), 4);
}

static bool parsable(void)
{
    return (nuttcp.params.format & NUTTCP_PARSE) != 0;
}

/* Every line but those of intervals begins with who it is of. */
static void begin_line(void)
{
    nuttcp_say("nuttcp-%c: ", nuttcp.params.sends ? 't' : 'r');
}

/* ---- before the test ---- */

static void say_request(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    begin_line();
    nuttcp_say(parsable() ? "buflen=%u " : "buflen=%u, ", p->len);
    if (p->count != 0) {
        nuttcp_say(parsable() ? "nbuf=%llu " : "nbuf=%llu, ", (unsigned long long)p->count);
    }
    nuttcp_say(parsable() ? "nstream=%u port=%u mode=%s" : "nstream=%u, port=%u %s", p->streams,
               p->port, p->udp ? "udp" : "tcp");
    if (p->sends) {
        nuttcp_say(parsable() ? " host=%I" : " -> %I",
                   ip4_addr_get_u32(ip_2_ip4(&nuttcp.control.peer)));
    }
    nuttcp_say("\n");
}

static void say_rate(void)
{
    const struct nuttcp_params *p = &nuttcp.params;
    const char *mode = p->instantaneous ? "instantaneous" : "aggregate";
    char rate[24];

    fixed(rate, div64(p->bits_s, 1000, NULL), 3);
    nuttcp_say(parsable() ? " rate_limit=%s rate_unit=Mbps rate_mode=%s"
                          : " rate limit = %s Mbps (%s)",
               rate, mode);
    if (p->udp) {
        nuttcp_say(parsable() ? " pps_rate=%llu" : ", %llu pps",
                   (unsigned long long)ratio(p->bits_s, 1, (uint64_t)p->len * 8));
    }
    if (p->tos != 0 && !parsable()) {
        nuttcp_say(",");
    }
}

static void say_limits(void)
{
    const struct nuttcp_params *p = &nuttcp.params;
    char text[24];

    if (p->sends && p->us != 0) {
        begin_line();
        nuttcp_say(parsable() ? "time_limit=%s\n" : "time limit = %s second%s\n",
                   fixed(text, div64(p->us, US_PER_CENTISECOND, NULL), 2),
                   p->us == US_PER_S ? "" : "s");
    }
    if ((p->sends && p->bits_s != 0) || p->tos != 0) {
        nuttcp_say("nuttcp-%c:", p->sends ? 't' : 'r');
        if (p->sends && p->bits_s != 0) {
            say_rate();
        }
        if (p->tos != 0) {
            nuttcp_say(parsable() ? " tos=0x%X" : " tos = 0x%X", p->tos);
        }
        nuttcp_say("\n");
    }
    if (!p->sends && p->interval_us != 0) {
        begin_line();
        nuttcp_say(parsable() ? "reporting_interval=%s\n"
                              : "interval reporting every %s second%s\n",
                   fixed(text, div64(p->interval_us, US_PER_CENTISECOND, NULL), 2),
                   p->interval_us == US_PER_S ? "" : "s");
    }
}

/* "connect to 10.0.0.2 with mss=1460, RTT=0.321 ms", or as much of it as applies. */
static void say_connection(void)
{
    const struct nuttcp_params *p = &nuttcp.params;
    char rtt[24];

    begin_line();
    nuttcp_say(parsable() ? "%s=%I" : "%s %I",
               parsable() ? (p->connects ? "connect" : "accept")
                          : (p->connects ? "connect to" : "accept from"),
               ip4_addr_get_u32(ip_2_ip4(&nuttcp.control.peer)));
    if (p->sends) {
        nuttcp_say(parsable() ? " mss=%u" : " with mss=%u", nuttcp.mss);
    }
    if (p->connects) {
        nuttcp_say(parsable() ? " rtt_ms=%s" : "%s RTT=%s ms",
                   parsable() ? fixed(rtt, nuttcp.rtt_us, 3)
                   : p->sends ? ","
                              : " with",
                   fixed(rtt, nuttcp.rtt_us, 3));
    }
    nuttcp_say("\n");
}

static void say_windows(void)
{
    const struct nuttcp_params *p = &nuttcp.params;
    uint32_t ours = p->sends ? TCP_SND_BUF : TCP_WND;

    if (p->window > ours) {
        begin_line();
        nuttcp_say(parsable() ? "Warning=\"%s_window_size_%u_<_requested_window_size_%u\"\n"
                              : "Warning: %s window size %u < requested window size %u\n",
                   p->sends ? "send" : "receive", ours, p->window);
    }
    for (unsigned i = 0; i < 2; i++) { /* all of a window is available */
        static const char *const plain[] = {"send window size = %u, receive window size = %u\n",
                                            "available send window = %u, available receive "
                                            "window = %u\n"};
        static const char *const keys[] = {"send_window_size=%u receive_window_size=%u\n",
                                           "send_window_avail=%u receive_window_avail=%u\n"};

        begin_line();
        nuttcp_say(parsable() ? keys[i] : plain[i], (unsigned)TCP_SND_BUF, (unsigned)TCP_WND);
    }
}

void nuttcp_say_settings(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    begin_line();
    nuttcp_say("v6.1.2: socket\n");
    say_request();
    say_limits();
    if (p->sends && p->nodelay && !p->udp) {
        begin_line();
        nuttcp_say("v6.1.2: nodelay\n");
    }
    if (!p->udp) {
        say_connection();
    }
    say_windows();
}

/* ---- intervals ---- */

static bool tells_retrans(void)
{
    return !nuttcp.params.udp && nuttcp.params.streams == 1 &&
           nuttcp.params.len >= NUTTCP_INFO_END && (nuttcp.params.format & NUTTCP_NO_RETRANS) == 0;
}

/* Lost datagrams among those sent. */
static void say_drops(uint64_t received, uint64_t sent)
{
    uint32_t format = nuttcp.params.format;
    bool more = received > sent; /* than was sent in this interval */
    int64_t lost =
        (int64_t)div64(more ? received - sent : sent - received, nuttcp.params.len, NULL);
    uint64_t loss = more ? 0 : ratio(sent - received, 10000000, sent);
    char text[24];

    if ((format & NUTTCP_NO_DROPS) == 0) {
        nuttcp_say(parsable() ? " drop=%lld pkt=%llu" : " %5lld / %5llu ~drop/pkt",
                   (long long)(more ? -lost : lost),
                   (unsigned long long)div64(sent, nuttcp.params.len, NULL));
    }
    if ((format & NUTTCP_NO_LOSS) != 0) {
        return;
    }
    if (parsable()) {
        nuttcp_say(" data_loss=%s", fixed(text, loss, 5));
    } else if (loss != 0 && loss < 10000) { /* below a tenth of a percent */
        nuttcp_say(" %s ~%%loss", fixed(text, loss, 5));
    } else {
        nuttcp_say(" %5s ~%%loss", fixed(text, div64(loss, 1000, NULL), 2));
    }
}

/* Bytes in a time, and what was lost or sent again of them. */
static void say_span(const char *plain, const char *keys, uint64_t bytes, uint64_t us,
                     uint64_t sent, uint32_t resent)
{
    struct figures f;

    figure(&f, bytes, us);
    nuttcp_say(parsable() ? keys : plain, f.mb, f.seconds, f.mbit_s);
    if (nuttcp.params.udp && nuttcp.params.len >= NUTTCP_INFO_END) {
        say_drops(bytes, sent);
    } else if (tells_retrans()) {
        nuttcp_say(parsable() ? " retrans=%u" : " %5u retrans", resent);
    }
}

void nuttcp_say_interval(uint64_t now)
{
    uint32_t format = nuttcp.params.format;
    uint64_t bytes = nuttcp.meter.bytes;
    char mb[24];

    if (sizeof(nuttcp_text.text) - nuttcp_text.bytes < 2 * LINE_ROOM) {
        return; /* the client does not read: this line is left out, the sums will be right */
    }
    say_span("%10s MB / %6s sec = %9s Mbps", "megabytes=%s real_sec=%s rate_Mbps=%s",
             bytes - nuttcp.shown_bytes, now - nuttcp.shown_us, nuttcp.sent - nuttcp.shown_sent,
             nuttcp.resent - nuttcp.shown_resent);
    if ((format & NUTTCP_RUNNING_TOTAL) != 0) {
        say_span(" Tot: %10s MB / %6s sec = %9s Mbps",
                 " total_megabytes=%s total_real_sec=%s total_rate_Mbps=%s", bytes,
                 now - nuttcp.meter.start_us, nuttcp.sent, nuttcp.resent);
    }
    if (nuttcp.params.udp && (format & NUTTCP_XMIT_STATS) != 0) {
        nuttcp_say(parsable() ? " tx_megabytes=%s" : " Trans: %10s MB",
                   fixed(mb, megabytes(nuttcp.sent - nuttcp.shown_sent), 4));
        if ((format & NUTTCP_RUNNING_TOTAL) != 0) {
            nuttcp_say(parsable() ? " tx_total_megabytes=%s" : " Tot: %10s MB",
                       fixed(mb, megabytes(nuttcp.sent), 4));
        }
    }
    nuttcp_say("\n");
}

/* ---- after the test ---- */

/* "0:07", or "1:02:03". */
static void say_clock(uint64_t us)
{
    uint32_t seconds = (uint32_t)div64(us, US_PER_S, NULL);

    if (seconds >= 3600) {
        nuttcp_say("%u:%02u:%02u", seconds / 3600, seconds / 60 % 60, seconds % 60);
    } else {
        nuttcp_say("%u:%02u", seconds / 60, seconds % 60);
    }
}

static void say_cpu(void)
{
    char busy[24];

    fixed(busy, div64(nuttcp.busy_us, US_PER_S / 10, NULL), 1);
    begin_line();
    nuttcp_say(parsable() ? "stats=cpu user=0.0 system=%s elapsed=" : "0.0user %ssys ", busy);
    say_clock(nuttcp.us);
    nuttcp_say(parsable() ? " cpu=%u%% memory=0i+0d-0maxrss io=0+0pf swaps=0+0csw\n"
                          : "real %u%% 0i+0d 0maxrss 0+0pf 0+0csw\n",
               (nuttcp.cpu_permille + 5) / 10);
}

static void say_calls(void)
{
    uint64_t calls = nuttcp.meter.calls == 0 ? 1 : nuttcp.meter.calls;
    char each[24], rate[24];

    fixed(each, div64(ratio(nuttcp.us, 1, calls) + 5, 10, NULL), 2);
    fixed(rate, ratio(calls, 100 * US_PER_S, nuttcp.us == 0 ? 1 : nuttcp.us), 2);
    begin_line();
    nuttcp_say(parsable() ? "io_calls=%llu msec_per_call=%s calls_per_sec=%s\n"
                          : "%llu I/O calls, msec/call = %s, calls/sec = %s\n",
               (unsigned long long)nuttcp.meter.calls, each, rate);
}

void nuttcp_say_results(void)
{
    uint64_t bytes = nuttcp.meter.bytes;
    struct figures real, cpu;

    figure(&real, bytes, nuttcp.us);
    figure(&cpu, bytes, nuttcp.busy_us);
    if (!nuttcp.params.sends && nuttcp.params.interval_us != 0) {
        nuttcp_say("DONE\n");
    }
    begin_line();
    nuttcp_say(parsable() ? "megabytes=%s real_seconds=%s rate_KBps=%s rate_Mbps=%s\n"
                          : "%s MB in %s real seconds = %s KB/sec = %s Mbps\n",
               real.mb, real.seconds, real.kb_s, real.mbit_s);
    begin_line();
    nuttcp_say(parsable() ? "megabytes=%s cpu_seconds=%s KB_per_cpu_second=%s\n"
                          : "%s MB in %s CPU seconds = %s KB/cpu sec\n",
               cpu.mb, cpu.seconds, cpu.kb_s);
    if (nuttcp.params.sends && !nuttcp.params.udp && nuttcp.params.streams == 1) {
        begin_line();
        nuttcp_say(parsable() ? "retrans=%u\n" : "retrans = %u\n", meter_resent(&nuttcp.meter));
    }
    say_calls();
    say_cpu();
}
