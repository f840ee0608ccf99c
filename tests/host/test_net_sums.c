/*
 * Checksums of whole packets against a sum by the book: chains of any pieces on their way out, and
 * what is taken for good on its way in.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "net/packet_sum.h"

enum {
    ROUNDS = 100000,
    PIECES = 8,
    HEADERS = IP_HEADER + TCP_HEADER,
    TCP_OPTIONS = 40,
    TCP_SUM = 16,
    ALIGNMENTS = 8,
    IP_ID = 4, /* fields of the IP header */
    IP_TTL = 8,
    IP_SUM = 10,
    IP_FROM = 12,
    IP_TO = 16,
};

static unsigned dice(unsigned sides)
{
    return (unsigned)rand() % sides;
}

/* Noise; or all zeros or ones, where carries and the two zeros of ones' complement are. */
static void fill(uint8_t *data, unsigned n)
{
    unsigned kind = dice(8);

    for (unsigned i = 0; i < n; i++) {
        data[i] = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)(rand() >> 8);
    }
}

/* An IP packet of any content, its own header's checksum right; TCP's or UDP's field is zero. */
static void make_packet(uint8_t *packet, unsigned protocol, unsigned n)
{
    fill(packet, n);
    packet[0] = 0x45;
    put16(packet + 2, n);
    packet[9] = (uint8_t)protocol;
    put16(packet + IP_SUM, 0);
    put16(packet + IP_SUM, ~reference_sum(packet, IP_HEADER));
    put16(packet + IP_HEADER + (protocol == PROTO_TCP ? TCP_SUM : 6), 0);
}

static unsigned sum_of(const uint8_t *packet, unsigned n)
{
    return transport_checksum(get32(packet + IP_FROM), get32(packet + IP_TO), packet[9],
                              packet + IP_HEADER, n - IP_HEADER);
}

/* ---- out ---- */

static struct pbuf chain[PIECES];
static uint8_t memory[PIECES][MTU + ALIGNMENTS];
static unsigned odd_joints; /* pieces that end at an odd place of their packet */

/* Cut a packet into pieces at any place and alignment; the headers lie in the first, which lwIP
 * and cards put at an even address. */
static void cut(const uint8_t *packet, unsigned n)
{
    unsigned count = 1 + dice(PIECES), at = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned least = i == 0 ? HEADERS : 0, rest = n - at;
        unsigned length = i + 1 == count ? rest : least + dice(rest - least + 1);
        unsigned align = i == 0 ? dice(ALIGNMENTS / 2) * 2 : dice(ALIGNMENTS);

        chain[i] = (struct pbuf){.next = i + 1 == count ? NULL : &chain[i + 1],
                                 .payload = memory[i] + align,
                                 .tot_len = (uint16_t)rest,
                                 .len = (uint16_t)length,
                                 .ref = 1};
        memcpy(chain[i].payload, packet + at, length);
        at += length;
        odd_joints += at % 2;
    }
}

static void join(uint8_t *packet)
{
    for (const struct pbuf *p = chain; p != NULL; p = p->next) {
        memcpy(packet, p->payload, p->len);
        packet += p->len;
    }
}

START_TEST(chains_of_any_pieces)
{
    static uint8_t packet[MTU], sent[MTU];

    srand(4);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned n = HEADERS + dice(round % 2 == 0 ? MTU - HEADERS + 1 : 2 * TCP_OPTIONS);

        make_packet(packet, PROTO_TCP, n);
        cut(packet, n);
        packet_sum_tcp(chain);
        join(sent);
        ck_assert_msg(sum_of(sent, n) == 0, "round %u: %u bytes", round, n);
        memcpy(packet + IP_HEADER + TCP_SUM, sent + IP_HEADER + TCP_SUM, 2);
        ck_assert_mem_eq(packet, sent, n); /* and nothing else was touched */
    }
    ck_assert_uint_gt(odd_joints, ROUNDS);
}
END_TEST

/* ---- in ---- */

static bool good(const uint8_t *packet, unsigned n)
{
    return packet_sum_good((const void *)packet, n);
}

/* Any packet with right sums is good, and with one bit of it wrong it is not: of the data, of
 * either header, or of an address. */
START_TEST(right_and_wrong_packets)
{
    static const unsigned own_fields[] = {IP_ID, IP_TTL, IP_SUM, IP_FROM, IP_TO};
    static uint8_t room[MTU + ALIGNMENTS];

    srand(5);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool tcp = round % 3 != 0;
        unsigned least = tcp ? HEADERS : IP_HEADER + UDP_HEADER;
        unsigned n = least + dice(round % 2 == 0 ? MTU - least + 1 : 2 * TCP_OPTIONS);
        uint8_t *packet = room + dice(ALIGNMENTS / 2) * 2;
        unsigned wrong = round % 4 == 0 ? own_fields[dice(5)] : IP_HEADER + dice(n - IP_HEADER);

        make_packet(packet, tcp ? PROTO_TCP : PROTO_UDP, n);
        put16(packet + IP_HEADER + (tcp ? TCP_SUM : 6), sum_of(packet, n));
        ck_assert_msg(good(packet, n), "round %u: %u bytes", round, n);
        packet[wrong] ^= (uint8_t)(1u << dice(8));
        ck_assert_msg(!good(packet, n), "round %u: byte %u of %u", round, wrong, n);
    }
}
END_TEST

Suite *net_sums_suite(void)
{
    Suite *suite = suite_create("net_sums");
    TCase *sums = own_case(suite, "sums");

    tcase_add_test(sums, chains_of_any_pieces);
    tcase_add_test(sums, right_and_wrong_packets);
    return suite;
}
