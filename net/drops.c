/*
 * Packets that the stack threw away: corrupt, truncated, for nobody, or no memory for them.
 */
#include "net/drops.h"

#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"
#include "lwip/stats.h"
#include "net/frames.h"
#include "net/tcp_watch.h"

/* In the order of the layers. */
static struct {
    const char *name;
    struct stats_proto *counts;
} const layers[] = {
    {"eth", &lwip_stats.link},        {"arp", &lwip_stats.etharp}, {"ip", &lwip_stats.ip},
    {"ip_frag", &lwip_stats.ip_frag}, {"icmp", &lwip_stats.icmp},  {"udp", &lwip_stats.udp},
    {"tcp", &lwip_stats.tcp},
};
enum { LAYERS = sizeof(layers) / sizeof(layers[0]), KEY_BYTES = 24 };

static void key(const char *layer, const char *what, uint32_t value)
{
    char name[KEY_BYTES];

    format(name, sizeof(name), "%s_%s", layer, what);
    record_int(name, value);
}

static void keys(void)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct stats_proto *c = layers[i].counts;

        key(layers[i].name, "drop", c->drop);
        key(layers[i].name, "chkerr", c->chkerr);
        key(layers[i].name, "lenerr", c->lenerr);
        key(layers[i].name, "memerr", c->memerr);
    }
    record_int("half_open_drop", tcp_watch_half_open_dropped());
    record_int("beyond_window", tcp_watch_beyond_window());
    record_int("pool_relief", frames_reliefs());
}

static void lines(void)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct stats_proto *c = layers[i].counts;

        if ((c->drop | c->chkerr | c->lenerr | c->memerr) != 0) {
            kprintf("%s: %u dropped; wrong checksum %u, wrong length %u, no memory %u\n",
                    layers[i].name, c->drop, c->chkerr, c->lenerr, c->memerr);
        }
    }
}

static void reset(void)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        memset(layers[i].counts, 0, sizeof(*layers[i].counts));
    }
}

void drops_init(void)
{
    static const struct nic_more_counters more = {.keys = keys, .lines = lines, .reset = reset};

    nic_add_counters(&more);
}
