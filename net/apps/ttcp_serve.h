/*
 * The ttcp receiver: TCP and UDP sinks, on the fixed ports and wherever `ttcp -r` asks.
 * NEEDS.md 3.1; classic ttcp clients unmodified.
 */
#ifndef NET_APPS_TTCP_SERVE_H
#define NET_APPS_TTCP_SERVE_H

#include <stdbool.h>
#include <stdint.h>

/* Where ttcp clients knock: the common port, and two that other builds use. */
enum { TTCP_PORT = 5001, TTCP_PORT_OLD = 5010, TTCP_PORT_BRL = 2000 };

/* Called when a test on the watched port has ended; ok = it ended as it should. */
typedef void (*ttcp_watcher)(bool ok);

/*
 * Report the end of the next test on `port`; opens the port if it is not one of the fixed ones.
 * 0, or E_NO_MEMORY.  One watcher at a time: E_BUSY.
 */
int ttcp_watch(uint16_t port, bool udp, ttcp_watcher watcher);

/* Stop watching; closes a port that ttcp_watch() opened. */
void ttcp_unwatch(void);

#endif
