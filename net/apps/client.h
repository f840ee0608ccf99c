/*
 * What every client command needs: its arguments, the card and the neighbour that lead to a host.
 */
#ifndef NET_APPS_CLIENT_H
#define NET_APPS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/time.h"
#include "lwip/ip_addr.h"
#include "lwip/netif.h"

/* What the words of a command may be, beside one host. */
struct client_syntax {
    /* A word that stands alone; false if it is not one. */
    bool (*take_switch)(void *args, const char *word);

    /* A word and the number behind it; false, having said why, if that is not right. */
    bool (*take_number)(void *args, const char *word, const char *text);

    int (*usage)(void);
};

/* Go through the words of a command.  `args` is for the callbacks; *host stays null if none was
 * named.  False, having said why or shown the usage, if the words are not right. */
bool client_parse(const struct client_syntax *syntax, int argc, char *argv[], void *args,
                  const char **host);

/*
 * A number in [least, most] from text, decimal, with an optional K or M (1024, 1048576).  False,
 * with one clear line naming `what`, if it is not one.
 */
bool client_number(const char *what, const char *text, uint32_t least, uint32_t most,
                   uint32_t *value);

/*
 * A rate in bits a second, up to `most`: k and m mean 1000 and 1000000, K and M 1024 and 1048576,
 * as iperf2 has it.  False, with one clear line naming `what`, if it is not one.
 */
bool client_rate(const char *what, const char *text, uint32_t most, uint32_t *bit_s);

/* A dotted IPv4 unicast address; false with one clear line. */
bool client_host(const char *text, ip_addr_t *host);

/*
 * The card that leads to `host`, or null with one clear line (no card, no address yet, not on our
 * networks and no gateway).  *status is SHELL_NO_CARD or SHELL_FAILED then.
 */
struct netif *client_route(const ip_addr_t *host, int *status);

/* Making sure that the neighbour (host or gateway) answers ARP before datagrams are sent at it. */
struct client_arp {
    struct netif *netif;
    ip4_addr_t neighbour;
    struct deadline give_up, again;
};

enum client_arp_state { ARP_WAITING, ARP_KNOWN, ARP_SILENT };

void client_arp_start(struct client_arp *arp, struct netif *netif, const ip_addr_t *host);
enum client_arp_state client_arp_turn(struct client_arp *arp);

#endif
