/*
 * The control connection of a nuttcp session: who may come in, the steps in their order, and a time
 * limit for each, so that a client that dies frees the server.
 */
#include "kernel/console.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/apps/control.h"
#include "net/apps/listen.h"
#include "net/apps/nuttcp.h"
#include "net/apps/ttcp_serve.h"
#include "net/clock.h"

enum {
    HELLO_US = 5000000,  /* for what the client says by itself      */
    OPEN_US = 8000000,   /* for all data connections                */
    TELL_US = 5000000,   /* for taking the report                   */
    GRACE_US = 30000000, /* beyond the time asked for               */
};

struct nuttcp_session nuttcp;

static struct {
    char text[NUTTCP_LINE_MAX];
    unsigned bytes;
} line;

static void set_phase(enum nuttcp_phase phase, uint32_t limit_us)
{
    nuttcp.phase = phase;
    nuttcp.limit_us = clock_us() + limit_us;
}

/* ---- saying ---- */

/* As much as there is room for; the rest next turn. */
static void speak(void)
{
    unsigned n = nuttcp_text.bytes;

    if (n == 0) {
        return;
    }
    n = n < tcp_sndbuf(nuttcp.control) ? n : tcp_sndbuf(nuttcp.control);
    if (n == 0 ||
        tcp_write(nuttcp.control, nuttcp_text.text, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        return;
    }
    nuttcp_text.bytes -= n;
    memmove(nuttcp_text.text, nuttcp_text.text + n, nuttcp_text.bytes);
    tcp_output(nuttcp.control);
}

/* ---- the end of a session ---- */

static void leave_streams(const char *how)
{
    nuttcp_stop(how, nuttcp.meter.last_us);
    nuttcp_tcp_leave(strcmp(how, "ok") != 0);
    nuttcp_udp_leave();
}

/* Nothing is left of it but what the control connection's pcb, given back, still has to do. */
static struct tcp_pcb *leave(const char *how)
{
    struct tcp_pcb *pcb = nuttcp.control;

    leave_streams(how);
    nuttcp.phase = NUTTCP_FREE;
    nuttcp.control = NULL;
    nuttcp_text.bytes = 0;
    if (pcb != NULL) {
        tcp_arg(pcb, NULL);
        tcp_recv(pcb, NULL);
        tcp_err(pcb, NULL);
        tcp_poll(pcb, NULL, 0);
    }
    return pcb;
}

static err_t abort_session(const char *how)
{
    tcp_abort(leave(how));
    return ERR_ABRT;
}

void nuttcp_tell(void)
{
    nuttcp_tcp_leave(false);
    nuttcp_udp_leave();
    nuttcp_say_results();
    set_phase(NUTTCP_TELLING, TELL_US);
    speak();
}

/* The client prints what stands between the two "KO". */
void nuttcp_refuse(const char *why)
{
    console_fresh_line();
    kprintf("nuttcp: %I refused: the box %s\n", ip4_addr_get_u32(ip_2_ip4(&nuttcp.peer)), why);
    nuttcp_say("KO\n%s\nKO\n", why);
    set_phase(NUTTCP_TELLING, TELL_US);
    speak();
}

/* ---- the steps ---- */

static void announce(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    console_fresh_line();
    kprintf("nuttcp: %I, %s, %u stream%s %s us\n", ip4_addr_get_u32(ip_2_ip4(&nuttcp.peer)),
            p->udp ? "UDP" : "TCP", p->streams, p->streams == 1 ? "" : "s",
            p->sends ? "from" : "to");
}

void nuttcp_opened(void)
{
    set_phase(NUTTCP_RUNNING, 0);
    nuttcp.limit_us = nuttcp.params.us != 0 ? clock_us() + nuttcp.params.us + GRACE_US : UINT64_MAX;
    nuttcp_run();
    nuttcp_say_settings();
    speak();
}

static void on_params(void)
{
    const char *refusal = nuttcp_read_params(line.text, line.bytes, &nuttcp.params);

    if (refusal == NULL) {
        set_phase(NUTTCP_OPENING, OPEN_US);
        refusal = nuttcp.params.udp ? nuttcp_udp_open() : nuttcp_tcp_open();
    }
    if (refusal != NULL) {
        nuttcp_refuse(refusal);
        return;
    }
    announce();
    nuttcp_say("OK v6.1.2\n");
    speak();
    if (nuttcp.params.udp) {
        nuttcp_opened();
    }
}

/* ---- hearing ---- */

static void on_line(void)
{
    if (nuttcp_is_greeting(line.text, line.bytes)) {
        nuttcp_say("HELO nuttcp v6.1.2\n");
        speak();
    } else {
        on_params();
    }
    line.bytes = 0;
}

static void hear(const struct pbuf *p)
{
    for (unsigned at = 0; at < p->tot_len && nuttcp.phase == NUTTCP_HELLO; at++) {
        char c = (char)pbuf_get_at(p, (u16_t)at);

        if (c == '\n') {
            on_line();
        } else if (line.bytes == NUTTCP_LINE_MAX) {
            nuttcp_refuse("did not understand the parameters");
        } else {
            line.text[line.bytes++] = c;
        }
    }
}

/* A client that has sent datagrams says so by closing its half; any other has gone. */
static err_t on_hang_up(struct tcp_pcb *pcb)
{
    nuttcp.hung_up = true;
    if (nuttcp.phase == NUTTCP_TELLING) {
        return ERR_OK;
    }
    if (nuttcp.phase == NUTTCP_RUNNING && nuttcp.params.udp && !nuttcp.params.sends) {
        nuttcp_udp_finish("reset");
        return ERR_OK;
    }
    leave("reset");
    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        return ERR_ABRT;
    }
    return ERR_OK;
}

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (p == NULL) {
        return on_hang_up(pcb);
    }
    tcp_recved(pcb, p->tot_len);
    hear(p);
    pbuf_free(p);
    return ERR_OK;
}

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    (void)arg;
    (void)err;
    nuttcp.control = NULL;
    leave("reset");
}

static err_t on_watch(void *arg, struct tcp_pcb *pcb)
{
    (void)arg;
    return control_is_dead(pcb) ? abort_session("timeout") : ERR_OK;
}

/* ---- coming in ---- */

static void begin(struct tcp_pcb *pcb)
{
    memset(&nuttcp, 0, sizeof(nuttcp));
    nuttcp.control = pcb;
    nuttcp.netif = ip_current_netif();
    nuttcp.peer = pcb->remote_ip;
    line.bytes = 0;
    nuttcp_text.bytes = 0;
    set_phase(NUTTCP_HELLO, HELLO_US);
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, on_receive);
    tcp_err(pcb, on_error);
    tcp_poll(pcb, on_watch, CONTROL_WATCH_HALF_SECONDS);
}

/* All that is to be said, whatever the client says: it hears why after its parameters. */
static void refuse_busy(struct tcp_pcb *pcb)
{
    static const char busy[] = "HELO nuttcp v6.1.2\nKO\nis busy with another test\nKO\n";

    tcp_write(pcb, busy, sizeof(busy) - 1, 0);
    control_linger(pcb);
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    if (nuttcp.phase == NUTTCP_FREE) {
        begin(pcb);
    } else {
        refuse_busy(pcb);
    }
    return ERR_OK;
}

static bool take_udp(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port)
{
    (void)pcb;
    (void)port;
    return nuttcp_udp_take(p, peer);
}

static void start(void)
{
    static const struct ttcp_claim claim = {nuttcp_tcp_claim, take_udp};

    listen_tcp_always(NUTTCP_PORT, on_accept, "nuttcp");
    ttcp_put_claim(&claim);
}

/* ---- turn ---- */

static void on_limit(void)
{
    if (nuttcp.phase == NUTTCP_TELLING || nuttcp.phase < NUTTCP_RUNNING) {
        abort_session("timeout");
    } else {
        nuttcp_verdict("timeout", nuttcp.meter.last_us);
    }
}

static bool turn(void)
{
    if (clock_us() >= nuttcp.limit_us) {
        on_limit();
    }
    if (nuttcp.phase == NUTTCP_FREE) {
        return false;
    }
    if (nuttcp.phase == NUTTCP_OPENING) {
        nuttcp_tcp_open_turn();
    }
    speak();
    if (nuttcp.phase == NUTTCP_TELLING && nuttcp_text.bytes == 0) {
        control_linger(leave("ok"));
        return true;
    }
    return nuttcp.phase >= NUTTCP_RUNNING && nuttcp_run_turn();
}

APP_WHILE(nuttcp, start, nuttcp.phase, turn);
