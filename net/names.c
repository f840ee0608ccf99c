/*
 * Which name the box has: the policy; the protocols are in names_mdns.c and names_netbios.c.
 *
 * Both ask on every card as soon as it has an address, and again when that changes.  Whoever
 * objects to either has the box go on to the next name on all cards.  Two boxes switched on
 * together ask NetBIOS in vain, since neither answers yet; mDNS decides that (RFC 6762 8.2).
 */
#include "net/names.h"

#include "kernel/console.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "net/apps/app.h"
#include "net/names_parts.h"
#include "net/nicif.h"

static char name[NAME_BYTES];
static unsigned number; /* of the variant in `name` */

static struct card {
    uint32_t address; /* the one asked for; 0: none */
    bool mdns_free, netbios_free;
} cards[NIC_MAX];

static struct {
    bool pending;
    ip_addr_t who;
} conflict;

/* ---- the name ---- */

void name_variant(char to[NAME_BYTES], const char *wanted, unsigned variant)
{
    char suffix[NAME_BYTES] = "";
    size_t n;

    if (variant > 1) {
        format(suffix, sizeof(suffix), "-%u", variant);
    }
    n = NAME_BYTES - 1 - strlen(suffix);
    format(to, NAME_BYTES, "%.*s%s", (int)n, wanted, suffix);
}

const char *names_current(void)
{
    return name;
}

bool names_ours(unsigned card)
{
    const struct card *c = &cards[card];

    return name[0] != '\0' && c->address != 0 && c->mdns_free && c->netbios_free;
}

static void ask_again(unsigned card)
{
    cards[card].mdns_free = cards[card].netbios_free = false;
    netbios_ask(nicif_netif(&nics[card]));
}

static void take_name(unsigned variant)
{
    number = variant;
    name_variant(name, options.name, variant);
    netbios_rename(name);
    for (unsigned i = 0; i < nic_count; i++) {
        mdns_rename(nicif_netif(&nics[i]), name);
        if (cards[i].address != 0) {
            mdns_join(nicif_netif(&nics[i]), name);
            ask_again(i);
        }
    }
}

/* ---- conflicts ---- */

void names_conflict(const ip_addr_t *who)
{
    conflict.pending = true;
    ip_addr_copy(conflict.who, *who);
}

static void give_up(void)
{
    name[0] = '\0';
    console_fresh_line();
    kprintf_colour(COLOUR_WARN,
                   "all names from %s to its variant %u are taken: the box has none; "
                   "set name= chooses another\n",
                   options.name, NAMES_TRIES);
}

static void resolve(void)
{
    char taken[NAME_BYTES];

    conflict.pending = false;
    if (name[0] == '\0') {
        return;
    }
    if (number == NAMES_TRIES) {
        give_up();
        return;
    }
    memcpy(taken, name, sizeof(taken));
    take_name(number + 1);
    console_fresh_line();
    kprintf_colour(COLOUR_WARN, "the name %s is taken by %I: this box is %s\n", taken,
                   ip_2_ip4(&conflict.who)->addr, name);
}

void names_mdns_free(const struct netif *netif)
{
    cards[nicif_nic(netif)->index].mdns_free = true;
}

void names_netbios_free(const struct netif *netif)
{
    cards[nicif_nic(netif)->index].netbios_free = true;
}

bool names_own_address(const ip_addr_t *address)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (ip4_addr_eq(netif_ip4_addr(nicif_netif(&nics[i])), ip_2_ip4(address))) {
            return true;
        }
    }
    return false;
}

/* ---- following ---- */

/* lwIP's mdns begins again by itself when the address changes. */
static void follow_address(unsigned card)
{
    struct netif *netif = nicif_netif(&nics[card]);
    uint32_t address = netif_ip4_addr(netif)->addr;

    if (address == cards[card].address) {
        return;
    }
    cards[card].address = address;
    if (address != 0 && name[0] != '\0') {
        mdns_join(netif, name);
        ask_again(card);
    }
}

static void tick(void)
{
    if (conflict.pending) {
        resolve();
    }
    for (unsigned i = 0; i < nic_count; i++) {
        follow_address(i);
    }
    netbios_tick();
}

static void name_option_changed(void)
{
    conflict.pending = false;
    take_name(1);
}

static void start(void)
{
    mdns_start();
    netbios_start();
    take_name(1);
    options_on_change("name", name_option_changed);
}

APP_TICKING(names, start, tick);
