/*
 * The pages: what httpd makes of a request, and who cannot spoil it for others.
 */
#include <stdlib.h>
#include <string.h>

#include "lwip/tcp.h"
#include "tests/host/web_rig.h"

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
    const char *reply = web_get("GET / HTTP/1.0\r\n\r\n");
    const char *body = strstr(reply, "\r\n\r\n");
    unsigned length;

    ck_assert(web_begins(reply, "HTTP/1.0 200 OK\r\n"));
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
    reply = web_get("GET /index.html HTTP/1.1\r\nHost: x\r\n\r\n");
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
    reply = web_get("GET / HTTP/1.0\r\n\r\n");
    expect_balanced(strstr(reply, "\r\n\r\n") + 4);
    ck_assert_uint_eq(web_times(reply, "<TD>ttcp tcp in") + web_times(reply, "<TR><TD>ttcp tcp in"),
                      20);
    reply = web_get("GET /report.txt HTTP/1.0\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(reply, "Content-Type: text/plain"));
    ck_assert_uint_eq(web_times(reply, "ttcp-r"), 12);
}
END_TEST

/* 64 results of the longest kind fit, or the text says that they do not. */
START_TEST(full_report)
{
    for (unsigned i = 0; i < 70; i++) {
        run_test(40000 + i);
    }
    const char *reply = web_get("GET /report.txt HTTP/1.0\r\n\r\n");

    ck_assert_uint_eq(web_times(reply, "ttcp-r"), 64);
    ck_assert_ptr_null(strstr(reply, "too long"));
}
END_TEST

/* ---- requests ---- */

START_TEST(other_requests)
{
    char request[3000];

    ck_assert(web_begins(web_get("GET /nothing HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(
        web_begins(web_get("GET /../../etc/ HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(web_begins(web_get("GET /%00%ff HTTP/1.0\r\n\r\n"), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(web_begins(web_get("HEAD / HTTP/1.0\r\n\r\n"), "HTTP/1.0 501 Not Implemented\r\n"));
    ck_assert(
        web_begins(web_get("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.0 501"));
    ck_assert(web_begins(web_get("\r\n\r\n\r\n\r\n\r\n"), "HTTP/1.0 501"));
    memset(request, 'a', sizeof(request));
    memcpy(request, "GET /", 5);
    strcpy(request + 2990, "\r\n\r\n");
    ck_assert(web_begins(web_get(request), "HTTP/1.0 400 Bad Request\r\n"));
    strcpy(request + 1200, " HTTP/1.0\r\n\r\n");
    ck_assert(web_begins(web_get(request), "HTTP/1.0 404 Not Found\r\n"));
    ck_assert(web_begins(web_get("GET /?x=1&y=<script> HTTP/1.0\r\n\r\n"), "HTTP/1.0 404"));
    ck_assert(web_begins(web_get("GET /report.txt?now HTTP/1.0\r\n\r\n"), "HTTP/1.0 200"));
}
END_TEST

/* Typed by hand, line by line; and one that never comes to its end. */
START_TEST(request_in_pieces)
{
    static const char request[] = "GET / HTTP/1.0\r\nHost: x\r\n\r\n";
    struct browser *b = &browsers[0];

    ck_assert(web_call(b, ""));
    b->tcp.says = (const uint8_t *)request;
    b->tcp.says_bytes = sizeof(request) - 1;
    ck_assert(peer_tcp_send(&b->tcp, 16));
    rig_run_ms(500);
    ck_assert(peer_tcp_send(&b->tcp, 9));
    rig_run_ms(500);
    ck_assert_uint_eq(b->tcp.received, 0);
    ck_assert(peer_tcp_send(&b->tcp, 2));
    ck_assert(rig_until(web_ended, &b->tcp, 3000));
    ck_assert(web_begins(b->reply, "HTTP/1.0 200 OK"));
    ck_assert(web_call(&browsers[1], "GET / HT"));
    ck_assert(rig_until(web_ended, &browsers[1].tcp, 10000));
    ck_assert_uint_eq(browsers[1].tcp.received, 0);
}
END_TEST

/* Idle connections have the server to themselves for 8 s at most, and no more than eight of them.
 */
START_TEST(idle_connections)
{
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(web_call(&browsers[i], ""));
    }
    ck_assert(web_refused(&browsers[8]));
    rig_run_ms(9000);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(web_ended(&browsers[i].tcp));
        peer_tcp_forget(&browsers[i].tcp);
    }
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

/* A browser that takes nothing: its connection and its text are free again. */
START_TEST(shut_windows)
{
    for (unsigned i = 0; i < 4; i++) {
        ck_assert(web_dial(&browsers[i]));
        browsers[i].tcp.stop_at = 1;
        web_ask(&browsers[i], "GET / HTTP/1.0\r\n\r\n");
    }
    rig_run_ms(40000);
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert(web_begins(web_get("GET /report.txt HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

/* ---- http= ---- */

START_TEST(off_from_the_start)
{
    rig_up_with(RIG_STATIC " http=off", 1, RIG_MEMORY_KB);
    ck_assert(web_refused(&browsers[0]));
    ck_assert_int_eq(rig_command("set http=ro", 1000), 0);
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert_int_eq(rig_command("set http=off", 1000), 0); /* as it was, for rig_down's count */
    ck_assert(web_refused(&browsers[0]));
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
    tcase_add_test(own_case(suite, "off"), off_from_the_start);
    return suite;
}
