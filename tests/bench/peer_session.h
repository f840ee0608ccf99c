/*
 * The control connection of a test that has one (iperf3, nuttcp): a fixed exchange, of which only
 * the lengths of the box's answers are looked at.  A stream of data is opened in its course.
 */
#ifndef TESTS_BENCH_PEER_SESSION_H
#define TESTS_BENCH_PEER_SESSION_H

#include <stdbool.h>

#include "tests/bench/peer_link.h"

struct peer_session;

extern const struct peer_session peer_iperf3, peer_nuttcp;

/* Open the control connection; `stream` will be opened when it is time. */
void peer_session_start(const struct peer_session *what, struct peer_link *stream);

/* A segment came that may be of the control connection. */
void peer_session_take(const struct peer_seen *seen);

/* The stream is open, and the box waits for data: they may be sent. */
bool peer_session_ready(void);

/* All data have been acknowledged; on with the exchange. */
void peer_session_all_sent(void);

/* Does the client finish the stream by itself, before it goes on?  Else after everything. */
bool peer_session_fin_ends(void);

/* The next step, if it is time; true if one was taken. */
bool peer_session_turn(void);

/* The exchange is over, and so is its connection. */
bool peer_session_over(void);

#endif
