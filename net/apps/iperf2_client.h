/*
 * The iperf2 client: one job at a time, of up to eight parallel streams.
 */
#ifndef NET_APPS_IPERF2_CLIENT_H
#define NET_APPS_IPERF2_CLIENT_H

#include <stdbool.h>

#include "lwip/netif.h"
#include "net/apps/iperf2_wire.h"

enum { IPERF2_PARALLEL_MAX = 8 };

struct iperf2_job {
    bool udp;
    unsigned streams;
    struct iperf2_request request; /* reverse, length, rate, bytes or us */
    ip_addr_t host;
    uint16_t port;
    struct netif *netif;
};

/* Start; shell_done() follows.  OK, or E_NO_MEMORY with one line. */
int iperf2_run(const struct iperf2_job *job);

/* Stop now; shell_done() follows at once. */
void iperf2_abort(void);

#endif
