/*
 * The raw source on TCP port 7002 (DESIGN 3): 16 MiB to whoever connects, then FIN.  For `nc` and
 * mTCP's SPDTEST -receive; what the peer says is swallowed, and that it stops saying it is no
 * reason to stop.
 */
#include "kernel/error.h"
#include "lwip/ip.h"
#include "net/apps/app.h"
#include "net/apps/listen.h"
#include "net/apps/tcp_stream.h"
#include "net/apps/ttcp_send.h"

enum { PORT = 7002, BYTES = 16 << 20, WRITE = 8192 };

/* How it ended stands in the report. */
static void ended(void *arg, const char *how, const char *why, const struct meter *m)
{
    (void)arg;
    (void)how;
    (void)why;
    (void)m;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    return tcp_stream_take_over(&(struct tcp_stream_job){.test = "source",
                                                         .netif = ip_current_netif(),
                                                         .host = pcb->remote_ip,
                                                         .port = pcb->remote_port,
                                                         .payload = ttcp_payload,
                                                         .length = WRITE,
                                                         .bytes = BYTES,
                                                         .done = ended},
                                pcb) == OK
               ? ERR_OK
               : ERR_MEM;
}

static void start(void)
{
    listen_tcp_always(PORT, on_accept, "source");
}

APP_ENTRY(source, .start = start);
