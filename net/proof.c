/*
 * ARP as a proof.  While somebody is being asked, the netif's input function is ours, to see the
 * answers themselves: lwIP's table would also hold what others said before.
 */
#include "net/proof.h"

#include "kernel/string.h"
#include "kernel/time.h"
#include "lwip/etharp.h"
#include "lwip/ip.h"
#include "lwip/prot/ethernet.h"
#include "net/apps/app.h"
#include "net/net.h"

enum {
    PROOFS = 4,
    ANSWER_US = 1000000,
    AGAIN_US = 300000,
};

enum proof_state { PROOF_FREE, PROOF_ASKING, PROOF_RIGHT, PROOF_WRONG };

static struct proof {
    enum proof_state state;
    struct netif *netif;
    ip4_addr_t ip;
    struct eth_addr mac;
    struct deadline give_up, again;
    proof_done done;
    void *arg;
} proofs[PROOFS];

static unsigned asking; /* proofs that are not free */
static netif_input_fn original_input;

/* ---- the answer ---- */

static void judge(struct proof *p, const struct netif *netif, const struct etharp_hdr *arp)
{
    ip4_addr_t sender;

    memcpy(&sender, &arp->sipaddr, sizeof(sender));
    if (p->state == PROOF_ASKING && p->netif == netif && ip4_addr_eq(&sender, &p->ip)) {
        bool same = memcmp(&arp->shwaddr, &p->mac, sizeof(p->mac)) == 0;

        p->state = same ? PROOF_RIGHT : PROOF_WRONG;
    }
}

static void look(const struct pbuf *p, const struct netif *netif)
{
    struct eth_hdr eth;
    struct etharp_hdr arp;
    ip4_addr_t target;

    if (p->len < sizeof(eth) + sizeof(arp)) {
        return;
    }
    memcpy(&eth, p->payload, sizeof(eth));
    memcpy(&arp, (const uint8_t *)p->payload + sizeof(eth), sizeof(arp));
    memcpy(&target, &arp.dipaddr, sizeof(target));
    if (eth.type != PP_HTONS(ETHTYPE_ARP) || arp.opcode != PP_HTONS(ARP_REPLY) ||
        !ip4_addr_eq(&target, netif_ip4_addr(netif))) {
        return;
    }
    for (unsigned i = 0; i < PROOFS; i++) {
        judge(&proofs[i], netif, &arp);
    }
}

static err_t watching_input(struct pbuf *p, struct netif *netif)
{
    look(p, netif);
    return original_input(p, netif);
}

static void watch(struct netif *netif)
{
    if (netif->input != watching_input) {
        original_input = netif->input; /* the same for all cards */
        netif->input = watching_input;
    }
}

static void unwatch_all(void)
{
    struct netif *netif;

    NETIF_FOREACH (netif) {
        if (netif->input == watching_input) {
            netif->input = original_input;
        }
    }
}

/* ---- the question ---- */

static struct proof *free_proof(void)
{
    for (unsigned i = 0; i < PROOFS; i++) {
        if (proofs[i].state == PROOF_FREE) {
            return &proofs[i];
        }
    }
    return NULL;
}

/* The frame's own source address stands in front of its IP header, unless it was put together from
 * fragments. */
static bool source_mac(struct eth_addr *mac)
{
    const struct ip_hdr *ip = ip4_current_header();
    const struct eth_hdr *eth = (const void *)((const uint8_t *)ip - sizeof(*eth));

    if ((IPH_OFFSET(ip) & PP_HTONS(IP_MF | IP_OFFMASK)) != 0) {
        return false;
    }
    memcpy(mac, &eth->src, sizeof(*mac));
    return true;
}

static bool on_link(const ip4_addr_t *ip, struct netif *netif)
{
    return ip4_addr_net_eq(ip, netif_ip4_addr(netif), netif_ip4_netmask(netif)) &&
           !ip4_addr_isbroadcast(ip, netif) && !ip4_addr_eq(ip, netif_ip4_addr(netif));
}

bool proof_ask(const ip_addr_t *from, proof_done done, void *arg)
{
    struct netif *netif = ip_current_input_netif();
    struct proof *p = free_proof();

    if (p == NULL || !on_link(ip_2_ip4(from), netif) || !source_mac(&p->mac)) {
        return false;
    }
    p->state = PROOF_ASKING;
    p->netif = netif;
    ip4_addr_copy(p->ip, *ip_2_ip4(from));
    p->done = done;
    p->arg = arg;
    p->give_up = deadline_us(ANSWER_US);
    p->again = deadline_us(AGAIN_US);
    asking++;
    net_wake();
    watch(netif);
    etharp_request(netif, &p->ip);
    return true;
}

static void end(struct proof *p, bool proven)
{
    p->state = PROOF_FREE;
    if (--asking == 0) {
        unwatch_all();
    }
    p->done(p->arg, proven);
}

static bool turn(void)
{
    for (unsigned i = 0; i < PROOFS && asking != 0; i++) {
        struct proof *p = &proofs[i];

        if (p->state == PROOF_RIGHT || p->state == PROOF_WRONG) {
            end(p, p->state == PROOF_RIGHT);
        } else if (p->state == PROOF_ASKING && expired(&p->give_up)) {
            end(p, false);
        } else if (p->state == PROOF_ASKING && expired(&p->again)) {
            p->again = deadline_us(AGAIN_US);
            etharp_request(p->netif, &p->ip);
        }
    }
    return false;
}

APP_WHILE(proof, NULL, asking, turn);
