/*
 * The hooks through which the unmodified lwIP tells us what it sends and receives; see
 * net/tcp_watch.c.
 */
#ifndef NET_PORT_HOOKS_H
#define NET_PORT_HOOKS_H

#include "lwip/err.h"

struct pbuf;
struct tcp_hdr;
struct tcp_pcb;

/* Every segment about to leave, its header complete but for the checksum; returns `opts`.  A reset
 * that answers what belongs to no connection has no pcb. */
uint32_t *tcp_watch_out(struct pbuf *p, const struct tcp_hdr *hdr, const struct tcp_pcb *pcb,
                        uint32_t *opts);

/* Every segment that found its pcb (connection or listener); ERR_OK lets it in. */
err_t tcp_watch_in(struct tcp_pcb *pcb, const struct tcp_hdr *hdr, struct pbuf *p);

#define LWIP_HOOK_TCP_OUT_ADD_TCPOPTS(p, hdr, pcb, opts) tcp_watch_out(p, hdr, pcb, opts)
#define LWIP_HOOK_TCP_INPACKET_PCB(pcb, hdr, optlen, opt1len, opt2, p) tcp_watch_in(pcb, hdr, p)

#endif
