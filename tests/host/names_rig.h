/*
 * mDNS and NetBIOS messages by hand, from RFC 6762 and RFC 1002, and what the box sends of them.
 */
#ifndef TESTS_HOST_NAMES_RIG_H
#define TESTS_HOST_NAMES_RIG_H

#include "tests/host/test_net.h"

enum {
    MDNS = 5353,
    NETBIOS = 137,
    GROUP = 0xE00000FB, /* 224.0.0.251 */
    ALL_LOCAL = RIG_IP4(10, 0, 0, 255),
    LEGACY = 40001,
    DNS_HEADER = 12,
    TYPE_A = 1,
    TYPE_PTR = 12,
    TYPE_ANY = 255,
    CLASS_IN = 1,
    UNICAST = 0x8000,
    FLUSH = 0x8000,
    RESPONSE = 0x8400,
    NB = 0x20,
    NBSTAT = 0x21,
    QUESTION = 50, /* bytes of a NetBIOS question */
    ANSWER = 62,
    HEARD = 64,
    ASKED_MS = 1500, /* both protocols have asked, or gone on to the next name */
};

/* ---- what the box sends ---- */

struct datagram {
    unsigned nic, from_port, to_port, length;
    uint32_t from, to;
    uint8_t data[600];
};
extern struct datagram heard[HEARD];
extern unsigned heard_count;
extern unsigned group_reports; /* IGMP, for mDNS's group */

/* The packet hook that notes it; heard_forget() begins afresh with it. */
void heard_note(const struct packet *p);
void heard_forget(void);

/* How many of them are from this port to that address, by mDNS answers only; the last of these. */
unsigned heard_from(unsigned from_port, uint32_t to);
extern struct datagram *heard_last;

/* ---- messages ---- */

extern uint8_t message[600];
extern unsigned message_length;

void dns_begin(unsigned flags, unsigned questions, unsigned answers, unsigned authorities);
void dns_question(const char *name, unsigned type, unsigned class);
void dns_address(const char *name, uint32_t ip);
void mdns_send(const struct station *s, uint32_t to, unsigned port);

/* Ask like a resolver; true if there is an answer, which must be `name` with `ip`. */
bool mdns_resolves_as(const char *name, const char *asked_for, uint32_t ip);
bool mdns_resolves(const char *name, uint32_t ip);

void netbios_make(unsigned flags, const char *name, uint8_t service, unsigned type);
void netbios_send(const struct station *s, uint32_t to, unsigned port);
bool netbios_resolves(const char *name, uint8_t service, uint32_t ip);

/* For rig_until(): the first card has its name. */
bool name_asked(void *arg);

#endif
