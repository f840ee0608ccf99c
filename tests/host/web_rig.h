/*
 * A browser on the simulated cable: connections to the web port, and all that comes over them.
 */
#ifndef TESTS_HOST_WEB_RIG_H
#define TESTS_HOST_WEB_RIG_H

#include "tests/host/test_net.h"

enum { WEB_ROOM = 65536, WEB_BROWSERS = 12 };

/* A connection, and what came over it, as text. */
struct browser {
    struct peer_tcp tcp;
    char reply[WEB_ROOM];
};
extern struct browser browsers[WEB_BROWSERS]; /* web_get() uses the last four */

/* A connection, and nothing asked yet. */
bool web_dial(struct browser *b);

void web_ask(struct browser *b, const char *request);

/* Both. */
bool web_call(struct browser *b, const char *request);

/* Has the box closed or reset this struct peer_tcp?  For rig_until(). */
bool web_ended(void *arg);

/* The whole answer; then the connection is gone. */
const char *web_get(const char *request);

/* No connection, or one that is reset at once. */
bool web_refused(struct browser *b);

/* Reset it. */
void web_hang_up(struct browser *b);

bool web_begins(const char *text, const char *with);

/* How often `part` is in it. */
unsigned web_times(const char *text, const char *part);

#endif
