/*
 * The text report on TCP port 7777 (`nc HOST 7777`), then FIN.  A reader may be slow: what it has
 * not taken is not there yet, but made when there is room.  A result that comes in meanwhile may
 * move the lines by one.
 */
#include "kernel/print.h"
#include "kernel/string.h"
#include "lwip/tcp.h"
#include "net/apps/app.h"
#include "net/apps/connection.h"
#include "net/apps/listen.h"
#include "net/clock.h"
#include "net/report.h"

enum {
    PORT = 7777,
    READERS = 2,
    FLYING = 2 * TCP_MSS, /* written and not acknowledged */
    DEAD_US = 10000000,
    POLL_HALF_SECONDS = 2,
};

static struct reader {
    struct tcp_pcb *pcb; /* null: free */
    unsigned sent;       /* lines                                 */
    unsigned seen;       /* of this pass over the report          */
    bool full;           /* there was no room for the next one    */
    uint64_t moved_us;
} readers[READERS];

static void put_line(void *arg, const char *line)
{
    struct reader *r = arg;
    char text[REPORT_LINE + 1];
    unsigned n = (unsigned)format(text, sizeof(text), "%s\n", line);
    bool room = TCP_SND_BUF - tcp_sndbuf(r->pcb) + n <= FLYING;

    if (r->seen++ < r->sent || r->full) {
        return;
    }
    if (!room || tcp_write(r->pcb, text, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        r->full = true;
        return;
    }
    r->sent++;
}

/* As many lines as there is room for; behind the last one FIN. */
static void write_on(struct reader *r)
{
    struct tcp_pcb *pcb = r->pcb;

    r->seen = 0;
    r->full = false;
    report_write(put_line, r);
    if (!r->full) {
        r->pcb = NULL;
        tcp_linger(pcb);
    }
    tcp_output(pcb);
}

/* Whatever it says, and also that it says no more. */
static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg;
    (void)err;
    if (p != NULL) {
        tcp_recved(pcb, p->tot_len);
        pbuf_free(p);
    }
    return ERR_OK;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t n)
{
    struct reader *r = arg;

    (void)pcb;
    (void)n;
    r->moved_us = clock_us();
    write_on(r);
    return ERR_OK;
}

static void on_error(void *arg, err_t err)
{
    struct reader *r = arg;

    (void)err;
    r->pcb = NULL;
}

static err_t on_poll(void *arg, struct tcp_pcb *pcb)
{
    struct reader *r = arg;

    if (clock_us() - r->moved_us >= DEAD_US) {
        tcp_abort(pcb); /* on_error() frees the place */
        return ERR_ABRT;
    }
    write_on(r); /* memory may have been short */
    return ERR_OK;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    for (unsigned i = 0; i < READERS; i++) {
        struct reader *r = &readers[i];

        if (r->pcb == NULL) {
            *r = (struct reader){.pcb = pcb, .moved_us = clock_us()};
            tcp_arg(pcb, r);
            tcp_recv(pcb, on_receive);
            tcp_sent(pcb, on_sent);
            tcp_err(pcb, on_error);
            tcp_poll(pcb, on_poll, POLL_HALF_SECONDS);
            write_on(r);
            return ERR_OK;
        }
    }
    return ERR_MEM; /* lwIP resets it */
}

static void start(void)
{
    listen_tcp_always(PORT, on_accept, "report");
}

APP_ENTRY(report_tcp, .start = start);
