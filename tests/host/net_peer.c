/*
 * Ethernet, ARP, IPv4, UDP and ICMP of the other machines.  TCP is in net_peer_tcp.c.
 */
#include "tests/host/net_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/net_peer_tcp.h"
#include "tests/host/net_rig.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/wire.h"

enum { STATIONS_MAX = 4, FRAME_MIN_WIRE = 60, GAP_NS = 9600, MORE = 0x2000, OFFSET = 0x1FFF };

struct station peer;

static struct station *stations[STATIONS_MAX];
static struct station extra[STATIONS_MAX];
static unsigned station_count;
static uint64_t line_free_ns[RIG_CARDS];
static cable_hook on_frame;
static packet_hook on_packet;
static unsigned frames_heard, packets_heard[256];
static unsigned next_id;

static const uint8_t everybody[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static void wrong(const char *what, const struct heard *f)
{
    sim_print_log();
    fprintf(stderr, "the box sent a frame with %s:\n", what);
    for (unsigned i = 0; i < f->length; i++) {
        fprintf(stderr, "%02x%s", f->data[i], i % 16 == 15 ? "\n" : " ");
    }
    fprintf(stderr, "\n");
    abort();
}

static void must(bool right, const char *what, const struct heard *f)
{
    if (!right) {
        wrong(what, f);
    }
}

/* ---- stations ---- */

static void plug_in(struct station *s, unsigned nic, uint32_t ip)
{
    *s = (struct station){.nic = nic, .mac = {0x02, 0}, .ip = ip};
    put32(s->mac + 2, ip);
    stations[station_count++] = s;
}

struct station *peer_plug(unsigned nic, uint32_t ip)
{
    struct station *s = &extra[station_count];

    plug_in(s, nic, ip);
    return s;
}

struct station *peer_find(uint32_t ip)
{
    for (unsigned i = 0; i < station_count; i++) {
        if (stations[i]->ip == ip) {
            return stations[i];
        }
    }
    return NULL;
}

void peer_up(void)
{
    station_count = frames_heard = 0;
    next_id = 1;
    memset(packets_heard, 0, sizeof(packets_heard));
    memset(line_free_ns, 0, sizeof(line_free_ns));
    on_frame = NULL;
    on_packet = NULL;
    plug_in(&peer, 0, PEER_IP);
    peer_tcp_forget_all();
}

void peer_down(void)
{
    peer_tcp_forget_all();
}

void peer_set_hook(cable_hook hook)
{
    on_frame = hook;
}

void peer_set_packet_hook(packet_hook hook)
{
    on_packet = hook;
}

unsigned peer_frames(void)
{
    return frames_heard;
}

void peer_forget(void)
{
    frames_heard = 0;
    memset(packets_heard, 0, sizeof(packets_heard));
}

unsigned peer_packets(unsigned protocol)
{
    return packets_heard[protocol];
}

/* ---- checksums ---- */

static uint32_t add_up(uint32_t sum, const uint8_t *data, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

uint16_t reference_sum(const void *data, unsigned n)
{
    return (uint16_t)add_up(0, data, n);
}

uint16_t transport_checksum(uint32_t from, uint32_t to, unsigned protocol, const uint8_t *data,
                            unsigned n)
{
    uint8_t pseudo[12];

    put32(pseudo, from);
    put32(pseudo + 4, to);
    put16(pseudo + 8, protocol);
    put16(pseudo + 10, n);
    return (uint16_t)~add_up(add_up(0, pseudo, sizeof(pseudo)), data, n);
}

/* ---- sending ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void peer_send_frame(unsigned nic, const void *data, unsigned length)
{
    uint8_t padded[FRAME_MIN_WIRE] = {0};
    uint64_t at = later(line_free_ns[nic], sim_now_ns());

    if (length < FRAME_MIN_WIRE) {
        memcpy(padded, data, length);
        data = padded;
        length = FRAME_MIN_WIRE;
    }
    sim_receive_at(&rig_cards[nic].chip, at, data, length);
    line_free_ns[nic] = at + wire_frame_ns(length) + GAP_NS;
}

static void ethernet(uint8_t *frame, const struct station *s, const uint8_t to[6], unsigned type)
{
    memcpy(frame, to, 6);
    memcpy(frame + 6, s->mac, 6);
    put16(frame + 12, type);
}

/* Of a group, or the card's own. */
static const uint8_t *mac_of(const struct station *s, uint32_t to)
{
    static uint8_t group[6] = {0x01, 0x00, 0x5E};

    if (to >> 28 != 0xE) {
        return nics[s->nic].mac;
    }
    group[3] = (uint8_t)(to >> 16 & 0x7F);
    put16(group + 4, to & 0xFFFF);
    return group;
}

unsigned build_fragment(uint8_t *frame, const struct station *s, uint32_t to, unsigned protocol,
                        unsigned id, unsigned offset, bool more, const void *data, unsigned n)
{
    uint8_t *ip = frame + ETH_HEADER;

    ethernet(frame, s, mac_of(s, to), ETH_TYPE_IP);
    memset(ip, 0, IP_HEADER);
    ip[0] = 0x45;
    put16(ip + 2, IP_HEADER + n);
    put16(ip + 4, id);
    put16(ip + 6, (more ? MORE : 0u) | offset / 8);
    ip[8] = 64;
    ip[9] = (uint8_t)protocol;
    put32(ip + 12, s->ip);
    put32(ip + 16, to);
    put16(ip + 10, (uint16_t)~reference_sum(ip, IP_HEADER));
    memcpy(ip + IP_HEADER, data, n);
    return ETH_HEADER + IP_HEADER + n;
}

void peer_send_ip(const struct station *s, uint32_t to, unsigned protocol, const void *data,
                  unsigned n)
{
    uint8_t frame[ETH_HEADER + MTU];
    unsigned id = next_id++;
    unsigned offset = 0;

    do {
        unsigned most = (MTU - IP_HEADER) / 8 * 8;
        unsigned part = n - offset < most ? n - offset : most;
        unsigned length = build_fragment(frame, s, to, protocol, id, offset, offset + part < n,
                                         (const uint8_t *)data + offset, part);

        peer_send_frame(s->nic, frame, length);
        offset += part;
    } while (offset < n);
}

void peer_send_udp(const struct station *s, uint32_t to, unsigned port, unsigned to_port,
                   const void *data, unsigned n)
{
    static uint8_t udp[DATAGRAM_MAX];

    put16(udp, port);
    put16(udp + 2, to_port);
    put16(udp + 4, UDP_HEADER + n);
    put16(udp + 6, 0);
    memcpy(udp + UDP_HEADER, data, n);
    put16(udp + 6, transport_checksum(s->ip, to, PROTO_UDP, udp, UDP_HEADER + n));
    peer_send_ip(s, to, PROTO_UDP, udp, UDP_HEADER + n);
}

void peer_send_echo(const struct station *s, uint32_t to, unsigned seq, const void *data,
                    unsigned n)
{
    static uint8_t icmp[DATAGRAM_MAX];

    memset(icmp, 0, ICMP_HEADER);
    icmp[0] = 8; /* echo request */
    put16(icmp + 6, seq);
    memcpy(icmp + ICMP_HEADER, data, n);
    put16(icmp + 2, (uint16_t)~reference_sum(icmp, ICMP_HEADER + n));
    peer_send_ip(s, to, PROTO_ICMP, icmp, ICMP_HEADER + n);
}

static void send_arp_to(const struct station *s, const uint8_t to[6], unsigned operation,
                        uint32_t sender, uint32_t target)
{
    uint8_t frame[ETH_HEADER + 28] = {0};
    uint8_t *arp = frame + ETH_HEADER;

    ethernet(frame, s, to, ETH_TYPE_ARP);
    put16(arp, 1);
    put16(arp + 2, ETH_TYPE_IP);
    arp[4] = 6;
    arp[5] = 4;
    put16(arp + 6, operation);
    memcpy(arp + 8, s->mac, 6);
    put32(arp + 14, sender);
    if (operation == ARP_TELLS) {
        memcpy(arp + 18, nics[s->nic].mac, 6);
    }
    put32(arp + 24, target);
    peer_send_frame(s->nic, frame, sizeof(frame));
}

void peer_send_arp(const struct station *s, unsigned operation, uint32_t sender, uint32_t target)
{
    send_arp_to(s, everybody, operation, sender, target);
}

/* ---- hearing ---- */

static void hear_arp(const struct heard *f)
{
    const uint8_t *arp = f->data + ETH_HEADER;
    struct station *s = peer_find(get32(arp + 24));

    must(get16(arp + 6) == ARP_ASKS || get16(arp + 6) == ARP_TELLS, "a bad ARP operation", f);
    must(memcmp(arp + 8, nics[f->nic].mac, 6) == 0, "another's MAC as ARP sender", f);
    if (get16(arp + 6) == ARP_ASKS && s != NULL && s->nic == f->nic && !s->deaf) {
        send_arp_to(s, nics[f->nic].mac, ARP_TELLS, s->ip, get32(arp + 14));
    }
}

static void hear_packet(const struct packet *p, const struct heard *f, bool lost)
{
    packets_heard[p->protocol]++;
    switch (p->protocol) {
    case PROTO_ICMP:
        must(reference_sum(p->data, p->length) == 0xFFFF, "a bad ICMP checksum", f);
        break;
    case PROTO_UDP:
        must(get16(p->data + 4) == p->length, "a bad UDP length", f);
        must(get16(p->data + 6) == 0 ||
                 transport_checksum(p->from, p->to, p->protocol, p->data, p->length) == 0,
             "a bad UDP checksum", f);
        break;
    case PROTO_TCP:
        must(transport_checksum(p->from, p->to, p->protocol, p->data, p->length) == 0,
             "a bad TCP checksum", f);
        peer_tcp_hear(p, lost);
        break;
    case PROTO_IGMP:
        must(reference_sum(p->data, p->length) == 0xFFFF, "a bad IGMP checksum", f);
        break;
    default: wrong("an unknown protocol", f);
    }
    if (on_packet != NULL && !lost) {
        on_packet(p);
    }
}

/* Fragments of one packet at a time, in order, as the box sends them. */
static void hear_fragment(struct packet *p, const struct heard *f, unsigned flags, bool lost)
{
    static uint8_t whole[DATAGRAM_MAX];
    static unsigned have;
    unsigned offset = (flags & OFFSET) * 8;

    if (offset == 0) {
        have = 0;
    }
    if (offset != have || lost) {
        have = 0; /* this one or one before it */
        return;
    }
    memcpy(whole + have, p->data, p->length);
    have += p->length;
    if ((flags & MORE) == 0) {
        p->data = whole;
        p->length = have;
        hear_packet(p, f, false);
    }
}

static void hear_ip(const struct heard *f, bool lost)
{
    const uint8_t *ip = f->data + ETH_HEADER;
    unsigned total = get16(ip + 2);
    unsigned header = ip[9] == PROTO_IGMP ? IP_HEADER + ROUTER_ALERT : IP_HEADER;
    struct packet p = {.nic = f->nic,
                       .from = get32(ip + 12),
                       .to = get32(ip + 16),
                       .protocol = ip[9],
                       .length = total - header,
                       .data = ip + header};

    must(ip[0] == (0x40 | header / 4), "IP options", f);
    must(reference_sum(ip, header) == 0xFFFF, "a bad IP checksum", f);
    must(total >= header && ETH_HEADER + total <= f->length, "a bad IP length", f);
    for (unsigned i = ETH_HEADER + total; i < f->length; i++) {
        must(f->data[i] == 0, "padding that is not zero", f);
    }
    if ((get16(ip + 6) & (MORE | OFFSET)) != 0) {
        hear_fragment(&p, f, get16(ip + 6), lost);
    } else {
        hear_packet(&p, f, lost);
    }
}

static void hear_frame(const struct heard *f)
{
    bool lost;

    frames_heard++;
    must(f->length >= FRAME_MIN_WIRE, "less than 60 bytes", f);
    must(memcmp(f->data + 6, nics[f->nic].mac, 6) == 0, "another's MAC as source", f);
    lost = on_frame != NULL && !on_frame(f);
    switch (get16(f->data + 12)) {
    case ETH_TYPE_ARP:
        if (!lost) {
            hear_arp(f);
        }
        break;
    case ETH_TYPE_IP: hear_ip(f, lost); break;
    case ETH_TYPE_TEST: /* `bench` sends such frames to itself */
        must(memcmp(f->data, f->data + 6, 6) == 0, "a test frame to another", f);
        break;
    default: wrong("an unknown type", f);
    }
}

void peer_hear(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        struct sim_chip *chip = &rig_cards[i].chip;

        for (unsigned n = 0; n < chip->sent_count; n++) {
            hear_frame(&(struct heard){.nic = i,
                                       .us = sim_now_ns() / 1000,
                                       .length = chip->sent[n].length,
                                       .data = chip->sent[n].data});
        }
        chip->sent_count = 0;
    }
}
