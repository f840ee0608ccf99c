/*
 * The pages: what httpd makes of a request, streams of records, and who cannot spoil it for others.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/record.h"
#include "kernel/record_log.h"
#include "lwip/tcp.h"

enum { PORT = 80, FROM = 41000, ROOM = 65536, STREAMS = 4 };

/* A browser: a connection and all that came over it, as text. */
struct browser {
    struct peer_tcp tcp;
    char reply[ROOM];
};
static struct browser browsers[12];

/* A connection, and nothing asked yet. */
static bool dial(struct browser *b)
{
    static unsigned port = FROM;

    memset(b, 0, sizeof(*b));
    if (!peer_tcp_connect(&b->tcp, &peer, port++, BOX_IP, PORT)) {
        return false;
    }
    b->tcp.keeps = (uint8_t *)b->reply;
    b->tcp.keeps_room = ROOM - 1;
    b->tcp.close_back = true;
    return true;
}

static void ask(struct browser *b, const char *request)
{
    b->tcp.says = (const uint8_t *)request;
    b->tcp.says_bytes = (unsigned)strlen(request);
    ck_assert(peer_tcp_send(&b->tcp, (unsigned)strlen(request)));
}

static bool call(struct browser *b, const char *request)
{
    bool open = dial(b);

    if (open) {
        ask(b, request);
    }
    return open;
}

static bool ended(void *arg)
{
    const struct peer_tcp *c = arg;

    return c->fin_seen || c->reset_seen;
}

/* The whole answer; then the connection is gone. */
static const char *get(const char *request)
{
    static unsigned next;
    struct browser *b = &browsers[8 + next++ % 4];

    peer_tcp_forget(&b->tcp);
    ck_assert(call(b, request));
    ck_assert(rig_until(ended, &b->tcp, 9000));
    rig_run_ms(50);
    peer_tcp_forget(&b->tcp);
    return b->reply;
}

/* No connection, or one that is reset at once. */
static bool refused(struct browser *b)
{
    bool open = dial(b);

    rig_run_ms(20);
    peer_tcp_forget(&b->tcp);
    return !open || b->tcp.reset_seen;
}

static void hang_up(struct browser *b)
{
    peer_tcp_flags(&b->tcp, T_RST | T_ACK);
    rig_run_ms(20);
    peer_tcp_forget(&b->tcp);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;

    while ((text = strstr(text, part)) != NULL) {
        n++;
        text++;
    }
    return n;
}

/* ---- texts ---- */

/* Every element that HTML 3.2 wants closed is, in order. */
static void expect_balanced(const char *html)
{
    static const char *const single[] = {"!", "BR", "TR", "TD", "TH", NULL};
    char open[16][12];
    unsigned depth = 0;

    for (const char *at = strchr(html, '<'); at != NULL; at = strchr(at + 1, '<')) {
        char name[12];
        bool closes = at[1] == '/', alone = false;
        size_t n = strcspn(at + 1 + closes, " >");

        ck_assert_uint_lt(n, sizeof(name));
        snprintf(name, sizeof(name), "%.*s", (int)n, at + 1 + closes);
        for (unsigned i = 0; single[i] != NULL; i++) {
            alone = alone || strcmp(name, single[i]) == 0 || name[0] == '!';
        }
        if (alone) {
            continue;
        }
        if (closes) {
            ck_assert_msg(depth > 0 && strcmp(open[depth - 1], name) == 0, "</%s>", name);
            depth--;
        } else {
            ck_assert_uint_lt(depth, 16);
            strcpy(open[depth++], name);
        }
    }
    ck_assert_uint_eq(depth, 0);
}

START_TEST(status_page)
{
    const char *reply = get("GET / HTTP/1.0\r\n\r\n");
    const char *body = strstr(reply, "\r\n\r\n");
    unsigned length;

    ck_assert(begins(reply, "HTTP/1.0 200 OK\r\n"));
    ck_assert_ptr_nonnull(strstr(reply, "Content-Type: text/html; charset=us-ascii\r\n"));
    ck_assert_ptr_nonnull(body);
    ck_assert_int_eq(sscanf(strstr(reply, "Content-Length: "), "Content-Length: %u", &length), 1);
    body += 4;
    ck_assert_uint_eq(strlen(body), length);
    expect_balanced(body);
    ck_assert_ptr_nonnull(strstr(body, "<TITLE>nictest86 NicTest86</TITLE>"));
    ck_assert_ptr_nonnull(strstr(body, "address <B>10.0.0.1</B> (static)"));
    ck_assert_ptr_nonnull(strstr(body, "ISA, 16-bit, port 0x300, irq 10"));
    ck_assert_ptr_nonnull(strstr(body, "none yet"));
    ck_assert_ptr_nonnull(strstr(body, "<A HREF=\"/report.txt\">"));
    ck_assert_ptr_nonnull(strstr(body, "<A HREF=\"/events\">"));
    reply = get("GET /index.html HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(reply, "<TITLE>nictest86 NicTest86</TITLE>"));
}
END_TEST

/* A test over ttcp's port, so that there is a result. */
static void run_test(unsigned port)
{
    static struct peer_tcp c;

    peer_tcp_forget(&c);
    ck_assert(peer_tcp_connect(&c, &peer, port, BOX_IP, 5001));
    ck_assert(peer_tcp_send(&c, 200000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(20);
    peer_tcp_forget(&c);
}

START_TEST(results_on_the_page)
{
    const char *reply;

    for (unsigned i = 0; i < 12; i++) {
        run_test(40000 + i);
    }
    reply = get("GET / HTTP/1.0\r\n\r\n");
    expect_balanced(strstr(reply, "\r\n\r\n") + 4);
    ck_assert_uint_eq(times(reply, "<TD>ttcp tcp in") + times(reply, "<TR><TD>ttcp tcp in"), 20);
    reply = get("GET /report.txt HTTP/1.0\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(reply, "Content-Type: text/plain"));
    ck_assert_uint_eq(times(reply, "ttcp-r"), 12);
}
END_TEST

/* 64 results of the longest kind fit, or the text says that they do not. */
START_TEST(full_report)
{
    for (unsigned i = 0; i < 70; i++) {
        run_test(40000 + i);
    }
    const char *reply = get("GET /report.txt HTTP/1.0\r\n\r\n");

    ck_assert_uint_eq(times(reply, "ttcp-r"), 64);
    ck_assert_ptr_null(strstr(reply, "too long"));
}
END_TEST

/* ---- requests ---- */

START_TEST(other_requests)
{
    char request[3000];

    ck_assert(begins(get("GET /nothing HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(begins(get("GET /../../etc/ HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(begins(get("GET /%00%ff HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(begins(get("HEAD / HTTP/1.0\r\n\r\n"), "HTTP/1.0 501 Not Implemented\r\n"));
    ck_assert(begins(get("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.0 501"));
    ck_assert(begins(get("\r\n\r\n\r\n\r\n\r\n"), "HTTP/1.0 501"));
    memset(request, 'a', sizeof(request));
    memcpy(request, "GET /", 5);
    strcpy(request + 2990, "\r\n\r\n");
    ck_assert(begins(get(request), "HTTP/1.0 400 Bad Request\r\n"));
    strcpy(request + 1200, " HTTP/1.0\r\n\r\n");
    ck_assert(begins(get(request), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(begins(get("GET /?x=1&y=<script> HTTP/1.0\r\n\r\n"), "HTTP/1.0 404"));
    ck_assert(begins(get("GET /report.txt?now HTTP/1.0\r\n\r\n"), "HTTP/1.0 200"));
}
END_TEST

/* Typed by hand, line by line; and one that never comes to its end. */
START_TEST(request_in_pieces)
{
    static const char request[] = "GET / HTTP/1.0\r\nHost: x\r\n\r\n";
    struct browser *b = &browsers[0];

    ck_assert(call(b, ""));
    b->tcp.says = (const uint8_t *)request;
    b->tcp.says_bytes = sizeof(request) - 1;
    ck_assert(peer_tcp_send(&b->tcp, 16));
    rig_run_ms(500);
    ck_assert(peer_tcp_send(&b->tcp, 9));
    rig_run_ms(500);
    ck_assert_uint_eq(b->tcp.received, 0);
    ck_assert(peer_tcp_send(&b->tcp, 2));
    ck_assert(rig_until(ended, &b->tcp, 3000));
    ck_assert(begins(b->reply, "HTTP/1.0 200 OK"));
    ck_assert(call(&browsers[1], "GET / HT"));
    ck_assert(rig_until(ended, &browsers[1].tcp, 10000));
    ck_assert_uint_eq(browsers[1].tcp.received, 0);
}
END_TEST

/* Idle connections have the server to themselves for 8 s at most, and no more than eight of them.
 */
START_TEST(idle_connections)
{
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(call(&browsers[i], ""));
    }
    ck_assert(refused(&browsers[8]));
    rig_run_ms(9000);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(ended(&browsers[i].tcp));
        peer_tcp_forget(&browsers[i].tcp);
    }
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

/* A browser that takes nothing: its connection and its text are free again. */
START_TEST(shut_windows)
{
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(dial(&browsers[i]));
        browsers[i].tcp.stop_at = 1;
        ask(&browsers[i], "GET / HTTP/1.0\r\n\r\n");
    }
    rig_run_ms(40000);
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert(begins(get("GET /report.txt HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

/* ---- events ---- */

static void emit(unsigned number, unsigned padding)
{
    static char text[4096];

    memset(text, 'x', padding);
    text[padding] = '\0';
    record_begin("bench");
    record_int("number", number);
    record_str("padding", text);
    record_end();
}

static const char events[] = "GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n";

START_TEST(stream_of_records)
{
    struct browser *b = &browsers[0];
    const char *nic, *ready;

    record_begin("boot");
    record_str("version", "test");
    record_end();
    ck_assert(call(b, events));
    rig_run_ms(50);
    ck_assert(begins(b->reply, "HTTP/1.0 200 OK\r\n"));
    ck_assert_ptr_nonnull(strstr(b->reply, "Content-Type: text/event-stream\r\n"));
    ck_assert(begins(strstr(b->reply, "\r\n\r\n") + 4, "data: {\"ev\":\"boot\",\"version\":"));
    nic = strstr(b->reply, "\n\ndata: {\"ev\":\"nic\",\"nic\":0,");
    ready = strstr(b->reply, "\n\ndata: {\"ev\":\"ready\",\"nic\":0,\"ip\":\"10.0.0.1\"");
    ck_assert(nic != NULL && ready != NULL && nic < ready);
    emit(1, 10);
    rig_run_ms(30);
    ck_assert_uint_eq(times(b->reply, "\n\ndata: {\"ev\":\"bench\",\"number\":1,"), 1);
    ck_assert_ptr_null(strchr(b->reply, '@'));
    emit(2, 3900);
    rig_run_ms(100);
    ck_assert_uint_eq(times(b->reply, "\"number\":2,"), 1);
    ck_assert_str_eq(b->reply + strlen(b->reply) - 3, "}\n\n");
    hang_up(b);
}
END_TEST

/* httpd ends what sends nothing for 8 s: a comment every 3 s. */
START_TEST(quiet_stream_lives)
{
    struct browser *b = &browsers[0];

    ck_assert(call(b, events));
    rig_run_ms(30500);
    ck_assert(!ended(&b->tcp));
    ck_assert_uint_ge(times(b->reply, "\n\n:\n\n") + times(b->reply, "\n:\n\n:\n"), 5);
    ck_assert_uint_le(times(b->reply, ":\n\n"), 11);
    hang_up(b);
}
END_TEST

START_TEST(four_streams)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert(call(&browsers[i], events));
        rig_run_ms(20);
    }
    ck_assert(begins(get(events), "HTTP/1.0 503 Busy\r\n"));
    emit(7, 100);
    rig_run_ms(50);
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert_uint_eq(times(browsers[i].reply, "\"number\":7,"), 1);
    }
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    for (unsigned i = 0; i < STREAMS; i++) {
        hang_up(&browsers[i]);
    }
    ck_assert(call(&browsers[0], events));
    rig_run_ms(50);
    ck_assert(begins(browsers[0].reply, "HTTP/1.0 200 OK"));
    hang_up(&browsers[0]);
}
END_TEST

/* What a stream was told that it missed. */
static unsigned lost_by(const char *text)
{
    static const char lost[] = "\"what\":\"record_lost\",\"nic\":null,\"lost\":";
    unsigned sum = 0;

    while ((text = strstr(text, lost)) != NULL) {
        text += sizeof(lost) - 1;
        sum += (unsigned)strtoul(text, NULL, 10);
    }
    return sum;
}

/* One that stops reading for a while: records are dropped and counted, the others get all. */
START_TEST(slow_reader)
{
    struct browser *slow = &browsers[0], *quick = &browsers[1];

    ck_assert(call(slow, events));
    ck_assert(call(quick, events));
    rig_run_ms(50);
    slow->tcp.mute = true;
    for (unsigned i = 0; i < 100; i++) {
        emit(1000 + i, 300);
        rig_run_ms(20);
    }
    ck_assert_uint_eq(times(quick->reply, "\"ev\":\"bench\""), 100);
    ck_assert_uint_eq(times(quick->reply, "record_lost"), 0);
    slow->tcp.mute = false;
    rig_run_ms(5000);
    emit(2000, 10);
    rig_run_ms(3000);
    ck_assert(!ended(&slow->tcp));
    ck_assert_uint_gt(lost_by(slow->reply), 0);
    ck_assert_uint_eq(times(slow->reply, "\"ev\":\"bench\"") + lost_by(slow->reply), 101);
    ck_assert_uint_eq(times(slow->reply, "\"number\":2000,"), 1);
    ck_assert_uint_lt(times(slow->reply, "\"ev\":\"bench\""), 60);
    hang_up(slow);
    hang_up(quick);
}
END_TEST

/* Records longer than a segment, for one whose window shuts within one of them while more come than
 * the log holds: each is told whole, or as lost. */
START_TEST(slow_reader_of_long_records)
{
    struct browser *slow = &browsers[0];
    unsigned whole = 0, emitted = 0;

    ck_assert(call(slow, events));
    rig_run_ms(50);
    for (unsigned round = 0; round < 4; round++) {
        slow->tcp.stop_at = slow->tcp.received + 1 + 1000 * round;
        for (unsigned i = 0; i < 5; i++) {
            emit(emitted++, 3900 - 100 * i);
            rig_run_ms(20);
        }
        slow->tcp.stop_at = 0;
        rig_run_ms(3000);
    }
    for (const char *at = slow->reply; (at = strstr(at, "data: {\"ev\":\"bench\"")) != NULL; at++) {
        const char *end = strchr(at, '\n');

        ck_assert(end != NULL && begins(end - 1, "}\n\n"));
        whole++;
    }
    ck_assert(!ended(&slow->tcp));
    ck_assert_uint_gt(lost_by(slow->reply), 0);
    ck_assert_uint_eq(whole + lost_by(slow->reply), emitted);
    hang_up(slow);
}
END_TEST

/* One that never reads again is ended; lwIP's heap and pools come back (rig_down). */
START_TEST(dead_reader)
{
    ck_assert(call(&browsers[0], events));
    rig_run_ms(50);
    browsers[0].tcp.mute = true;
    for (unsigned i = 0; i < 200; i++) {
        emit(i, 300);
        rig_run_ms(60);
    }
    peer_tcp_forget(&browsers[0].tcp);
    for (unsigned i = 1; i <= STREAMS; i++) {
        ck_assert(call(&browsers[i], events));
        rig_run_ms(20);
        ck_assert(begins(browsers[i].reply, "HTTP/1.0 200 OK"));
    }
    for (unsigned i = 1; i <= STREAMS; i++) {
        hang_up(&browsers[i]);
    }
}
END_TEST

/* ---- http= ---- */

START_TEST(set_http)
{
    ck_assert(call(&browsers[0], events));
    rig_run_ms(50);
    ck_assert_int_eq(rig_command("set http=off", 1000), 0);
    ck_assert(rig_until(ended, &browsers[0].tcp, 1000));
    ck_assert(refused(&browsers[1]));
    ck_assert_int_eq(rig_command("set http=rw", 1000), 0);
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert_int_eq(rig_command("set http=ro", 1000), 0);
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

START_TEST(off_from_the_start)
{
    rig_up_with(RIG_STATIC " http=off", 1, RIG_MEMORY_KB);
    ck_assert(refused(&browsers[0]));
    ck_assert_int_eq(rig_command("set http=ro", 1000), 0);
    ck_assert(begins(get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert_int_eq(rig_command("set http=off", 1000), 0); /* as it was, for rig_down's count */
    ck_assert(refused(&browsers[0]));
    rig_down();
}
END_TEST

Suite *net_web_suite(void)
{
    Suite *suite = suite_create("net_web");
    TCase *tcase = rig_case(suite, "pages");

    tcase_add_test(tcase, status_page);
    tcase_add_test(tcase, results_on_the_page);
    tcase_add_test(tcase, full_report);
    tcase_add_test(tcase, other_requests);
    tcase_add_test(tcase, request_in_pieces);
    tcase_add_test(tcase, idle_connections);
    tcase_add_test(tcase, shut_windows);
    tcase_add_test(tcase, stream_of_records);
    tcase_add_test(tcase, quiet_stream_lives);
    tcase_add_test(tcase, four_streams);
    tcase_add_test(tcase, slow_reader);
    tcase_add_test(tcase, slow_reader_of_long_records);
    tcase_add_test(tcase, dead_reader);
    tcase_add_test(tcase, set_http);
    tcase_add_test(own_case(suite, "off"), off_from_the_start);
    return suite;
}
