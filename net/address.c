/*
 * Addresses.  lwIP does the protocols (RFC 2131, RFC 3927, RFC 5227); this file is the policy of
 * DESIGN section 3.
 */
#include "net/address.h"

#include "kernel/console.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/shell.h"
#include "lwip/acd.h"
#include "lwip/autoip.h"
#include "lwip/dhcp.h"
#include "lwip/etharp.h"
#include "lwip/netif.h"
#include "net/clock.h"
#include "net/names.h"
#include "net/nicif.h"

enum { DOT_US = 1000000 };

struct holder {
    bool is_static;
    bool waiting;       /* for DHCP: dots are being printed                        */
    bool told_timeout;  /* the fall-back to link-local has been reported           */
    uint32_t announced; /* address of the last `ready`, 0: none yet                */
    struct acd acd;     /* conflict check of a static address                      */
    bool acd_added;
    uint64_t next_dot_us;
};

static struct holder holders[NIC_MAX];

static struct holder *holder_of(const struct netif *netif)
{
    return &holders[nicif_nic(netif)->index];
}

const char *address_how(struct netif *netif)
{
    if (ip4_addr_isany_val(*netif_ip4_addr(netif))) {
        return "none";
    }
    if (holder_of(netif)->is_static) {
        return "static";
    }
    return dhcp_supplied_address(netif) ? "dhcp" : "linklocal";
}

/* ---- what happens to an address ---- */

static void announce(struct netif *netif)
{
    static bool hinted;
    struct holder *h = holder_of(netif);
    uint32_t address = ip4_addr_get_u32(netif_ip4_addr(netif));
    const char *how = address_how(netif);
    unsigned nic = nicif_nic(netif)->index;
    char text[IP4ADDR_STRLEN_MAX];

    h->announced = address;
    h->waiting = false;
    console_fresh_line();
    kprintf_colour(COLOUR_GOOD, "card %u ready: %I (%s), gateway %I\n", nic, address, how,
                   ip4_addr_get_u32(netif_ip4_gw(netif)));
    if (!hinted) { /* a stranger has only a prompt before him */
        kprintf("Now, on another machine: iperf3 -c %I. Here: help\n", address);
        hinted = true;
    }
    record_begin("ready");
    record_int("nic", nic);
    record_str("ip", ip4addr_ntoa_r(netif_ip4_addr(netif), text, sizeof(text)));
    record_str("how", how);
    record_end();
}

static void report_dhcp_timeout(const struct netif *netif)
{
    holder_of(netif)->told_timeout = true;
    console_fresh_line();
    kprintf_colour(COLOUR_WARN,
                   "card %u: no DHCP server answers: using a link-local address, "
                   "still asking\n",
                   nicif_nic(netif)->index);
    record_fault("dhcp_timeout", (int)nicif_nic(netif)->index);
    record_end();
}

/* lwIP calls this whenever an address of a netif or its state changes. */
static void on_status(struct netif *netif)
{
    struct holder *h = holder_of(netif);
    uint32_t address = ip4_addr_get_u32(netif_ip4_addr(netif));

    if (address == 0 || !netif_is_up(netif)) {
        h->announced = 0;
        return;
    }
    if (address == h->announced) {
        return;
    }
    if (!h->is_static && !dhcp_supplied_address(netif) && !h->told_timeout) {
        report_dhcp_timeout(netif);
    }
    announce(netif);
}

static void on_conflict(struct netif *netif, acd_callback_enum_t state)
{
    if (state != ACD_DECLINE) { /* it is free; or lwIP asks for another, which we do not have */
        return;
    }
    console_fresh_line();
    kprintf_colour(COLOUR_BAD, "card %u: address %I is in use by another machine\n",
                   nicif_nic(netif)->index, ip4_addr_get_u32(netif_ip4_addr(netif)));
    record_fault("addr_conflict", (int)nicif_nic(netif)->index);
    record_end();
}

/* ---- applying ip= ---- */

static void stop_old(struct netif *netif)
{
    struct holder *h = holder_of(netif);

    if (h->acd_added) {
        acd_remove(netif, &h->acd);
        h->acd_added = false;
    }
    dhcp_release_and_stop(netif);
    h->is_static = false;
    h->waiting = false;
    h->told_timeout = false;
    h->announced = 0;
}

static void use_static(struct netif *netif, const struct option_ip *want)
{
    struct holder *h = holder_of(netif);
    ip4_addr_t address, mask, gateway;

    ip4_addr_set_u32(&address, want->address);
    ip4_addr_set_u32(&mask, want->netmask);
    ip4_addr_set_u32(&gateway, want->gateway);
    h->is_static = true;
    netif_set_addr(netif, &address, &mask, &gateway);
    if (h->announced == 0) { /* the same address again: lwIP sees no change */
        announce(netif);
    }
    if (acd_add(netif, &h->acd, on_conflict) == ERR_OK) {
        h->acd_added = true;
        acd_start(netif, &h->acd, address); /* works meanwhile; the check comes after */
    }
}

static void use_dhcp(struct netif *netif)
{
    struct holder *h = holder_of(netif);

    netif_set_addr(netif, IP4_ADDR_ANY4, IP4_ADDR_ANY4, IP4_ADDR_ANY4);
    if (dhcp_start(netif) != ERR_OK) {
        kprintf_colour(COLOUR_BAD, "card %u: DHCP cannot start: out of memory\n",
                       nicif_nic(netif)->index);
        record_fault("low_memory", (int)nicif_nic(netif)->index);
        record_end();
        return;
    }
    h->waiting = true;
    h->next_dot_us = clock_us() + DOT_US;
    kprintf("card %u: asking for an address by DHCP ", nicif_nic(netif)->index);
}

static void apply(unsigned card)
{
    struct netif *netif = nicif_netif(&nics[card]);

    stop_old(netif);
    if (card < options.ips && !options.ip[card].dhcp) {
        use_static(netif, &options.ip[card]);
    } else {
        use_dhcp(netif);
    }
}

/* `set ip=` is for the first card; the others keep what they have. */
static void ip_option_changed(void)
{
    if (nic_count != 0) {
        apply(0);
    }
}

static void rename_host(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        netif_set_hostname(nicif_netif(&nics[i]), options.name);
    }
}

void address_init(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        netif_set_status_callback(nicif_netif(&nics[i]), on_status);
        apply(i);
    }
    options_on_change("ip", ip_option_changed);
    options_on_change("name", rename_host);
}

void address_tick(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        struct holder *h = &holders[i];

        if (h->waiting && clock_due(&h->next_dot_us, DOT_US)) {
            kprintf(".");
        }
    }
}

bool address_all_ready(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (holders[i].announced == 0) {
            return false;
        }
    }
    return true;
}

/* ---- the `ip` command ---- */

static void print_name(unsigned card)
{
    const char *name = names_current();

    if (name[0] == '\0') {
        kprintf("        no name: all variants of %s are taken\n", options.name);
    } else {
        kprintf("        name %s%s%s\n", name, names_ours(card) ? ".local" : "",
                names_ours(card) ? "" : ", asking whether it is free");
    }
}

static int start_ip(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    if (nic_count == 0) {
        kprintf("no network card\n");
        return SHELL_NO_CARD;
    }
    for (unsigned i = 0; i < nic_count; i++) {
        struct netif *netif = nicif_netif(&nics[i]);

        kprintf("card %u: %I netmask %I gateway %I (%s)\n", i,
                ip4_addr_get_u32(netif_ip4_addr(netif)), ip4_addr_get_u32(netif_ip4_netmask(netif)),
                ip4_addr_get_u32(netif_ip4_gw(netif)), address_how(netif));
        print_name(i);
    }
    return SHELL_OK;
}

SHELL_COMMAND(ip, "", "show the addresses of every card", start_ip, NULL);
