/*
 * A nuttcp client on the simulated cable, made by hand: the control connection, and the data ports.
 */
#ifndef TESTS_HOST_NUTTCP_RIG_H
#define TESTS_HOST_NUTTCP_RIG_H

#include "tests/host/test_net.h"

enum { NT_PORT = 5000, NT_DATA = 5001, NT_FROM = 42000, NT_STREAMS = 8, NT_KEPT = 8192 };

/* What the client asks for; nt_asks() gives the usual. */
struct nt_asks {
    unsigned buflen, streams, port, format, win;
    uint64_t nbuf, rate; /* kbit/s */
    bool sends, udp, flip;
    unsigned timeout_ms, interval_ms;
};

struct nt_client {
    const struct station *station;
    unsigned port;
    struct peer_tcp control, data[NT_STREAMS];
    char script[2048];
    unsigned script_bytes;
    char heard[NT_KEPT]; /* on the control connection */
};

/* TCP, the client sends, 10 s, one stream. */
struct nt_asks nt_asks(void);

/* Connect and greet, hear the greeting. */
void nt_open(struct nt_client *c, const struct station *s, unsigned port);

/* Say this, as it is. */
void nt_say(struct nt_client *c, const char *text);
void nt_say_bytes(struct nt_client *c, const void *data, unsigned n);

/* The line of parameters; "OK" is heard. */
void nt_ask(struct nt_client *c, const struct nt_asks *asks);

/* This text comes within so long. */
void nt_hears(struct nt_client *c, const char *text, unsigned ms);

/* All of it up to the data, from port NT_FROM of the usual station: over TCP the streams are open,
 * or the client listens for them. */
void nt_begin(struct nt_client *c, const struct nt_asks *asks);

/* Open data stream `i` from here; it must be let in. */
void nt_connect(struct nt_client *c, unsigned i);

/* The box has closed the control connection after its report; so do we. */
void nt_over(struct nt_client *c);

/* The box is free: another client gets through a session of its own. */
void nt_expect_free(void);

/* The only result there is; with these bytes and this end. */
const char *nt_result(uint64_t bytes, const char *end);

#endif
