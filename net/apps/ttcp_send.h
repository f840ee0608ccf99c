/*
 * The ttcp transmitter, one job at a time.
 */
#ifndef NET_APPS_TTCP_SEND_H
#define NET_APPS_TTCP_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip_addr.h"
#include "lwip/netif.h"
#include "net/apps/tcp_stream.h"

enum { TTCP_LEN_MAX = 65507 /* the largest UDP payload */ };

struct ttcp_job {
    bool udp;
    bool nodelay;    /* TCP: a write leaves at once, alone if the window allows */
    uint32_t length; /* bytes a call                            */
    uint32_t count;  /* calls                                   */
    uint16_t port;
    ip_addr_t host;
    struct netif *netif;
};

/* What ttcp sends: the printable characters in turn. */
extern const struct tcp_payload ttcp_payload;

/* Start; shell_done() follows.  OK, or E_NO_MEMORY with one line. */
int ttcp_send(const struct ttcp_job *job);

/* Stop now; shell_done() follows at once. */
void ttcp_send_abort(void);

#endif
