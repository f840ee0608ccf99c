/*
 * ttcp, sending: over TCP as a stream like any other, over UDP with its sentinels.  The payload is
 * one constant block of printable ASCII, sent by reference: the only copy is the driver's, into the
 * card.
 */
#include "net/apps/ttcp_send.h"

#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/shell.h"
#include "kernel/time.h"
#include "lwip/udp.h"
#include "net/apps/app.h"
#include "net/apps/client.h"
#include "net/apps/datagram.h"
#include "net/apps/tcp_stream.h"
#include "net/meter.h"
#include "net/nicif.h"

enum {
    PATTERN_BYTES = 8192,
    PATTERN_FIRST = ' ', /* classic ttcp: the printable characters in turn            */
    PATTERN_KINDS = 95,
    CALLS_PER_TURN = 64, /* then the cards get their turn                             */
    STALL_US = 30000000, /* a card that takes nothing for so long is dead             */
    SENTINEL_BYTES = 4,
    SENTINELS_AFTER = 4, /* end sentinels after the one that ends the test            */
};

enum phase { /* of UDP */
             PHASE_IDLE,
             PHASE_RESOLVING, /* ARP                              */
             PHASE_SENDING,
             PHASE_CLOSING, /* the last datagrams leave the queue */
};

static struct {
    enum phase phase;
    struct ttcp_job job;
    struct udp_pcb *udp;
    struct client_arp arp;
    struct meter meter;
    uint32_t calls_left;
    uint32_t sentinels_left;
    struct deadline limit;
} tx;

static uint8_t pattern[PATTERN_KINDS - 1 + PATTERN_BYTES]; /* any of the kinds can be the first */

const struct tcp_payload ttcp_payload = {pattern, PATTERN_BYTES, PATTERN_KINDS};

static __attribute__((cold)) void finish(int status)
{
    tx.phase = PHASE_IDLE;
    if (tx.udp != NULL) {
        udp_remove(tx.udp);
        tx.udp = NULL;
    }
    shell_done(status);
}

static void complain(const char *why)
{
    console_fresh_line();
    kprintf("ttcp-t: %s\n", why);
}

static __attribute__((cold)) void fail(const char *why, const char *how)
{
    complain(why);
    meter_end(&tx.meter, how);
    finish(SHELL_FAILED);
}

/* ---- TCP: a stream (tcp_stream.c) ---- */

static void on_connected(void *arg)
{
    (void)arg;
    kprintf("ttcp-t: connected\n");
}

static void stream_ended(void *arg, const char *how, const char *why, const struct meter *m)
{
    (void)arg;
    (void)how;
    (void)m;
    if (why != NULL) {
        complain(why);
    }
    finish(why == NULL ? SHELL_OK : SHELL_FAILED);
}

static int start_tcp(void)
{
    struct tcp_stream_job job = {.test = "ttcp",
                                 .netif = tx.job.netif,
                                 .host = tx.job.host,
                                 .port = tx.job.port,
                                 .payload = ttcp_payload,
                                 .length = tx.job.length,
                                 .bytes = (uint64_t)tx.job.length * tx.job.count,
                                 .nodelay = tx.job.nodelay,
                                 .console = true,
                                 .connected = on_connected,
                                 .done = stream_ended,
                                 .arg = &tx};

    return tcp_stream_start(&job);
}

/* ---- UDP ---- */

/* A datagram of `length` pattern bytes by reference.  False if memory or the queue is full. */
static bool send_datagram(uint32_t length)
{
    struct pbuf *p;
    bool sent;

    if (nicif_tx_room(tx.job.netif) < datagram_frames(length)) {
        return false;
    }
    p = datagram_make(&ttcp_payload, length, NULL, 0);
    if (p == NULL) {
        return false;
    }
    sent = nicif_udp_send(tx.job.netif, tx.udp, p, &tx.job.host, tx.job.port) == ERR_OK;
    pbuf_free(p);
    return sent;
}

static bool pump_udp(void)
{
    unsigned calls = 0;

    while (tx.calls_left != 0 && calls < CALLS_PER_TURN && send_datagram(tx.job.length)) {
        tx.calls_left--;
        tx.meter.datagrams++;
        meter_add(&tx.meter, tx.job.length);
        calls++;
    }
    if (tx.calls_left == 0 && send_datagram(SENTINEL_BYTES)) {
        tx.phase = PHASE_CLOSING;
        return true;
    }
    return calls != 0;
}

/* The end sentinel has left for the card: the test is over; four more in case it gets lost. */
static bool close_udp(void)
{
    if (tx.sentinels_left == SENTINELS_AFTER) {
        if (!nicif_tx_empty(tx.job.netif)) {
            return false;
        }
        meter_end(&tx.meter, "ok");
    }
    if (tx.sentinels_left == 0) {
        if (nicif_tx_empty(tx.job.netif)) {
            finish(SHELL_OK);
        }
        return false;
    }
    if (send_datagram(SENTINEL_BYTES)) {
        tx.sentinels_left--;
    }
    return true;
}

static bool resolve(void)
{
    switch (client_arp_turn(&tx.arp)) {
    case ARP_KNOWN:
        if (!send_datagram(SENTINEL_BYTES)) {
            return false; /* the queue is full: next turn */
        }
        meter_start(&tx.meter, "ttcp", METER_TX, true, tx.job.netif, &tx.job.host, tx.job.port);
        tx.phase = PHASE_SENDING;
        return true;
    case ARP_SILENT: fail("no answer to ARP from the host or gateway", "timeout"); return false;
    default: return false;
    }
}

static bool turn_udp(void)
{
    if (tx.phase == PHASE_RESOLVING) {
        return resolve();
    }
    if (meter_idle_us(&tx.meter) > STALL_US) {
        fail("the card has sent nothing for 30 s", "timeout");
        return false;
    }
    return tx.phase == PHASE_SENDING ? pump_udp() : close_udp();
}

static int start_udp(void)
{
    tx.udp = udp_new();
    if (tx.udp == NULL) {
        return E_NO_MEMORY;
    }
    client_arp_start(&tx.arp, tx.job.netif, &tx.job.host);
    tx.phase = PHASE_RESOLVING;
    return OK;
}

/* ---- outside ---- */

__attribute__((cold)) int ttcp_send(const struct ttcp_job *job)
{
    tx.job = *job;
    tx.calls_left = job->count;
    tx.sentinels_left = SENTINELS_AFTER;
    tx.meter.open = false;
    kprintf("ttcp-t: buflen=%u, nbuf=%u, port=%u %s -> %s\n", job->length, job->count, job->port,
            job->udp ? "udp" : "tcp", ipaddr_ntoa(&job->host));
    if ((job->udp ? start_udp() : start_tcp()) != OK) {
        kprintf("ttcp-t: out of memory\n");
        return E_NO_MEMORY;
    }
    return OK;
}

__attribute__((cold)) void ttcp_send_abort(void)
{
    tcp_stream_stop(&tx);
    meter_end(&tx.meter, "abort");
    finish(SHELL_FAILED);
}

static __attribute__((cold)) void start(void)
{
    for (unsigned i = 0; i < sizeof(pattern); i++) {
        pattern[i] = (uint8_t)(PATTERN_FIRST + i % PATTERN_KINDS);
    }
}

APP_WHILE(ttcp_send, start, tx.phase, turn_udp);
