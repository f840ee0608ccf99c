/*
 * The `ping` command: ICMP echo (RFC 792) with min/avg/max/jitter, a flood, and a sweep over every
 * size with the payload compared.
 */
#include "kernel/console.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/icmp.h"
#include "lwip/inet_chksum.h"
#include "lwip/prot/ip4.h"
#include "lwip/raw.h"
#include "net/apps/app.h"
#include "net/apps/client.h"
#include "net/clock.h"

enum {
    SIZE_DEFAULT = 56,
    SIZE_MAX_UNFRAGMENTED = 1472,
    SIZE_LARGEST = 8000,
    COUNT_DEFAULT = 4,
    INTERVAL_US = 1000000,
    WAIT_US = 1000000,
    PING_ID = 0x4e54, /* "NT" */
};

static struct {
    unsigned running; /* 0 or 1 */
    bool flood, sweep;
    struct raw_pcb *pcb;
    struct netif *netif;
    ip_addr_t host;
    uint32_t size, count;
    uint32_t sent, received, wrong;
    bool waiting;     /* for the reply to the last one sent            */
    uint64_t sent_us; /* when it left                                  */
    uint64_t next_us; /* earliest moment for the next                  */
    uint64_t min_us, max_us, sum_us, last_us, jitter_sum_us;
} ping;

static uint8_t payload_byte(uint32_t seq, uint32_t at)
{
    return (uint8_t)(seq * 7 + at);
}

/* ---- replies ---- */

static bool payload_is_right(const struct pbuf *p, unsigned offset)
{
    if (p->tot_len != offset + ping.size) {
        return false;
    }
    for (uint32_t i = 0; i < ping.size; i++) {
        if (pbuf_get_at(p, (u16_t)(offset + i)) != payload_byte(ping.sent, i)) {
            return false;
        }
    }
    return true;
}

static void note_reply(uint64_t us)
{
    ping.waiting = false;
    ping.received++;
    ping.sum_us += us;
    if (ping.received == 1 || us < ping.min_us) {
        ping.min_us = us;
    }
    if (us > ping.max_us) {
        ping.max_us = us;
    }
    if (ping.received > 1) {
        ping.jitter_sum_us += us > ping.last_us ? us - ping.last_us : ping.last_us - us;
    }
    ping.last_us = us;
    if (ping.flood || ping.sweep) {
        ping.next_us = clock_us();
    } else {
        char ms[24];

        kprintf("%u bytes from %I: seq %u, %s ms\n", ping.size,
                ip4_addr_get_u32(ip_2_ip4(&ping.host)), ping.sent, format_fixed(ms, us, 3));
    }
}

/* Returns 1 if the packet was ours and is freed. */
static u8_t on_packet(void *arg, struct raw_pcb *pcb, struct pbuf *p, const ip_addr_t *from)
{
    struct icmp_echo_hdr echo;
    unsigned ip_bytes = IPH_HL_BYTES((struct ip_hdr *)p->payload);

    (void)arg;
    (void)pcb;
    if (pbuf_copy_partial(p, &echo, sizeof(echo), (u16_t)ip_bytes) != sizeof(echo) ||
        echo.type != ICMP_ER || echo.id != lwip_htons(PING_ID)) {
        return 0;
    }
    if (ping.waiting && ip_addr_eq(from, &ping.host) &&
        echo.seqno == lwip_htons((u16_t)ping.sent)) {
        if (!payload_is_right(p, ip_bytes + sizeof(echo))) {
            kprintf("ping: reply %u has a wrong payload\n", ping.sent);
            ping.wrong++;
        }
        note_reply(time_us() - ping.sent_us);
    }
    pbuf_free(p);
    return 1;
}

/* ---- requests ---- */

static bool send_request(void)
{
    struct pbuf *p =
        pbuf_alloc(PBUF_IP, (u16_t)(sizeof(struct icmp_echo_hdr) + ping.size), PBUF_RAM);
    struct icmp_echo_hdr *echo;
    bool sent;

    if (p == NULL) {
        return false;
    }
    ping.sent++;
    echo = p->payload;
    ICMPH_TYPE_SET(echo, ICMP_ECHO);
    ICMPH_CODE_SET(echo, 0);
    echo->chksum = 0;
    echo->id = lwip_htons(PING_ID);
    echo->seqno = lwip_htons((u16_t)ping.sent);
    for (uint32_t i = 0; i < ping.size; i++) {
        ((uint8_t *)p->payload)[sizeof(*echo) + i] = payload_byte(ping.sent, i);
    }
    echo->chksum = inet_chksum(echo, p->len);
    ping.sent_us = time_us();
    sent = raw_sendto_if_src(ping.pcb, p, &ping.host, ping.netif, netif_ip_addr4(ping.netif)) ==
           ERR_OK;
    pbuf_free(p);
    if (!sent) {
        ping.sent--;
    }
    return sent;
}

/* ---- the command ---- */

static void finish(bool aborted)
{
    char min[24], avg[24], max[24], jitter[24];
    uint32_t pairs = ping.received > 1 ? ping.received - 1 : 1;
    uint32_t got = ping.received != 0 ? ping.received : 1;

    kprintf("%u sent, %u received, %u lost, %u wrong\n", ping.sent, ping.received,
            ping.sent - ping.received, ping.wrong);
    kprintf("min/avg/max/jitter %s/%s/%s/%s ms\n", format_fixed(min, ping.min_us, 3),
            format_fixed(avg, div64(ping.sum_us, got, NULL), 3), format_fixed(max, ping.max_us, 3),
            format_fixed(jitter, div64(ping.jitter_sum_us, pairs, NULL), 3));
    raw_remove(ping.pcb);
    ping.running = false;
    shell_done(!aborted && ping.received == ping.sent && ping.wrong == 0 ? SHELL_OK : SHELL_FAILED);
}

static bool turn(void)
{
    if (!ping.running) {
        return false;
    }
    if (ping.waiting) {
        if (clock_us() - ping.sent_us < WAIT_US) {
            return false;
        }
        kprintf("no reply to %u (%u bytes)\n", ping.sent, ping.size);
        ping.waiting = false;
    }
    if (ping.sent == ping.count) {
        finish(false);
        return true;
    }
    if (!clock_due(&ping.next_us, INTERVAL_US)) {
        return false;
    }
    if (ping.sweep) {
        ping.size = ping.sent; /* one of each size, also when a send failed */
    }
    ping.waiting = send_request();
    return true;
}

static bool parse(int argc, char *argv[], const char **host)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (strcmp(argv[i], "-f") == 0) {
            ping.flood = true;
        } else if (strcmp(argv[i], "--sweep") == 0) {
            ping.sweep = true;
        } else if (strcmp(argv[i], "-s") == 0 && more) {
            if (!client_number("-s", argv[++i], 0, SIZE_LARGEST, &ping.size)) {
                return false;
            }
        } else if (strcmp(argv[i], "-n") == 0 && more) {
            if (!client_number("-n", argv[++i], 1, 1000000, &ping.count)) {
                return false;
            }
        } else if (argv[i][0] != '-' && *host == NULL) {
            *host = argv[i];
        } else {
            kprintf("usage: ping [-s N] [-n N] [-f] [--sweep] HOST\n");
            return false;
        }
    }
    if (*host == NULL) {
        kprintf("usage: ping [-s N] [-n N] [-f] [--sweep] HOST\n");
    }
    return *host != NULL;
}

static int start_ping(int argc, char *argv[])
{
    const char *host = NULL;
    int status;

    memset(&ping, 0, sizeof(ping));
    ping.size = SIZE_DEFAULT;
    ping.count = COUNT_DEFAULT;
    if (!parse(argc, argv, &host) || !client_host(host, &ping.host)) {
        return SHELL_FAILED;
    }
    ping.netif = client_route(&ping.host, &status);
    if (ping.netif == NULL) {
        return status;
    }
    if (ping.sweep) {
        ping.size = 0;
        ping.count = SIZE_MAX_UNFRAGMENTED + 1;
    }
    ping.pcb = raw_new(IP_PROTO_ICMP);
    if (ping.pcb == NULL) {
        kprintf("ping: out of memory\n");
        return SHELL_FAILED;
    }
    raw_recv(ping.pcb, on_packet, NULL);
    raw_bind(ping.pcb, IP_ADDR_ANY);
    ping.next_us = clock_us();
    ping.running = true;
    return SHELL_RUNNING;
}

static void abort_ping(void)
{
    finish(true);
}

APP_WHILE(ping, NULL, ping.running, turn);
SHELL_COMMAND(ping, "[-s N] [-n N] [-f] [--sweep] HOST", "measure round trips", start_ping,
              abort_ping);
