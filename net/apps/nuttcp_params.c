/*
 * nuttcp's parameters.
 *
 * The line of parameters is "key = value, key = value, ...", the later ones with a blank before the
 * comma.  Keys that are not known are passed over: newer clients have more.
 */
#include "net/apps/nuttcp_params.h"

#include "kernel/string.h"

enum {
    NO_COUNT = INT32_MAX, /* what the client says for "until the time is over" */
    DECIMALS = 6,         /* of seconds */
    HOUR = 3600,
    US_PER_S = 1000000,
    VERSION_TWO_BEGINS = 50401, /* major * 10000 + minor * 100 + patch */
    NO_RATE_FROM = 4294967,     /* kbit/s: above that no card comes near it */
};

enum key {
    BUFLEN,
    NBUF,
    WIN,
    NSTREAM,
    RATE,
    PORT,
    TRANS,
    BRAINDEAD,
    TIMEOUT,
    UDP,
    VERS,
    INTERVAL,
    REVERSE,
    FORMAT,
    TRACEROUTE,
    IRATE,
    THIRDPARTY,
    MULTICAST,
    DATAMSS,
    TOS,
    NODELAY,
    KEYS,
    REQUIRED = VERS + 1,
};

#define LARGEST (INT64_MAX / 32) /* one more digit fits, also of base 16 */

enum kind { INTEGER, HEX, SECONDS, VERSION, HOST };

static const struct {
    const char *name;
    enum kind kind;
    int64_t least, most;
    const char *refusal;
} keys[KEYS] = {
    [BUFLEN] = {"buflen", INTEGER, 1, NUTTCP_TCP_LEN_MAX, "takes buffers of 1 to 16777216 bytes"},
    [NBUF] = {"nbuf", INTEGER, 1, INT64_MAX, "takes at least one buffer"},
    [WIN] = {"win", INTEGER, 0, INT32_MAX, "takes no such window"},
    [NSTREAM] = {"nstream", INTEGER, 1, NUTTCP_STREAMS_MAX, "takes 1 to 8 streams"},
    [RATE] = {"rate", INTEGER, 0, INT64_MAX, "takes no such rate"},
    [PORT] = {"port", INTEGER, 5001, UINT16_MAX, "takes data ports from 5001 to 65535"},
    [TRANS] = {"trans", INTEGER, 0, 1, "knows no such direction"},
    [BRAINDEAD] = {"braindead", INTEGER, 0, 1, "knows no such window option"},
    [TIMEOUT] = {"timeout", SECONDS, 0, 24 * (int64_t)HOUR *US_PER_S, "takes at most 24 hours"},
    [UDP] = {"udp", INTEGER, 0, 1, "knows no such protocol"},
    [VERS] = {"vers", VERSION, 0, INT32_MAX, "knows no such version"},
    [INTERVAL] = {"interval", SECONDS, 0, (int64_t)HOUR *US_PER_S, "takes no such interval"},
    [REVERSE] = {"reverse", INTEGER, 0, 1, "knows no such flip option"},
    [FORMAT] = {"format", INTEGER, 0, UINT16_MAX, "knows no such format"},
    [TRACEROUTE] = {"traceroute", INTEGER, 0, 0, "has no traceroute"},
    [IRATE] = {"irate", INTEGER, 0, 1, "knows no such rate mode"},
    [THIRDPARTY] = {"thirdparty", HOST, 0, 0, "runs no tests with third parties"},
    [MULTICAST] = {"multicast", INTEGER, 0, 0, "sends and hears no multicast"},
    [DATAMSS] = {"datamss", INTEGER, 0, UINT16_MAX, "takes no such segment size"},
    [TOS] = {"tos", HEX, 0, UINT8_MAX, "takes no such type of service"},
    [NODELAY] = {"nodelay", INTEGER, 0, 1, "knows no such delay option"},
};

static const char malformed[] = "did not understand the parameters";

/* ---- pieces of text ---- */

struct piece {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\r';
}

static struct piece trim(struct piece p)
{
    while (p.at < p.end && is_blank(*p.at)) {
        p.at++;
    }
    while (p.at < p.end && is_blank(p.end[-1])) {
        p.end--;
    }
    return p;
}

static bool is_text(struct piece p, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(p.end - p.at) == n && memcmp(p.at, text, n) == 0;
}

/* What comes before the first `c`, or all; *rest is what comes behind it. */
static struct piece cut(struct piece p, char c, struct piece *rest)
{
    struct piece first = {p.at, p.at};

    while (first.end < p.end && *first.end != c) {
        first.end++;
    }
    *rest = (struct piece){first.end < p.end ? first.end + 1 : p.end, p.end};
    return first;
}

/* ---- values ---- */

static int digit(char c, unsigned base)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (base == 16 && ((c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'))) {
        return (c | 0x20) - 'a' + 10;
    }
    return -1;
}

/* Takes digits; at least one, and no more than fit. */
static bool take_number(struct piece *p, unsigned base, int64_t *value)
{
    const char *begin = p->at;

    *value = 0;
    while (p->at < p->end && digit(*p->at, base) >= 0) {
        if (*value > LARGEST) {
            return false;
        }
        *value = *value * base + digit(*p->at++, base);
    }
    return p->at > begin;
}

static bool read_integer(struct piece p, unsigned base, int64_t *value)
{
    bool negative = p.at < p.end && *p.at == '-';

    p.at += negative;
    if (!take_number(&p, base, value) || p.at != p.end) {
        return false;
    }
    *value = negative ? -*value : *value;
    return true;
}

/* "12.345678" in microseconds; further decimals are cut off. */
static bool read_seconds(struct piece p, int64_t *value)
{
    int64_t fraction = 0;

    if (!take_number(&p, 10, value) || *value > INT32_MAX) {
        return false;
    }
    if (p.at < p.end && *p.at == '.') {
        p.at++;
        for (unsigned i = 0; i < DECIMALS; i++) {
            int d = p.at < p.end ? digit(*p.at, 10) : -1;

            p.at += d >= 0;
            fraction = fraction * 10 + (d >= 0 ? d : 0);
        }
        while (p.at < p.end && digit(*p.at, 10) >= 0) {
            p.at++;
        }
    }
    *value = *value * US_PER_S + fraction;
    return p.at == p.end;
}

/* "6.1.2" as 60102. */
static bool read_version(struct piece p, int64_t *value)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < 3; i++) {
        struct piece part = cut(p, '.', &p);
        int64_t n;

        if (!read_integer(part, 10, &n) || n < 0 || n > 99) {
            return false;
        }
        sum = sum * 100 + n;
    }
    *value = sum;
    return p.at == p.end;
}

static bool read_value(enum kind kind, struct piece p, int64_t *value)
{
    switch (kind) {
    case INTEGER: return read_integer(p, 10, value);
    case HEX: return read_integer(p, 16, value);
    case SECONDS: return read_seconds(p, value);
    case VERSION: return read_version(p, value);
    case HOST: *value = !is_text(p, "_NULL_"); return true;
    }
    return false;
}

/* ---- the line ---- */

static unsigned find_key(struct piece name)
{
    unsigned i = 0;

    while (i < KEYS && !is_text(name, keys[i].name)) {
        i++;
    }
    return i;
}

/* All items into values[]; what is not there stays 0. */
static const char *read_items(struct piece rest, int64_t values[KEYS])
{
    uint32_t seen = 0;

    while (rest.at < rest.end) {
        struct piece value, item = cut(rest, ',', &rest);
        unsigned i = find_key(trim(cut(item, '=', &value)));

        if (i == KEYS) {
            continue;
        }
        if ((seen & 1u << i) != 0 || !read_value(keys[i].kind, trim(value), &values[i])) {
            return malformed;
        }
        seen |= 1u << i;
    }
    return (~seen & ((1u << REQUIRED) - 1)) != 0 ? malformed : NULL;
}

/* From the last to the first: what kind of test it is comes before its amounts, which are none in a
 * test with a third party. */
static const char *judge(const int64_t values[KEYS])
{
    for (unsigned i = KEYS; i-- != 0;) {
        if (values[i] < keys[i].least || values[i] > keys[i].most) {
            return keys[i].refusal;
        }
    }
    if (values[UDP] &&
        (values[BUFLEN] < NUTTCP_UDP_LEN_MIN || values[BUFLEN] > NUTTCP_UDP_LEN_MAX)) {
        return "takes datagrams of 5 to 65507 bytes";
    }
    if (values[PORT] + values[NSTREAM] - 1 > UINT16_MAX) {
        return keys[PORT].refusal;
    }
    if (values[UDP] && values[REVERSE]) {
        return "flips no tests over UDP";
    }
    if (values[UDP] && !values[TRANS] &&
        values[TIMEOUT] > (int64_t)NUTTCP_UDP_SECONDS_MAX * US_PER_S) {
        return "sends datagrams for at most 60 seconds";
    }
    if (values[NBUF] == NO_COUNT && values[TIMEOUT] == 0) {
        return malformed; /* it would never end */
    }
    return NULL;
}

static bool is_printable(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((line[i] < ' ' || line[i] > '~') && line[i] != '\r') {
            return false;
        }
    }
    return true;
}

const char *nuttcp_read_params(const char *line, size_t n, struct nuttcp_params *p)
{
    int64_t values[KEYS] = {0};
    const char *refusal =
        is_printable(line, n) ? read_items((struct piece){line, line + n}, values) : malformed;

    if (refusal == NULL) {
        refusal = judge(values);
    }
    if (refusal != NULL) {
        return refusal;
    }
    *p = (struct nuttcp_params){
        .udp = values[UDP] != 0,
        .sends = values[TRANS] == 0,
        .connects = (values[TRANS] == 0) != (values[REVERSE] != 0),
        .nodelay = values[NODELAY] != 0,
        .instantaneous = values[IRATE] != 0,
        .streams = (unsigned)values[NSTREAM],
        .len = (uint32_t)values[BUFLEN],
        .count = values[NBUF] == NO_COUNT ? 0 : (uint64_t)values[NBUF],
        .us = (uint64_t)values[TIMEOUT],
        .interval_us = (uint64_t)values[INTERVAL],
        .window = (uint32_t)values[WIN],
        .bits_s = values[RATE] > NO_RATE_FROM ? 0 : (uint64_t)values[RATE] * 1000,
        .format = (uint32_t)values[FORMAT],
        .port = (uint16_t)values[PORT],
        .mss = (uint16_t)values[DATAMSS],
        .tos = (uint8_t)values[TOS],
        .two_begins = values[VERS] >= VERSION_TWO_BEGINS,
    };
    return NULL;
}

bool nuttcp_is_greeting(const char *line, size_t n)
{
    static const char hello[] = "HELO nuttcp v";
    struct piece p = {line, line + n};
    int64_t version;

    if (n < sizeof(hello) - 1 || memcmp(line, hello, sizeof(hello) - 1) != 0) {
        return false;
    }
    p.at += sizeof(hello) - 1;
    return read_version(trim(p), &version);
}
