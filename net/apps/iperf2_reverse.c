/*
 * Tests of our iperf2 server towards a client.
 */
#include "net/apps/iperf2_reverse.h"

#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/time.h"
#include "lwip/ip.h"
#include "net/answer.h"
#include "net/apps/app.h"
#include "net/apps/iperf2_send_udp.h"
#include "net/apps/tcp_stream.h"
#include "net/proof.h"

enum {
    TEST_US = 10000000,     /* what iperf2 takes if the client does not say */
    UDP_MOST_US = 60000000, /* DESIGN 8 */
    LENGTH_MAX = 1 << 20,
    LISTEN_US = 300000, /* a client with -r listens only a moment after its own test */
};

/* Amount, length and rate as used: what was not said, by default. */
static struct iperf2_request usable(const struct iperf2_request *asked, bool udp)
{
    struct iperf2_request r = *asked;
    uint32_t most = udp ? IPERF2_UDP_LENGTH_MAX : LENGTH_MAX;
    uint32_t usual = udp ? IPERF2_UDP_LENGTH : IPERF2_TCP_LENGTH;

    r.length = r.length == 0 || r.length > most ? usual : r.length;
    if (r.bytes == 0 && r.us == 0) {
        r.us = TEST_US;
    }
    if (udp) {
        r.length = r.length < IPERF2_UDP_NEW ? IPERF2_UDP_NEW : r.length;
        r.rate = r.rate == 0 ? IPERF2_UDP_RATE : r.rate;
        r.us = r.us > UDP_MOST_US ? UDP_MOST_US : r.us;
    }
    r.reverse = r.answer = r.at_once = false;
    return r;
}

/* ---- TCP ---- */

static void tcp_ended(void *arg, const char *how, const char *why, const struct meter *m)
{
    (void)m;
    (void)arg;
    (void)how;
    if (why != NULL) {
        console_fresh_line();
        kprintf("iperf2-t: %s\n", why);
    }
}

static struct tcp_stream_job tcp_job(const struct iperf2_request *request, struct netif *netif,
                                     const ip_addr_t *client)
{
    struct iperf2_request r = usable(request, false);

    return (struct tcp_stream_job){.test = "iperf2",
                                   .netif = netif,
                                   .host = *client,
                                   .payload = {iperf2_digits(), IPERF2_DIGITS, IPERF2_PERIOD},
                                   .length = r.length,
                                   .bytes = r.bytes,
                                   .us = r.us,
                                   .rate = r.rate,
                                   .done = tcp_ended};
}

bool iperf2_reverse_tcp(const struct iperf2_request *request, struct netif *netif,
                        struct tcp_pcb *pcb)
{
    struct tcp_stream_job job = tcp_job(request, netif, &pcb->remote_ip);

    job.port = pcb->remote_port;
    return tcp_stream_take_over(&job, pcb) == OK;
}

void iperf2_answer_tcp(const struct iperf2_request *request, struct netif *netif,
                       const ip_addr_t *client)
{
    struct tcp_stream_job job = tcp_job(request, netif, client);

    job.port = request->port;
    job.patient = true;
    if (tcp_stream_start(&job) != OK) {
        kprintf("iperf2-t: no room for a connection to %s\n", ipaddr_ntoa(client));
    }
}

/* ---- UDP: one at a time ---- */

enum udp_state { UDP_IDLE, UDP_PROVING, UDP_WAITING, UDP_SENDING };

static struct {
    unsigned state;
    struct iperf2_udp_job job;
    struct deadline start;
} udp;

static void udp_ended(void *arg, const char *how, const struct iperf2_report *report,
                      const struct meter *m)
{
    (void)m;
    (void)arg;
    (void)how;
    (void)report;
    udp.state = UDP_IDLE;
}

static void refuse(const char *why)
{
    console_fresh_line();
    kprintf("iperf2-t: no UDP test towards %s: %s\n", ipaddr_ntoa(&udp.job.host), why);
    udp.state = UDP_IDLE;
}

static void proven(void *arg, bool right)
{
    (void)arg;
    if (!right) {
        refuse("it does not prove by ARP that it asked for it");
        return;
    }
    udp.state = UDP_WAITING;
}

void iperf2_answer_udp(const struct iperf2_request *request, struct udp_pcb *pcb,
                       const ip_addr_t *client, uint16_t port, uint64_t clock_us)
{
    if (udp.state != UDP_IDLE || !may_answer(client, port)) {
        return;
    }
    udp.job = (struct iperf2_udp_job){.netif = ip_current_input_netif(),
                                      .host = *client,
                                      .port = request->reverse ? port : request->port,
                                      .from = request->reverse ? pcb : NULL,
                                      .request = usable(request, true),
                                      .clock_us = clock_us,
                                      .wants_report = !request->reverse,
                                      .done = udp_ended};
    udp.start = deadline_us(request->reverse || request->at_once ? 0 : LISTEN_US);
    udp.state = UDP_PROVING;
    if (!proof_ask(client, proven, NULL)) {
        refuse("it is not on our network; `iperf -u` here can send");
    }
}

static bool turn(void)
{
    if (udp.state != UDP_WAITING || !expired(&udp.start)) {
        return false;
    }
    udp.state = UDP_SENDING;
    if (iperf2_udp_send(&udp.job) != OK) {
        refuse("no room");
    }
    return true;
}

APP_WHILE(iperf2_reverse, NULL, udp.state, turn);
