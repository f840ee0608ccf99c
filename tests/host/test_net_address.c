/*
 * How a card comes by its address: static, DHCP, link-local, and what `ready` and `fault` say.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "net/net.h"

enum {
    BOOTP_SERVER = 67,
    BOOTP_CLIENT = 68,
    OPTIONS_AT = 240,
    DISCOVER = 1,
    OFFER = 2,
    REQUEST = 3,
    ACK = 5,
    OPTION_MASK = 1,
    OPTION_ROUTER = 3,
    OPTION_NAME = 12,
    OPTION_LEASE = 51,
    OPTION_TYPE = 53,
    OPTION_SERVER = 54,
    OPTION_END = 255,
};

/* ---- a DHCP server (RFC 2131) ---- */

static struct {
    bool silent;
    unsigned ignore; /* so many requests first */
    unsigned asked;
    uint32_t lease_s, gives;
    char name[32];
} server;

static const uint8_t *option(const struct packet *p, unsigned code)
{
    const uint8_t *at = p->data + UDP_HEADER + OPTIONS_AT;

    while (at < p->data + p->length && *at != OPTION_END) {
        if (*at == code) {
            return at + 1;
        }
        at += *at == 0 ? 1 : 2 + at[1];
    }
    return NULL;
}

static uint8_t *add(uint8_t *at, unsigned code, uint32_t value, unsigned n)
{
    at[0] = (uint8_t)code;
    at[1] = (uint8_t)n;
    if (n == 1) {
        at[2] = (uint8_t)value;
    } else {
        put32(at + 2, value);
    }
    return at + 2 + n;
}

static void answer(const struct packet *p, unsigned type)
{
    static uint8_t reply[300];
    uint8_t *at = reply + OPTIONS_AT;

    memset(reply, 0, sizeof(reply));
    memcpy(reply, p->data + UDP_HEADER, OPTIONS_AT);
    reply[0] = 2;
    put32(reply + 16, server.gives);
    at = add(at, OPTION_TYPE, type, 1);
    at = add(at, OPTION_SERVER, PEER_IP, 4);
    at = add(at, OPTION_LEASE, server.lease_s, 4);
    at = add(at, OPTION_MASK, RIG_IP4(255, 255, 255, 0), 4);
    at = add(at, OPTION_ROUTER, PEER_IP, 4);
    *at = OPTION_END;
    peer_send_udp(&peer, RIG_IP4(255, 255, 255, 255), BOOTP_SERVER, BOOTP_CLIENT, reply,
                  sizeof(reply));
}

static void serve(const struct packet *p)
{
    const uint8_t *type, *name;

    if (p->protocol != PROTO_UDP || get16(p->data + 2) != BOOTP_SERVER) {
        return;
    }
    server.asked++;
    if (server.silent || server.asked <= server.ignore) {
        return;
    }
    type = option(p, OPTION_TYPE);
    name = option(p, OPTION_NAME);
    ck_assert_ptr_nonnull(type);
    if (name != NULL) {
        memcpy(server.name, name + 1, name[0]);
        server.name[name[0]] = '\0';
    }
    if (type[1] == DISCOVER) {
        answer(p, OFFER);
    } else if (type[1] == REQUEST) {
        answer(p, ACK);
    }
}

static void up(const char *words)
{
    rig_up_with(words, 1, RIG_MEMORY_KB);
    memset(&server, 0, sizeof(server));
    server.lease_s = 86400;
    server.gives = RIG_IP4(10, 0, 0, 77);
    peer_set_packet_hook(serve);
}

static bool ready(void *arg)
{
    return rig_record_count("ready") > *(unsigned *)arg;
}

/* The next `ready` record comes within `ms`. */
static const char *next_ready(unsigned ms)
{
    unsigned before = rig_record_count("ready");

    ck_assert(rig_until(ready, &before, ms));
    return rig_record("ready", before);
}

/* ---- static ---- */

START_TEST(static_address_is_ready_at_once)
{
    const char *r;

    up("ip=10.0.0.1/24,10.0.0.254");
    ck_assert_uint_eq(rig_record_count("ready"), 1);
    r = rig_record("ready", 0);
    ck_assert_str_eq(rig_value(r, "ip"), "\"10.0.0.1\"");
    ck_assert_str_eq(rig_value(r, "how"), "\"static\"");
    ck_assert_int_eq(rig_number(r, "nic"), 0);
    ck_assert(net_all_ready());
    rig_run_ms(10000);
    ck_assert_uint_eq(rig_record_count("ready"), 1);
    ck_assert_uint_eq(rig_record_count("fault"), 0);
    ck_assert_uint_eq(server.asked, 0);
    rig_down();
}
END_TEST

static bool defended;

/* Somebody has our address: he answers the probe for it (RFC 5227, 2.1.1). */
static bool defend(const struct heard *f)
{
    const uint8_t *arp = f->data + ETH_HEADER;

    if (get16(f->data + 12) == ETH_TYPE_ARP && get32(arp + 24) == BOX_IP &&
        get32(arp + 14) != BOX_IP) {
        defended = true;
        peer_send_arp(&peer, ARP_TELLS, BOX_IP, 0);
    }
    return true;
}

START_TEST(address_in_use_is_told)
{
    up("ip=10.0.0.1/24");
    peer_set_hook(defend);
    rig_run_ms(10000);
    ck_assert(defended);
    ck_assert_uint_eq(rig_record_count("fault"), 1);
    ck_assert_str_eq(rig_value(rig_record("fault", 0), "what"), "\"addr_conflict\"");
    ck_assert_uint_eq(rig_said_times("10.0.0.1 is in use by another machine\n"), 1);
    rig_down();
}
END_TEST

START_TEST(set_ip_acts_at_once)
{
    up("ip=10.0.0.1/24");
    ck_assert_int_eq(rig_command("set ip=10.0.0.9/16", 100), 0);
    ck_assert_uint_eq(rig_record_count("ready"), 2);
    ck_assert_str_eq(rig_value(rig_record("ready", 1), "ip"), "\"10.0.0.9\"");
    ck_assert_int_eq(rig_command("set ip=10.0.0.9/24", 100), 0); /* the same again: ready again */
    ck_assert_uint_eq(rig_record_count("ready"), 3);
    ck_assert_int_eq(rig_command("ip", 100), 0);
    ck_assert(rig_said("card 0: 10.0.0.9 netmask 255.255.255.0 gateway 0.0.0.0 (static)"));
    rig_down();
}
END_TEST

/* Connections die with the address they were made on. */
START_TEST(set_ip_during_a_test)
{
    static struct peer_tcp c;

    up("ip=10.0.0.1/24");
    ck_assert(peer_tcp_connect(&c, &peer, 40000, BOX_IP, 5001));
    ck_assert(peer_tcp_send(&c, 5000));
    rig_run_ms(10);
    ck_assert_int_eq(rig_command("set ip=10.0.0.9/24", 100), 0);
    ck_assert_str_eq(rig_value(rig_record("result", 0), "end"), "\"reset\"");
    rig_down();
}
END_TEST

/* ---- DHCP ---- */

START_TEST(lease)
{
    const char *r;

    up("ip=dhcp name=oldbox");
    ck_assert(!net_all_ready());
    r = next_ready(3000);
    ck_assert_str_eq(rig_value(r, "ip"), "\"10.0.0.77\"");
    ck_assert_str_eq(rig_value(r, "how"), "\"dhcp\"");
    ck_assert_str_eq(server.name, "oldbox");
    ck_assert(net_all_ready());
    ck_assert_uint_eq(rig_record_count("fault"), 0);
    ck_assert_int_eq(rig_command("ip", 100), 0);
    ck_assert(
        rig_said("10.0.0.77 netmask 255.255.255.0 gateway 10.0.0.2 (dhcp)\n        name oldbox"));
}
END_TEST

START_TEST(slow_server)
{
    const char *r;

    up("ip=dhcp");
    server.ignore = 1; /* of those after the first, sent while the box came up */
    r = next_ready(9000);
    ck_assert_str_eq(rig_value(r, "how"), "\"dhcp\"");
    ck_assert(rig_said(".."));
    ck_assert_uint_eq(rig_record_count("fault"), 0);
}
END_TEST

/* Ready by link-local between 10 and 20 s, whatever the random waits of RFC 3927. */
START_TEST(no_server)
{
    const char *r;
    uint32_t a;

    rig_start_us = 7919u * (unsigned)_i; /* other random numbers */
    up("ip=dhcp");
    server.silent = true;
    r = next_ready(20000 - 1);
    ck_assert_str_eq(rig_value(r, "how"), "\"linklocal\"");
    ck_assert_int_ge(rig_number(r, "t_us"), 10000000);
    ck_assert_int_le(rig_number(r, "t_us"), 20000000);
    ck_assert_int_eq(sscanf(rig_value(r, "ip"), "\"169.254.%u.", &a), 1);
    ck_assert_uint_eq(rig_record_count("fault"), 1);
    ck_assert_str_eq(rig_value(rig_record("fault", 0), "what"), "\"dhcp_timeout\"");
    ck_assert_int_ge((int)rig_said_times("."), 8); /* a dot a second */
    server.silent = false;                         /* it keeps asking */
    r = next_ready(70000);
    ck_assert_str_eq(rig_value(r, "how"), "\"dhcp\"");
    ck_assert_uint_eq(rig_record_count("fault"), 1);
}
END_TEST

START_TEST(lease_runs_out)
{
    const char *r;

    up("ip=dhcp");
    server.lease_s = 120;
    ck_assert_str_eq(rig_value(next_ready(3000), "how"), "\"dhcp\"");
    server.silent = true;
    rig_run_ms(100000);
    ck_assert_uint_eq(rig_record_count("ready"), 1);
    r = next_ready(120000);
    ck_assert_str_eq(rig_value(r, "how"), "\"linklocal\"");
    server.silent = false;
    ck_assert_str_eq(rig_value(next_ready(120000), "how"), "\"dhcp\"");
}
END_TEST

START_TEST(lease_is_renewed_in_time)
{
    unsigned asked;

    up("ip=dhcp");
    server.lease_s = 120;
    next_ready(3000);
    asked = server.asked;
    rig_run_ms(400000);
    ck_assert_uint_eq(rig_record_count("ready"), 1);
    ck_assert_uint_gt(server.asked, asked + 2);
    ck_assert_uint_eq(rig_record_count("fault"), 0);
}
END_TEST

START_TEST(from_dhcp_to_static_and_back)
{
    up("ip=dhcp");
    next_ready(3000);
    ck_assert_int_eq(rig_command("set ip=10.0.0.5/24", 100), 0);
    ck_assert_str_eq(rig_value(rig_record("ready", 1), "how"), "\"static\"");
    rig_run_ms(5000);
    rig_type("set ip=dhcp\n");
    ck_assert_str_eq(rig_value(next_ready(5000), "how"), "\"dhcp\"");
}
END_TEST

START_TEST(each_card_its_own_way)
{
    rig_up_with("ip=10.0.0.1/24 ip=dhcp", 2, RIG_MEMORY_KB);
    ck_assert_uint_eq(rig_record_count("ready"), 1);
    ck_assert(!net_all_ready());
    rig_run_ms(20000);
    ck_assert_uint_eq(rig_record_count("ready"), 2);
    ck_assert_int_eq(rig_number(rig_record("ready", 1), "nic"), 1);
    ck_assert_str_eq(rig_value(rig_record("ready", 1), "how"), "\"linklocal\"");
    ck_assert(net_all_ready());
}
END_TEST

/* `set ip=` is for the first card: nothing happens to the other's address and connections. */
START_TEST(set_ip_leaves_the_other_card_alone)
{
    rig_up_with("ip=10.0.0.1/24 ip=10.0.1.1/24", 2, RIG_MEMORY_KB);
    ck_assert_uint_eq(rig_record_count("ready"), 2);
    ck_assert_int_eq(rig_command("set ip=10.0.0.5/24", 100), 0);
    rig_run_ms(2000);
    ck_assert_uint_eq(rig_record_count("ready"), 3);
    ck_assert_int_eq(rig_number(rig_record("ready", 2), "nic"), 0);
    ck_assert_int_eq(rig_command("ip", 100), 0);
    ck_assert(rig_said("card 1: 10.0.1.1 "));
}
END_TEST

START_TEST(no_card_is_ready_at_once)
{
    rig_up_with("ip=dhcp", 0, RIG_MEMORY_KB);
    ck_assert(net_all_ready());
    ck_assert_int_eq(rig_command("ip", 100), 2);
    ck_assert_int_eq(rig_command("ttcp -t 10.0.0.2", 100), 2);
    ck_assert_int_eq(rig_command("ttcp -r", 100), 2);
    ck_assert_int_eq(rig_command("ping 10.0.0.2", 100), 2);
    rig_run_ms(2000);
    rig_down();
}
END_TEST

Suite *net_address_suite(void)
{
    Suite *suite = suite_create("net_address");
    TCase *fixed = own_case(suite, "static");
    TCase *dhcp = own_case(suite, "dhcp");

    tcase_add_test(fixed, static_address_is_ready_at_once);
    tcase_add_test(fixed, address_in_use_is_told);
    tcase_add_test(fixed, set_ip_acts_at_once);
    tcase_add_test(fixed, set_ip_during_a_test);
    tcase_add_test(dhcp, lease);
    tcase_add_test(dhcp, slow_server);
    tcase_add_loop_test(dhcp, no_server, 0, 10);
    tcase_add_test(dhcp, lease_runs_out);
    tcase_add_test(dhcp, lease_is_renewed_in_time);
    tcase_add_test(dhcp, from_dhcp_to_static_and_back);
    tcase_add_test(dhcp, each_card_its_own_way);
    tcase_add_test(fixed, set_ip_leaves_the_other_card_alone);
    tcase_add_test(dhcp, no_card_is_ready_at_once);
    return suite;
}
