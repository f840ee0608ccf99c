/*
 * The control connection of a nuttcp session: who may come in, the steps in their order, and a time
 * limit for each, so that a client that dies frees the server.
 */
#include "kernel/console.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/apps/nuttcp.h"
#include "net/apps/ttcp_serve.h"
#include "net/clock.h"

enum {
    OPEN_US = 8000000,   /* for all data connections                */
    TELL_US = 5000000,   /* for taking the report                   */
    GRACE_US = 30000000, /* beyond the time asked for               */
};

struct nuttcp_session nuttcp;

static const struct control_protocol protocol;

static struct {
    char text[NUTTCP_LINE_MAX];
    unsigned bytes;
} line;

static void set_phase(enum nuttcp_phase phase, uint64_t limit_us)
{
    nuttcp.phase = phase;
    control_limit(&nuttcp.control, limit_us);
}

/* ---- saying ---- */

/* As much as there is room for; the rest next turn. */
static void speak(void)
{
    struct tcp_pcb *pcb = nuttcp.control.pcb;
    unsigned n = nuttcp_text.bytes;

    if (n == 0) {
        return;
    }
    n = n < tcp_sndbuf(pcb) ? n : tcp_sndbuf(pcb);
    if (n == 0 || tcp_write(pcb, nuttcp_text.text, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        return;
    }
    nuttcp_text.bytes -= n;
    memmove(nuttcp_text.text, nuttcp_text.text + n, nuttcp_text.bytes);
    tcp_output(pcb);
}

/* ---- the end of a session ---- */

static void over(const char *how)
{
    nuttcp_stop(how, nuttcp.meter.last_us);
    nuttcp_tcp_leave(strcmp(how, "ok") != 0);
    nuttcp_udp_leave();
    nuttcp.phase = NUTTCP_FREE;
    nuttcp_text.bytes = 0;
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
    kprintf("nuttcp: %I refused: the box %s\n", ip4_addr_get_u32(ip_2_ip4(&nuttcp.control.peer)),
            why);
    nuttcp_say("KO\n%s\nKO\n", why);
    set_phase(NUTTCP_TELLING, TELL_US);
    speak();
}

/* ---- the steps ---- */

static void announce(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    console_fresh_line();
    kprintf("nuttcp: %I, %s, %u stream%s %s us\n", ip4_addr_get_u32(ip_2_ip4(&nuttcp.control.peer)),
            p->udp ? "UDP" : "TCP", p->streams, p->streams == 1 ? "" : "s",
            p->sends ? "from" : "to");
}

void nuttcp_opened(void)
{
    set_phase(NUTTCP_RUNNING, nuttcp.params.us != 0 ? nuttcp.params.us + GRACE_US : UINT64_MAX / 2);
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

static err_t hear(const struct pbuf *p)
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
    return ERR_OK;
}

/* A client that has sent datagrams says so by closing its half, and one that was interrupted while
 * it received some; any other has gone. */
static err_t hung_up(void)
{
    if (nuttcp.phase == NUTTCP_TELLING) {
        return ERR_OK;
    }
    if (nuttcp.phase >= NUTTCP_RUNNING && nuttcp.params.udp) {
        nuttcp_udp_finish("reset");
        return ERR_OK;
    }
    return control_close(&protocol, "reset");
}

/* ---- coming in ---- */

static void begin(void)
{
    memset(&nuttcp, 0, sizeof(nuttcp));
    nuttcp.phase = NUTTCP_HELLO;
    line.bytes = 0;
}

/* All that is to be said, whatever the client says: it hears why after its parameters. */
static const char busy[] = "HELO nuttcp v6.1.2\nKO\nis busy with another test\nKO\n";

static const struct control_protocol protocol = {
    "nuttcp", NUTTCP_PORT, &nuttcp.control, busy, sizeof(busy) - 1, begin,
    NULL,     hear,        hung_up,         over,
};

static bool take_udp(struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer, uint16_t port)
{
    (void)pcb;
    (void)port;
    return nuttcp_udp_take(p, peer);
}

static void start(void)
{
    static const struct ttcp_claim claim = {nuttcp_tcp_claim, take_udp};

    control_listen(&protocol);
    ttcp_put_claim(&claim);
}

/* ---- turn ---- */

static void on_limit(void)
{
    if (nuttcp.phase == NUTTCP_TELLING || nuttcp.phase < NUTTCP_RUNNING) {
        control_abort(&protocol, "timeout");
    } else {
        nuttcp_verdict("timeout", nuttcp.meter.last_us);
    }
}

static bool turn(void)
{
    if (clock_us() >= nuttcp.control.limit_us) {
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
        control_linger(&protocol, "ok");
        return true;
    }
    return nuttcp.phase >= NUTTCP_RUNNING && nuttcp_run_turn();
}

APP_WHILE(nuttcp, start, nuttcp.phase, turn);
