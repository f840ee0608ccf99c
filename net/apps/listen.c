/*
 * Listening ports.
 */
#include "net/apps/listen.h"

#include "kernel/trap.h"

struct tcp_pcb *listen_tcp(uint16_t port, tcp_accept_fn accept)
{
    struct tcp_pcb *pcb = tcp_new();
    struct tcp_pcb *listener;

    if (pcb == NULL) {
        return NULL;
    }
    ip_set_option(pcb, SOF_REUSEADDR); /* its connections inherit it, and may outlive it */
    if (tcp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK || (listener = tcp_listen(pcb)) == NULL) {
        tcp_close(pcb);
        return NULL;
    }
    tcp_accept(listener, accept);
    return listener;
}

struct tcp_pcb *listen_tcp_always(uint16_t port, tcp_accept_fn accept, const char *what)
{
    struct tcp_pcb *listener = listen_tcp(port, accept);

    if (listener == NULL) {
        panic("%s: no pcb for port %u", what, port);
    }
    return listener;
}
