/*
 * The UDP side of the ttcp receiver (NEEDS.md 3.1): flows, sentinels, and what to do when they
 * are lost.
 *
 * A datagram of at most 4 bytes is a sentinel: the first starts the clock, the next ends the test,
 * and up to eight more follow the end.  A flow whose start was lost begins with data; then its
 * first sentinel is taken as the end unless more data follows.  A flow that falls silent ends by
 * itself.
 */
#ifndef NET_APPS_TTCP_UDP_H
#define NET_APPS_TTCP_UDP_H

#include <stdbool.h>
#include <stdint.h>

/* Answer on `port`; OK, also if it was about to close, E_BUSY (open already) or E_NO_MEMORY. */
int ttcp_udp_open(uint16_t port);

/* Stop; running flows of that port end with "abort". */
void ttcp_udp_close(uint16_t port);

/* Stop once the repeated end sentinels have come: a closed port would answer them with errors. */
void ttcp_udp_close_later(uint16_t port);

/* End silent flows. */
void ttcp_udp_tick(void);

/* For ttcp_serve.c to implement: a test with payload has ended on our `port`. */
void ttcp_test_ended(uint16_t port, bool udp, bool ok);

#endif
