/*
 * How the box comes by its name: asking by mDNS and NetBIOS, conflicts, name=.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "net/names.h"
#include "tests/host/names_rig.h"

/* ---- pure ---- */

START_TEST(variants)
{
    char name[NAME_BYTES];

    name_variant(name, "nictest86", 1);
    ck_assert_str_eq(name, "nictest86");
    name_variant(name, "nictest86", 2);
    ck_assert_str_eq(name, "nictest86-2");
    name_variant(name, "nictest86", 32);
    ck_assert_str_eq(name, "nictest86-32");
    name_variant(name, "fifteen-letters", 1);
    ck_assert_str_eq(name, "fifteen-letters");
    name_variant(name, "fifteen-letters", 9);
    ck_assert_str_eq(name, "fifteen-lette-9");
    name_variant(name, "fifteen-letters", 10);
    ck_assert_str_eq(name, "fifteen-lett-10");
}
END_TEST

/* ---- asking ---- */

/* Three probes with our address for a tie, then two announcements; three NetBIOS questions; nothing
 * is answered before that. */
START_TEST(asks_before_it_answers)
{
    rig_unnamed = true;
    rig_up();
    heard_forget();
    ck_assert(!netbios_resolves("nictest86", 0, BOX_IP));
    dns_begin(0, 1, 0, 0);
    dns_question("nictest86.local", TYPE_A, CLASS_IN);
    mdns_send(&peer, GROUP, MDNS);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 0);
    heard_forget();
    ck_assert(rig_until(name_asked, NULL, ASKED_MS));
    rig_run_ms(1200);
    ck_assert_uint_eq(heard_from(MDNS, GROUP), 2); /* announcements */
    ck_assert_uint_ge(heard_from(NETBIOS, ALL_LOCAL), 2);
    netbios_make(0x0110, "nictest86", 0, NB);
    ck_assert_uint_eq(heard_last->length, QUESTION);
    ck_assert_mem_eq(heard_last->data + 2, message + 2, QUESTION - 2);
    ck_assert(netbios_resolves("nictest86", 0, BOX_IP));
    ck_assert(mdns_resolves("nictest86.local", BOX_IP));
    rig_down();
}
END_TEST

START_TEST(probes_are_probes)
{
    unsigned probes = 0;

    rig_unnamed = true;
    rig_start_us = 777;
    peer_set_packet_hook(heard_note);
    rig_up();
    heard_forget();
    ck_assert(rig_until(name_asked, NULL, ASKED_MS));
    dns_begin(0, 1, 0, 1);
    dns_question("nictest86.local", TYPE_ANY, CLASS_IN | UNICAST);
    for (unsigned i = 0; i < heard_count; i++) {
        const struct datagram *d = &heard[i];

        if (d->from_port == MDNS && get16(d->data + 4) == 1) {
            probes++;
            ck_assert_mem_eq(d->data, message, message_length);
            ck_assert_uint_eq(get32(d->data + d->length - 4), BOX_IP);
        }
    }
    ck_assert_uint_eq(probes, 3);
    rig_down();
}
END_TEST

/* ---- conflicts ---- */

static void claim_by_mdns(const char *name, unsigned port)
{
    dns_begin(RESPONSE, 0, 1, 0);
    dns_address(name, PEER_IP);
    mdns_send(&peer, GROUP, port);
}

/* Somebody who defends every name from `first` on, by mDNS. */
static unsigned defended;
static void defend(const struct packet *p)
{
    const uint8_t *dns = p->data + UDP_HEADER;

    heard_note(p);
    if (p->protocol == PROTO_UDP && get16(p->data + 2) == MDNS && get16(dns + 4) == 1 &&
        defended != 0) {
        unsigned n = (unsigned)strlen((const char *)dns + DNS_HEADER) + 1;

        dns_begin(RESPONSE, 0, 1, 0);
        memcpy(message + message_length, dns + DNS_HEADER, n);
        message_length += n;
        put16(message + message_length, TYPE_A);
        put16(message + message_length + 2, CLASS_IN | FLUSH);
        put32(message + message_length + 4, 120);
        put16(message + message_length + 8, 4);
        put32(message + message_length + 10, PEER_IP);
        message_length += 14;
        peer_send_udp(&peer, GROUP, MDNS, MDNS, message, message_length);
        defended--;
    }
}

START_TEST(renamed_by_mdns)
{
    rig_unnamed = true;
    rig_up();
    peer_set_packet_hook(defend);
    defended = 2;
    ck_assert(rig_until(name_asked, NULL, 5000));
    ck_assert_str_eq(names_current(), "nictest86-3");
    ck_assert(rig_said("the name nictest86 is taken by 10.0.0.2: this box is nictest86-2\n"));
    ck_assert(rig_said("the name nictest86-2 is taken by 10.0.0.2: this box is nictest86-3\n"));
    rig_run_ms(1200); /* the second announcement */
    ck_assert(mdns_resolves("nictest86-3.local", BOX_IP));
    ck_assert(netbios_resolves("nictest86-3", 0, BOX_IP));
    ck_assert(!netbios_resolves("nictest86", 0, BOX_IP));
    rig_down();
}
END_TEST

/* It is not asked for ever. */
START_TEST(all_names_taken)
{
    rig_unnamed = true;
    rig_up();
    peer_set_packet_hook(defend);
    defended = 1000;
    for (unsigned i = 0; i < 300 && names_current()[0] != '\0'; i++) {
        heard_count = 0;
        rig_run_ms(1000);
    }
    ck_assert_str_eq(names_current(), "");
    ck_assert(rig_said("all names from nictest86 to its variant 32 are taken"));
    ck_assert_uint_eq(rig_said_times("is taken by"), NAMES_TRIES - 1);
    heard_count = 0;
    rig_run_ms(5000);
    ck_assert_uint_eq(heard_count, 0);
    ck_assert_int_eq(rig_command("ip", 1000), 0);
    ck_assert(rig_said("no name: all variants of nictest86 are taken"));
    defended = 0;
    ck_assert_int_eq(rig_command("set name=other", 1000), 0);
    ck_assert(rig_until(name_asked, NULL, 40000)); /* section 8.1: slowly, after so many */
    ck_assert_str_eq(names_current(), "other");
    rig_down();
}
END_TEST

/* An answer to our NetBIOS question. */
static void take_netbios(const struct packet *p)
{
    const uint8_t *asked_for = p->data + UDP_HEADER;

    heard_note(p);
    if (p->protocol == PROTO_UDP && get16(p->data + 2) == NETBIOS && defended != 0) {
        memset(message, 0, ANSWER);
        memcpy(message, asked_for, 2);
        put16(message + 2, 0x8500);
        put16(message + 6, 1);
        memcpy(message + DNS_HEADER, asked_for + DNS_HEADER, QUESTION - DNS_HEADER);
        put32(message + QUESTION, 300000);
        put16(message + QUESTION + 4, 6);
        put32(message + ANSWER - 4, PEER_IP);
        peer_send_udp(&peer, BOX_IP, NETBIOS, NETBIOS, message, ANSWER);
        defended--;
    }
}

START_TEST(renamed_by_netbios)
{
    rig_unnamed = true;
    rig_up();
    peer_set_packet_hook(take_netbios);
    defended = 1;
    ck_assert(rig_until(name_asked, NULL, 5000));
    ck_assert_str_eq(names_current(), "nictest86-2");
    rig_run_ms(1200);
    ck_assert(mdns_resolves("nictest86-2.local", BOX_IP));
    ck_assert(netbios_resolves("nictest86-2", 0, BOX_IP));
    rig_down();
}
END_TEST

/* Somebody with our name comes later: we ask again, and whoever answers that keeps it. */
START_TEST(conflict_later)
{
    defended = 0;
    peer_set_packet_hook(defend);
    claim_by_mdns("nictest86.local", MDNS);
    rig_run_ms(ASKED_MS);
    ck_assert_str_eq(names_current(), "nictest86");
    defended = 1;
    claim_by_mdns("nictest86.local", MDNS);
    rig_run_ms(2 * ASKED_MS);
    ck_assert_str_eq(names_current(), "nictest86-2");
    ck_assert(names_ours(0));
    rig_run_ms(1200);
    ck_assert(mdns_resolves("nictest86-2.local", BOX_IP));
}
END_TEST

/* What is no conflict. */
START_TEST(not_a_conflict)
{
    claim_by_mdns("nictest86.local", LEGACY); /* section 6: responses are from port 5353 */
    claim_by_mdns("nictest86-2.local", MDNS);
    netbios_make(0x8500, "nictest86", 0, NB);
    put16(message + 6, 1);
    netbios_send(&peer, BOX_IP, NETBIOS); /* nobody asked */
    rig_run_ms(3000);
    ck_assert_str_eq(names_current(), "nictest86");
    ck_assert(names_ours(0));
    ck_assert(mdns_resolves("nictest86.local", BOX_IP));
}
END_TEST

/* ---- name= ---- */

START_TEST(set_name)
{
    ck_assert_int_eq(rig_command("set name=Bench-1", 1000), 0);
    ck_assert(!names_ours(0));
    ck_assert_int_eq(rig_command("ip", 1000), 0);
    ck_assert(rig_said("name Bench-1, asking whether it is free"));
    ck_assert(rig_until(name_asked, NULL, 2 * ASKED_MS));
    rig_run_ms(1200);
    ck_assert(mdns_resolves_as("Bench-1.local", "bench-1.local", BOX_IP));
    ck_assert(netbios_resolves("bench-1", 0, BOX_IP));
    ck_assert(!netbios_resolves("nictest86", 0, BOX_IP));
    ck_assert_int_eq(rig_command("ip", 1000), 0);
    ck_assert(rig_said("name Bench-1.local\n"));
}
END_TEST

/* ---- two cards ---- */

/* The second card hears what the first sends, as on one wire. */
static bool cross(const struct heard *f)
{
    static uint8_t copy[1600];

    memcpy(copy, f->data, f->length);
    peer_send_frame(1 - f->nic, copy, f->length);
    return true;
}

START_TEST(two_cards_on_one_wire)
{
    static const char words[] = "ip=10.0.0.1/24 ip=10.0.0.11/24";

    rig_unnamed = true;
    rig_up_with(words, 2, RIG_MEMORY_KB);
    peer_set_hook(cross);
    rig_run_ms(4000);
    ck_assert_str_eq(names_current(), "nictest86");
    ck_assert(names_ours(0) && names_ours(1));
    peer_set_hook(NULL);
    rig_down();
}
END_TEST

Suite *net_names_suite(void)
{
    Suite *suite = suite_create("net_names");
    TCase *tcase = own_case(suite, "asking");

    tcase_add_test(tcase, variants);
    tcase_add_test(tcase, asks_before_it_answers);
    tcase_add_test(tcase, probes_are_probes);
    tcase_add_test(tcase, renamed_by_mdns);
    tcase_add_test(tcase, renamed_by_netbios);
    tcase_add_test(tcase, all_names_taken);
    tcase_add_test(tcase, two_cards_on_one_wire);
    tcase = rig_case(suite, "later");
    tcase_add_test(tcase, conflict_later);
    tcase_add_test(tcase, not_a_conflict);
    tcase_add_test(tcase, set_name);
    return suite;
}
