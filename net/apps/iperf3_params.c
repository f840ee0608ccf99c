/*
 * Parameters: collected by key, then judged.
 */
#include "net/apps/iperf3_params.h"

#include "kernel/string.h"
#include "net/apps/json.h"

/* Limits of iperf3 itself (iperf_api.h, units in seconds and bytes). */
enum {
    TIME_MAX_S = 86400,
    OMIT_MAX_S = 600,
    LEN_DEFAULT_TCP = 128 * 1024,
    LEN_DEFAULT_UDP = 1460,
    LEN_MAX = 1 << 20,
    UDP_HEADER_32 = 12, /* seconds, microseconds, sequence number */
    UDP_HEADER_64 = 16,
    BURST_MAX = 1000,
};

enum field {
    TCP,
    UDP,
    SCTP,
    OMIT,
    TIME,
    PARALLEL,
    REVERSE,
    BIDIRECTIONAL,
    NODELAY,
    WINDOW,
    LEN,
    BANDWIDTH,
    FQRATE,
    BURST,
    TOS,
    NUM,
    BLOCKCOUNT,
    SERVER_OUTPUT,
    COUNTERS_64BIT,
    FIELDS
};

/* Other keys mean nothing to us and are passed over. */
static const struct {
    const char *key;
    bool flag;
} fields[FIELDS] = {
    [TCP] = {"tcp", true},
    [UDP] = {"udp", true},
    [SCTP] = {"sctp", true},
    [OMIT] = {"omit", false},
    [TIME] = {"time", false},
    [PARALLEL] = {"parallel", false},
    [REVERSE] = {"reverse", true},
    [BIDIRECTIONAL] = {"bidirectional", true},
    [NODELAY] = {"nodelay", true},
    [WINDOW] = {"window", false},
    [LEN] = {"len", false},
    [BANDWIDTH] = {"bandwidth", false},
    [FQRATE] = {"fqrate", false},
    [BURST] = {"burst", false},
    [TOS] = {"TOS", false},
    [NUM] = {"num", false},
    [BLOCKCOUNT] = {"blockcount", false},
    [SERVER_OUTPUT] = {"get_server_output", true},
    [COUNTERS_64BIT] = {"udp_counters_64bit", true},
};

static enum field field_of(const struct json *key)
{
    enum field f = 0;

    while (f < FIELDS && !json_is(key, fields[f].key)) {
        f++;
    }
    return f;
}

/* False if a known key has a value of the wrong kind, or a negative one. */
static bool collect(const struct json *root, int64_t values[FIELDS])
{
    struct json_walk walk = json_walk(root);
    struct json key, value;

    while (json_next(&walk, &key, &value)) {
        enum field f = field_of(&key);

        if (f == FIELDS) {
            continue;
        }
        if (fields[f].flag) {
            values[f] = json_flag(&value);
        } else if (!json_number(&value, 0, &values[f]) || values[f] < 0) {
            return false;
        }
    }
    return true;
}

static enum iperf3_error judge_length(const int64_t values[FIELDS], struct iperf3_params *p)
{
    uint32_t least = !p->udp ? 1 : p->counters_64bit ? UDP_HEADER_64 : UDP_HEADER_32;
    int64_t len = values[LEN];

    if (len == 0) {
        len = p->udp ? LEN_DEFAULT_UDP : LEN_DEFAULT_TCP;
    }
    if (len > LEN_MAX) {
        return IPERF3_BLOCK_SIZE;
    }
    if (len < least || (p->udp && len > IPERF3_UDP_LEN_MAX)) {
        return IPERF3_UDP_BLOCK_SIZE;
    }
    p->len = (uint32_t)len;
    return IPERF3_OK;
}

/* The lower of two wishes, of which 0 is none; beyond 4 Gbit/s it is none, either. */
static uint32_t slower(int64_t a, int64_t b)
{
    int64_t rate = a == 0 || (b != 0 && b < a) ? b : a;

    return rate > UINT32_MAX ? 0 : (uint32_t)rate;
}

/* What the client will send in all, or 0 if only time ends it. */
static uint64_t amount(const int64_t values[FIELDS], uint32_t len)
{
    uint64_t blocks = (uint64_t)values[BLOCKCOUNT];

    if (values[NUM] != 0) {
        return (uint64_t)values[NUM];
    }
    return blocks > UINT64_MAX / LEN_MAX ? UINT64_MAX : blocks * len;
}

static enum iperf3_error judge(const int64_t values[FIELDS], struct iperf3_params *p)
{
    enum iperf3_error error;

    if (values[SCTP] != 0) {
        return IPERF3_UNIMPLEMENTED;
    }
    if (values[UDP] == 0 && values[TCP] == 0) {
        return IPERF3_RECV_PARAMS;
    }
    if (values[PARALLEL] < 1 || values[PARALLEL] > IPERF3_PARALLEL_MAX) {
        return IPERF3_NUM_STREAMS;
    }
    if (values[TIME] > TIME_MAX_S) {
        return IPERF3_DURATION;
    }
    if (values[OMIT] > OMIT_MAX_S) {
        return IPERF3_OMIT;
    }
    p->udp = values[UDP] != 0;
    p->counters_64bit = values[COUNTERS_64BIT] != 0;
    p->server_output = values[SERVER_OUTPUT] != 0;
    p->nodelay = values[NODELAY] != 0;
    p->sends = values[REVERSE] != 0 || values[BIDIRECTIONAL] != 0;
    p->receives = values[REVERSE] == 0 || values[BIDIRECTIONAL] != 0;
    p->parallel = (unsigned)values[PARALLEL];
    p->omit_s = (uint32_t)values[OMIT];
    p->time_s = (uint32_t)values[TIME];
    p->window = values[WINDOW] > INT32_MAX ? INT32_MAX : (uint32_t)values[WINDOW];
    p->bits_s = slower(values[BANDWIDTH], values[FQRATE]);
    p->burst = values[BURST] < 1           ? 1
               : values[BURST] > BURST_MAX ? BURST_MAX
                                           : (uint32_t)values[BURST];
    p->tos = (uint8_t)values[TOS];
    error = judge_length(values, p);
    p->bytes = amount(values, p->len);
    return error;
}

enum iperf3_error iperf3_read_params(const char *text, size_t n, struct iperf3_params *p)
{
    int64_t values[FIELDS] = {[PARALLEL] = 1};
    struct json root;

    memset(p, 0, sizeof(*p));
    if (!json_open(text, n, &root) || root.type != JSON_OBJECT || !collect(&root, values)) {
        return IPERF3_RECV_PARAMS;
    }
    return judge(values, p);
}

unsigned iperf3_streams(const struct iperf3_params *p)
{
    return p->sends && p->receives ? 2 * p->parallel : p->parallel;
}
