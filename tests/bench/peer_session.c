/*
 * See peer_session.h.  What is said and how it is answered: NEEDS 3.3 and 3.4.
 */
#include "tests/bench/peer_session.h"

#include <stddef.h>

enum {
    CONTROL_PORT = 41000,
    STREAM_PORT = 41001,
    WINDOW = 8192,
    COOKIE = 37, /* with its NUL */
};

/* Said as soon as the box has said `heard` bytes in all. */
struct step {
    uint32_t heard;
    enum {
        SAY,
        SAY_WITH_LENGTH, /* its length in four bytes before it      */
        OPEN_STREAM,     /* and said there                          */
        SAY_AFTER_DATA,  /* not before all data are acknowledged    */
    } how;
    const char *text;
    unsigned length;
};

struct peer_session {
    uint16_t control_port, stream_port;
    const struct step *steps;
    unsigned count;
    uint32_t ready; /* bytes that the box has said when data may come */
    bool fin_ends;  /* the end of the stream is the end of the test   */
};

static const char cookie[COOKIE] = "abcdefghijklmnopqrstuvwxyz234567abcd";

static const char iperf3_asks[] =
    "{\"tcp\":true,\"omit\":0,\"time\":0,\"num\":1495040,\"parallel\":1,\"len\":1460}";
static const char iperf3_results[] = "{\"streams\":[]}";

static const struct step iperf3_steps[] = {
    {0, SAY, cookie, COOKIE},
    {1, SAY_WITH_LENGTH, iperf3_asks, sizeof(iperf3_asks) - 1}, /* after 9, PARAM_EXCHANGE   */
    {2, OPEN_STREAM, cookie, COOKIE},                           /* 10, CREATE_STREAMS        */
    {4, SAY_AFTER_DATA, "\x04", 1},                             /* 1, 2: it runs             */
    {5, SAY_WITH_LENGTH, iperf3_results, sizeof(iperf3_results) - 1}, /* 13, EXCHANGE_RESULTS */
    {6, SAY, "\x10", 1}, /* its own, and 14           */
};

static const char hello[] = "HELO nuttcp v6.1.2\n";
static const char nuttcp_asks[] =
    "buflen = 1460, nbuf = 1024, win = 0, nstream = 1, rate = 4294967295, port = 5001, trans = 1, "
    "braindead = 0, timeout = 0.000000, udp = 0, vers = 6.1.2, interval = 0.000000, reverse = 0, "
    "format = 2048, traceroute = 0, irate = 0, thirdparty = _NULL_ , multicast = 0 , datamss = 0 , "
    "tos = 0 , nbuf_bytes = 0 , rate_pps = 0 , nodelay = 0\n";

static const struct step nuttcp_steps[] = {
    {0, SAY, hello, sizeof(hello) - 1},
    {19, SAY, nuttcp_asks, sizeof(nuttcp_asks) - 1},
    {29, OPEN_STREAM, "", 0},
};

#define COUNT(steps) (sizeof(steps) / sizeof((steps)[0]))

const struct peer_session peer_iperf3 = {5201, 5201, iperf3_steps, COUNT(iperf3_steps), 4, false};
const struct peer_session peer_nuttcp = {5000, 5001, nuttcp_steps, COUNT(nuttcp_steps), 29, true};

static const struct peer_session *session;
static struct peer_link control, *stream;
static unsigned at;
static bool data_gone, stream_said;

void peer_session_start(const struct peer_session *what, struct peer_link *data)
{
    session = what;
    stream = data;
    at = 0;
    data_gone = stream_said = false;
    peer_link_open(&control, CONTROL_PORT, what->control_port, WINDOW);
}

void peer_session_take(const struct peer_seen *seen)
{
    peer_link_take(&control, seen);
}

bool peer_session_ready(void)
{
    return stream->state == OPEN && control.heard >= session->ready && stream_said;
}

void peer_session_all_sent(void)
{
    data_gone = true;
}

bool peer_session_fin_ends(void)
{
    return session->fin_ends;
}

static void say_with_length(const struct step *step)
{
    static uint8_t document[256];
    unsigned n = step->length;

    document[2] = (uint8_t)(n >> 8);
    document[3] = (uint8_t)n;
    for (unsigned i = 0; i < n; i++) {
        document[4 + i] = (uint8_t)step->text[i];
    }
    peer_link_say(&control, document, 4 + n);
}

static void finish(struct peer_link *l)
{
    if (l->state == OPEN) {
        peer_link_send(l, FLAG_FIN | FLAG_ACK, 0);
        l->state = FIN_SENT;
    }
}

/* Open the stream, then say what belongs there; true when done. */
static bool open_stream(const struct step *step)
{
    if (stream->state == CLOSED) {
        peer_link_open(stream, STREAM_PORT, session->stream_port, WINDOW);
    }
    if (stream->state != OPEN) {
        return false;
    }
    if (step->length != 0) {
        peer_link_say(stream, step->text, step->length);
    }
    stream_said = true;
    return true;
}

static bool take_step(const struct step *step)
{
    switch (step->how) {
    case OPEN_STREAM: return open_stream(step);
    case SAY_WITH_LENGTH: say_with_length(step); return true;
    case SAY_AFTER_DATA:
        if (!data_gone) {
            return false;
        }
        break;
    case SAY: break;
    }
    peer_link_say(&control, step->text, step->length);
    return true;
}

bool peer_session_turn(void)
{
    peer_link_calm(&control);
    if (at == session->count) {
        if (!session->fin_ends) {
            finish(stream);
            finish(&control);
        }
        return false;
    }
    if (control.state != OPEN || control.heard < session->steps[at].heard ||
        !take_step(&session->steps[at])) {
        return false;
    }
    at++;
    return true;
}

bool peer_session_over(void)
{
    return at == session->count && peer_link_over(&control);
}
