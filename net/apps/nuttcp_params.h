/*
 * What a nuttcp client asks for (NEEDS.md 3.4): the greeting and the line of parameters.  Observed
 * with nuttcp 6.1.2 and its own server on loopback.
 */
#ifndef NET_APPS_NUTTCP_PARAMS_H
#define NET_APPS_NUTTCP_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NUTTCP_STREAMS_MAX = 8,
    NUTTCP_LINE_MAX = 1024,        /* a line with its end; that of 6.1.2 has 350 bytes         */
    NUTTCP_TCP_LEN_MAX = 16 << 20, /* bytes a write                                            */
    NUTTCP_UDP_LEN_MIN = 5,        /* a datagram is longer than a mark                         */
    NUTTCP_UDP_LEN_MAX = 65507,
    NUTTCP_UDP_SECONDS_MAX = 60, /* of datagrams towards a client (DESIGN 8)                 */
};

/* How the client wants reports to look: bits of its "format". */
enum nuttcp_format {
    NUTTCP_XMIT_STATS = 0x1,    /* intervals: what the sender has sent, too */
    NUTTCP_RUNNING_TOTAL = 0x4, /* intervals: the sum so far, too           */
    NUTTCP_NO_DROPS = 0x8,      /* no lost datagrams                        */
    NUTTCP_NO_LOSS = 0x10,      /* ... nor their percentage                 */
    NUTTCP_PARSE = 0x40,        /* key=value                                */
    NUTTCP_NO_RETRANS = 0x100,
};

struct nuttcp_params {
    bool udp;
    bool sends;    /* we send: the client is started with -r                     */
    bool connects; /* we open the data connections                               */
    bool nodelay;
    bool instantaneous;   /* the rate was given with -Ri                                */
    unsigned streams;     /* 1 to NUTTCP_STREAMS_MAX, on ports from `port` on           */
    uint32_t len;         /* bytes a write or datagram                                  */
    uint64_t count;       /* writes or datagrams of all streams; 0: until the time is over */
    uint64_t us;          /* how long; 0: until `count`                                 */
    uint64_t interval_us; /* between reports of the receiver; 0: none                 */
    uint32_t window;      /* bytes; 0: no wish                                          */
    uint64_t bits_s;      /* of all streams; 0: as fast as it goes                      */
    uint32_t format;      /* enum nuttcp_format                                         */
    uint16_t port;
    uint16_t mss; /* 0: no wish */
    uint8_t tos;
    bool two_begins; /* a test over UDP begins with two marks: since 5.4.1         */
};

/* Is this line, without its end, a greeting? */
bool nuttcp_is_greeting(const char *line, size_t n);

/*
 * Read the line of parameters, `n` bytes without its end.  Null if it is one we can do; else why
 * not, to be read behind the word "server", and *p is not to be used.  Never believes more than it
 * has checked.
 */
const char *nuttcp_read_params(const char *line, size_t n, struct nuttcp_params *p);

#endif
