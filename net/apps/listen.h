/*
 * Listening TCP ports of applications.
 */
#ifndef NET_APPS_LISTEN_H
#define NET_APPS_LISTEN_H

#include <stdint.h>

#include "lwip/tcp.h"

/*
 * Call `accept` with each connection to `port` on any card; it returns ERR_MEM to turn one away
 * with a reset.  Null: no pcb, or the port is taken.
 */
struct tcp_pcb *listen_tcp(uint16_t port, tcp_accept_fn accept);

/* The same at start, for ever; `what` names the service in the panic if there is no room. */
struct tcp_pcb *listen_tcp_always(uint16_t port, tcp_accept_fn accept, const char *what);

#endif
