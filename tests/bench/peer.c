/*
 * The bench peer: the other end of every measured transfer, inside the same guest.
 *
 * It is linked into the bench kernel only, drives a second card on the same hub, and is called once
 * a main loop turn.  So no host has a part in the timing: the same kernel gives the same figures to
 * the last instruction.  What it executes itself is counted apart, by address, and left out.
 *
 *     peer sink WINDOW               answer ARP, take TCP connections one at a time, drop datagrams
 *     peer udp LENGTH COUNT FLIGHT   send COUNT datagrams, at most FLIGHT not yet taken by the box
 *     peer tcp COUNT FLIGHT PACE [PORT]   send COUNT full segments, at most FLIGHT not yet
 *                                    acknowledged; PACE 1: one at a time, see below
 *     peer 2iperf COUNT FLIGHT       the same as iperf2's client does it
 *     peer 3iperf COUNT FLIGHT       as iperf3's, peer nuttcp as nuttcp's; COUNT is 1024, as their
 *                                    control connections say
 *     peer flood LENGTH COUNT        COUNT datagrams at the rate of a timer, whether the box takes
 *                                    them or not; tells how many it took, and how long that took
 *     peer also                      the next command of ours ends at once and goes on by itself
 *     peer wait MICROSECONDS         shift what follows against the tick
 *
 * Nothing is ever sent again: where a frame is lost the test does not end, and the bench says so.
 *
 * Pacing: QEMU's filter-buffer holds what the peer sends and lets it go once an interval.  The peer
 * only has to keep one segment in it: it sends the next when the box has taken the last.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/shell.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/clock.h"
#include "tests/bench/peer_card.h"
#include "tests/bench/peer_flood.h"
#include "tests/bench/peer_frame.h"
#include "tests/bench/peer_link.h"
#include "tests/bench/peer_session.h"

enum {
    BOX_PORT = 5001,
    OUR_PORT = 40000,
    OUR_WINDOW = 8192, /* while sending: nothing comes back but acknowledgements */
    SENTINEL = 4,
    SENTINELS_AFTER = 5, /* as classic ttcp sends                                */
    CALM_US = 20000,     /* nothing more arrives: the flood is over */
};

static enum { OFF, SINK, SEND_UDP, SEND_TCP, FLOOD } mode;

static struct peer_link link;              /* the one with the data, ours or the box's */
static const struct peer_session *session; /* it belongs to; or null */
static uint16_t window;
static uint32_t left;   /* segments or datagrams to send                   */
static uint32_t flight; /* how many may be under way                       */
static bool paced;
static unsigned sentinels;
static bool behind;           /* nobody waits for the end of what we do */
static uint64_t taken_before; /* frames the box had received when we began */

/* Frames we sent that the box has not yet taken out of its card.  It gets no others. */
static uint32_t in_the_air(void)
{
    return peer_card_sent() - (uint32_t)(nics[0].stats.rx_frames - taken_before);
}

/* What was started has ended. */
static void done(int status)
{
    mode = OFF;
    if (!behind) {
        shell_done(status);
    }
    behind = false;
}

/* ---- TCP ---- */

static void take_segment(const struct peer_seen *seen)
{
    if (seen->flags == FLAG_SYN && mode == SINK) {
        peer_link_accept(&link, seen, window);
        return;
    }
    if (session != NULL) {
        peer_session_take(seen);
    }
    peer_link_take(&link, seen);
}

static void take_frame(const uint8_t *head)
{
    struct peer_seen seen = peer_take_apart(head);

    if (seen.kind == SEEN_ARP_REQUEST) {
        peer_answer_arp(head);
    } else if (seen.kind == SEEN_TCP) {
        take_segment(&seen);
    }
}

static bool may_send_segment(void)
{
    uint32_t under_way = link.snd_nxt - link.snd_una;

    if (left == 0 || under_way + PEER_MSS > link.snd_wnd ||
        under_way + PEER_MSS > flight * PEER_MSS) {
        return false;
    }
    return !paced || in_the_air() == 0;
}

/* All segments have gone: the FIN, or whatever the session has instead. */
static bool end_data(void)
{
    if (session != NULL && !peer_session_fin_ends()) {
        if (link.snd_una == link.snd_nxt) {
            peer_session_all_sent();
        }
        return false;
    }
    if (link.snd_nxt - link.snd_una >= flight * PEER_MSS) { /* a ring of 8 full frames is full */
        return false;
    }
    peer_link_send(&link, FLAG_FIN | FLAG_ACK, 0);
    link.state = FIN_SENT;
    return true;
}

static bool pump_tcp(void)
{
    bool worked = session != NULL && peer_session_turn();

    if (peer_link_over(&link) && (session == NULL || peer_session_over())) {
        done(SHELL_OK);
        return true;
    }
    if (link.state != OPEN || (session != NULL && !peer_session_ready())) {
        return worked;
    }
    while (may_send_segment()) {
        left--;
        peer_link_send(&link, left == 0 ? FLAG_ACK | FLAG_PSH : FLAG_ACK, PEER_MSS);
        worked = true;
    }
    return (left == 0 && end_data()) || worked;
}

/* ---- UDP ---- */

static bool pump_udp(void)
{
    bool worked = false;

    while (left != 0 && in_the_air() < flight) {
        peer_send_datagram(BOX_PORT, 0);
        left--;
        worked = true;
    }
    if (left == 0 && in_the_air() == 0) {
        peer_send_datagram(BOX_PORT, SENTINEL);
        worked = true;
        if (--sentinels == 0) {
            done(SHELL_OK);
        }
    }
    return worked;
}

/* ---- flood ---- */

static struct {
    uint32_t count;      /* to be sent                             */
    uint64_t rx_frames;  /* of the box, when last looked           */
    uint64_t began_us;   /* the first had been sent                */
    uint64_t changed_us; /* the box had last taken one             */
} flood;

static int start_flood(unsigned length, uint32_t count)
{
    static uint8_t frame[PEER_FRAME_MAX];
    unsigned n;

    peer_payload(length);
    n = peer_build_datagram(frame, BOX_PORT);
    if (!peer_flood_open(frame, n)) {
        kprintf("peer: no virtio card\n");
        return SHELL_NO_CARD;
    }
    sentinels = SENTINELS_AFTER;
    flood.count = count;
    flood.began_us = 0;
    peer_send_datagram(BOX_PORT, SENTINEL);
    mode = FLOOD;
    return SHELL_RUNNING;
}

static void end_flood(uint32_t before)
{
    kprintf("flood: %u sent, %u taken in %u us\n", flood.count,
            (uint32_t)(flood.rx_frames - taken_before) - before,
            (uint32_t)(flood.changed_us - flood.began_us));
    for (unsigned i = 0; i < SENTINELS_AFTER; i++) {
        peer_send_datagram(BOX_PORT, SENTINEL);
    }
    done(SHELL_OK);
}

static bool pump_flood(void)
{
    enum { FIRST_SENTINEL = 1 };
    uint64_t now = clock_us();
    uint32_t sent;

    if (flood.began_us == 0) {
        if (in_the_air() == 0) {
            peer_flood_start(flood.count);
            flood.began_us = now;
        }
        return true;
    }
    sent = peer_flood_turn();
    if (nics[0].stats.rx_frames != flood.rx_frames) {
        flood.rx_frames = nics[0].stats.rx_frames;
        flood.changed_us = now;
    } else if (sent == flood.count && now - flood.changed_us > CALM_US) {
        end_flood(FIRST_SENTINEL);
        return true;
    }
    return false;
}

/* ---- outside ---- */

static bool turn(void)
{
    uint8_t head[PEER_HEAD];
    bool worked = false;

    if (mode == OFF) {
        return false;
    }
    if (mode == FLOOD) {
        return pump_flood();
    }
    while (peer_card_receive(head)) {
        take_frame(head);
        worked = true;
    }
    peer_link_calm(&link);
    worked |= (mode == SEND_TCP && pump_tcp()) || (mode == SEND_UDP && pump_udp());
    return worked && !paced; /* a frame that is long on the wire costs the box no turn before */
}

static int start_udp(unsigned length)
{
    peer_payload(length);
    sentinels = SENTINELS_AFTER;
    peer_send_datagram(BOX_PORT, SENTINEL);
    mode = SEND_UDP;
    return SHELL_RUNNING;
}

static int start_tcp(uint16_t port)
{
    peer_link_open(&link, OUR_PORT, port, OUR_WINDOW);
    mode = SEND_TCP;
    return SHELL_RUNNING;
}

static int start_session(const struct peer_session *what)
{
    peer_payload(PEER_MSS);
    session = what;
    peer_session_start(what, &link);
    mode = SEND_TCP;
    return SHELL_RUNNING;
}

static uint32_t number(const char *text)
{
    uint32_t n = 0;

    while (*text >= '0' && *text <= '9') {
        n = n * 10 + (uint32_t)(*text++ - '0');
    }
    return n;
}

static int start_mode(int argc, char *argv[])
{
    uint32_t n[4] = {0};
    char what = argc > 1 ? argv[1][0] : '?';

    for (int i = 2; i < argc && i < 6; i++) {
        n[i - 2] = number(argv[i]);
    }
    if (what == 'w') {
        delay_us(n[0]);
        return SHELL_OK;
    }
    if (what == 'a') {
        behind = true;
        return SHELL_OK;
    }
    if (!peer_card_open(peer_mac)) {
        kprintf("peer: no card\n");
        return SHELL_NO_CARD;
    }
    link.state = CLOSED;
    session = NULL;
    taken_before = nics[0].stats.rx_frames;
    switch (what) {
    case 's':
        window = (uint16_t)n[0];
        mode = SINK;
        return SHELL_OK;
    case 'u':
        left = n[1];
        flight = n[2];
        return start_udp(n[0]);
    case 'f': return start_flood(n[0], n[1]);
    case 't':
        left = n[0];
        flight = n[1];
        paced = n[2] != 0;
        peer_payload(PEER_MSS);
        return start_tcp(n[3] != 0 ? (uint16_t)n[3] : BOX_PORT);
    case '2':
    case '3':
    case 'n':
        left = n[0];
        flight = n[1];
        paced = false;
        if (what == '2') {
            peer_payload_iperf2(PEER_MSS);
            return start_tcp(BOX_PORT);
        }
        return start_session(what == '3' ? &peer_iperf3 : &peer_nuttcp);
    default: return SHELL_FAILED;
    }
}

static int start_peer(int argc, char *argv[])
{
    int status = start_mode(argc, argv);

    return status == SHELL_RUNNING && behind ? SHELL_OK : status;
}

static void abort_peer(void)
{
    done(SHELL_FAILED);
}

APP_WHILE(bench_peer, NULL, mode, turn);
SHELL_COMMAND(peer,
              "sink WINDOW | udp LENGTH COUNT FLIGHT | tcp COUNT FLIGHT PACE [PORT] | "
              "2iperf COUNT FLIGHT | 3iperf COUNT FLIGHT | nuttcp COUNT FLIGHT | "
              "flood LENGTH COUNT | also | wait US",
              "the bench's other end", start_peer, abort_peer);
