/*
 * The way of a frame through nicif: batching, padding, full queues, two cards.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "lwip/priv/tcp_priv.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/wire.h"

enum { LARGEST = 1472, SMALL = 20, PORT = 5001, FROM = 40000, QUEUE_AND_SLOTS = 66 };

static uint8_t payload[20000];

static void fill_payload(void)
{
    for (unsigned i = 0; i < sizeof(payload); i++) {
        payload[i] = (uint8_t)(i * 31 + i / 256);
    }
}

/* ---- echo ---- */

static struct {
    unsigned replies, seq, length, wrong;
} echo;

static void take_echo(const struct packet *p)
{
    if (p->protocol != PROTO_ICMP || p->data[0] != 0) {
        return;
    }
    echo.replies++;
    echo.seq = get16(p->data + 6);
    echo.length = p->length - ICMP_HEADER;
    echo.wrong += memcmp(p->data + ICMP_HEADER, payload, echo.length) != 0;
}

static bool echo_answered(void *arg)
{
    return echo.seq == *(unsigned *)arg && echo.replies != 0;
}

static void expect_echo(unsigned seq, unsigned n)
{
    peer_send_echo(&peer, BOX_IP, seq, payload, n);
    ck_assert_msg(rig_until(echo_answered, &seq, 200), "no reply to %u bytes", n);
    ck_assert_uint_eq(echo.length, n);
    ck_assert_uint_eq(echo.wrong, 0);
}

static void listen_to_echo(void)
{
    fill_payload();
    memset(&echo, 0, sizeof(echo));
    peer_set_packet_hook(take_echo);
}

START_TEST(echo_of_every_size)
{
    listen_to_echo();
    for (unsigned n = (unsigned)_i; n <= LARGEST; n += 4) { /* four processes share the work */
        expect_echo(n + 1, n);
    }
}
END_TEST

START_TEST(echo_in_fragments)
{
    static const unsigned sizes[] = {1473, 1480, 2952, 2953, 4000, 8000, 12000};

    listen_to_echo();
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        expect_echo(i + 1, sizes[i]);
    }
}
END_TEST

/* What a later fragment begins with is no ICMP type, though 11 would be "time exceeded". */
START_TEST(echo_in_fragments_that_look_like_refusals)
{
    listen_to_echo();
    memset(payload, 11, sizeof(payload));
    expect_echo(1, 4000);
}
END_TEST

START_TEST(broadcast_is_not_answered)
{
    listen_to_echo();
    peer_send_echo(&peer, RIG_IP4(10, 0, 0, 255), 1, payload, SMALL);
    peer_send_echo(&peer, RIG_IP4(255, 255, 255, 255), 2, payload, SMALL);
    peer_send_echo(&peer, RIG_IP4(224, 0, 0, 1), 3, payload, SMALL);
    rig_run_ms(100);
    ck_assert_uint_eq(echo.replies, 0);
}
END_TEST

/* ---- settings that may not change a byte on the wire ---- */

enum { TAPE_MAX = 400000 };

struct tape {
    unsigned used;
    uint8_t bytes[TAPE_MAX];
};

static struct tape tapes[2], *tape;

/* What differs from run to run: IP identification, our port, and the checksums over them. */
static void blank_what_varies(uint8_t *frame, unsigned length)
{
    uint8_t *ip = frame + ETH_HEADER;

    put16(ip + 4, 0);
    put16(ip + 10, 0);
    if (ip[9] == PROTO_UDP && (get16(ip + 6) & 0x1FFF) == 0 && length > 42) {
        put16(ip + IP_HEADER, 0);
        put16(ip + IP_HEADER + 6, 0);
    }
}

static bool record_frame(const struct heard *f)
{
    if (get16(f->data + 12) == ETH_TYPE_IP && f->data[ETH_HEADER + 9] != PROTO_TCP) {
        uint8_t *at = tape->bytes + tape->used;

        ck_assert_uint_le(tape->used + 2 + f->length, TAPE_MAX);
        put16(at, f->length);
        memcpy(at + 2, f->data, f->length);
        blank_what_varies(at + 2, f->length);
        tape->used += 2 + f->length;
    }
    return true;
}

static void play(struct tape *onto)
{
    static struct peer_tcp server;

    tape = onto;
    peer_set_hook(record_frame);
    listen_to_echo();
    for (unsigned n = 0; n < 64; n++) {
        expect_echo(n + 1, n);
    }
    expect_echo(100, 4000);
    ck_assert_int_eq(rig_command("ttcp -t -u -l 3000 -n 20 10.0.0.2", 2000), 0);
    peer_tcp_listen(&server, &peer, PORT);
    server.call = 300;
    ck_assert_int_eq(rig_command("ttcp -t -l 300 -n 200 10.0.0.2", 4000), 0);
    ck_assert_uint_eq(server.received, 300 * 200);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    peer_tcp_forget(&server);
}

START_TEST(settings_change_no_byte)
{
    static const char *const settings[] = {"set batch=off", "set pad=stack"};

    play(&tapes[0]);
    ck_assert_int_eq(rig_command(settings[_i], 100), 0);
    play(&tapes[1]);
    ck_assert_uint_gt(tapes[0].used, 50000);
    ck_assert_uint_eq(tapes[0].used, tapes[1].used);
    ck_assert_mem_eq(tapes[0].bytes, tapes[1].bytes, tapes[0].used);
}
END_TEST

/* ---- a full transmit queue ---- */

/* The medium is busy, and echo replies fill the queue to the last place. */
static void block_transmitter(void)
{
    listen_to_echo();
    expect_echo(1, SMALL); /* now the box knows our MAC */
    sim_hold_tx(&rig_cards[0].chip);
    for (unsigned i = 0; i < QUEUE_AND_SLOTS + 10; i++) {
        peer_send_echo(&peer, BOX_IP, i + 2, payload, SMALL);
    }
    rig_run_ms(20);
}

static bool result_there(void *arg)
{
    (void)arg;
    return rig_record_count("result") != 0;
}

/* lwIP alone would try again after 250 ms, or 3 s for a SYN. */
START_TEST(refused_segment_goes_when_a_slot_is_free)
{
    static struct peer_tcp server;

    block_transmitter();
    peer_tcp_listen(&server, &peer, PORT);
    rig_type("ttcp -t -n 4 10.0.0.2\n");
    rig_run_ms(50);
    ck_assert_uint_eq(server.segments, 0);
    sim_release_tx(&rig_cards[0].chip);
    ck_assert(rig_until(result_there, NULL, 100));
    ck_assert_uint_eq(server.received, 4 * 8192);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), server.data_segments);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "retrans"), 0);
    ck_assert_uint_eq(echo.replies, 1 + QUEUE_AND_SLOTS);
}
END_TEST

static bool acknowledged(void *arg)
{
    const struct peer_tcp *c = arg;

    return c->acked == c->snd_nxt;
}

START_TEST(refused_acknowledgement_goes_when_a_slot_is_free)
{
    static struct peer_tcp c;

    listen_to_echo();
    ck_assert(peer_tcp_connect(&c, &peer, FROM, BOX_IP, PORT));
    block_transmitter();
    peer_tcp_segment(&c, 0, 1000);
    peer_tcp_segment(&c, 1000, 1000);
    rig_run_ms(10);
    sim_release_tx(&rig_cards[0].chip);
    ck_assert(rig_until(acknowledged, &c, 40));
    ck_assert(peer_tcp_finish(&c));
}
END_TEST

/* While the medium is busy a sender in full flight meets the full queue again and again. */
START_TEST(busy_medium_in_full_flight)
{
    static struct peer_tcp server;

    listen_to_echo();
    peer_tcp_listen(&server, &peer, PORT);
    server.call = 8192;
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    for (unsigned round = 0; round < 20; round++) {
        rig_run_ms(10);
        sim_hold_tx(&rig_cards[0].chip);
        for (unsigned i = 0; i < QUEUE_AND_SLOTS; i++) {
            peer_send_echo(&peer, BOX_IP, i, payload, SMALL);
        }
        rig_run_ms(30);
        sim_release_tx(&rig_cards[0].chip);
    }
    ck_assert(rig_until(result_there, NULL, 3000));
    ck_assert_uint_eq(server.received, 64 * 8192);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "packets"), server.data_segments);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "retrans"), server.repeated);
    ck_assert_int_lt(rig_number(rig_record("result", 0), "gap_us"), 200000);
}
END_TEST

/* A card that suddenly has room for everything, and forgets it: the wire loses the frames. */
static unsigned segments_taken, taken_twice;

static unsigned take_all(struct nic *nic, const struct tx_frame in[], unsigned n)
{
    static uint32_t last_seq;

    (void)nic;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *ip = (const uint8_t *)in[i].v[0].at + ETH_HEADER;
        uint32_t seq = get32(ip + IP_HEADER + 4);

        if (ip[9] == PROTO_TCP) {
            taken_twice += segments_taken++ != 0 && (int32_t)(seq - last_seq) <= 0;
            last_seq = seq;
        }
    }
    return n;
}

/* Slots become free just when lwIP hands over a segment: it may not be called back then, in the
 * middle of its work on that connection. */
START_TEST(slots_free_while_a_segment_is_handed_over)
{
    static struct peer_tcp server;
    static struct nic_ops roomy;
    const struct nic_ops *real = nics[0].ops;

    listen_to_echo();
    peer_tcp_listen(&server, &peer, PORT);
    server.call = 8192;
    rig_type("ttcp -t -n 64 10.0.0.2\n");
    rig_run_ms(30);
    block_transmitter();
    peer_tcp_flags(&server, T_ACK);
    rig_run_ms(20);
    ck_assert_uint_ne(tcp_active_pcbs->flags & TF_NAGLEMEMERR, 0); /* refused */
    roomy = *real;
    roomy.tx_burst = take_all;
    nics[0].ops = &roomy;
    tcp_output(tcp_active_pcbs);
    rig_turn();
    nics[0].ops = real;
    sim_release_tx(&rig_cards[0].chip);
    ck_assert_uint_gt(segments_taken, 2);
    ck_assert_uint_eq(taken_twice, 0);
    ck_assert(rig_until(result_there, NULL, 20000));
    ck_assert_uint_eq(server.received, 64 * 8192);
    ck_assert_uint_eq(server.wrong_bytes, 0);
}
END_TEST

/* Pieces of 256 bytes by reference: more of them in a segment than a driver is given at once. */
START_TEST(chain_of_many_pieces)
{
    static struct peer_tcp server;

    peer_tcp_listen(&server, &peer, PORT);
    server.call = 256;
    ck_assert_int_eq(rig_command("ttcp -t -l 256 -n 400 10.0.0.2", 4000), 0);
    ck_assert_uint_eq(server.received, 256 * 400);
    ck_assert_uint_eq(server.wrong_bytes, 0);
    ck_assert_uint_eq(server.largest, PEER_MSS);
}
END_TEST

/* ---- two cards ---- */

static unsigned frames_by[RIG_CARDS];

static bool count_by_card(const struct heard *f)
{
    if (get16(f->data + 12) == ETH_TYPE_IP) {
        frames_by[f->nic]++;
    }
    return true;
}

static void use(struct station *s, uint32_t box_ip)
{
    static struct peer_tcp c;
    unsigned other = 1 - s->nic;

    memset(frames_by, 0, sizeof(frames_by));
    peer_set_hook(count_by_card);
    peer_send_echo(s, box_ip, 1, payload, SMALL);
    peer_send_udp(s, box_ip, 1, 9999, payload, SMALL); /* port unreachable */
    ck_assert(peer_tcp_connect(&c, s, FROM, box_ip, PORT));
    ck_assert(peer_tcp_send(&c, 20000));
    ck_assert(peer_tcp_finish(&c));
    ck_assert(!peer_tcp_connect(&c, s, FROM + 1, box_ip, 4444)); /* reset */
    ck_assert_uint_gt(frames_by[s->nic], 10);
    ck_assert_uint_eq(frames_by[other], 0);
    ck_assert_int_eq(rig_number(rig_record("result", 0), "nic"), s->nic);
    rig_forget();
}

START_TEST(reply_leaves_by_the_card_it_was_asked_on)
{
    static const struct {
        const char *words;
        uint32_t box[2], peer[2];
    } nets[] = {
        {"ip=10.0.0.1/24 ip=10.0.0.11/24", {BOX_IP, BOX_IP2}, {PEER_IP, RIG_IP4(10, 0, 0, 12)}},
        {"ip=10.0.0.1/24 ip=10.1.0.1/24",
         {BOX_IP, RIG_IP4(10, 1, 0, 1)},
         {PEER_IP, RIG_IP4(10, 1, 0, 2)}},
    };
    struct station *second;

    rig_up_with(nets[_i].words, 2, RIG_MEMORY_KB);
    ck_assert_uint_eq(rig_record_count("ready"), 2);
    second = peer_plug(1, nets[_i].peer[1]);
    rig_forget();
    for (unsigned round = 0; round < 2; round++) {
        use(&peer, nets[_i].box[0]);
        use(second, nets[_i].box[1]);
    }
    rig_down();
}
END_TEST

Suite *net_path_suite(void)
{
    Suite *suite = suite_create("net_path");
    TCase *echoes = rig_case(suite, "echo");
    TCase *queue = rig_case(suite, "queue");
    TCase *cards = own_case(suite, "cards");

    tcase_add_loop_test(echoes, echo_of_every_size, 0, 4);
    tcase_add_test(echoes, echo_in_fragments);
    tcase_add_test(echoes, echo_in_fragments_that_look_like_refusals);
    tcase_add_test(echoes, broadcast_is_not_answered);
    tcase_add_loop_test(queue, settings_change_no_byte, 0, 2);
    tcase_add_test(queue, refused_segment_goes_when_a_slot_is_free);
    tcase_add_test(queue, refused_acknowledgement_goes_when_a_slot_is_free);
    tcase_add_test(queue, busy_medium_in_full_flight);
    tcase_add_test(queue, slots_free_while_a_segment_is_handed_over);
    tcase_add_test(queue, chain_of_many_pieces);
    tcase_add_loop_test(cards, reply_leaves_by_the_card_it_was_asked_on, 0, 2);
    return suite;
}
