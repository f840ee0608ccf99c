/*
 * What may not happen on a hostile or broken network: the frame pool held by parked segments or
 * fragments, connections taken by floods, damage by bad frames.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "lwip/stats.h"
#include "net/tcp_watch.h"
#include "tests/host/sim/wire.h"

enum { PORT = 5001, FROM = 40000, FLOOD = 64, RESERVE = 4, SPARE = 8 };

static uint8_t payload[8192];

static unsigned replies;

static void count_replies(const struct packet *p)
{
    replies += p->protocol == PROTO_ICMP && p->data[0] == 0;
}

static bool answered(void *arg)
{
    (void)arg;
    return replies != 0;
}

/* The box is alive: it answers a ping, and a test from beginning to end works. */
static void still_works(unsigned port)
{
    static struct peer_tcp c;
    unsigned results = rig_record_count("result");

    replies = 0;
    peer_set_packet_hook(count_replies);
    peer_send_echo(&peer, BOX_IP, 1, payload, 4000);
    ck_assert(rig_until(answered, NULL, 1000));
    ck_assert(peer_tcp_connect(&c, &peer, port, BOX_IP, PORT));
    ck_assert(peer_tcp_send(&c, 20000));
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(10);
    ck_assert_uint_eq(rig_record_count("result"), results + 1);
    peer_tcp_forget(&c);
}

/* ---- the pool ---- */

static void small_pool(void)
{
    rig_up_with(RIG_STATIC, 1, RIG_SMALL_KB);
    ck_assert_uint_eq(frame_pool_size(), 48);
}

/* Segments of one byte, each a whole frame of the pool, all behind a missing first one. */
START_TEST(ooseq_holds_pool)
{
    static struct peer_tcp c;

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    for (unsigned i = 1; i < 120; i++) {
        peer_tcp_segment(&c, 2 * i, 1);
        rig_run_ms(1);
        ck_assert_uint_ge(frame_pool_free(), RESERVE);
    }
    ck_assert_uint_ge(frame_pool_free(), SPARE);
    c.snd_end = c.first_seq + 240;
    ck_assert(peer_tcp_send(&c, 1000));
    ck_assert(peer_tcp_finish(&c)); /* goes back to the missing one */
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 1240);
    ck_assert_uint_eq(frame_pool_dry(), 0);
}
END_TEST

/* Several connections with whole windows parked. */
START_TEST(ooseq_of_many_connections_holds_pool)
{
    static struct peer_tcp many[8];

    for (unsigned i = 0; i < 8; i++) {
        ck_assert(peer_tcp_connect(&many[i], &peer, FROM + i, BOX_IP, PORT));
        for (unsigned k = 1; k < 7; k++) {
            peer_tcp_segment(&many[i], k * PEER_MSS, PEER_MSS);
            rig_run_ms(3);
            ck_assert_uint_ge(frame_pool_free(), RESERVE);
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        peer_tcp_segment(&many[i], 0, PEER_MSS);
        rig_run_ms(2);
        ck_assert(peer_tcp_finish(&many[i]));
        ck_assert_int_eq(rig_number(rig_record("result", i), "bytes"), 7 * PEER_MSS);
    }
    ck_assert_uint_eq(frame_pool_dry(), 0);
}
END_TEST

/* Fragments without their last, on top of parked segments. */
static void hold_fragments(unsigned datagrams, unsigned each)
{
    uint8_t frame[ETH_HEADER + MTU];

    for (unsigned id = 0; id < datagrams; id++) {
        for (unsigned k = 0; k < each; k++) {
            unsigned n = build_fragment(frame, &peer, BOX_IP, PROTO_UDP, 0x8000 + id, k * 1480,
                                        true, payload, 1480);

            peer_send_frame(0, frame, n);
            rig_run_ms(2);
        }
    }
}

START_TEST(reassembly_holds_frames)
{
    static struct peer_tcp c;

    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    for (unsigned i = 1; i < 60; i++) {
        peer_tcp_segment(&c, 2 * i, 1);
        rig_run_ms(1);
    }
    hold_fragments(_i == 0 ? 40 : 4, _i == 0 ? 1 : 10);
    ck_assert_uint_ge(frame_pool_free(), RESERVE);
    still_works(FROM + 1);
    c.snd_end = c.first_seq + 120;
    ck_assert(peer_tcp_finish(&c));
    rig_run_ms(7000);
    ck_assert_uint_eq(frame_pool_free(), 48);
}
END_TEST

static unsigned time_exceeded;

static void count_time_exceeded(const struct packet *p)
{
    time_exceeded += p->protocol == PROTO_ICMP && p->data[0] == 11;
}

/* Room for four: whoever is pushed out by a later one is told nothing (NEEDS 75), but counted;
 * those whose time is over are (RFC 792). */
START_TEST(refused_fragments_are_silent)
{
    uint32_t drops = lwip_stats.ip_frag.drop;

    still_works(FROM); /* and knows us by ARP */
    time_exceeded = 0;
    peer_set_packet_hook(count_time_exceeded);
    hold_fragments(40, 1);
    ck_assert_uint_eq(time_exceeded, 0);
    ck_assert_uint_eq(lwip_stats.ip_frag.drop - drops, 36);
    rig_run_ms(7000);
    ck_assert_uint_eq(time_exceeded, 4);
    still_works(FROM + 1);
}
END_TEST

/* Echo requests from neighbours that do not exist: the replies wait for ARP, each in its frame. */
START_TEST(unresolved_replies_hold_pool)
{
    struct station nobody = {.nic = 0, .mac = {2, 9}};

    hold_fragments(16, 1);
    for (unsigned i = 0; i < 64; i++) {
        nobody.ip = RIG_IP4(10, 0, 0, 100) + i % 16;
        peer_send_echo(&nobody, BOX_IP, i, payload, 20);
        rig_run_ms(1);
    }
    ck_assert_uint_ge(frame_pool_free() + 2, RESERVE);
    still_works(FROM);
    ck_assert_uint_eq(nics[0].stats.rx_no_frame, 0);
}
END_TEST

/* The same with everything else at work: nothing may stall for longer than a retransmission. */
START_TEST(transfer_beside_a_full_pool)
{
    static struct peer_tcp bad, good;

    ck_assert(peer_tcp_connect(&bad, &peer, FROM, BOX_IP, PORT));
    ck_assert(peer_tcp_connect(&good, &peer, FROM + 1, BOX_IP, PORT));
    for (unsigned i = 1; i < 60; i++) {
        peer_tcp_segment(&bad, 2 * i, 1);
        ck_assert(peer_tcp_send(&good, 5000));
    }
    ck_assert(peer_tcp_finish(&good));
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 59 * 5000);
    ck_assert_int_lt(rig_number(rig_record("result", 0), "gap_us"), 500000);
    peer_tcp_flags(&bad, T_RST | T_ACK);
}
END_TEST

/* ---- floods ---- */

START_TEST(half_open_flood)
{
    struct peer_tcp liar = {.box_ip = BOX_IP, .box_port = PORT};
    struct station nobody = {.nic = 0, .mac = {2, 9}};

    liar.station = &nobody;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FLOOD; i++) {
            nobody.ip = _i == 0 ? RIG_IP4(10, 0, 0, 100) + i : RIG_IP4(198, 51, 100, 1) + i;
            liar.port = 1000 + i + round * FLOOD;
            peer_tcp_flags(&liar, T_SYN);
            rig_run_ms(1);
        }
        still_works(FROM + round);
    }
    ck_assert_uint_gt(tcp_watch_half_open_dropped(), FLOOD);
}
END_TEST

/* Connections that are opened and left alone: all of them are gone after the 30 s. */
START_TEST(idle_connections_take_every_place)
{
    static struct peer_tcp many[40];
    unsigned open = 0;

    for (unsigned i = 0; i < 40; i++) {
        open += peer_tcp_connect(&many[i], &peer, FROM + i, BOX_IP, PORT);
    }
    ck_assert_uint_ge(open, 16);
    rig_run_ms(33000);
    still_works(FROM + 100);
}
END_TEST

START_TEST(three_hundred_short_connections)
{
    for (unsigned i = 0; i < 300; i++) {
        static struct peer_tcp c;

        ck_assert(peer_tcp_connect(&c, &peer, 10000 + i, BOX_IP, PORT));
        peer_tcp_segment(&c, 0, 100);
        ck_assert(peer_tcp_finish(&c));
        peer_tcp_forget(&c);
    }
    ck_assert_uint_eq(rig_record_count("result"), 300);
}
END_TEST

/* ---- bad frames ---- */

static uint8_t frame[2000];

/* A good UDP datagram for the sink, to be spoilt. */
static unsigned good_frame(void)
{
    uint8_t udp[UDP_HEADER + 100] = {0};

    put16(udp, FROM);
    put16(udp + 2, PORT);
    put16(udp + 4, sizeof(udp));
    put16(udp + 6, transport_checksum(PEER_IP, BOX_IP, PROTO_UDP, udp, sizeof(udp)));
    return build_fragment(frame, &peer, BOX_IP, PROTO_UDP, 7, 0, false, udp, sizeof(udp));
}

static void fix_ip_checksum(void)
{
    uint8_t *ip = frame + ETH_HEADER;

    put16(ip + 10, 0);
    put16(ip + 10, (uint16_t)~reference_sum(ip, (ip[0] & 15u) * 4));
}

START_TEST(bad_headers_are_dropped)
{
    static const struct {
        unsigned at;
        uint8_t value;
    } spoils[] = {
        {14, 0x65}, {14, 0x44}, {14, 0x40}, {14, 0x4F}, /* version, header length */
        {16, 0xFF}, {17, 10},   {17, 27},               /* total length            */
        {20, 0x3F}, {21, 0xFF},                         /* fragment offset         */
        {23, 6},    {23, 1},    {23, 2},    {23, 99},   /* protocol                */
        {26, 224},  {26, 255},  {26, 127},  {29, 255},  /* source                  */
        {29, 1},                                        /* ourselves               */
        {38, 0xFF}, {39, 7},                            /* UDP length              */
        {40, 0x55},                                     /* UDP checksum            */
    };

    for (unsigned i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        unsigned n = good_frame();

        frame[spoils[i].at] = spoils[i].value;
        if (spoils[i].at < ETH_HEADER + IP_HEADER) {
            fix_ip_checksum();
        }
        peer_send_frame(0, frame, n);
        rig_run_ms(1);
    }
    rig_run_ms(6000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    still_works(FROM);
}
END_TEST

START_TEST(wrong_checksums_are_dropped)
{
    for (unsigned i = 0; i < 20; i++) {
        unsigned n = good_frame();

        frame[ETH_HEADER + i] ^= 0x10; /* without repair */
        peer_send_frame(0, frame, n);
        rig_run_ms(1);
    }
    rig_run_ms(6000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    still_works(FROM);
}
END_TEST

START_TEST(odd_sizes_are_counted_and_dropped)
{
    unsigned n = good_frame();
    uint32_t before = nics[0].stats.rx_length;

    memset(frame + n, 0, sizeof(frame) - n);
    for (unsigned length = 1515; length < 1600; length += 7) { /* longer than Ethernet's */
        peer_send_frame(0, frame, length);
        rig_run_ms(2);
    }
    ck_assert_uint_eq(nics[0].stats.rx_length - before, 13);
    sim_receive_damaged(&rig_cards[0].chip, frame, n, WIRE_CRC);
    sim_receive_damaged(&rig_cards[0].chip, frame, n, WIRE_ALIGN);
    rig_run_ms(6000);
    ck_assert_uint_eq(rig_record_count("result"), 0);
    still_works(FROM);
}
END_TEST

/* Trailing bytes behind the IP packet belong to nobody. */
START_TEST(trailer_is_no_payload)
{
    unsigned n = good_frame();

    memset(frame + n, 0xEE, 300);
    peer_send_frame(0, frame, n + 300);
    rig_run_ms(6000);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "bytes"), 100);
}
END_TEST

START_TEST(bad_segments_for_an_open_connection)
{
    static struct peer_tcp c;
    uint8_t tcp[60 + 100];

    srand((unsigned)_i);
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    for (unsigned i = 0; i < 1000; i++) {
        unsigned n = TCP_HEADER + (unsigned)rand() % (sizeof(tcp) - TCP_HEADER);

        for (unsigned k = 0; k < n; k++) {
            tcp[k] = (uint8_t)rand();
        }
        put16(tcp, FROM);
        put16(tcp + 2, PORT);
        put32(tcp + 4, c.snd_nxt + (uint32_t)(rand() % 64) - 32);
        put32(tcp + 8, c.rcv_nxt + (uint32_t)(rand() % 4) - 2);
        tcp[13] &= (uint8_t)~T_RST; /* or it would be over too soon */
        put16(tcp + 16, 0);
        put16(tcp + 16, transport_checksum(PEER_IP, BOX_IP, PROTO_TCP, tcp, n));
        peer_send_ip(&peer, BOX_IP, PROTO_TCP, tcp, n);
        rig_turn();
    }
    rig_run_ms(300); /* its answers fill the transmit queue */
    still_works(FROM + 1);
}
END_TEST

START_TEST(noise)
{
    srand((unsigned)_i);
    for (unsigned i = 0; i < 600; i++) {
        unsigned n = 14 + (unsigned)rand() % 1500;

        for (unsigned k = 0; k < n; k++) {
            frame[k] = (uint8_t)rand();
        }
        memcpy(frame, nics[0].mac, 6);
        put16(frame + 12, i % 3 == 0 ? ETH_TYPE_ARP : ETH_TYPE_IP);
        if (i % 3 == 1 && n >= 34) {
            frame[ETH_HEADER] = 0x45;
            put16(frame + ETH_HEADER + 2, n - ETH_HEADER);
            put32(frame + ETH_HEADER + 16, BOX_IP);
            frame[ETH_HEADER + 9] = (uint8_t)(i % 2 == 0 ? PROTO_TCP : rand() % 18);
            fix_ip_checksum();
        }
        peer_send_frame(0, frame, n);
        rig_turn();
    }
    rig_run_ms(100);
    still_works(FROM);
}
END_TEST

Suite *net_limits_suite(void)
{
    Suite *suite = suite_create("net_limits");
    TCase *pool = tcase_create("pool");
    TCase *floods = rig_case(suite, "floods");
    TCase *bad = rig_case(suite, "bad frames");

    tcase_add_checked_fixture(pool, small_pool, rig_down);
    tcase_set_timeout(pool, CASE_SECONDS);
    suite_add_tcase(suite, pool);
    tcase_add_test(pool, ooseq_holds_pool);
    tcase_add_test(pool, ooseq_of_many_connections_holds_pool);
    tcase_add_loop_test(pool, reassembly_holds_frames, 0, 2);
    tcase_add_test(pool, refused_fragments_are_silent);
    tcase_add_test(pool, unresolved_replies_hold_pool);
    tcase_add_test(pool, transfer_beside_a_full_pool);
    tcase_add_loop_test(floods, half_open_flood, 0, 2);
    tcase_add_test(floods, idle_connections_take_every_place);
    tcase_add_test(floods, three_hundred_short_connections);
    tcase_add_test(bad, bad_headers_are_dropped);
    tcase_add_test(bad, wrong_checksums_are_dropped);
    tcase_add_test(bad, odd_sizes_are_counted_and_dropped);
    tcase_add_test(bad, trailer_is_no_payload);
    tcase_add_loop_test(bad, bad_segments_for_an_open_connection, 0, 2);
    tcase_add_loop_test(bad, noise, 0, 3);
    return suite;
}
