/*
 * Single steps, each called by itself: the clock, memory, an interrupt, a turn of the main loop, a
 * card's transmit path, lwIP's receive path up to an application.
 */
#include <stdalign.h>
#include <stddef.h>

#include "drivers/nic.h"
#include "kernel/irq.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/inet_chksum.h"
#include "lwip/prot/ethernet.h"
#include "lwip/prot/ip4.h"
#include "lwip/prot/udp.h"
#include "lwip/udp.h"
#include "net/apps/bench.h"
#include "net/clock.h"
#include "net/intake.h"
#include "net/nicif.h"

enum {
    LARGEST = 1514,
    SHORT = 60,
    HEADERS = SIZEOF_ETH_HDR + IP_HLEN + UDP_HLEN,
    UDP_LARGE = LARGEST - HEADERS,
    UDP_SMALL = 18,
    IP_ALIGN = 2,       /* in front of a frame, so that the IP header is aligned */
    TEST_TYPE = 0x88B5, /* IEEE 802 local experimental: nobody takes such a frame for his */
    TICK_LINE = 0,
    SPIN_US = 60000, /* longer than the slowest tick */
    FAST_READS = 16,
    QUIET_US = 300000,
};

static alignas(4) uint8_t buffer[LARGEST + IP_ALIGN], other[LARGEST + IP_ALIGN];

/* ---- clock and memory ---- */

static void read_clock(void)
{
    (void)time_us();
}

static uint32_t sample_clock(void)
{
    return bench_repeated(read_clock);
}

static void copy(void)
{
    memcpy(other, buffer, LARGEST);
}

static uint32_t sample_copy(void)
{
    return bench_repeated(copy);
}

static volatile uint16_t sum;

static void checksum(void)
{
    sum = inet_chksum(buffer, UDP_LARGE);
}

static uint32_t sample_checksum(void)
{
    return bench_repeated(checksum);
}

/* ---- interrupt ---- */

/*
 * What a tick takes from whoever runs: the clock is read without pause, and the two readings around
 * which the tick was noticed took that much longer than two others.
 */
static uint32_t sample_interrupt(void)
{
    struct deadline late = deadline_us(SPIN_US);
    unsigned ticks = irq_count(TICK_LINE);
    uint64_t before = bench_now();
    uint32_t usual = UINT32_MAX;

    for (unsigned i = 0;; i++) {
        uint64_t now = bench_now();
        uint32_t took = bench_between(before, now);

        before = now;
        if (irq_count(TICK_LINE) != ticks) {
            took += bench_between(now, bench_now());
            return i > FAST_READS && took > 2 * usual ? took - 2 * usual : 0;
        }
        usual = took < usual ? took : usual;
        if (i % FAST_READS == FAST_READS - 1 && expired(&late)) {
            return 0;
        }
    }
}

uint32_t bench_interrupt_cost(void)
{
    enum { TRIES = 5 };
    uint32_t least = 0;

    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t cost = sample_interrupt();

        if (cost != 0 && (least == 0 || cost < least)) {
            least = cost;
        }
    }
    return least;
}

/* ---- turn ---- */

static uint64_t last_turn, quiet_us;

static const char *prepare_turn(void)
{
    last_turn = 0;
    quiet_us = clock_us() + QUIET_US;
    return NULL;
}

/* From one call to the next, once COM1 has said all it had to say: as we say that there was work,
 * the machine does not halt. */
static uint32_t sample_turn(void)
{
    uint64_t now;
    uint32_t took;

    if (clock_us() < quiet_us) {
        return 0;
    }
    now = bench_now();
    took = last_turn == 0 ? 0 : bench_between(last_turn, now);

    last_turn = now;
    return took;
}

/* ---- sending ---- */

static uint32_t reading; /* the clock's own cost, which is in each sample */

static uint32_t least_reading(void)
{
    uint32_t least = UINT32_MAX;

    for (unsigned i = 0; i < FAST_READS; i++) {
        uint64_t before = bench_now();
        uint32_t took = bench_between(before, bench_now());

        least = took < least ? took : least;
    }
    return least;
}

static const char *prepare_send(void)
{
    reading = least_reading();
    if (nic_count == 0) {
        return "no card";
    }
    memset(buffer, 0, sizeof(buffer));
    memcpy(buffer, nics[0].mac, ETH_HWADDR_LEN);
    memcpy(buffer + ETH_HWADDR_LEN, nics[0].mac, ETH_HWADDR_LEN);
    buffer[2 * ETH_HWADDR_LEN] = TEST_TYPE >> 8;
    buffer[2 * ETH_HWADDR_LEN + 1] = TEST_TYPE & 0xFF;
    return NULL;
}

/* One frame to ourselves through the driver, when the card has nothing else to send. */
static uint32_t sample_send(unsigned length)
{
    struct nic *nic = &nics[0];
    const struct slice piece = {.at = buffer, .length = (uint16_t)length};
    const struct tx_frame frame = {.v = &piece, .n = 1, .total = (uint16_t)length};
    bool guarded = nic_guard();
    uint32_t took = 0;

    if (nic->ops->tx_idle(nic)) {
        uint64_t began = bench_now();

        if (nic->ops->tx_burst(nic, &frame, 1) == 1) {
            took = bench_between(began, bench_now());
            took = took > reading ? took - reading : 1;
        }
    } else {
        nic->ops->service(nic, EV_TX);
    }
    nic_unguard(guarded);
    return took;
}

static uint32_t sample_send_short(void)
{
    return sample_send(SHORT);
}

static uint32_t sample_send_long(void)
{
    return sample_send(LARGEST);
}

/* ---- receiving: a datagram that was made once goes up through lwIP again and again ---- */

static struct udp_pcb *receiver;
static struct netif *into;
static unsigned datagram_length;
static struct pbuf_custom custom;

static void drop(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port)
{
    (void)arg;
    (void)pcb;
    (void)from;
    (void)port;
    pbuf_free(p);
}

static void keep(struct pbuf *p)
{
    (void)p; /* the next step makes it anew */
}

/* A neighbour of ours that is no broadcast address. */
static uint32_t neighbour(uint32_t our_ip, uint32_t mask)
{
    uint32_t ip = lwip_ntohl(our_ip);
    uint32_t host = ~lwip_ntohl(mask);

    for (uint32_t bit = 1; bit != 0 && bit <= host; bit <<= 1) {
        uint32_t other_host = (ip ^ bit) & host;

        if (other_host != 0 && other_host != host) {
            return lwip_htonl(ip ^ bit);
        }
    }
    return our_ip;
}

static void make_datagram(unsigned length)
{
    uint8_t *at = buffer + IP_ALIGN;
    struct eth_hdr *eth = (void *)at;
    struct ip_hdr *ip = (void *)(at + SIZEOF_ETH_HDR);
    struct udp_hdr *udp = (void *)(at + SIZEOF_ETH_HDR + IP_HLEN);
    ip4_addr_t from = {neighbour(ip4_addr_get_u32(netif_ip4_addr(into)),
                                 ip4_addr_get_u32(netif_ip4_netmask(into)))};
    struct pbuf view = {0};

    memset(buffer, 0, sizeof(buffer));
    memcpy(&eth->dest, into->hwaddr, ETH_HWADDR_LEN);
    eth->src.addr[0] = 2; /* locally administered */
    eth->type = PP_HTONS(ETHTYPE_IP);
    IPH_VHL_SET(ip, 4, IP_HLEN / 4);
    IPH_LEN_SET(ip, lwip_htons((u16_t)(IP_HLEN + UDP_HLEN + length)));
    IPH_TTL_SET(ip, 64);
    IPH_PROTO_SET(ip, IP_PROTO_UDP);
    ip4_addr_copy(ip->src, from);
    ip4_addr_copy(ip->dest, *netif_ip4_addr(into));
    IPH_CHKSUM_SET(ip, inet_chksum(ip, IP_HLEN));
    udp->src = udp->dest = lwip_htons(receiver->local_port);
    udp->len = lwip_htons((u16_t)(UDP_HLEN + length));
    view.payload = udp;
    view.len = view.tot_len = (u16_t)(UDP_HLEN + length);
    udp->chksum =
        inet_chksum_pseudo(&view, IP_PROTO_UDP, view.tot_len, &from, netif_ip4_addr(into));
    datagram_length = SIZEOF_ETH_HDR + IP_HLEN + UDP_HLEN + length;
}

static const char *prepare_receive(unsigned length)
{
    if (nic_count == 0) {
        return "no card";
    }
    into = nicif_netif(&nics[0]);
    if (ip4_addr_isany_val(*netif_ip4_addr(into))) {
        return "no address yet";
    }
    receiver = udp_new();
    if (receiver == NULL || udp_bind(receiver, IP_ADDR_ANY, 0) != ERR_OK) {
        if (receiver != NULL) {
            udp_remove(receiver);
        }
        return "no free connection";
    }
    udp_recv(receiver, drop, NULL);
    make_datagram(length);
    return NULL;
}

static const char *prepare_receive_small(void)
{
    return prepare_receive(UDP_SMALL);
}

static const char *prepare_receive_large(void)
{
    return prepare_receive(UDP_LARGE);
}

/* With lwIP's own checksums, as a packet that net/intake.c has not seen. */
static void receive(void)
{
    uint16_t checks = into->chksum_flags;
    struct pbuf *p;

    custom.custom_free_function = keep;
    p = pbuf_alloced_custom(PBUF_RAW, (u16_t)datagram_length, PBUF_REF, &custom, buffer + IP_ALIGN,
                            (u16_t)datagram_length);
    NETIF_SET_CHECKSUM_CTRL(into, (uint16_t)(checks | INTAKE_CHECKS));
    if (into->input(p, into) != ERR_OK) {
        pbuf_free(p);
    }
    NETIF_SET_CHECKSUM_CTRL(into, checks);
}

static uint32_t sample_receive(void)
{
    return bench_repeated(receive);
}

static void finish_receive(void)
{
    udp_remove(receiver);
}

/* ---- the table ---- */

const struct bench bench_steps[] = {
    {"clock", "one reading of the clock", BENCH_NO_CARD, NULL, sample_clock, NULL},
    {"copy", "1514 bytes from memory to memory", BENCH_NO_CARD, NULL, sample_copy, NULL},
    {"checksum", "the Internet checksum of 1472 bytes", BENCH_NO_CARD, NULL, sample_checksum, NULL},
    {"interrupt", "the tick, from interruption to return", BENCH_NO_CARD, NULL, sample_interrupt,
     NULL},
    {"turn", "a turn of the main loop without work", BENCH_NO_CARD, prepare_turn, sample_turn,
     NULL},
    {"tx60", "the driver takes a frame of 60 bytes", 0, prepare_send, sample_send_short, NULL},
    {"tx1514", "the driver takes a frame of 1514 bytes", 0, prepare_send, sample_send_long, NULL},
    {"rx18", "18 bytes of UDP from netif through lwIP to an application", 0, prepare_receive_small,
     sample_receive, finish_receive},
    {"rx1472", "1472 bytes of UDP, likewise", 0, prepare_receive_large, sample_receive,
     finish_receive},
};
const unsigned bench_step_count = sizeof(bench_steps) / sizeof(bench_steps[0]);
