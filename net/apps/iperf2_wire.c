/*
 * iperf2's bytes.  The numbers of offsets are those of the tables in NEEDS.md 3.2.
 */
#include "net/apps/iperf2_wire.h"

#include "kernel/math64.h"
#include "kernel/string.h"

enum flag {
    ANSWER = 0x80000000,   /* -r, -d                                          */
    EXTENDED = 0x40000000, /* there is more than the 24 bytes of version 1    */
    UDP_TESTS = 0x20000000,
    LONG_IDS = 0x08000000, /* 64 bits                                         */
    VERSION_2 = 0x04000000,
    LENGTH_VALID = 0x00010000,
    LENGTH_BITS = 0x1FE,
    RUN_NOW = 1, /* -d */
    NEW_ERA = EXTENDED | LONG_IDS,
    REPORT_PRESENT = 0x80000000,
};

enum upper_flag { UPPER_REVERSE = 0x0400 };

/* Offsets in a client's header. */
enum {
    H_FLAGS = 0,
    H_THREADS = 4,
    H_PORT = 8,
    H_LENGTH = 12,
    H_RATE_V1 = 16,
    H_AMOUNT = 20,
    H_UPPER = 32,
    H_VERSION_U = 36,
    H_VERSION_L = 40,
    H_RATE_LOW = 48,
    H_RATE_HIGH = 52,
    H_RATE_END = 56,
};

/* Offsets in a datagram, and in a report behind its first 12 or 16 bytes. */
enum { D_ID = 0, D_SEC = 4, D_USEC = 8, D_ID_HIGH = 12 };
enum {
    R_FLAGS = 0,
    R_BYTES_HIGH = 4,
    R_BYTES_LOW = 8,
    R_SEC = 12,
    R_USEC = 16,
    R_LOST = 20,
    R_OOO = 24,
    R_DATAGRAMS = 28,
    R_JITTER_SEC = 32,
    R_JITTER_USEC = 36,
};

enum {
    VERSION_U = 0x00020001, /* as which we speak: 2.1.8 */
    VERSION_L = 0x00080003,
    WORD = 4,
    US_PER_S = 1000000,
    AMOUNT_US = 10000,      /* the unit of a time               */
    TIME_MAX = 0x7FFFFFFF,  /* ... and the most it can say      */
    ID_PLAUSIBLE = 1 << 29, /* text, read as a number, is above */
    TEXT_0123 = 0x30313233,
};

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

/* ---- a client's header ---- */

/* Negative: a time. */
static void read_amount(const uint8_t *header, struct iperf2_request *r)
{
    uint32_t amount = word(header + H_AMOUNT);

    if ((amount & 0x80000000) != 0) {
        r->us = (uint64_t)(0 - amount) * AMOUNT_US;
    } else {
        r->bytes = amount;
    }
}

static unsigned length_of(uint32_t flags)
{
    return (flags & LENGTH_VALID) != 0 ? (flags & LENGTH_BITS) >> 1 : 0;
}

static bool plausible(const uint8_t *header)
{
    return word(header + H_THREADS) <= IPERF2_THREADS_MAX && word(header + H_PORT) <= UINT16_MAX;
}

/* Of TCP the rate's place in version 1 holds the window. */
static void read_request(const uint8_t *header, unsigned n, bool udp, struct iperf2_request *r)
{
    uint32_t flags = word(header);
    unsigned length = length_of(flags);
    bool known = length == IPERF2_HEADER || length == IPERF2_HEADER_LONG;

    memset(r, 0, sizeof(*r));
    r->port = (uint16_t)word(header + H_PORT);
    r->length = word(header + H_LENGTH);
    r->rate = udp ? word(header + H_RATE_V1) : 0;
    read_amount(header, r);
    if ((flags & EXTENDED) == 0) {
        r->answer = (flags & ~(uint32_t)RUN_NOW) == ANSWER;
    } else if (known && n >= H_RATE_END) {
        r->rate = (uint64_t)word(header + H_RATE_HIGH) << 32 | word(header + H_RATE_LOW);
        r->answer = (flags & ANSWER) != 0;
        r->reverse = (flags & VERSION_2) != 0 && !r->answer &&
                     ((word(header + H_UPPER) >> 16) & UPPER_REVERSE) != 0;
    }
    r->answer = r->answer && r->port != 0 && word(header + H_THREADS) != 0;
    r->at_once = r->answer && (flags & RUN_NOW) != 0;
}

/* How much of the header must be there before it can be read. */
static unsigned wanted(uint32_t flags)
{
    unsigned length = length_of(flags);

    if ((flags & EXTENDED) == 0 || length < IPERF2_HEADER_V1) {
        return IPERF2_HEADER_V1;
    }
    return length < IPERF2_HEADER_LONG ? length : IPERF2_HEADER_LONG;
}

enum iperf2_guess iperf2_read_tcp(const uint8_t *at, unsigned n, struct iperf2_request *request)
{
    uint32_t flags;

    memset(request, 0, sizeof(*request));
    if (n < WORD) {
        return IPERF2_UNDECIDED;
    }
    flags = word(at);
    if (flags == TEXT_0123) {
        return IPERF2_YES; /* told not to send a header */
    }
    if (flags != 0 && (flags & (ANSWER | EXTENDED)) == 0) {
        return IPERF2_NO;
    }
    if (n < H_LENGTH) {
        return IPERF2_UNDECIDED;
    }
    if (!plausible(at)) {
        return IPERF2_NO;
    }
    if (n < wanted(flags)) {
        return IPERF2_UNDECIDED;
    }
    read_request(at, wanted(flags), false, request);
    return IPERF2_YES;
}

/* ---- datagrams ---- */

bool iperf2_read_next(const uint8_t *at, unsigned n, bool old_era, struct iperf2_datagram *d)
{
    int64_t id;

    if (n < WORD) {
        return false;
    }
    id = (int32_t)word(at + D_ID);
    if (!old_era && n >= IPERF2_UDP_NEW) {
        id = (int64_t)((uint64_t)word(at + D_ID_HIGH) << 32 | word(at + D_ID));
    }
    d->old_era = old_era;
    d->final = id < 0;
    d->number = d->final ? 0 - (uint64_t)id : (uint64_t)id;
    d->timed = n >= IPERF2_UDP_OLD;
    if (d->timed) {
        d->sent_us = (uint64_t)word(at + D_SEC) * US_PER_S + word(at + D_USEC);
    }
    return true;
}

/* A datagram too short for flags says it by the upper half of its id alone. */
static bool is_old(const uint8_t *at, unsigned n)
{
    if (n >= IPERF2_UDP_NEW + WORD) {
        return (word(at + IPERF2_UDP_NEW) & NEW_ERA) != NEW_ERA;
    }
    return n < IPERF2_UDP_NEW || (word(at + D_ID_HIGH) != 0 && word(at + D_ID_HIGH) != UINT32_MAX);
}

bool iperf2_read_first(const uint8_t *at, unsigned n, struct iperf2_datagram *d)
{
    const uint8_t *header;
    unsigned room;

    memset(d, 0, sizeof(*d));
    if (n < IPERF2_UDP_OLD || word(at + D_USEC) >= US_PER_S ||
        word(at + D_ID) + ID_PLAUSIBLE >= 2u * ID_PLAUSIBLE ||
        !iperf2_read_next(at, n, is_old(at, n), d) || d->number >= ID_PLAUSIBLE) {
        return false;
    }
    header = at + (d->old_era ? IPERF2_UDP_OLD : IPERF2_UDP_NEW);
    room = n - (unsigned)(header - at);
    if (room < IPERF2_HEADER_V1 || !plausible(header) ||
        (word(header) != 0 && (word(header) & (ANSWER | EXTENDED)) == 0)) {
        return true; /* numbered data without a header */
    }
    d->has_request = true;
    read_request(header, room, true, &d->request);
    return true;
}

/* ---- reports ---- */

unsigned iperf2_write_report(uint8_t *to, const uint8_t *datagram, bool old_era,
                             const struct iperf2_report *report)
{
    unsigned at = old_era ? IPERF2_UDP_OLD : IPERF2_UDP_NEW;
    uint8_t *r = to + at;
    uint32_t us;
    uint64_t s = div64(report->us, US_PER_S, &us);

    memcpy(to, datagram, at);
    put(r + R_FLAGS, REPORT_PRESENT);
    put(r + R_BYTES_HIGH, (uint32_t)(report->bytes >> 32));
    put(r + R_BYTES_LOW, (uint32_t)report->bytes);
    put(r + R_SEC, (uint32_t)s);
    put(r + R_USEC, us);
    put(r + R_LOST, report->lost);
    put(r + R_OOO, report->ooo);
    put(r + R_DATAGRAMS, report->datagrams);
    put(r + R_JITTER_SEC, (uint32_t)div64(report->jitter_us, US_PER_S, &us));
    put(r + R_JITTER_USEC, us);
    return at + IPERF2_REPORT;
}

bool iperf2_read_report(const uint8_t *at, unsigned n, struct iperf2_report *report)
{
    const uint8_t *r;

    if (n >= IPERF2_REPORT_MAX && (word(at + IPERF2_UDP_NEW) & REPORT_PRESENT) != 0) {
        r = at + IPERF2_UDP_NEW;
    } else if (n >= IPERF2_UDP_OLD + IPERF2_REPORT &&
               (word(at + IPERF2_UDP_OLD) & REPORT_PRESENT) != 0) {
        r = at + IPERF2_UDP_OLD;
    } else {
        return false;
    }
    report->bytes = (uint64_t)word(r + R_BYTES_HIGH) << 32 | word(r + R_BYTES_LOW);
    report->us = (uint64_t)word(r + R_SEC) * US_PER_S + word(r + R_USEC);
    report->lost = word(r + R_LOST);
    report->ooo = word(r + R_OOO);
    report->datagrams = word(r + R_DATAGRAMS);
    report->jitter_us = (uint64_t)word(r + R_JITTER_SEC) * US_PER_S + word(r + R_JITTER_USEC);
    return true;
}

/* ---- what we send ---- */

static uint32_t amount_of(const struct iperf2_request *r)
{
    uint64_t time = div64(r->us, AMOUNT_US, NULL);

    if (r->us == 0) {
        return r->bytes > TIME_MAX ? TIME_MAX : (uint32_t)r->bytes;
    }
    return 0 - (uint32_t)(time > TIME_MAX ? TIME_MAX : time == 0 ? 1 : time);
}

static void write_request(uint8_t *to, const struct iperf2_request *r, uint32_t flags,
                          unsigned length)
{
    memset(to, 0, IPERF2_HEADER);
    put(to + H_FLAGS, flags | EXTENDED | LENGTH_VALID | length << 1 | (r->reverse ? VERSION_2 : 0));
    put(to + H_THREADS, 1);
    put(to + H_PORT, r->port);
    put(to + H_LENGTH, r->length);
    put(to + H_AMOUNT, amount_of(r));
    put(to + H_UPPER, (uint32_t)(r->reverse ? UPPER_REVERSE : 0) << 16);
    put(to + H_VERSION_U, VERSION_U);
    put(to + H_VERSION_L, VERSION_L);
    put(to + H_RATE_LOW, (uint32_t)r->rate);
    put(to + H_RATE_HIGH, (uint32_t)(r->rate >> 32));
}

void iperf2_write_header(uint8_t *to, const struct iperf2_request *request)
{
    write_request(to, request, 0, IPERF2_HEADER);
}

void iperf2_write_datagram(uint8_t *to, int64_t id, uint64_t sent_us,
                           const struct iperf2_request *request)
{
    uint32_t us;
    uint64_t s = div64(sent_us, US_PER_S, &us);

    put(to + D_ID, (uint32_t)id);
    put(to + D_SEC, (uint32_t)s);
    put(to + D_USEC, us);
    put(to + D_ID_HIGH, (uint32_t)((uint64_t)id >> 32));
    write_request(to + IPERF2_UDP_NEW, request, LONG_IDS | (request->reverse ? UDP_TESTS : 0),
                  IPERF2_HEADER_LONG);
}

const uint8_t *iperf2_digits(void)
{
    static uint8_t digits[IPERF2_DIGITS + IPERF2_PERIOD - 1];

    if (digits[0] == 0) {
        for (unsigned i = 0; i < sizeof(digits); i++) {
            digits[i] = (uint8_t)('0' + i % IPERF2_PERIOD);
        }
    }
    return digits;
}
