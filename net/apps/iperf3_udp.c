/*
 * iperf3's data over UDP (NEEDS.md 3.3, 5 and 7).
 *
 * A stream begins with a datagram of 4 bytes, which is answered alike, also when it comes again.
 * It counts only from the address of the control connection: whoever asks us to send has proven by
 * a TCP handshake that he is there.
 *
 * Data: seconds and microseconds of sending, then the number, from 1 on, in 4 or 8 bytes.
 */
#include "kernel/math64.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lwip/udp.h"
#include "net/answer.h"
#include "net/apps/datagram.h"
#include "net/apps/iperf3.h"
#include "net/apps/ttcp_send.h"
#include "net/apps/udp_expect.h"
#include "net/nicif.h"

enum {
    HELLO_BYTES = 4,
    HEADER_32 = 12,
    HEADER_64 = 16,
    NUMBER_AT = 8,
    KEEP_FREE = 8, /* slots of the transmit queue left to acknowledgements and replies */
    US_PER_S = 1000000,
};

/* Written by the clients in the order of their own memory, so these are the bytes from a PC: since
 * 3.12, and before.  One answer does for all (NEEDS.md 3.3, 5). */
static const uint8_t hello[HELLO_BYTES] = {0x39, 0x38, 0x37, 0x36};
static const uint8_t hello_old[HELLO_BYTES] = {0x15, 0xcd, 0x5b, 0x07};
static const uint8_t answer[HELLO_BYTES] = {0x36, 0x37, 0x38, 0x39};

static struct udp_pcb *udp;

static struct iperf3_stream *find(uint16_t port)
{
    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        if (iperf3.streams[i].used && iperf3.streams[i].port == port) {
            return &iperf3.streams[i];
        }
    }
    return NULL;
}

/* ---- the beginning ---- */

static bool is_hello(const struct pbuf *p)
{
    return p->tot_len == HELLO_BYTES && (pbuf_memcmp(p, 0, hello, HELLO_BYTES) == 0 ||
                                         pbuf_memcmp(p, 0, hello_old, HELLO_BYTES) == 0);
}

static void send_answer(uint16_t port)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, HELLO_BYTES, PBUF_RAM);

    if (p != NULL) { /* else the client asks again, or gives up: its affair */
        memcpy(p->payload, answer, HELLO_BYTES);
        udp_sendto_if(udp, p, &iperf3.control.peer, port, iperf3.control.netif);
        pbuf_free(p);
    }
}

static void on_hello(struct iperf3_stream *s, uint16_t port)
{
    if (s == NULL && iperf3.phase == IPERF3_CREATING && may_answer(&iperf3.control.peer, port)) {
        s = iperf3_new_stream();
        if (s != NULL) {
            s->port = port;
            send_answer(port);
            iperf3_stream_ready();
        }
    } else if (s != NULL && s->datagrams == 0) {
        send_answer(port);
    }
}

/* ---- receiving ---- */

static uint32_t word_at(const struct pbuf *p, unsigned offset)
{
    uint32_t word = 0;

    pbuf_copy_partial(p, &word, sizeof(word), (u16_t)offset);
    return lwip_ntohl(word);
}

static void on_data(struct iperf3_stream *s, const struct pbuf *p)
{
    uint64_t now = time_us();
    uint64_t sent_us = (uint64_t)word_at(p, 0) * US_PER_S + word_at(p, 4);
    uint64_t number = word_at(p, NUMBER_AT);

    if (iperf3.params.counters_64bit) {
        number = number << 32 | word_at(p, NUMBER_AT + 4);
    }
    if (number > s->datagrams) {
        s->datagrams = number;
    }
    if (sequence_add(&s->sequence, number) == SEQUENCE_BEFORE) {
        return;
    }
    sequence_time(&s->sequence, sent_us, now);
    s->meter->datagrams++;
    iperf3_count_received(s, p->tot_len);
}

static void on_receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *peer,
                       u16_t port)
{
    (void)arg;
    udp_expect(pcb, port);
    if (iperf3.phase >= IPERF3_CREATING && iperf3.params.udp &&
        ip_addr_eq(peer, &iperf3.control.peer) &&
        ip_current_input_netif() == iperf3.control.netif) {
        struct iperf3_stream *s = find(port);

        if (is_hello(p)) {
            on_hello(s, port);
        } else if (s != NULL && iperf3.phase == IPERF3_RUNNING && !s->sender &&
                   p->tot_len >= (iperf3.params.counters_64bit ? HEADER_64 : HEADER_32)) {
            on_data(s, p);
        }
    }
    pbuf_free(p);
}

void iperf3_udp_restart(struct iperf3_stream *s)
{
    s->bytes = 0;
    sequence_start(&s->sequence, s->datagrams + 1);
}

/* ---- sending ---- */

static void put_word(uint8_t *at, uint32_t value)
{
    value = lwip_htonl(value);
    memcpy(at, &value, sizeof(value));
}

static unsigned make_header(const struct iperf3_stream *s, uint8_t header[HEADER_64])
{
    uint32_t us, seconds = (uint32_t)div64(time_us(), US_PER_S, &us);
    uint64_t number = s->datagrams + 1;
    unsigned n = NUMBER_AT;

    put_word(header, seconds);
    put_word(header + 4, us);
    if (iperf3.params.counters_64bit) {
        put_word(header + n, (uint32_t)(number >> 32));
        n += 4;
    }
    put_word(header + n, (uint32_t)number);
    return n + 4;
}

static bool send_datagram(const struct iperf3_stream *s)
{
    uint8_t header[HEADER_64];
    unsigned n = make_header(s, header);
    struct pbuf *p = datagram_make(&ttcp_payload, iperf3.params.len, header, n);
    bool sent;

    if (p == NULL) {
        return false;
    }
    sent = nicif_udp_send(iperf3.control.netif, udp, p, &iperf3.control.peer, s->port) == ERR_OK;
    pbuf_free(p);
    return sent;
}

bool iperf3_udp_pump(struct iperf3_stream *s)
{
    s->block = IPERF3_AGAIN; /* nothing tells when the queue has room */
    if (nicif_tx_room(iperf3.control.netif) < datagram_frames(iperf3.params.len) + KEEP_FREE) {
        return false;
    }
    if (pace_room(&s->pace, &s->held_us) == 0) {
        s->block = IPERF3_TIMER;
        return false;
    }
    if (!send_datagram(s)) {
        return false;
    }
    s->datagrams++;
    if (!iperf3.omitting) {
        s->bytes += iperf3.params.len;
        s->meter->datagrams++;
        meter_add(s->meter, iperf3.params.len);
    }
    pace_went(&s->pace, iperf3.params.len);
    return true;
}

/* ---- start ---- */

void iperf3_udp_start(void)
{
    udp = udp_new();
    if (udp == NULL || udp_bind(udp, IP_ADDR_ANY, IPERF3_PORT) != ERR_OK) {
        panic("iperf3: no pcb for UDP port %u", (unsigned)IPERF3_PORT);
    }
    udp_recv(udp, on_receive, NULL);
}
