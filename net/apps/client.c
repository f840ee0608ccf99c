/*
 * Helpers of the client commands.
 */
#include "net/apps/client.h"

#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/shell.h"
#include "lwip/etharp.h"
#include "lwip/ip.h"

enum { ARP_TIMEOUT_US = 3000000, ARP_AGAIN_US = 500000 };

/* A number and what stands behind it. */
static const char *take_digits(const char *text, uint64_t *n)
{
    *n = 0;
    for (; *text >= '0' && *text <= '9' && *n <= UINT32_MAX; text++) {
        *n = *n * 10 + (unsigned)(*text - '0');
    }
    return text;
}

bool client_parse(const struct client_syntax *syntax, int argc, char *argv[], void *args,
                  const char **host)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (*host != NULL) {
                syntax->usage();
                return false;
            }
            *host = argv[i];
        } else if (!syntax->take_switch(args, argv[i])) {
            if (i + 1 == argc) {
                syntax->usage();
                return false;
            }
            if (!syntax->take_number(args, argv[i], argv[i + 1])) {
                return false;
            }
            i++;
        }
    }
    return true;
}

bool client_number(const char *what, const char *text, uint32_t least, uint32_t most,
                   uint32_t *value)
{
    uint64_t n;
    const char *s = take_digits(text, &n);

    if (s != text && (*s == 'k' || *s == 'K')) {
        n *= 1024;
        s++;
    } else if (s != text && (*s == 'm' || *s == 'M')) {
        n *= 1024 * 1024;
        s++;
    }
    if (s == text || *s != '\0' || n < least || n > most) {
        kprintf("%s: \"%s\" is not a number from %u to %u\n", what, text, least, most);
        return false;
    }
    *value = (uint32_t)n;
    return true;
}

bool client_rate(const char *what, const char *text, uint32_t most, uint32_t *bit_s)
{
    static const struct {
        char letter;
        uint32_t times;
    } units[] = {{'k', 1000}, {'m', 1000000}, {'K', 1024}, {'M', 1048576}};
    uint64_t n;
    const char *s = take_digits(text, &n);

    for (unsigned i = 0; s != text && i < sizeof(units) / sizeof(units[0]); i++) {
        if (*s == units[i].letter) {
            n *= units[i].times;
            s++;
            break;
        }
    }
    if (s == text || *s != '\0' || n == 0 || n > most) {
        kprintf("%s: \"%s\" is not a rate from 1 to %u bits a second\n", what, text, most);
        return false;
    }
    *bit_s = (uint32_t)n;
    return true;
}

/* lwIP's parser takes "1", "0x7f.1" and the octal "010.0.0.1"; people mean four decimal numbers. */
static bool is_dotted(const char *text)
{
    unsigned dots = 0;

    for (const char *at = text; *at != '\0'; at++) {
        bool first = at == text || at[-1] == '.';

        if (*at == '.') {
            dots++;
        } else if (*at < '0' || *at > '9') {
            return false;
        } else if (first && *at == '0' && at[1] >= '0' && at[1] <= '9') {
            return false;
        }
    }
    return dots == 3;
}

bool client_host(const char *text, ip_addr_t *host)
{
    if (!is_dotted(text) || !ipaddr_aton(text, host)) {
        kprintf("\"%s\" is not an IPv4 address (a.b.c.d)\n", text);
        return false;
    }
    if (ip_addr_isany_val(*host) || ip_addr_ismulticast(host) || ip_addr_isloopback(host) ||
        ip4_addr_get_u32(ip_2_ip4(host)) == IPADDR_BROADCAST) {
        kprintf("%s is not the address of one host\n", text);
        return false;
    }
    return true;
}

struct netif *client_route(const ip_addr_t *host, int *status)
{
    struct netif *netif;

    *status = SHELL_FAILED;
    if (nic_count == 0) {
        kprintf("no network card\n");
        *status = SHELL_NO_CARD;
        return NULL;
    }
    netif = ip_route(IP_ANY_TYPE, host);
    if (netif == NULL || ip4_addr_isany_val(*netif_ip4_addr(netif))) {
        kprintf("no address yet\n");
        return NULL;
    }
    if (ip4_addr_eq(ip_2_ip4(host), netif_ip4_addr(netif))) {
        kprintf("%s is our own address\n", ipaddr_ntoa(host));
        return NULL;
    }
    if (!ip4_addr_net_eq(ip_2_ip4(host), netif_ip4_addr(netif), netif_ip4_netmask(netif)) &&
        ip4_addr_isany_val(*netif_ip4_gw(netif))) {
        kprintf("%s is not on our network, and there is no gateway\n", ipaddr_ntoa(host));
        return NULL;
    }
    if (ip4_addr_isbroadcast(ip_2_ip4(host), netif)) {
        kprintf("%s is not the address of one host\n", ipaddr_ntoa(host));
        return NULL;
    }
    return netif;
}

void client_arp_start(struct client_arp *arp, struct netif *netif, const ip_addr_t *host)
{
    bool on_link = ip4_addr_net_eq(ip_2_ip4(host), netif_ip4_addr(netif), netif_ip4_netmask(netif));

    arp->netif = netif;
    ip4_addr_copy(arp->neighbour, on_link ? *ip_2_ip4(host) : *netif_ip4_gw(netif));
    arp->give_up = deadline_us(ARP_TIMEOUT_US);
    arp->again = deadline_us(0);
}

enum client_arp_state client_arp_turn(struct client_arp *arp)
{
    struct eth_addr *mac;
    const ip4_addr_t *ip;

    if (etharp_find_addr(arp->netif, &arp->neighbour, &mac, &ip) >= 0) {
        return ARP_KNOWN;
    }
    if (expired(&arp->give_up)) {
        return ARP_SILENT;
    }
    if (expired(&arp->again)) {
        arp->again = deadline_us(ARP_AGAIN_US);
        etharp_request(arp->netif, &arp->neighbour);
    }
    return ARP_WAITING;
}
