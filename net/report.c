/*
 * The result history.
 */
#include "net/report.h"

#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/nicif.h"

enum {
    BITS = 8,
    TCP_HEADERS = 78, /* of a full segment: Ethernet with gap and preamble 38, IP, TCP */
    UDP_HEADER = 8,
    FRAME_HEADERS = 58, /* of a frame of a datagram: Ethernet 38, IP 20                  */
    FRAGMENT_PAYLOAD = 1480,
    FRAME_SMALLEST = 84, /* 64 bytes, preamble and gap                                    */
    ROUND = 50,          /* of thousandths to tenths                                      */
};

struct entry {
    const char *test, *bound, *how;
    uint64_t bytes, us;
    uint32_t kb_s_milli;
    uint32_t packets, retrans;
    int32_t lost; /* -1: not known */
    uint16_t cpu_permille;
    uint16_t wire_permille; /* of what the wire carries of this kind; 0: not known */
    uint16_t peer_port;
    uint8_t nic, streams;
    bool tx, udp;
    ip4_addr_t peer;
};

static struct entry entries[REPORT_RESULTS];
static unsigned kept; /* so far; the last REPORT_RESULTS of them are here */

/* ---- the wire ---- */

uint64_t report_wire_limit(uint32_t link_kbit, bool udp, uint32_t length)
{
    uint64_t bytes_s = div64((uint64_t)link_kbit * 1000, BITS, NULL);
    uint32_t frames, on_wire;

    if (!udp) {
        return muldiv64(bytes_s, TCP_MSS, TCP_MSS + TCP_HEADERS);
    }
    frames = (length + UDP_HEADER + FRAGMENT_PAYLOAD - 1) / FRAGMENT_PAYLOAD;
    on_wire = length + UDP_HEADER + frames * FRAME_HEADERS;
    return muldiv64(bytes_s, length, on_wire < FRAME_SMALLEST ? FRAME_SMALLEST : on_wire);
}

static unsigned wire_permille(const struct meter *m, const struct meter_sum *sum)
{
    uint32_t length = m->datagrams == 0 || m->datagrams > UINT32_MAX
                          ? TCP_MSS
                          : (uint32_t)div64(m->bytes, (uint32_t)m->datagrams, NULL);
    uint64_t limit = report_wire_limit(nicif_nic(m->netif)->link_kbit, m->udp, length);
    uint64_t permille;

    if (limit == 0 || limit > UINT32_MAX) {
        return 0;
    }
    permille = div64(sum->kb_s_milli * 1024, (uint32_t)limit, NULL);
    return permille > UINT16_MAX ? UINT16_MAX : (unsigned)permille;
}

/* ---- keeping ---- */

static uint32_t capped(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

void report_keep(const struct meter *m, const struct meter_sum *sum, const char *how)
{
    struct entry *e = &entries[kept % REPORT_RESULTS];

    *e = (struct entry){
        .test = m->test,
        .bound = sum->bound,
        .how = how,
        .bytes = m->bytes,
        .us = sum->us,
        .kb_s_milli = capped(sum->kb_s_milli),
        .packets = m->udp ? capped(m->datagrams) : meter_segments(m),
        .retrans = meter_resent(m),
        .lost = m->loss.lost > INT32_MAX ? INT32_MAX : (int32_t)m->loss.lost,
        .cpu_permille = (uint16_t)sum->cpu_permille,
        .wire_permille = (uint16_t)wire_permille(m, sum),
        .peer_port = m->peer_port,
        .nic = (uint8_t)nicif_nic(m->netif)->index,
        .streams = (uint8_t)m->streams,
        .tx = m->dir == METER_TX,
        .udp = m->udp,
    };
    ip4_addr_copy(e->peer, *ip_2_ip4(&m->peer));
    kept++;
}

bool report_result(unsigned back, struct report_result *to)
{
    const struct entry *e;

    if (back >= kept || back >= REPORT_RESULTS) {
        return false;
    }
    e = &entries[(kept - 1 - back) % REPORT_RESULTS];
    *to = (struct report_result){
        .test = e->test,
        .bound = e->bound,
        .tx = e->tx,
        .udp = e->udp,
        .kb_s_milli = e->kb_s_milli,
        .cpu_permille = e->cpu_permille,
    };
    return true;
}

static bool is_whole(const struct entry *e)
{
    return strcmp(e->how, "ok") == 0;
}

/* ---- the table ---- */

/* Lost of how many, or segments sent again: what stands for quality. */
static void loss_text(char to[24], const struct entry *e)
{
    if (e->lost >= 0) {
        format(to, 24, "%d/%u", (int)e->lost, e->packets + (e->tx ? 0 : (uint32_t)e->lost));
    } else if (!e->udp && e->tx) {
        format(to, 24, "%u again", e->retrans);
    } else {
        format(to, 24, "-");
    }
}

static void tenths(char to[24], unsigned permille)
{
    if (permille == 0) {
        format(to, 24, "-");
    } else {
        format_fixed(to, permille, 1);
    }
}

static void table_line(char line[REPORT_LINE], unsigned number, const struct entry *e)
{
    char test[16], rate[24], wire[24], cpu_busy[24], loss[24], streams[24] = "";

    format(test, sizeof(test), "%s-%c", e->test, e->tx ? 't' : 'r');
    tenths(wire, e->wire_permille);
    loss_text(loss, e);
    if (e->streams > 1) {
        format(streams, sizeof(streams), " x%u", e->streams);
    }
    format(line, REPORT_LINE, "%3u %u %-8s %s %10s %6s %6s  %-6s %-11s %I%s%s%s", number, e->nic,
           test, e->udp ? "udp" : "tcp",
           format_fixed(rate, div64((uint64_t)e->kb_s_milli + 5, 10, NULL), 2), wire,
           format_fixed(cpu_busy, e->cpu_permille, 1), e->bound == NULL ? "-" : e->bound, loss,
           ip4_addr_get_u32(&e->peer), streams, is_whole(e) ? "" : " ", is_whole(e) ? "" : e->how);
}

static void write_table(report_put put, void *arg)
{
    unsigned first = kept > REPORT_RESULTS ? kept - REPORT_RESULTS : 0;
    char line[REPORT_LINE];

    put(arg, "  # card test  proto     KB/s  wire%   CPU%  bound  lost        peer");
    for (unsigned i = first; i < kept; i++) {
        table_line(line, i + 1, &entries[i % REPORT_RESULTS]);
        put(arg, line);
    }
}

/* ---- the line for forums: the best of each kind ---- */

/* Of whole runs only: one that was cut short, or is too short to have a bound, is chance. */
static const struct entry *best(unsigned nic, bool tx, bool udp)
{
    const struct entry *found = NULL;

    for (unsigned i = 0; i < kept && i < REPORT_RESULTS; i++) {
        const struct entry *e = &entries[i];

        if (e->nic == nic && e->tx == tx && e->udp == udp && e->bound != NULL && is_whole(e) &&
            (found == NULL || e->kb_s_milli > found->kb_s_milli)) {
            found = e;
        }
    }
    return found;
}

static void add(char line[REPORT_LINE], const char *text)
{
    size_t n = strlen(line);

    format(line + n, REPORT_LINE - n, "%s", text);
}

static void add_best(char line[REPORT_LINE], unsigned nic, bool tx, bool udp)
{
    const struct entry *e = best(nic, tx, udp);
    char text[64], rate[24];

    if (e != NULL) {
        format(text, sizeof(text), "; %s %s %s KB/s at %u %% CPU", udp ? "UDP" : "TCP",
               tx ? "out" : "in", format_fixed(rate, (e->kb_s_milli + ROUND) / 100, 1),
               (e->cpu_permille + 5u) / 10);
        add(line, text);
    }
}

static void write_paste(report_put put, void *arg, const struct nic *nic)
{
    static const char bus_names[][4] = {"ISA", "PCI"};
    char line[REPORT_LINE];

    format(line, sizeof(line), "NicTest86 %s: %u86 %u MHz, %s (%s) %s %u-bit", NICTEST_VERSION,
           (unsigned)cpu.class, time_cpu_mhz(), nic->driver->name, nic->model,
           bus_names[nic->place.bus == NIC_PCI], nic->width);
    for (unsigned kind = 0; kind < 4; kind++) {
        add_best(line, nic->index, kind % 2 != 0, kind >= 2);
    }
    put(arg, line);
}

void report_write(report_put put, void *arg)
{
    if (kept == 0) {
        put(arg, "no results yet");
        return;
    }
    write_table(put, arg);
    for (unsigned i = 0; i < nic_count; i++) {
        if (best(i, false, false) != NULL || best(i, true, false) != NULL ||
            best(i, false, true) != NULL || best(i, true, true) != NULL) {
            write_paste(put, arg, &nics[i]);
        }
    }
}

/* ---- the command ---- */

static void print_line(void *arg, const char *line)
{
    (void)arg;
    kprintf("%s\n", line);
}

static int start_report(int argc, char *argv[])
{
    (void)argv;
    if (argc != 1) {
        kprintf("usage: report\n");
        return SHELL_FAILED;
    }
    report_write(print_line, NULL);
    return SHELL_OK;
}

SHELL_COMMAND(report, "", "the last results, and a line to paste", start_report, NULL);
