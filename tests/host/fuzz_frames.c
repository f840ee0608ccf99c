/*
 * libFuzzer target: whatever comes from the wire, through the unchanged driver into lwIP and the
 * applications, with time passing in between.
 *
 * An input is a list of steps: raw frames, packets whose headers are made right so that what is
 * behind them is reached, segments near the sequence numbers of an open connection, commands.  One
 * box lives through all inputs; after each, everything it holds must come back by itself.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/shell.h"
#include "tests/host/net_peer.h"
#include "tests/host/net_peer_tcp.h"
#include "tests/host/net_rig.h"

enum {
    ROOM = 1600,
    CLIENTS = 4,
    SAID = 256,
    PORT = 5001,
    FROM = 40000,
    HTTP = 80,
    DELAYED_ACK_MS = 300,
    MDNS = 5353,
    NETBIOS = 137,
    GROUP = RIG_IP4(224, 0, 0, 251),
};

enum step {
    STEP_RAW,
    STEP_IP,
    STEP_SEGMENT,
    STEP_DATAGRAM,
    STEP_ARP,
    STEP_TIME,
    STEP_FRAGMENT,
    STEP_COMMAND,
    STEPS
};

struct input {
    const uint8_t *at;
    size_t left;
};

static struct peer_tcp clients[CLIENTS], server;
static uint8_t said[CLIENTS][SAID]; /* what their streams begin with */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned byte(struct input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

static unsigned word(struct input *in)
{
    unsigned high = byte(in);

    return high << 8 | byte(in);
}

/* Up to `n` bytes of input, then zeros. */
static void take(struct input *in, uint8_t *to, unsigned n)
{
    unsigned have = in->left < n ? (unsigned)in->left : n;

    memcpy(to, in->at, have);
    memset(to + have, 0, n - have);
    in->at += have;
    in->left -= have;
}

/* Mostly short, or the input is used up at once. */
static unsigned length(struct input *in, unsigned most)
{
    unsigned n = byte(in);

    return (n < 0xC0 ? n : (n - 0xC0) * 24) % (most + 1);
}

/* ---- steps ---- */

static void raw(struct input *in)
{
    uint8_t frame[ROOM];
    unsigned n = ETH_HEADER + length(in, ROOM - ETH_HEADER);

    take(in, frame, n);
    if ((frame[0] & 3) != 3) {
        memcpy(frame, nics[0].mac, 6);
    }
    peer_send_frame(0, frame, n);
}

static void ip_packet(struct input *in)
{
    static const uint8_t protocols[] = {PROTO_ICMP, PROTO_TCP, PROTO_UDP, 2};
    uint8_t data[MTU];
    unsigned protocol = protocols[byte(in) % sizeof(protocols)];
    unsigned n = length(in, MTU - IP_HEADER);

    take(in, data, n);
    if (protocol == PROTO_ICMP && n >= ICMP_HEADER) {
        put16(data + 2, 0);
        put16(data + 2, (uint16_t)~reference_sum(data, n));
    } else if (protocol == PROTO_TCP && n >= TCP_HEADER) {
        put16(data + 2, PORT);
        put16(data + 16, 0);
        put16(data + 16, transport_checksum(PEER_IP, BOX_IP, protocol, data, n));
    }
    peer_send_ip(&peer, BOX_IP, protocol, data, n);
}

/* To a service that does not talk for ever, with what the input says first. */
static void connect_to(struct input *in, unsigned who, unsigned how)
{
    static const uint16_t services[] = {PORT, 5201, 5000, HTTP, 7, 9, 7001, 7777};
    struct peer_tcp *c = &clients[who];

    peer_tcp_connect(c, &peer, FROM + who, BOX_IP,
                     services[how % (sizeof(services) / sizeof(services[0]))]);
    c->says_bytes = length(in, SAID);
    take(in, said[who], c->says_bytes);
    c->says = said[who];
}

/* One of the clients, or the server of a ttcp -t: near where its connection stands. */
static void segment(struct input *in)
{
    unsigned who = byte(in), flags = byte(in);
    struct peer_tcp *c = who % (CLIENTS + 1) == CLIENTS ? &server : &clients[who % (CLIENTS + 1)];
    uint32_t here = c->snd_nxt, there = c->rcv_nxt;

    if (c != &server && !c->open) {
        connect_to(in, who % (CLIENTS + 1), flags);
        return;
    }
    if (!c->open) {
        return;
    }
    if (who >= 0x80) {
        peer_tcp_segment(c, c->snd_nxt - c->first_seq + (flags & 15) * 100, length(in, PEER_MSS));
        return;
    }
    c->snd_nxt += (uint32_t)(int8_t)byte(in);
    c->rcv_nxt += (uint32_t)(int8_t)byte(in);
    peer_tcp_flags(c, flags & 0x3F);
    c->rcv_nxt = there;
    if ((who & 0x40) != 0) {
        c->snd_nxt = here;
    }
}

static void datagram(struct input *in)
{
    static const uint16_t ports[] = {5001, 5010, 2000, 68, 9999, MDNS, NETBIOS, 5201, 7, 9, 19};
    uint8_t data[MTU];
    unsigned port = ports[byte(in) % (sizeof(ports) / sizeof(ports[0]))];
    unsigned how = byte(in), n = length(in, 1400);
    unsigned from = how < 0x80 ? FROM + how % 12 : port; /* some talk from port to port */

    take(in, data, n);
    peer_send_udp(&peer, port == MDNS && (how & 1) != 0 ? GROUP : BOX_IP, from, port, data, n);
}

static void arp(struct input *in)
{
    static const uint32_t hosts[] = {PEER_IP, BOX_IP, 0, RIG_IP4(10, 0, 0, 254), 0xFFFFFFFF};
    unsigned operation = byte(in) % 3, sender = byte(in), target = byte(in);

    peer_send_arp(&peer, operation, sender < 5 ? hosts[sender] : RIG_IP4(10, 0, 0, sender),
                  target < 5 ? hosts[target] : RIG_IP4(10, 0, 0, target));
}

static void pass_time(struct input *in)
{
    static const uint16_t units_ms[] = {1, 10, 60};
    unsigned n = byte(in);

    rig_run_ms(n / 3 * units_ms[n % 3]);
}

static void fragment(struct input *in)
{
    uint8_t frame[ETH_HEADER + MTU], data[MTU];
    unsigned id = byte(in) % 8, at = word(in), n = length(in, MTU - IP_HEADER);
    unsigned protocol = (id & 1) != 0 ? PROTO_ICMP : PROTO_UDP;

    take(in, data, n);
    n = build_fragment(frame, &peer, BOX_IP, protocol, id, (at & 0x1FFF) * 8, (at & 0x8000) != 0,
                       data, n);
    peer_send_frame(0, frame, n);
}

static void command(struct input *in)
{
    static const char *const lines[] = {
        "\003",
        "ttcp -t -n 20 10.0.0.2\n",
        "ttcp -t -u -l 3000 -n 20 10.0.0.2\n",
        "ttcp -t -l 10 -n 500 10.0.0.2\n",
        "ttcp -r\n",
        "ttcp -r -u -p 9999\n",
        "ping -f -n 20 -s 2000 10.0.0.2\n",
        "iperf -n 20000 10.0.0.2\n",
        "iperf -R -n 20000 10.0.0.2\n",
        "iperf -u -n 20000 10.0.0.2\n",
        "iperf -u -R -n 20000 10.0.0.2\n",
        "set batch=off\n",
        "set batch=on\n",
        "set pad=stack\n",
        "set name=nictest86\n",
        "set name=b\n",
    };

    rig_type(lines[byte(in) % (sizeof(lines) / sizeof(lines[0]))]);
    if (!server.open && !server.listening) {
        peer_tcp_forget(&server);
        peer_tcp_listen(&server, &peer, PORT);
    }
}

static void (*const steps[STEPS])(struct input *in) = {
    [STEP_RAW] = raw,           [STEP_IP] = ip_packet,    [STEP_SEGMENT] = segment,
    [STEP_DATAGRAM] = datagram, [STEP_ARP] = arp,         [STEP_TIME] = pass_time,
    [STEP_FRAGMENT] = fragment, [STEP_COMMAND] = command,
};

/* ---- one input ---- */

/* /events is told for as long as there is somebody. */
static void close_the_browsers(void)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (clients[i].open && clients[i].box_port == HTTP) {
            rig_run_ms(DELAYED_ACK_MS); /* where the box really stands */
            clients[i].snd_nxt = clients[i].acked;
            peer_tcp_flags(&clients[i], T_RST | T_ACK);
        }
    }
}

static void must_settle(void)
{
    const char *held;

    close_the_browsers();
    do {
        rig_type("\003");
        rig_run_ms(50);
    } while (shell_busy());
    held = rig_settle();
    if (held != NULL) {
        fprintf(stderr, "still held: %s\n%s\n", held, rig_text());
        abort();
    }
    peer_tcp_forget_all();
    memset(clients, 0, sizeof(clients));
    memset(&server, 0, sizeof(server));
    rig_forget();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool up;
    struct input in = {data, size};

    if (!up) {
        rig_up_with(RIG_STATIC, 1, RIG_SMALL_KB);
        up = true;
    }
    while (in.left != 0) {
        steps[byte(&in) % STEPS](&in);
        rig_turn();
    }
    must_settle();
    return 0;
}
