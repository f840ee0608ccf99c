/*
 * The client's side of an iperf3 session.
 */
#include "tests/host/iperf3_rig.h"

#include <string.h>

enum { SECOND_MS = 1000 };

const char i3_cookie[I3_COOKIE] = "abcdefghijklmnopqrstuvwxyz234567abcd";

/* ---- saying ---- */

static void send_more(struct i3_client *c, const void *data, unsigned n)
{
    ck_assert_uint_le(c->script_bytes + n, sizeof(c->script));
    memcpy(c->script + c->script_bytes, data, n);
    c->script_bytes += n;
    c->control.says_bytes = c->script_bytes;
    ck_assert(peer_tcp_send(&c->control, n));
}

void i3_say(struct i3_client *c, uint8_t byte)
{
    send_more(c, &byte, 1);
}

void i3_document(struct i3_client *c, const char *text)
{
    uint8_t length[4];

    put32(length, (uint32_t)strlen(text));
    send_more(c, length, sizeof(length));
    send_more(c, text, (unsigned)strlen(text));
}

void i3_open(struct i3_client *c, const struct station *s, unsigned port)
{
    memset(c, 0, sizeof(*c));
    c->station = s;
    c->port = port;
    ck_assert(peer_tcp_connect(&c->control, s, port, BOX_IP, I3_PORT));
    c->control.says = c->script;
    c->control.keeps = c->heard;
    c->control.keeps_room = sizeof(c->heard);
    c->control.close_back = true;
    send_more(c, i3_cookie, I3_COOKIE);
    i3_expect(c, I3_PARAMS);
}

/* ---- hearing ---- */

static unsigned wanted;

static bool has_wanted(void *arg)
{
    const struct i3_client *c = arg;

    return c->control.received >= wanted;
}

static const uint8_t *hear(struct i3_client *c, unsigned n)
{
    wanted = c->read + n;
    ck_assert_msg(rig_until(has_wanted, c, SECOND_MS), "%u bytes are not coming", n);
    c->read = wanted;
    return c->heard + c->read - n;
}

void i3_expect(struct i3_client *c, uint8_t byte)
{
    ck_assert_uint_eq(*hear(c, 1), byte);
}

void i3_expect_error(struct i3_client *c, unsigned number)
{
    i3_expect(c, I3_ERROR);
    ck_assert_uint_eq(get32(hear(c, 4)), number);
    ck_assert_uint_eq(get32(hear(c, 4)), 0);
    rig_run_ms(20);
    ck_assert_uint_eq(c->control.received, c->read);
    ck_assert(c->control.fin_seen && !c->control.reset_seen);
}

const char *i3_expect_document(struct i3_client *c)
{
    static char text[I3_KEPT];
    unsigned n = get32(hear(c, 4));

    ck_assert_uint_lt(n, sizeof(text));
    memcpy(text, hear(c, n), n);
    text[n] = '\0';
    return text;
}

/* ---- a session ---- */

bool i3_stream(struct i3_client *c, const char *cookie)
{
    struct peer_tcp *s = &c->stream[c->streams++];

    if (!peer_tcp_connect(s, c->station, c->port + c->streams, BOX_IP, I3_PORT)) {
        return false;
    }
    s->says = (const uint8_t *)cookie;
    s->says_bytes = I3_COOKIE;
    s->close_back = true;
    return peer_tcp_send(s, I3_COOKIE);
}

void i3_run(struct i3_client *c, const char *params, unsigned n)
{
    i3_document(c, params);
    i3_expect(c, I3_CREATE);
    for (unsigned i = 0; i < n; i++) {
        ck_assert(i3_stream(c, i3_cookie));
    }
    i3_expect(c, I3_START);
    i3_expect(c, I3_RUNNING);
}

const char *i3_finish(struct i3_client *c)
{
    const char *results;

    i3_say(c, I3_END);
    i3_expect(c, I3_RESULTS);
    i3_document(c, "{\"streams\":[]}");
    results = i3_expect_document(c);
    i3_expect(c, I3_DISPLAY);
    i3_say(c, I3_DONE);
    ck_assert(peer_tcp_finish(&c->control));
    return results;
}

void i3_expect_free(void)
{
    static struct i3_client next;

    i3_open(&next, &peer, I3_FROM + 1000);
    i3_run(&next, I3_PLAIN, 1);
    i3_finish(&next);
}

const char *i3_result(uint64_t bytes, const char *end)
{
    const char *r;

    ck_assert_uint_eq(rig_record_count("result"), 1);
    r = rig_record("result", 0);
    ck_assert_str_eq(rig_value(r, "test"), "\"iperf3\"");
    ck_assert_int_eq(rig_number(r, "bytes"), (int64_t)bytes);
    ck_assert_str_eq(rig_value(r, "end"), end);
    return r;
}
