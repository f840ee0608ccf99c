/*
 * iperf2 on the wire: the headers, the datagrams, the server's report.  NEEDS.md 3.2; verified
 * against the clients and servers of 2.1.8.  Pure functions on bytes; fuzzed.
 *
 * Two eras.  Up to 2.0.9 a datagram begins with 12 bytes (id, sec, usec), then the client's header
 * of 24 bytes.  Later there are 16 (the id has 64 bits), and the header has an extension.  A report
 * stands where the client's header stood, so a server must answer each era in its own layout.
 */
#ifndef NET_APPS_IPERF2_WIRE_H
#define NET_APPS_IPERF2_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    IPERF2_HEADER_V1 = 24,   /* flags, threads, port, length, rate, amount */
    IPERF2_HEADER = 60,      /* TCP, with extension                        */
    IPERF2_HEADER_LONG = 76, /* the same of some options, and UDP's        */
    IPERF2_UDP_OLD = 12,     /* in front of the header                     */
    IPERF2_UDP_NEW = 16,
    IPERF2_UDP_HEADERS = 76, /* of the datagrams we send                   */
    IPERF2_REPORT = 40,      /* behind IPERF2_UDP_OLD or _NEW              */
    IPERF2_REPORT_MAX = IPERF2_UDP_NEW + IPERF2_REPORT,
    IPERF2_THREADS_MAX = 1024,
    IPERF2_TCP_LENGTH = 8192, /* of a write; what we take if nothing is said */
};

/* What a client's header asks for. */
struct iperf2_request {
    bool reverse; /* -R: send to me on this connection                                    */
    bool answer;  /* -r, -d: make a connection of your own to `port` of mine ...           */
    bool at_once; /* -d: ... now, not when I have ended                                   */
    uint16_t port;
    uint32_t length; /* of a write or datagram; 0: not said */
    uint64_t rate;   /* payload bits a second; 0: not said  */
    uint64_t bytes;  /* how much: bytes, or if that is 0 */
    uint64_t us;     /* time                             */
};

/* ---- TCP: the first bytes of a connection ---- */

enum iperf2_guess {
    IPERF2_UNDECIDED, /* a longer beginning would tell more                                    */
    IPERF2_NO,
    IPERF2_YES,
};

/*
 * Look at the first `n` bytes.  IPERF2_YES fills `request`; its reverse and answer are set only if
 * all of the header agrees, so that no text, whatever it says, makes us transmit.
 */
enum iperf2_guess iperf2_read_tcp(const uint8_t *at, unsigned n, struct iperf2_request *request);

/* ---- UDP ---- */

struct iperf2_datagram {
    bool old_era;
    bool final;       /* its id was negative                     */
    uint64_t number;  /* without the sign                        */
    bool timed;       /* sent_us is there */
    uint64_t sent_us; /* by the sender's clock                   */
    bool has_request; /* all of the header is there              */
    struct iperf2_request request;
};

/* A datagram that may begin a flow; false if it is not iperf2's. */
bool iperf2_read_first(const uint8_t *at, unsigned n, struct iperf2_datagram *d);

/* A further one of a flow of that era; false if there is no number in it.  The last one before the
 * final may be cut off anywhere.  Leaves request alone. */
bool iperf2_read_next(const uint8_t *at, unsigned n, bool old_era, struct iperf2_datagram *d);

struct iperf2_report {
    uint64_t bytes; /* received, the final datagram included          */
    uint64_t us;
    uint32_t lost, ooo;
    uint32_t datagrams; /* the highest number, the final one included */
    uint64_t jitter_us;
};

/* Write a report behind the first bytes of `datagram`, the one it answers, into `to`
 * (IPERF2_REPORT_MAX); its length. */
unsigned iperf2_write_report(uint8_t *to, const uint8_t *datagram, bool old_era,
                             const struct iperf2_report *report);

/* Read one, of either era; false if it is none. */
bool iperf2_read_report(const uint8_t *at, unsigned n, struct iperf2_report *report);

/* ---- what we send ---- */

/* The TCP header of IPERF2_HEADER bytes. */
void iperf2_write_header(uint8_t *to, const struct iperf2_request *request);

/* The first IPERF2_UDP_HEADERS bytes of a datagram; id negative for the final one. */
void iperf2_write_datagram(uint8_t *to, int64_t id, uint64_t sent_us,
                           const struct iperf2_request *request);

/* The payload: "0123456789" over and over.  At most IPERF2_DIGITS bytes from each of the first
 * IPERF2_PERIOD. */
enum { IPERF2_DIGITS = 2920, IPERF2_PERIOD = 10 };
const uint8_t *iperf2_digits(void);

#endif
