/*
 * /events: every reader gets every record, whole or told as lost, and none spoils it for others.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/record.h"
#include "tests/host/web_rig.h"

enum { STREAMS = 4 };

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
    ck_assert(web_call(b, events));
    rig_run_ms(50);
    ck_assert(web_begins(b->reply, "HTTP/1.0 200 OK\r\n"));
    ck_assert_ptr_nonnull(strstr(b->reply, "Content-Type: text/event-stream\r\n"));
    ck_assert(web_begins(strstr(b->reply, "\r\n\r\n") + 4, "data: {\"ev\":\"boot\",\"version\":"));
    nic = strstr(b->reply, "\n\ndata: {\"ev\":\"nic\",\"nic\":0,");
    ready = strstr(b->reply, "\n\ndata: {\"ev\":\"ready\",\"nic\":0,\"ip\":\"10.0.0.1\"");
    ck_assert(nic != NULL && ready != NULL && nic < ready);
    emit(1, 10);
    rig_run_ms(30);
    ck_assert_uint_eq(web_times(b->reply, "\n\ndata: {\"ev\":\"bench\",\"number\":1,"), 1);
    ck_assert_ptr_null(strchr(b->reply, '@'));
    emit(2, 3900);
    rig_run_ms(100);
    ck_assert_uint_eq(web_times(b->reply, "\"number\":2,"), 1);
    ck_assert_str_eq(b->reply + strlen(b->reply) - 3, "}\n\n");
    web_hang_up(b);
}
END_TEST

/* httpd ends what sends nothing for 8 s: a comment every 3 s. */
START_TEST(quiet_stream_lives)
{
    struct browser *b = &browsers[0];

    ck_assert(web_call(b, events));
    rig_run_ms(30500);
    ck_assert(!web_ended(&b->tcp));
    ck_assert_uint_ge(web_times(b->reply, "\n\n:\n\n") + web_times(b->reply, "\n:\n\n:\n"), 5);
    ck_assert_uint_le(web_times(b->reply, ":\n\n"), 11);
    web_hang_up(b);
}
END_TEST

START_TEST(four_streams)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert(web_call(&browsers[i], events));
        rig_run_ms(20);
    }
    ck_assert(web_begins(web_get(events), "HTTP/1.0 503 Busy\r\n"));
    emit(7, 100);
    rig_run_ms(50);
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert_uint_eq(web_times(browsers[i].reply, "\"number\":7,"), 1);
    }
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    for (unsigned i = 0; i < STREAMS; i++) {
        web_hang_up(&browsers[i]);
    }
    ck_assert(web_call(&browsers[0], events));
    rig_run_ms(50);
    ck_assert(web_begins(browsers[0].reply, "HTTP/1.0 200 OK"));
    web_hang_up(&browsers[0]);
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

    ck_assert(web_call(slow, events));
    ck_assert(web_call(quick, events));
    rig_run_ms(50);
    slow->tcp.mute = true;
    for (unsigned i = 0; i < 100; i++) {
        emit(1000 + i, 300);
        rig_run_ms(20);
    }
    ck_assert_uint_eq(web_times(quick->reply, "\"ev\":\"bench\""), 100);
    ck_assert_uint_eq(web_times(quick->reply, "record_lost"), 0);
    slow->tcp.mute = false;
    rig_run_ms(5000);
    emit(2000, 10);
    rig_run_ms(3000);
    ck_assert(!web_ended(&slow->tcp));
    ck_assert_uint_gt(lost_by(slow->reply), 0);
    ck_assert_uint_eq(web_times(slow->reply, "\"ev\":\"bench\"") + lost_by(slow->reply), 101);
    ck_assert_uint_eq(web_times(slow->reply, "\"number\":2000,"), 1);
    ck_assert_uint_lt(web_times(slow->reply, "\"ev\":\"bench\""), 60);
    web_hang_up(slow);
    web_hang_up(quick);
}
END_TEST

/* Records longer than a segment, for one whose window shuts within one of them while more come than
 * the log holds: each is told whole, or as lost. */
START_TEST(slow_reader_of_long_records)
{
    struct browser *slow = &browsers[0];
    unsigned whole = 0, emitted = 0;

    ck_assert(web_call(slow, events));
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

        ck_assert(end != NULL && web_begins(end - 1, "}\n\n"));
        whole++;
    }
    ck_assert(!web_ended(&slow->tcp));
    ck_assert_uint_gt(lost_by(slow->reply), 0);
    ck_assert_uint_eq(whole + lost_by(slow->reply), emitted);
    web_hang_up(slow);
}
END_TEST

/* One that never reads again is ended; lwIP's heap and pools come back (rig_down). */
START_TEST(dead_reader)
{
    ck_assert(web_call(&browsers[0], events));
    rig_run_ms(50);
    browsers[0].tcp.mute = true;
    for (unsigned i = 0; i < 200; i++) {
        emit(i, 300);
        rig_run_ms(60);
    }
    peer_tcp_forget(&browsers[0].tcp);
    for (unsigned i = 1; i <= STREAMS; i++) {
        ck_assert(web_call(&browsers[i], events));
        rig_run_ms(20);
        ck_assert(web_begins(browsers[i].reply, "HTTP/1.0 200 OK"));
    }
    for (unsigned i = 1; i <= STREAMS; i++) {
        web_hang_up(&browsers[i]);
    }
}
END_TEST

/* http= ends them. */
START_TEST(set_http)
{
    ck_assert(web_call(&browsers[0], events));
    rig_run_ms(50);
    ck_assert_int_eq(rig_command("set http=off", 1000), 0);
    ck_assert(rig_until(web_ended, &browsers[0].tcp, 1000));
    ck_assert(web_refused(&browsers[1]));
    ck_assert_int_eq(rig_command("set http=rw", 1000), 0);
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
    ck_assert_int_eq(rig_command("set http=ro", 1000), 0);
    ck_assert(web_begins(web_get("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.0 200 OK"));
}
END_TEST

Suite *net_web_events_suite(void)
{
    Suite *suite = suite_create("net_web_events");
    TCase *tcase = rig_case(suite, "events");

    tcase_add_test(tcase, stream_of_records);
    tcase_add_test(tcase, quiet_stream_lives);
    tcase_add_test(tcase, four_streams);
    tcase_add_test(tcase, slow_reader);
    tcase_add_test(tcase, slow_reader_of_long_records);
    tcase_add_test(tcase, dead_reader);
    tcase_add_test(tcase, set_http);
    return suite;
}
