/*
 * Running the client's streams and adding them up.  The streams themselves are in tcp_stream.c,
 * iperf2_send_udp.c and iperf2_udp.c (for -R over UDP).
 */
#include "net/apps/iperf2_client.h"

#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/udp.h"
#include "net/apps/app.h"
#include "net/apps/client.h"
#include "net/apps/iperf2_send_udp.h"
#include "net/apps/iperf2_udp.h"
#include "net/apps/tcp_stream.h"
#include "net/clock.h"

enum {
    ASK_AGAIN_US = 1000000, /* -R over UDP: the request may have got lost */
    ASK_TIMES = 3,
};

/* -R over UDP: a port of ours, and who is asked. */
struct reverse {
    struct udp_pcb *pcb; /* null: none, or over */
    bool ended, heard;
    unsigned asks_left;
    struct deadline again;
};

static struct {
    unsigned running; /* 0 or 1 */
    bool failed, resolving;
    struct iperf2_job job;
    unsigned left; /* streams under way */
    struct client_arp arp;
    struct reverse reverse[IPERF2_PARALLEL_MAX];
    uint64_t bytes, first_us, last_us; /* of all streams */
} client;

static char side(void)
{
    return client.job.request.reverse ? 'r' : 't';
}

/* ---- the end ---- */

static void print_sum(void)
{
    uint64_t us = client.last_us - client.first_us;
    char seconds[24], rate[24];

    if (client.job.streams == 1 || client.bytes == 0 || us == 0 || us > UINT32_MAX) {
        return;
    }
    kprintf(
        "iperf2-%c: sum of %u streams: %llu bytes in %s s = %s KB/sec\n", side(),
        client.job.streams, (unsigned long long)client.bytes,
        format_fixed(seconds, div64(us, 10000, NULL), 2),
        format_fixed(rate, div64(muldiv64(client.bytes, 100000000, (uint32_t)us), 1024, NULL), 2));
}

static void finish(void)
{
    client.running = 0;
    client.resolving = false;
    print_sum();
    shell_done(client.failed ? SHELL_FAILED : SHELL_OK);
}

static void stream_ended(const char *how, const struct meter *m)
{
    if (strcmp(how, "ok") != 0) {
        client.failed = true;
    }
    if (m->bytes != 0) {
        if (client.bytes == 0 || m->start_us < client.first_us) {
            client.first_us = m->start_us;
        }
        client.last_us = m->last_us > client.last_us ? m->last_us : client.last_us;
        client.bytes += m->bytes;
    }
    client.left--;
}

static void complain(const char *why)
{
    console_fresh_line();
    kprintf("iperf2-%c: %s\n", side(), why);
}

/* ---- TCP ---- */

static void tcp_ended(void *arg, const char *how, const char *why, const struct meter *m)
{
    (void)arg;
    if (why != NULL) {
        complain(why);
    }
    stream_ended(how, m);
}

static struct tcp_stream_job tcp_job(void)
{
    const struct iperf2_request *r = &client.job.request;
    struct tcp_stream_job job = {.test = "iperf2",
                                 .netif = client.job.netif,
                                 .host = client.job.host,
                                 .port = client.job.port,
                                 .payload = {iperf2_digits(), IPERF2_DIGITS, IPERF2_PERIOD},
                                 .length = r->length,
                                 .bytes = r->bytes,
                                 .us = r->us,
                                 .rate = r->rate,
                                 .header_bytes = IPERF2_HEADER,
                                 .receive = r->reverse,
                                 .console = true,
                                 .done = tcp_ended,
                                 .arg = &client};

    iperf2_write_header(job.header, r);
    return job;
}

static int start_tcp(void)
{
    struct tcp_stream_job job = tcp_job();

    while (client.left < client.job.streams) {
        if (tcp_stream_start(&job) != OK) {
            return E_NO_MEMORY;
        }
        client.left++;
    }
    return OK;
}

/* ---- UDP, sending ---- */

static void udp_ended(void *arg, const char *how, const struct iperf2_report *report,
                      const struct meter *m)
{
    char seconds[24];

    (void)arg;
    if (report != NULL) {
        kprintf("iperf2-t: the server got %llu bytes in %s s\n", (unsigned long long)report->bytes,
                format_fixed(seconds, div64(report->us, 10000, NULL), 2));
    } else if (how[0] == 'r') {
        complain("the server's port is not open");
    } else {
        complain("no report from the server");
    }
    stream_ended(how, m);
}

static int start_udp(void)
{
    struct iperf2_udp_job job = {.netif = client.job.netif,
                                 .host = client.job.host,
                                 .port = client.job.port,
                                 .request = client.job.request,
                                 .wants_report = true,
                                 .done = udp_ended,
                                 .arg = &client};

    while (client.left < client.job.streams) {
        if (iperf2_udp_send(&job) != OK) {
            return E_NO_MEMORY;
        }
        client.left++;
    }
    return OK;
}

/* ---- UDP, receiving ---- */

static void flow_ended(void *arg, const char *how, const struct meter *m)
{
    struct reverse *r = arg;

    if (m->bytes == 0) {
        complain("no answer from the server");
    }
    r->ended = true; /* the flow is not ours to free in here */
    stream_ended(how, m);
}

static void on_receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                       u16_t port)
{
    struct reverse *r = arg;

    if (port == client.job.port && ip_addr_eq(peer, &client.job.host)) {
        r->heard = true;
        iperf2_udp_take(pcb, p, peer, port);
    }
    pbuf_free(p);
}

static void ask(struct reverse *r)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, IPERF2_UDP_HEADERS, PBUF_RAM);

    if (p != NULL) {
        iperf2_write_datagram(p->payload, 1, time_us(), &client.job.request);
        udp_sendto_if(r->pcb, p, &client.job.host, client.job.port, client.job.netif);
        pbuf_free(p);
    }
    r->asks_left--;
    r->again = deadline_us(ASK_AGAIN_US);
}

static int start_reverse(void)
{
    while (client.left < client.job.streams) {
        struct reverse *r = &client.reverse[client.left];

        *r = (struct reverse){.pcb = udp_new(), .asks_left = ASK_TIMES};
        if (r->pcb == NULL) {
            return E_NO_MEMORY;
        }
        client.left++;
        udp_recv(r->pcb, on_receive, r);
        if (udp_bind(r->pcb, IP_ADDR_ANY, 0) != ERR_OK ||
            !iperf2_udp_expect(r->pcb, &client.job.host, client.job.port, client.job.netif,
                               flow_ended, r)) {
            return E_NO_MEMORY;
        }
        ask(r);
    }
    return OK;
}

static void close_port(struct reverse *r)
{
    iperf2_udp_forget(r->pcb);
    udp_remove(r->pcb);
    r->pcb = NULL;
}

static void turn_reverse(void)
{
    for (unsigned i = 0; i < IPERF2_PARALLEL_MAX; i++) {
        struct reverse *r = &client.reverse[i];

        if (r->pcb != NULL && r->ended) {
            close_port(r);
        } else if (r->pcb != NULL && !r->heard && r->asks_left != 0 && expired(&r->again)) {
            ask(r);
        }
    }
}

/* ---- outside ---- */

static void stop_all(void)
{
    tcp_stream_stop(&client);
    iperf2_udp_stop(&client);
    for (unsigned i = 0; i < IPERF2_PARALLEL_MAX; i++) {
        if (client.reverse[i].pcb != NULL) {
            close_port(&client.reverse[i]);
        }
    }
    client.left = 0;
}

static int start_streams(void)
{
    int error = !client.job.udp              ? start_tcp()
                : client.job.request.reverse ? start_reverse()
                                             : start_udp();

    if (error != OK) {
        complain("out of memory");
        stop_all();
    }
    return error;
}

int iperf2_run(const struct iperf2_job *job)
{
    memset(&client, 0, sizeof(client));
    client.job = *job;
    kprintf("iperf2-%c: %s port %u, %u stream%s, %u bytes a call -> %s\n", side(),
            job->udp ? "UDP" : "TCP", job->port, job->streams, job->streams == 1 ? "" : "s",
            job->request.length, ipaddr_ntoa(&job->host));
    if (job->udp) {
        client_arp_start(&client.arp, job->netif, &job->host);
        client.resolving = true;
    } else if (start_streams() != OK) {
        return E_NO_MEMORY;
    }
    client.running = 1;
    return OK;
}

void iperf2_abort(void)
{
    stop_all();
    client.failed = true;
    finish();
}

static bool resolve(void)
{
    switch (client_arp_turn(&client.arp)) {
    case ARP_KNOWN:
        client.resolving = false;
        client.failed = start_streams() != OK;
        return true;
    case ARP_SILENT:
        complain("no answer to ARP from the host or gateway");
        client.resolving = false;
        client.failed = true;
        return true;
    default: return false;
    }
}

static bool turn(void)
{
    if (client.resolving) {
        return resolve();
    }
    turn_reverse();
    if (client.left == 0) {
        finish();
        return true;
    }
    return false;
}

APP_WHILE(iperf2_client, NULL, client.running, turn);
