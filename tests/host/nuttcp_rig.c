/*
 * The client's side of a nuttcp session.
 */
#include "tests/host/nuttcp_rig.h"

#include <string.h>

enum { SECOND_MS = 1000 };

struct nt_asks nt_asks(void)
{
    return (struct nt_asks){.buflen = 8192,
                            .streams = 1,
                            .port = NT_DATA,
                            .format = 2048,
                            .nbuf = INT32_MAX,
                            .rate = UINT32_MAX,
                            .sends = true,
                            .timeout_ms = 10000};
}

void nt_say_bytes(struct nt_client *c, const void *data, unsigned n)
{
    ck_assert_uint_le(c->script_bytes + n, sizeof(c->script));
    memcpy(c->script + c->script_bytes, data, n);
    c->script_bytes += n;
    c->control.says_bytes = c->script_bytes;
    ck_assert(peer_tcp_send(&c->control, n));
}

void nt_say(struct nt_client *c, const char *text)
{
    nt_say_bytes(c, text, (unsigned)strlen(text));
}

static const char *expected;

static bool has_come(void *arg)
{
    const struct nt_client *c = arg;

    return strstr(c->heard, expected) != NULL;
}

void nt_hears(struct nt_client *c, const char *text, unsigned ms)
{
    expected = text;
    ck_assert_msg(rig_until(has_come, c, ms), "no '%s' in:\n%s", text, c->heard);
}

void nt_open(struct nt_client *c, const struct station *s, unsigned port)
{
    memset(c, 0, sizeof(*c));
    c->station = s;
    c->port = port;
    ck_assert(peer_tcp_connect(&c->control, s, port, BOX_IP, NT_PORT));
    c->control.says = (const uint8_t *)c->script;
    c->control.keeps = (uint8_t *)c->heard;
    c->control.keeps_room = sizeof(c->heard) - 1;
    c->control.close_back = true;
    nt_say(c, "HELO nuttcp v6.1.2\n");
    nt_hears(c, "HELO nuttcp v6.1.2\n", SECOND_MS);
}

void nt_ask(struct nt_client *c, const struct nt_asks *a)
{
    char text[1024];

    snprintf(
        text, sizeof(text),
        "buflen = %u, nbuf = %llu, win = %u, nstream = %u, rate = %llu, port = %u, trans = %d, "
        "braindead = 0, timeout = %u.%03u000, udp = %d, vers = 6.1.2, interval = %u.%03u000, "
        "reverse = %d, format = %u, traceroute = 0, irate = 0, thirdparty = _NULL_ , "
        "multicast = 0 , datamss = 0 , tos = 0 , nbuf_bytes = 0 , rate_pps = 0 , "
        "nodelay = 0\n",
        a->buflen, (unsigned long long)a->nbuf, a->win, a->streams, (unsigned long long)a->rate,
        a->port, a->sends, a->timeout_ms / 1000, a->timeout_ms % 1000, a->udp,
        a->interval_ms / 1000, a->interval_ms % 1000, a->flip, a->format);
    nt_say(c, text);
    nt_hears(c, "OK v6.1.2\n", SECOND_MS);
}

void nt_connect(struct nt_client *c, unsigned i)
{
    ck_assert(peer_tcp_connect(&c->data[i], c->station, c->port + 1 + i, BOX_IP, NT_DATA + i));
    c->data[i].close_back = true;
}

void nt_begin(struct nt_client *c, const struct nt_asks *asks)
{
    unsigned streams = asks->udp ? 0 : asks->streams;
    bool listens = asks->sends == asks->flip;

    nt_open(c, &peer, NT_FROM);
    for (unsigned i = 0; listens && i < streams; i++) {
        peer_tcp_listen(&c->data[i], &peer, NT_DATA + i);
    }
    nt_ask(c, asks);
    for (unsigned i = 0; !listens && i < streams; i++) {
        nt_connect(c, i);
    }
}

static bool has_ended(void *arg)
{
    const struct nt_client *c = arg;

    return c->control.fin_seen;
}

void nt_over(struct nt_client *c)
{
    ck_assert_msg(rig_until(has_ended, c, 5 * SECOND_MS), "the report does not end:\n%s", c->heard);
    ck_assert(!c->control.reset_seen);
}

void nt_expect_free(void)
{
    static struct nt_client next;
    struct nt_asks asks = nt_asks();

    nt_open(&next, &peer, NT_FROM + 1000);
    nt_ask(&next, &asks);
    nt_connect(&next, 0);
    ck_assert(peer_tcp_send(&next.data[0], 1));
    ck_assert(peer_tcp_finish(&next.data[0]));
    nt_over(&next);
}

const char *nt_result(uint64_t bytes, const char *end)
{
    const char *r;

    ck_assert_uint_eq(rig_record_count("result"), 1);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "test"), "\"nuttcp\"");
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)bytes);
    ck_assert_str_eq(rig_value(r, "end"), end);
    return r;
}
