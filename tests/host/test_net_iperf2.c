/*
 * iperf2's TCP server: headers of both eras, what is no header, and the directions (NEEDS.md 3.0,
 * 3.2).
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "net/apps/iperf2_wire.h"
#include "tests/host/sim/bus.h"

enum { PORT = 5001, FROM = 41000, HEADER = 60, OLD_HEADER = 24 };

/* ---- reading headers ---- */

static struct iperf2_request request;

/* A header as 2.1.8 writes it. */
static const uint8_t *header(uint32_t flags, uint32_t threads, uint32_t port, uint32_t amount)
{
    static uint8_t h[80];

    memset(h, 0, sizeof(h));
    put32(h, flags);
    put32(h + 4, threads);
    put32(h + 8, port);
    put32(h + 12, 1460);
    put32(h + 20, amount);
    put32(h + 32, (flags & 0x04000000) != 0 ? 0x04000000 : 0);
    put32(h + 36, 0x00020001);
    put32(h + 40, 0x00080003);
    return h;
}

static enum iperf2_guess read_header(uint32_t flags, uint32_t threads, uint32_t port,
                                     uint32_t amount)
{
    return iperf2_read_tcp(header(flags, threads, port, amount), HEADER, &request);
}

START_TEST(headers_as_seen)
{
    ck_assert_int_eq(read_header(0x40010078, 1, 5001, 0x10000), IPERF2_YES);
    ck_assert(!request.reverse && !request.answer);
    ck_assert_uint_eq(request.bytes, 0x10000);
    ck_assert_int_eq(read_header(0xC0010078, 1, 5002, 0x8000), IPERF2_YES);
    ck_assert(request.answer && !request.at_once && request.port == 5002);
    ck_assert_int_eq(read_header(0xC0010079, 1, 5003, 0x8000), IPERF2_YES);
    ck_assert(request.answer && request.at_once);
    ck_assert_int_eq(read_header(0x44010078, 1, 5001, 0xFFFFFF9C), IPERF2_YES);
    ck_assert(request.reverse && !request.answer);
    ck_assert_uint_eq(request.us, 1000000);
    ck_assert_uint_eq(request.length, 1460);
}
END_TEST

/* 2.0.5 and before: 24 bytes, flags 0 or -r or -d. */
START_TEST(old_headers)
{
    ck_assert_int_eq(iperf2_read_tcp(header(0, 1, 5001, 0), OLD_HEADER, &request), IPERF2_YES);
    ck_assert(!request.reverse && !request.answer);
    ck_assert_int_eq(iperf2_read_tcp(header(0x80000001, 1, 5001, 0), OLD_HEADER, &request),
                     IPERF2_YES);
    ck_assert(request.answer && request.at_once);
    ck_assert_int_eq(iperf2_read_tcp(header(0x80000000, 1, 5001, 0), OLD_HEADER, &request),
                     IPERF2_YES);
    ck_assert(request.answer && !request.at_once);
    ck_assert_int_eq(iperf2_read_tcp((const uint8_t *)"0123456789", 10, &request), IPERF2_YES);
}
END_TEST

START_TEST(implausible_headers)
{
    ck_assert_int_eq(read_header(0x40010078, 1025, 5001, 0), IPERF2_NO);
    ck_assert_int_eq(read_header(0x40010078, 1, 65536, 0), IPERF2_NO);
    ck_assert_int_eq(read_header(0x20010078, 1, 5001, 0), IPERF2_NO);
    /* reverse needs a length that is known, and the upper flag */
    ck_assert_int_eq(read_header(0x44000000, 1, 5001, 0), IPERF2_YES);
    ck_assert(!request.reverse);
    ck_assert_int_eq(read_header(0x44010070, 1, 5001, 0), IPERF2_YES);
    ck_assert(!request.reverse);
    ck_assert_int_eq(read_header(0xC0010079, 0, 5001, 0), IPERF2_YES);
    ck_assert(!request.answer);
    ck_assert_int_eq(read_header(0xC0010079, 1, 0, 0), IPERF2_YES);
    ck_assert(!request.answer);
}
END_TEST

/* Any length of a header: undecided until it is all there, and never otherwise. */
START_TEST(headers_in_pieces)
{
    const uint8_t *h = header(0x44010078, 1, 5001, 1);

    for (unsigned n = 0; n < HEADER; n++) {
        ck_assert_int_eq(iperf2_read_tcp(h, n, &request), IPERF2_UNDECIDED);
    }
    ck_assert_int_eq(iperf2_read_tcp(h, HEADER, &request), IPERF2_YES);
}
END_TEST

/* No text makes us transmit: random printable beginnings, and letters with the bits of flags. */
START_TEST(text_is_never_a_request)
{
    srand(11);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t text[76];

        for (unsigned k = 0; k < sizeof(text); k++) {
            text[k] = (uint8_t)(i % 2 == 0 ? ' ' + rand() % 95 : 128 + rand() % 128);
        }
        for (unsigned n = 12; n <= sizeof(text); n += 16) {
            ck_assert_int_ne(iperf2_read_tcp(text, n, &request), IPERF2_UNDECIDED);
            ck_assert(!request.reverse && !request.answer);
        }
    }
}
END_TEST

START_TEST(what_we_write_we_read)
{
    struct iperf2_request ours = {
        .reverse = true, .port = 5001, .length = 8192, .rate = 3000000, .us = 2500000};
    uint8_t bytes[IPERF2_HEADER];

    iperf2_write_header(bytes, &ours);
    ck_assert_int_eq(iperf2_read_tcp(bytes, sizeof(bytes), &request), IPERF2_YES);
    ck_assert(request.reverse);
    ck_assert_uint_eq(request.us, 2500000);
    ck_assert_uint_eq(request.rate, 3000000);
    ck_assert_uint_eq(request.length, 8192);
}
END_TEST

/* ---- connections ---- */

static struct peer_tcp c, server;

static const char *result(unsigned index, const char *dir, unsigned bytes, const char *end)
{
    const char *r = rig_record("result", index);

    ck_assert_ptr_nonnull(r);
    ck_assert_str_eq(rig_value(r, "test"), "\"iperf2\"");
    ck_assert_str_eq(rig_value(r, "dir"), dir);
    ck_assert_int_eq(rig_number(r, "bytes"), bytes);
    ck_assert_str_eq(rig_value(r, "end"), end);
    return r;
}

static void connect_saying(struct peer_tcp *client, unsigned port, uint32_t flags, uint32_t amount)
{
    static uint8_t said[8][HEADER];

    ck_assert(peer_tcp_connect(client, &peer, port, BOX_IP, PORT));
    memcpy(said[port % 8], header(flags, 1, 6001, amount), HEADER);
    client->says = said[port % 8];
    client->says_bytes = HEADER;
}

START_TEST(a_plain_test)
{
    connect_saying(&c, FROM, 0x40010078, 65536);
    ck_assert(peer_tcp_send(&c, HEADER)); /* a segment of its own, as 2.1.8 does */
    ck_assert(peer_tcp_send(&c, 65536 - HEADER));
    ck_assert(peer_tcp_finish(&c));
    result(0, "\"rx\"", 65536, "\"ok\"");
    ck_assert_uint_eq(c.data_segments, 0);
}
END_TEST

START_TEST(old_plain_test)
{
    connect_saying(&c, FROM, 0, 0);
    c.says_bytes = OLD_HEADER;
    ck_assert(peer_tcp_send(&c, 50000));
    ck_assert(peer_tcp_finish(&c));
    result(0, "\"rx\"", 50000, "\"ok\"");
}
END_TEST

/* The header byte by byte; nothing is lost of it. */
START_TEST(a_header_in_pieces)
{
    connect_saying(&c, FROM, 0x40010078, 0);
    for (unsigned i = 0; i < 70; i++) {
        ck_assert(peer_tcp_send(&c, 1));
        rig_run_ms(2);
    }
    ck_assert(peer_tcp_finish(&c));
    result(0, "\"rx\"", 70, "\"ok\"");
}
END_TEST

/* `nc host 5001 < file`, whatever the file begins with: counted to the byte, nothing sent. */
START_TEST(text_is_counted_and_not_answered)
{
    static const char *const texts[] = {"Dear reader,\n", "\xC0\x01\x00\x79 and so on", "D", "",
                                        "DDDD\n"};

    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert(peer_tcp_connect(&c, &peer, FROM + i, BOX_IP, PORT));
        c.says = (const uint8_t *)texts[i];
        c.says_bytes = (unsigned)strlen(texts[i]);
        ck_assert(peer_tcp_send(&c, 5000 + i));
        ck_assert(peer_tcp_finish(&c));
        rig_run_ms(500);
        ck_assert_int_eq(rig_number(rig_record("result", i), "bytes"), 5000 + i);
        ck_assert_str_eq(rig_value(rig_record("result", i), "test"), "\"ttcp\"");
        ck_assert_uint_eq(c.data_segments, 0);
        peer_tcp_forget(&c);
    }
}
END_TEST

/* -R by amount: on the same connection, and the box ends it. */
START_TEST(reverse_by_amount)
{
    connect_saying(&c, FROM, 0x44010078, 100000);
    c.close_back = true;
    ck_assert(peer_tcp_send(&c, HEADER));
    rig_run_ms(3000);
    ck_assert_uint_eq(c.received, 100000);
    ck_assert(c.fin_seen);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    result(0, "\"tx\"", 100000, "\"ok\"");
    ck_assert_int_eq(rig_number(rig_record("result", 0), "retrans"), 0);
}
END_TEST

START_TEST(reverse_by_time)
{
    const char *r;

    connect_saying(&c, FROM, 0x44010078, 0u - 50); /* half a second */
    c.close_back = true;
    ck_assert(peer_tcp_send(&c, HEADER));
    rig_run_ms(3000);
    r = rig_record("result", 0);
    result(0, "\"tx\"", (unsigned)c.received, "\"ok\"");
    ck_assert_int_ge(rig_number(r, "us"), 500000);
    ck_assert_int_le(rig_number(r, "us"), 600000);
}
END_TEST

/* A client that goes away in the middle of its -R. */
START_TEST(reverse_broken_off)
{
    connect_saying(&c, FROM, 0x44010078, 0u - 1000);
    ck_assert(peer_tcp_send(&c, HEADER));
    rig_run_ms(200);
    peer_tcp_flags(&c, T_RST | T_ACK);
    rig_run_ms(100);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"reset\"");
}
END_TEST

/* -d: the box connects while it still receives; -r: afterwards. */
START_TEST(answer_tests)
{
    bool dual = _i == 0;

    peer_tcp_listen(&server, &peer, 6001);
    server.close_back = true;
    connect_saying(&c, FROM, dual ? 0xC0010079 : 0xC0010078, 30000);
    ck_assert(peer_tcp_send(&c, HEADER));
    rig_run_ms(100);
    ck_assert_int_eq(server.open, dual);
    ck_assert(peer_tcp_send(&c, 30000 - HEADER));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(2000);
    ck_assert_uint_eq(server.received, 30000);
    ck_assert_uint_eq(rig_record_count("result"), 2);
    result(dual ? 1 : 0, "\"rx\"", 30000, "\"ok\"");
    result(dual ? 0 : 1, "\"tx\"", 30000, "\"ok\"");
}
END_TEST

/* A client with -r listens only when its own test is over: the box asks again for a while. */
START_TEST(answer_is_patient)
{
    connect_saying(&c, FROM, 0xC0010078, 30000);
    ck_assert(peer_tcp_send(&c, 30000));
    ck_assert(peer_tcp_finish(&c));
    peer_tcp_listen(&server, &peer, 6001);
    server.refusing = true;
    rig_run_ms(1000);
    server.refusing = false;
    server.listening = true;
    server.close_back = true;
    rig_run_ms(2000);
    ck_assert_uint_eq(server.received, 30000);
}
END_TEST

START_TEST(answer_refused_for_good)
{
    connect_saying(&c, FROM, 0xC0010078, 30000);
    peer_tcp_listen(&server, &peer, 6001);
    server.refusing = true;
    ck_assert(peer_tcp_send(&c, 30000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(8000);
    ck_assert_uint_eq(rig_record_count("result"), 1);
    ck_assert(rig_said("connection refused"));
}
END_TEST

START_TEST(parallel_connections)
{
    static struct peer_tcp clients[8];

    for (unsigned i = 0; i < 8; i++) {
        connect_saying(&clients[i], FROM + i, 0x40010078, 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(peer_tcp_send(&clients[i], 10000));
    }
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(peer_tcp_finish(&clients[i]));
    }
    for (unsigned i = 0; i < 8; i++) {
        result(i, "\"rx\"", 10000, "\"ok\"");
    }
}
END_TEST

/* Payload that came with the handshake's last segment is a packet, too. */
START_TEST(payload_with_the_handshake)
{
    c.hasty = 100;
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    ck_assert(peer_tcp_finish(&c));
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 100);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), 1);
}
END_TEST

Suite *net_iperf2_suite(void)
{
    Suite *suite = suite_create("net_iperf2");
    TCase *wire = own_case(suite, "headers");
    TCase *tcp = rig_case(suite, "tcp");

    tcase_add_test(wire, headers_as_seen);
    tcase_add_test(wire, old_headers);
    tcase_add_test(wire, implausible_headers);
    tcase_add_test(wire, headers_in_pieces);
    tcase_add_test(wire, text_is_never_a_request);
    tcase_add_test(wire, what_we_write_we_read);
    tcase_add_test(tcp, a_plain_test);
    tcase_add_test(tcp, old_plain_test);
    tcase_add_test(tcp, a_header_in_pieces);
    tcase_add_test(tcp, text_is_counted_and_not_answered);
    tcase_add_test(tcp, reverse_by_amount);
    tcase_add_test(tcp, reverse_by_time);
    tcase_add_test(tcp, reverse_broken_off);
    tcase_add_loop_test(tcp, answer_tests, 0, 2);
    tcase_add_test(tcp, answer_is_patient);
    tcase_add_test(tcp, answer_refused_for_good);
    tcase_add_test(tcp, parallel_connections);
    tcase_add_test(tcp, payload_with_the_handshake);
    return suite;
}
