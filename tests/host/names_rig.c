/*
 * Making and reading messages; names_rig.h says what each is.
 */
#include "tests/host/names_rig.h"

#include <ctype.h>
#include <string.h>

#include "net/names.h"

/* ---- what the box sends ---- */

struct datagram heard[HEARD], *heard_last;
unsigned heard_count, group_reports;

void heard_note(const struct packet *p)
{
    struct datagram *d = &heard[heard_count % HEARD];
    unsigned from_port, to_port;

    if (p->protocol == PROTO_IGMP && p->to == GROUP) {
        group_reports++;
    }
    if (p->protocol != PROTO_UDP) {
        return;
    }
    from_port = get16(p->data);
    to_port = get16(p->data + 2);
    if (from_port != MDNS && from_port != NETBIOS) {
        return;
    }
    *d = (struct datagram){.nic = p->nic,
                           .from_port = from_port,
                           .to_port = to_port,
                           .length = p->length - UDP_HEADER,
                           .from = p->from,
                           .to = p->to};
    ck_assert_uint_le(d->length, sizeof(d->data));
    memcpy(d->data, p->data + UDP_HEADER, d->length);
    heard_count++;
}

void heard_forget(void)
{
    heard_count = group_reports = 0;
    peer_set_packet_hook(heard_note);
}

unsigned heard_from(unsigned from_port, uint32_t to)
{
    unsigned n = 0;

    ck_assert_uint_le(heard_count, HEARD);
    heard_last = NULL;
    for (unsigned i = 0; i < heard_count; i++) {
        if (heard[i].from_port == from_port && heard[i].to == to &&
            (from_port != MDNS || get16(heard[i].data + 2) == RESPONSE)) {
            n++;
            heard_last = &heard[i];
        }
    }
    return n;
}

/* ---- mDNS messages ---- */

uint8_t message[600];
unsigned message_length;

void dns_begin(unsigned flags, unsigned questions, unsigned answers, unsigned authorities)
{
    memset(message, 0, DNS_HEADER);
    put16(message + 2, flags);
    put16(message + 4, questions);
    put16(message + 6, answers);
    put16(message + 8, authorities);
    message_length = DNS_HEADER;
}

/* "a.b" as labels. */
static void add_name(const char *name)
{
    while (*name != '\0') {
        size_t n = strcspn(name, ".");

        message[message_length++] = (uint8_t)n;
        memcpy(message + message_length, name, n);
        message_length += (unsigned)n;
        name += n + (name[n] == '.');
    }
    message[message_length++] = 0;
}

void dns_question(const char *name, unsigned type, unsigned class)
{
    add_name(name);
    put16(message + message_length, type);
    put16(message + message_length + 2, class);
    message_length += 4;
}

void dns_address(const char *name, uint32_t ip)
{
    dns_question(name, TYPE_A, CLASS_IN | FLUSH);
    put32(message + message_length, 120);
    put16(message + message_length + 4, 4);
    put32(message + message_length + 6, ip);
    message_length += 10;
}

void mdns_send(const struct station *s, uint32_t to, unsigned port)
{
    peer_send_udp(s, to, port, MDNS, message, message_length);
    rig_run_ms(200); /* answers may wait for 120 ms */
}

bool mdns_resolves_as(const char *name, const char *asked_for, uint32_t ip)
{
    rig_run_ms(1000); /* two answers by multicast are a second apart */
    heard_forget();
    dns_begin(0, 1, 0, 0);
    dns_question(asked_for, TYPE_A, CLASS_IN);
    mdns_send(&peer, GROUP, MDNS);
    if (heard_from(MDNS, GROUP) == 0) {
        return false;
    }
    dns_begin(RESPONSE, 0, 1, 0);
    dns_address(name, ip);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 1);
    ck_assert_uint_eq(heard_last->to_port, MDNS);
    ck_assert_uint_eq(heard_last->from, ip);
    ck_assert_uint_eq(heard_last->length, message_length);
    ck_assert_mem_eq(heard_last->data, message, message_length);
    return true;
}

bool mdns_resolves(const char *name, uint32_t ip)
{
    return mdns_resolves_as(name, name, ip);
}

/* ---- NetBIOS messages ---- */

static void encode(uint8_t *to, const char *name, uint8_t service)
{
    for (unsigned i = 0; i < 16; i++) {
        uint8_t c = i == 15 ? service : *name == '\0' ? ' ' : (uint8_t)toupper(*name++);

        to[2 * i] = (uint8_t)('A' + (c >> 4));
        to[2 * i + 1] = (uint8_t)('A' + (c & 15));
    }
    to[32] = 0;
}

void netbios_make(unsigned flags, const char *name, uint8_t service, unsigned type)
{
    dns_begin(flags, 1, 0, 0);
    put16(message, 0x1234);
    message[message_length++] = 32;
    encode(message + message_length, name, service);
    message_length += 33;
    put16(message + message_length, type);
    put16(message + message_length + 2, CLASS_IN);
    message_length += 4;
    ck_assert_uint_eq(message_length, QUESTION);
}

void netbios_send(const struct station *s, uint32_t to, unsigned port)
{
    peer_send_udp(s, to, port, NETBIOS, message, message_length);
    rig_run_ms(50);
}

bool netbios_resolves(const char *name, uint8_t service, uint32_t ip)
{
    heard_forget();
    netbios_make(0x0110, name, service, NB);
    netbios_send(&peer, ALL_LOCAL, NETBIOS);
    if (heard_from(NETBIOS, PEER_IP) == 0) {
        return false;
    }
    ck_assert_uint_eq(heard_from(NETBIOS, PEER_IP), 1);
    ck_assert_uint_eq(heard_last->length, ANSWER);
    ck_assert_uint_eq(get16(heard_last->data), 0x1234);
    ck_assert_uint_eq(get16(heard_last->data + 2), 0x8500);
    ck_assert_mem_eq(heard_last->data + DNS_HEADER, message + DNS_HEADER, 34);
    ck_assert_uint_eq(get32(heard_last->data + ANSWER - 4), ip);
    ck_assert_uint_eq(heard_last->from, ip);
    return true;
}

bool name_asked(void *arg)
{
    (void)arg;
    return names_ours(0);
}
