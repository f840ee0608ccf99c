/*
 * An iperf3 client on the simulated cable, made by hand: the control connection speaks from a
 * prepared script, step by step, and what the box says is kept.
 */
#ifndef TESTS_HOST_IPERF3_RIG_H
#define TESTS_HOST_IPERF3_RIG_H

#include "tests/host/test_net.h"

#define I3_PLAIN "{\"tcp\":true,\"time\":10,\"parallel\":1,\"len\":4096}"
#define I3_REVERSE "{\"tcp\":true,\"time\":10,\"parallel\":1,\"reverse\":true,\"len\":4096}"

enum {
    I3_PORT = 5201,
    I3_FROM = 42000, /* the control connection; streams follow */
    I3_STREAMS = 16,
    I3_KEPT = 8192,
    I3_COOKIE = 37,
    /* what the two say */
    I3_START = 1,
    I3_RUNNING = 2,
    I3_END = 4,
    I3_PARAMS = 9,
    I3_CREATE = 10,
    I3_TERMINATE = 12,
    I3_RESULTS = 13,
    I3_DISPLAY = 14,
    I3_DONE = 16,
    I3_ERROR = 0xFE,
    I3_BUSY = 0xFF,
};

struct i3_client {
    const struct station *station;
    unsigned port;
    struct peer_tcp control, stream[I3_STREAMS];
    unsigned streams;
    uint8_t script[2048];
    unsigned script_bytes;
    uint8_t heard[I3_KEPT]; /* on the control connection ... */
    unsigned read;          /* ... and looked at by i3_expect() */
};

/* Connect, say the cookie, hear that parameters are wanted. */
void i3_open(struct i3_client *c, const struct station *s, unsigned port);

/* Say one byte, or a document with its length. */
void i3_say(struct i3_client *c, uint8_t byte);
void i3_document(struct i3_client *c, const char *text);

/* The next byte from the box, within a second of simulated time. */
void i3_expect(struct i3_client *c, uint8_t byte);

/* An error and its number, then FIN. */
void i3_expect_error(struct i3_client *c, unsigned number);

/* A document: its text. */
const char *i3_expect_document(struct i3_client *c);

/* Open another stream with this cookie; true if the box let it in so far. */
bool i3_stream(struct i3_client *c, const char *cookie);

/* All of it up to TEST_RUNNING: parameters, `n` streams over TCP. */
void i3_run(struct i3_client *c, const char *params, unsigned n);

/* From TEST_END to the goodbye; the box's results. */
const char *i3_finish(struct i3_client *c);

/* The box is free: another client gets through a session of its own. */
void i3_expect_free(void);

/* The only result there is; with these bytes and this end. */
const char *i3_result(uint64_t bytes, const char *end);

extern const char i3_cookie[I3_COOKIE];

#endif
