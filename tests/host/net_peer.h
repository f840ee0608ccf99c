/*
 * The other machines on the simulated cable: frames built and taken apart by our own few lines, so
 * that lwIP is not its own judge.  Every frame the box sends is checked as it passes: lengths and
 * checksums must be right, padding must be zeros.
 *
 * Addresses are in host byte order here.
 */
#ifndef TESTS_HOST_NET_PEER_H
#define TESTS_HOST_NET_PEER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETH_HEADER = 14,
    ETH_TYPE_IP = 0x0800,
    ETH_TYPE_ARP = 0x0806,
    ETH_TYPE_TEST = 0x88B5, /* IEEE 802 local experimental */
    IP_HEADER = 20,
    UDP_HEADER = 8,
    TCP_HEADER = 20,
    ICMP_HEADER = 8,
    MTU = 1500,
    PROTO_ICMP = 1,
    PROTO_IGMP = 2,
    ROUTER_ALERT = 4, /* bytes of IP option that go with it: RFC 2236 section 2 */
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    DATAGRAM_MAX = 65535,
};

/* A machine at the cable of card `nic`.  Those that are plugged in answer ARP. */
struct station {
    unsigned nic;
    uint8_t mac[6];
    uint32_t ip;
    bool deaf; /* answers no ARP */
};

/* A frame the box sent. */
struct heard {
    unsigned nic;
    uint64_t us;
    unsigned length;
    const uint8_t *data;
};

/* An IP packet the box sent, reassembled. */
struct packet {
    unsigned nic;
    uint32_t from, to;
    unsigned protocol;
    unsigned length;
    const uint8_t *data; /* behind the IP header */
};

/* ---- the cable ---- */

/* For the rig: a new cable; take what has been sent; the end. */
void peer_up(void);
void peer_hear(void);
void peer_down(void);

/* Put a frame on the cable of a card, behind what is on it already.  Short ones are padded. */
void peer_send_frame(unsigned nic, const void *data, unsigned length);

/* Called with every frame; false drops it before it reaches any station.  Null: none. */
typedef bool (*cable_hook)(const struct heard *frame);
void peer_set_hook(cable_hook hook);

/* ---- stations ---- */

/* The usual one: card 0, PEER_IP; plugged in by peer_up(). */
extern struct station peer;

/* Make and plug in another: its MAC is made from its address. */
struct station *peer_plug(unsigned nic, uint32_t ip);

/* The station with this address, or null. */
struct station *peer_find(uint32_t ip);

/* ---- sending, to the box's card ---- */

/* Network byte order. */
static inline void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xFFFF);
}

static inline unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static inline uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}

/* RFC 1071 over `n` bytes, not inverted, by the book. */
uint16_t reference_sum(const void *data, unsigned n);

/* The same with the pseudo header of TCP and UDP, inverted: 0 if the packet is right. */
uint16_t transport_checksum(uint32_t from, uint32_t to, unsigned protocol, const uint8_t *data,
                            unsigned n);

/* One fragment of an IP packet: `offset` in bytes.  Returns its length in `frame`. */
unsigned build_fragment(uint8_t *frame, const struct station *s, uint32_t to, unsigned protocol,
                        unsigned id, unsigned offset, bool more, const void *data, unsigned n);

/* An IP packet, fragmented as needed. */
void peer_send_ip(const struct station *s, uint32_t to, unsigned protocol, const void *data,
                  unsigned n);
void peer_send_udp(const struct station *s, uint32_t to, unsigned port, unsigned to_port,
                   const void *data, unsigned n);
void peer_send_echo(const struct station *s, uint32_t to, unsigned seq, const void *data,
                    unsigned n);

enum { ARP_ASKS = 1, ARP_TELLS = 2 };

/* ARP with sender and target as given; broadcast. */
void peer_send_arp(const struct station *s, unsigned operation, uint32_t sender, uint32_t target);

/* ---- hearing ---- */

/* Called with every packet for any station, or broadcast.  Null: none. */
typedef void (*packet_hook)(const struct packet *p);
void peer_set_packet_hook(packet_hook hook);

/* Frames, and packets of this protocol, heard so far, or since peer_forget(). */
void peer_forget(void);
unsigned peer_frames(void);
unsigned peer_packets(unsigned protocol);

#endif
