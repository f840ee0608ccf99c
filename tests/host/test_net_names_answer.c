/*
 * Who is answered by mDNS and NetBIOS, and who is not.
 */
#include "tests/host/test_net.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/frame.h"
#include "net/names.h"
#include "tests/host/names_rig.h"

/* The card lets the group through, and only that: a router's question is answered, too. */
START_TEST(joins_the_group)
{
    uint8_t query[8] = {0x11, 0, 0, 0, 0, 0, 0, 0};

    put16(query + 2, (uint16_t)~reference_sum(query, sizeof(query)));
    heard_forget();
    peer_send_ip(&peer, RIG_IP4(224, 0, 0, 1), PROTO_IGMP, query, sizeof(query));
    rig_run_ms(1200);
    ck_assert_uint_eq(group_reports, 1);
    ck_assert(mdns_resolves("nictest86.local", BOX_IP));
}
END_TEST

/* ---- answering ---- */

START_TEST(answers_mdns)
{
    ck_assert_str_eq(names_current(), "nictest86");
    ck_assert(mdns_resolves("nictest86.local", BOX_IP));
    ck_assert(!mdns_resolves("nictest86-2.local", BOX_IP));
    ck_assert(!mdns_resolves("nictest8.local", BOX_IP));
    ck_assert(!mdns_resolves("nictest86.lan", BOX_IP));
    rig_run_ms(1000);
    heard_forget();
    dns_begin(0, 1, 0, 0);
    dns_question("1.0.0.10.in-addr.arpa", TYPE_PTR, CLASS_IN);
    mdns_send(&peer, GROUP, MDNS);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 1);
}
END_TEST

/* Section 5.4 lets us answer by multicast; that a probe is such a question is section 8.1. */
START_TEST(unicast_question_gets_multicast)
{
    rig_run_ms(1000);
    heard_forget();
    dns_begin(0, 2, 0, 0);
    dns_question("other.local", TYPE_ANY, CLASS_IN | UNICAST);
    dns_question("nictest86.local", TYPE_A, CLASS_IN | UNICAST);
    mdns_send(&peer, GROUP, MDNS);
    ck_assert_uint_eq(heard_from(MDNS, PEER_IP), 0);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 1);
    heard_forget();
    dns_begin(0, 1, 0, 1);
    dns_question("nictest86.local", TYPE_ANY, CLASS_IN | UNICAST);
    dns_address("nictest86.local", PEER_IP);
    mdns_send(&peer, GROUP, MDNS);
    ck_assert_uint_eq(heard_from(MDNS, PEER_IP), 0);
    ck_assert_uint_eq(heard_from(MDNS, GROUP),
                      1); /* our defence, though less than a second later */
}
END_TEST

/* Not from port 5353, or to our address: answered to the sender, once that has proven itself. */
START_TEST(legacy_question)
{
    heard_forget();
    dns_begin(0, 1, 0, 0);
    put16(message, 0xABCD);
    dns_question("nictest86.local", TYPE_A, CLASS_IN);
    mdns_send(&peer, GROUP, LEGACY);
    ck_assert_uint_eq(heard_from(MDNS, PEER_IP), 1);
    ck_assert_uint_eq(heard_last->to_port, LEGACY);
    ck_assert_uint_eq(get16(heard_last->data), 0xABCD);
    ck_assert_uint_eq(get32(heard_last->data + heard_last->length - 4), BOX_IP);
    mdns_send(&peer, BOX_IP, LEGACY);
    ck_assert_uint_eq(heard_from(MDNS, PEER_IP), 2);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 0);
}
END_TEST

START_TEST(forged_question_gets_nothing)
{
    struct station forger = peer, stranger = peer;

    forger.ip = PEER_IP; /* another's address, our MAC: the real one answers ARP */
    forger.mac[5] ^= 1;
    stranger.ip = RIG_IP4(192, 0, 2, 7);
    heard_forget();
    dns_begin(0, 1, 0, 0);
    dns_question("nictest86.local", TYPE_A, CLASS_IN);
    mdns_send(&forger, GROUP, LEGACY);
    mdns_send(&forger, BOX_IP, MDNS);
    mdns_send(&stranger, GROUP, LEGACY);
    mdns_send(&stranger, BOX_IP, MDNS);
    netbios_make(0x0110, "nictest86", 0, NB);
    netbios_send(&forger, ALL_LOCAL, NETBIOS);
    netbios_send(&stranger, BOX_IP, NETBIOS);
    stranger.ip = ALL_LOCAL;
    netbios_send(&stranger, BOX_IP, NETBIOS);
    rig_run_ms(1500);
    ck_assert_uint_eq(heard_count, 0);
    ck_assert(netbios_resolves("nictest86", 0, BOX_IP));
}
END_TEST

/* More than can be held at once: no frame of the pool is lost, and it answers again afterwards. */
START_TEST(flood_of_legacy_questions)
{
    heard_forget();
    peer.deaf = true;
    dns_begin(0, 1, 0, 0);
    dns_question("nictest86.local", TYPE_A, CLASS_IN);
    for (unsigned i = 0; i < 200; i++) {
        peer_send_udp(&peer, GROUP, LEGACY, MDNS, message, message_length);
        rig_run_ms(1);
        ck_assert_uint_ge(frame_pool_free() + 8, frame_pool_size());
    }
    rig_run_ms(1500);
    ck_assert_uint_eq(heard_count, 0);
    peer.deaf = false;
    mdns_send(&peer, GROUP, LEGACY);
    ck_assert_uint_eq(heard_from(MDNS, PEER_IP), 1);
}
END_TEST

START_TEST(answers_netbios)
{
    ck_assert(netbios_resolves("nictest86", 0x00, BOX_IP));
    ck_assert(netbios_resolves("NicTest86", 0x20, BOX_IP));
    ck_assert(!netbios_resolves("nictest86", 0x1B, BOX_IP)); /* a domain's master browser */
    ck_assert(!netbios_resolves("nictest86-2", 0, BOX_IP));
    ck_assert(!netbios_resolves("*", 0, BOX_IP));
    heard_forget();
    netbios_make(0x0110, "nictest86", 0, NBSTAT); /* its answer would be three times as long */
    netbios_send(&peer, BOX_IP, NETBIOS);
    netbios_make(0x2910, "nictest86", 0, NB); /* a registration */
    netbios_send(&peer, ALL_LOCAL, NETBIOS);
    netbios_make(0x0110, "nictest86", 0, NB);
    peer_send_udp(&peer, BOX_IP, NETBIOS, NETBIOS, message, QUESTION - 1);
    memset(message + DNS_HEADER + 1, 'A', QUESTION - DNS_HEADER - 1); /* a name without an end */
    netbios_send(&peer, BOX_IP, NETBIOS);
    ck_assert_uint_eq(heard_count, 0);
}
END_TEST

/* Each card answers with its own address, and from it. */
START_TEST(each_card_its_own_address)
{
    static const char words[] = "ip=10.0.0.1/24 ip=10.0.0.11/24";
    const uint32_t addresses[] = {BOX_IP, BOX_IP2};

    rig_up_with(words, 2, RIG_MEMORY_KB);
    rig_run_ms(1000);
    for (unsigned nic = 0; nic < 2; nic++) {
        struct station *s = peer_plug(nic, RIG_IP4(10, 0, 0, 50 + nic));

        heard_forget();
        dns_begin(0, 1, 0, 0);
        dns_question("nictest86.local", TYPE_A, CLASS_IN);
        mdns_send(s, GROUP, MDNS);
        ck_assert_uint_eq(heard_from(MDNS, GROUP), 1);
        ck_assert_uint_eq(heard_last->nic, nic);
        ck_assert_uint_eq(heard_last->from, addresses[nic]);
        ck_assert_uint_eq(get32(heard_last->data + heard_last->length - 4), addresses[nic]);
        netbios_make(0x0110, "nictest86", 0, NB);
        netbios_send(s, ALL_LOCAL, NETBIOS);
        ck_assert_uint_eq(heard_from(NETBIOS, s->ip), 1);
        ck_assert_uint_eq(heard_last->nic, nic);
        ck_assert_uint_eq(heard_last->from, addresses[nic]);
        ck_assert_uint_eq(get32(heard_last->data + ANSWER - 4), addresses[nic]);
    }
    rig_down();
}
END_TEST

/* ---- hostile ---- */

/* Every message cut at every message_length, and with every byte changed: nothing is held or lost.
 */
START_TEST(mangled_messages)
{
    uint8_t whole[600], broken[600];
    unsigned n;

    dns_begin(0x0200, 2, 1, 1); /* truncated, it says: it is kept for half a second */
    dns_question("nictest86.local", TYPE_ANY, CLASS_IN | UNICAST);
    dns_question("1.0.0.10.in-addr.arpa", TYPE_PTR, CLASS_IN);
    dns_address("nictest86.local", PEER_IP);
    dns_address("nictest86.local", BOX_IP);
    n = message_length;
    memcpy(whole, message, n);
    for (unsigned i = 0; i < n; i++) {
        memcpy(broken, whole, n);
        broken[i] ^= (uint8_t)(1 + rand() % 255);
        peer_send_udp(&peer, GROUP, MDNS, MDNS, broken, n);
        peer_send_udp(&peer, GROUP, MDNS, MDNS, whole, i);
        broken[2] ^= 0x80;
        peer_send_udp(&peer, GROUP, MDNS, MDNS, broken, n);
        rig_run_ms(5);
    }
    rig_run_ms(6000);
    heard_forget();
    rig_command("set name=fresh", 1000);
    ck_assert(rig_until(name_asked, NULL, 10000));
}
END_TEST

Suite *net_names_answer_suite(void)
{
    Suite *suite = suite_create("net_names_answer");
    TCase *tcase = rig_case(suite, "one card");

    tcase_add_test(tcase, joins_the_group);
    tcase_add_test(tcase, answers_mdns);
    tcase_add_test(tcase, unicast_question_gets_multicast);
    tcase_add_test(tcase, legacy_question);
    tcase_add_test(tcase, forged_question_gets_nothing);
    tcase_add_test(tcase, flood_of_legacy_questions);
    tcase_add_test(tcase, answers_netbios);
    tcase_add_test(tcase, mangled_messages);
    tcase = own_case(suite, "two cards");
    tcase_add_test(tcase, each_card_its_own_address);
    return suite;
}
