/*
 * What an iperf3 client asks for: the JSON document of its parameters, read and judged.
 * (esnet/iperf 3.12, iperf_api.c: send_parameters; NEEDS.md 3.3.)
 */
#ifndef NET_APPS_IPERF3_PARAMS_H
#define NET_APPS_IPERF3_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IPERF3_PARALLEL_MAX = 8, /* streams each way */
    IPERF3_STREAMS_MAX = 2 * IPERF3_PARALLEL_MAX,
    IPERF3_UDP_LEN_MAX = 65507,
};

/* The reason of a refusal: iperf_api.h's i_errno, which the client knows as a sentence. */
enum iperf3_error {
    IPERF3_OK = 0,
    IPERF3_DURATION = 5,        /* "test duration too long"                      */
    IPERF3_NUM_STREAMS = 6,     /* "number of parallel streams too large"        */
    IPERF3_BLOCK_SIZE = 7,      /* "block size too large"                        */
    IPERF3_OMIT = 12,           /* "bogus value for --omit"                      */
    IPERF3_UNIMPLEMENTED = 13,  /* "an option ... is not implemented yet"       */
    IPERF3_UDP_BLOCK_SIZE = 20, /* "block size invalid (...)"                  */
    IPERF3_RECV_COOKIE = 106,   /* "unable to receive cookie at server"          */
    IPERF3_RECV_PARAMS = 114,   /* "unable to receive parameters from client"    */
    IPERF3_RECV_RESULTS = 117,  /* "unable to receive results"                  */
};

struct iperf3_params {
    bool udp;
    bool sends, receives; /* we: -R, plain, or both with --bidir */
    bool nodelay;
    bool counters_64bit;     /* UDP sequence numbers take 8 bytes */
    bool server_output;      /* our report in the results */
    unsigned parallel;       /* streams each way, 1 to IPERF3_PARALLEL_MAX */
    uint32_t omit_s, time_s; /* time_s 0: no limit of ours; the client says when */
    uint64_t bytes;          /* -n and -k: of all streams, what the sender stops at; 0: time does */
    uint32_t len;            /* bytes a write or datagram */
    uint32_t window;         /* at most so much on its way in a TCP stream; 0: no wish */
    uint32_t bits_s;         /* of a stream; 0: as fast as it goes */
    uint32_t burst;          /* writes that go together when paced, at least 1 */
    uint8_t tos;
};

/*
 * Read the `n` bytes of the document.  On any other result than IPERF3_OK, *p is not to be used.
 * Never believes more than it has checked: every number comes out in its range.
 */
enum iperf3_error iperf3_read_params(const char *text, size_t n, struct iperf3_params *p);

/* Streams of the whole session: both ways. */
unsigned iperf3_streams(const struct iperf3_params *p);

#endif
