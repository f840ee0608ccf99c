/*
 * ttcp, sending.  The payload is one constant block of printable ASCII, so large writes are sent
 * by reference: the only copy is the driver's, into the card.
 */
#include "net/apps/ttcp_send.h"

#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/shell.h"
#include "kernel/time.h"
#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "net/apps/app.h"
#include "net/apps/client.h"
#include "net/meter.h"
#include "net/nicif.h"

enum {
    PATTERN_BYTES = 8192,
    PATTERN_FIRST = ' ', /* classic ttcp: the printable characters in turn            */
    PATTERN_KINDS = 95,
    CALLS_PER_TURN = 64, /* then the cards get their turn                             */
    COPY_BELOW = 256,    /* shorter writes are copied together into full segments     */
    CONNECT_US = 10000000,
    STALL_US = 30000000, /* a peer that takes nothing for so long is dead             */
    CLOSE_US = 5000000,  /* for the peer's FIN after ours was acknowledged            */
    SENTINEL_BYTES = 4,
    SENTINELS_AFTER = 4, /* end sentinels after the one that ends the test            */
    FRAGMENT_BYTES = 1480,
    IP_AND_UDP = 28,
};

enum phase {
    PHASE_IDLE,
    PHASE_CONNECTING,
    PHASE_SENDING,
    PHASE_CLOSING,   /* TCP: FIN sent. UDP: the last datagrams leave the queue */
    PHASE_WAIT_FIN,  /* TCP: reported, waiting for the peer's FIN              */
    PHASE_RESOLVING, /* UDP: ARP                                               */
};

static struct {
    enum phase phase;
    struct ttcp_job job;
    struct tcp_pcb *tcp;
    struct udp_pcb *udp;
    struct client_arp arp;
    struct meter meter;
    uint32_t calls_left;
    uint32_t written; /* of the current call */
    uint64_t taken;   /* TCP: acknowledged by the peer */
    uint32_t sentinels_left;
    struct deadline limit;
} tx;

static uint8_t pattern[PATTERN_KINDS - 1 + PATTERN_BYTES]; /* any of the kinds can be the first */

static void finish(int status)
{
    tx.phase = PHASE_IDLE;
    tx.tcp = NULL;
    if (tx.udp != NULL) {
        udp_remove(tx.udp);
        tx.udp = NULL;
    }
    shell_done(status);
}

/* What lies in our own buffer has gone nowhere. */
static void end_early(const char *how)
{
    if (!tx.job.udp && tx.meter.bytes > tx.taken) {
        tx.meter.bytes = tx.taken;
    }
    meter_end(&tx.meter, how);
}

static void fail(const char *why, const char *how)
{
    console_fresh_line();
    kprintf("ttcp-t: %s\n", why);
    end_early(how);
    finish(SHELL_FAILED);
}

/* ---- TCP ---- */

static void let_go_of_tcp(void)
{
    tcp_watch_attach(tx.tcp, NULL);
    tcp_arg(tx.tcp, NULL);
    tcp_recv(tx.tcp, NULL);
    tcp_sent(tx.tcp, NULL);
    tcp_err(tx.tcp, NULL);
}

static void abort_tcp(void)
{
    let_go_of_tcp();
    tcp_abort(tx.tcp);
}

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    (void)arg;
    if (tx.phase == PHASE_CLOSING && err == ERR_CLSD) { /* both FINs acknowledged, ours last */
        meter_end(&tx.meter, "ok");
        finish(SHELL_OK);
    } else if (tx.phase == PHASE_WAIT_FIN) { /* reported: how the peer leaves is its affair */
        finish(SHELL_OK);
    } else if (tx.phase == PHASE_CONNECTING && err == ERR_RST) {
        fail("connection refused", "refused");
    } else if (tx.phase == PHASE_CONNECTING) { /* lwIP has asked TCP_SYNMAXRTX times */
        fail("no answer (connect timed out)", "timeout");
    } else {
        fail("connection reset by the peer", "reset");
    }
}

static bool fin_acknowledged(void)
{
    return tx.tcp->state == FIN_WAIT_2 || tx.tcp->state == TIME_WAIT;
}

static void close_measured(void)
{
    meter_end(&tx.meter, "ok");
    tx.phase = PHASE_WAIT_FIN;
    tx.limit = deadline_us(CLOSE_US);
}

static void leave_tcp(void)
{
    struct tcp_pcb *pcb = tx.tcp;

    let_go_of_tcp();
    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
    }
    finish(SHELL_OK);
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (p != NULL) { /* a ttcp receiver says nothing; whatever this is, swallow it */
        tcp_recved(pcb, p->tot_len);
        pbuf_free(p);
        return ERR_OK;
    }
    if (tx.phase == PHASE_CLOSING && fin_acknowledged()) {
        close_measured();
    }
    if (tx.phase == PHASE_WAIT_FIN) {
        leave_tcp();
    }
    return ERR_OK; /* a peer that only stops sending (nc) may still receive */
}

/* One application call, or as much of it as fits.  True when the call is complete. */
static bool write_call(void)
{
    uint8_t flags = tx.job.length < COPY_BELOW ? TCP_WRITE_FLAG_COPY : 0;

    while (tx.written < tx.job.length) {
        uint32_t offset = tx.written % PATTERN_KINDS;
        uint32_t n = tx.job.length - tx.written;

        n = n < PATTERN_BYTES ? n : PATTERN_BYTES;
        n = n < tcp_sndbuf(tx.tcp) ? n : tcp_sndbuf(tx.tcp);
        if (n == 0 || tcp_write(tx.tcp, pattern + offset, (u16_t)n, flags) != ERR_OK) {
            return false;
        }
        tx.written += n;
    }
    tx.written = 0;
    tx.calls_left--;
    return true;
}

static bool pump_tcp(void)
{
    unsigned calls = 0;
    uint32_t before = tx.written;

    while (tx.calls_left != 0 && calls < CALLS_PER_TURN && write_call()) {
        meter_add(&tx.meter, tx.job.length);
        calls++;
        if (tx.job.nodelay) {
            tcp_output(tx.tcp);
        }
    }
    if (calls == 0 && tx.written == before) {
        return false;
    }
    meter_touch(&tx.meter);
    tcp_output(tx.tcp);
    if (tx.calls_left == 0) {
        tx.phase = PHASE_CLOSING;
        tcp_shutdown(tx.tcp, 0, 1);
    }
    return true;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    (void)err;
    if (tx.job.nodelay) {
        tcp_nagle_disable(pcb);
    }
    kprintf("ttcp-t: connected\n");
    meter_start(&tx.meter, "ttcp", METER_TX, false, tx.job.netif, &tx.job.host, tx.job.port);
    tx.phase = PHASE_SENDING;
    return ERR_OK;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t acknowledged)
{
    (void)arg;
    (void)pcb;
    tx.taken += acknowledged;
    meter_touch(&tx.meter); /* progress, also when the last call was made long ago */
    return ERR_OK;
}

static int connect_tcp(void)
{
    tx.tcp = tcp_new();
    if (tx.tcp == NULL) {
        return E_NO_MEMORY;
    }
    tcp_recv(tx.tcp, on_receive);
    tcp_sent(tx.tcp, on_sent);
    tcp_err(tx.tcp, on_error);
    tcp_watch_attach(tx.tcp, &tx.meter.tcp);
    if (tcp_connect(tx.tcp, &tx.job.host, tx.job.port, on_connected) != ERR_OK) {
        abort_tcp();
        tx.tcp = NULL;
        return E_NO_MEMORY;
    }
    tx.limit = deadline_us(CONNECT_US);
    tx.phase = PHASE_CONNECTING;
    return OK;
}

static bool turn_tcp(void)
{
    if (tx.phase == PHASE_CONNECTING) {
        if (expired(&tx.limit)) {
            abort_tcp();
            fail("no answer (connect timed out after 10 s)", "timeout");
        }
        return false;
    }
    if (tx.phase == PHASE_WAIT_FIN) {
        if (expired(&tx.limit)) {
            abort_tcp();
            finish(SHELL_OK);
        }
        return false;
    }
    if (tx.phase == PHASE_SENDING && pump_tcp()) {
        return true;
    }
    if (tx.phase == PHASE_CLOSING && fin_acknowledged()) {
        close_measured();
        if (tx.tcp->state == TIME_WAIT) {
            leave_tcp();
        }
        return true;
    }
    if (meter_idle_us(&tx.meter) > STALL_US) {
        abort_tcp();
        fail("the peer has taken nothing for 30 s", "timeout");
    }
    return false;
}

/* ---- UDP ---- */

/* A datagram of `length` pattern bytes by reference.  False if memory or the queue is full. */
static bool send_datagram(uint32_t length)
{
    unsigned frames = (length + IP_AND_UDP + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES;
    struct pbuf *p;
    bool sent;

    if (nicif_tx_room(tx.job.netif) < frames) {
        return false;
    }
    p = pbuf_alloc(PBUF_TRANSPORT, 0, PBUF_RAM);
    for (uint32_t at = 0; p != NULL && at < length; at += PATTERN_BYTES) {
        uint32_t n = length - at < PATTERN_BYTES ? length - at : PATTERN_BYTES;
        struct pbuf *part = pbuf_alloc(PBUF_RAW, (u16_t)n, PBUF_ROM);

        if (part == NULL) {
            pbuf_free(p);
            return false;
        }
        part->payload = pattern + at % PATTERN_KINDS;
        pbuf_cat(p, part);
    }
    if (p == NULL) {
        return false;
    }
    sent = udp_sendto_if(tx.udp, p, &tx.job.host, tx.job.port, tx.job.netif) == ERR_OK;
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

/* ---- outside ---- */

int ttcp_send(const struct ttcp_job *job)
{
    tx.job = *job;
    tx.calls_left = job->count;
    tx.written = 0;
    tx.taken = 0;
    tx.sentinels_left = SENTINELS_AFTER;
    tx.meter.open = false;
    kprintf("ttcp-t: buflen=%u, nbuf=%u, port=%u %s -> %s\n", job->length, job->count, job->port,
            job->udp ? "udp" : "tcp", ipaddr_ntoa(&job->host));
    if (!job->udp) {
        if (connect_tcp() != OK) {
            kprintf("ttcp-t: out of memory\n");
            return E_NO_MEMORY;
        }
        return OK;
    }
    tx.udp = udp_new();
    if (tx.udp == NULL) {
        kprintf("ttcp-t: out of memory\n");
        return E_NO_MEMORY;
    }
    client_arp_start(&tx.arp, job->netif, &job->host);
    tx.phase = PHASE_RESOLVING;
    return OK;
}

void ttcp_send_abort(void)
{
    if (tx.tcp != NULL) {
        abort_tcp();
    }
    end_early("abort");
    finish(SHELL_FAILED);
}

static void start(void)
{
    for (unsigned i = 0; i < sizeof(pattern); i++) {
        pattern[i] = (uint8_t)(PATTERN_FIRST + i % PATTERN_KINDS);
    }
}

static bool turn(void)
{
    if (tx.phase == PHASE_IDLE) {
        return false;
    }
    return tx.job.udp ? turn_udp() : turn_tcp();
}

APP_WHILE(ttcp_send, start, tx.phase, turn);
