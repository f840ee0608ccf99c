/*
 * The search itself, with drivers made up for it: in which order it looks, what it leaves out, when
 * it ends, and what the command `probe` tells of it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/nic.h"
#include "drivers/nic_compare.h"
#include "drivers/nic_seen.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/shell.h"
#include "tests/host/host_support.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pci.h"

enum { LOOKS_MAX = 128, PCI_CARD = 0x00011234, CLASS_ETHERNET = 0x02000000 };

/* ---- a driver whose probe does what the test says ---- */

static struct {
    const char *name;
    unsigned io;
} looks[LOOKS_MAX];
static unsigned look_count;
static unsigned slow_us;     /* of every look                              */
static uint16_t cards_at[8]; /* bases where a card is                      */
static uint16_t broken_at;   /* one that cannot be used                    */
static bool opens_badly;
static unsigned closed[NIC_MAX];

static int fake_open(struct nic *nic)
{
    (void)nic;
    return opens_badly ? E_TIMEOUT : OK;
}

static void fake_close(struct nic *nic)
{
    closed[nic->index]++;
}

static void nothing(struct nic *nic)
{
    (void)nic;
}

static const struct nic_ops fake_ops = {
    .open = fake_open, .close = fake_close, .irq_provoke = nothing, .irq_disarm = nothing};

static int look(const char *name, const struct nic_place *place, struct nic *nic, char *why,
                size_t size)
{
    ck_assert_uint_lt(look_count, LOOKS_MAX);
    looks[look_count].name = name;
    looks[look_count++].io = place->io.base;
    sim_run_us(slow_us);
    if (place->io.base == broken_at) {
        format(why, size, "its memory reads as ones; move it with its jumper");
        return E_HARDWARE;
    }
    for (unsigned i = 0; i < 8; i++) {
        if (cards_at[i] != 0 && cards_at[i] == place->io.base) {
            nic->ops = &fake_ops;
            format(nic->model, sizeof nic->model, "Fake of %s", name);
            return OK;
        }
    }
    if (place->io.base == 0x2A0) {
        format(why, size, "not ours (port reads 7f)");
    } else {
        format(why, size, "nothing there");
    }
    return E_NOT_FOUND;
}

#define FAKE(word, name)                                                                           \
    static int probe_##word(const struct nic_place *place, struct nic *nic, char *why,             \
                            size_t size)                                                           \
    {                                                                                              \
        return look(name, place, nic, why, size);                                                  \
    }

FAKE(writer, "ne2000")
FAKE(reader, "wd80x3")
FAKE(gate, "3c503")
FAKE(onpci, "rtl8139")

static const uint16_t writer_bases[] = {0x300, 0x2A0, 0x320, 0x340, 0x360, 0};
static const uint16_t reader_bases[] = {0x2A0, 0x300, 0x380, 0};
static const uint16_t gate_bases[] = {0x2A0, 0x2E0, 0x310, 0};
static const struct nic_pci_id pci_ids[] = {{0x1234, 0x0001, "Fake on PCI"}, {0, 0, NULL}};

/* Neither in this order nor backwards the right one, whichever the compiler chooses. */
NIC_DRIVER(a_gate) = {.name = "3c503",
                      .isa_candidates = gate_bases,
                      .isa_ports = 16,
                      .order = NIC_ORDER_3C503,
                      .probe = probe_gate};
NIC_DRIVER(a_writer) = {.name = "ne2000",
                        .isa_candidates = writer_bases,
                        .order = NIC_ORDER_PORT,
                        .probe = probe_writer};
NIC_DRIVER(a_reader) = {.name = "wd80x3",
                        .isa_candidates = reader_bases,
                        .order = NIC_ORDER_MEMORY,
                        .probe = probe_reader};
NIC_DRIVER(on_pci) = {.name = "rtl8139", .pci_ids = pci_ids, .probe = probe_onpci};

/* ---- around it ---- */

static void complain(const char *word, const char *why)
{
    ck_abort_msg("option %s: %s", word, why);
}

static void machine(const char *words)
{
    sim_reset();
    sim_pci_plug(SIM_PCI_1);
    host_capture_clear();
    options_default(&options);
    options_parse(&options, words, complain);
    memset(nics, 0, sizeof nics);
    memset(cards_at, 0, sizeof cards_at);
    memset(closed, 0, sizeof closed);
    nic_count = look_count = slow_us = 0;
    broken_at = 0;
    opens_badly = false;
}

static void expect_looks(const char *const expected[], unsigned n)
{
    for (unsigned i = 0; i < n || i < look_count; i++) {
        char text[24] = "nothing";
        if (i < look_count) {
            format(text, sizeof text, "%s %x", looks[i].name, looks[i].io);
        }
        ck_assert_str_eq(text, i < n ? expected[i] : "nothing");
    }
}

#define EXPECT_LOOKS(...)                                                                          \
    do {                                                                                           \
        static const char *const expected[] = {__VA_ARGS__};                                       \
        expect_looks(expected, sizeof expected / sizeof expected[0]);                              \
    } while (0)

static const char *probe_says(void)
{
    host_capture_clear();
    for (const struct shell_command *c = __start_shell_commands; c < __stop_shell_commands; c++) {
        if (strcmp(c->name, "probe") == 0) {
            char *argv[] = {"probe", "x", NULL};
            ck_assert_int_eq(c->start(2, argv), SHELL_FAILED);
            host_capture_clear();
            ck_assert_int_eq(c->start(1, argv), SHELL_OK);
            return host_text();
        }
    }
    ck_abort_msg("no command probe");
}

static void expect_words(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s' in: %s", words, text);
}

static void pci_card(unsigned device, unsigned base)
{
    struct sim_pci_function *f = sim_pci_add(0, device, 0, PCI_CARD, CLASS_ETHERNET);
    sim_pci_bar(f, 0, base, 0x20);
    sim_pci_set16(f, 4, 7);
}

/* ---- order ---- */

START_TEST(least_intrusive_first)
{
    machine("irq=poll");
    pci_card(5, 0xE000);
    nics_init();
    EXPECT_LOOKS("rtl8139 e000", "wd80x3 2a0", "wd80x3 300", "wd80x3 380", "3c503 2a0", "3c503 2e0",
                 "3c503 310", "ne2000 300", "ne2000 2a0", "ne2000 320", "ne2000 340", "ne2000 360");
    expect_words(host_text(),
                 "no network card found; looked at wd80x3 0x2a0 0x300 0x380, 3c503 0x2a0 "
                 "0x2e0 0x310, ne2000 0x300 0x2a0 0x320 0x340 0x360");
}
END_TEST

/* Ports of a card found are not looked at again, by whatever driver; nor those next to them that
 * it decodes. */
START_TEST(ports_of_a_card)
{
    machine("irq=poll");
    cards_at[0] = 0x300;
    nics_init();
    EXPECT_LOOKS("wd80x3 2a0", "wd80x3 300", "wd80x3 380", "3c503 2a0", "3c503 2e0", "ne2000 2a0",
                 "ne2000 320", "ne2000 340", "ne2000 360");
    ck_assert_uint_eq(nic_count, 1);
    ck_assert_str_eq(nics[0].driver->name, "wd80x3");
    expect_words(probe_says(), "0x310       3c503    not looked at: card 0 has these ports");
}
END_TEST

START_TEST(excluded)
{
    machine("irq=poll noprobe=0x2EF-0x300 noprobe=0x36A-0x36A");
    nics_init();
    EXPECT_LOOKS("wd80x3 2a0", "wd80x3 380", "3c503 2a0", "3c503 310", "ne2000 2a0", "ne2000 320",
                 "ne2000 340");
    expect_words(probe_says(), "0x300       wd80x3   not looked at: noprobe=\n");
    expect_words(host_text(), "              ne2000   not looked at: noprobe=\n");
}
END_TEST

START_TEST(excluded_all)
{
    machine("irq=poll noprobe=0x0-0xFFFF");
    nics_init();
    ck_assert_uint_eq(look_count, 0);
    expect_words(host_text(), "no place: noprobe= excludes them all");
}
END_TEST

/* nic=: that, in that order, and nothing else. */
START_TEST(named)
{
    machine("irq=poll nic=ne2000:0x250 nic=wd80x3 nic=ne2000:0x250,5");
    pci_card(5, 0xE000);
    cards_at[0] = 0x250;
    cards_at[1] = 0x380;
    nics_init();
    EXPECT_LOOKS("ne2000 250", "wd80x3 2a0", "wd80x3 300", "wd80x3 380");
    ck_assert_uint_eq(nic_count, 2);
    expect_words(host_text(),
                 "no network card: ne2000 at 0x250 (from nic=): card 0 has these ports");
}
END_TEST

START_TEST(named_on_pci)
{
    machine("irq=poll nic=pci:0.6.0 nic=pci:00.09.0");
    pci_card(5, 0xE000);
    pci_card(6, 0xE100);
    cards_at[0] = 0xE100;
    nics_init();
    EXPECT_LOOKS("rtl8139 e100");
    ck_assert_uint_eq(nic_count, 1);
    expect_words(host_text(),
                 "no network card: pci at 0.9.0 (from nic=): no card there that can be");
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"nic_missing\""), 1);
}
END_TEST

START_TEST(named_wrongly)
{
    machine("irq=poll nic=e1000");
    nics_init();
    ck_assert_uint_eq(look_count, 0);
    expect_words(host_text(), "nic=e1000: this build has no such driver; it has ");
    expect_words(host_text(), "wd80x3");
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    machine("irq=poll nic=rtl8139");
    nics_init();
    expect_words(host_text(), "no network card for rtl8139 (from nic=); looked at the PCI bus");
}
END_TEST

/* ---- ends ---- */

/* Every look takes 200 ms: ended in time, and what was left out is told. */
START_TEST(bounded)
{
    machine("irq=poll");
    slow_us = 300000;
    nics_init();
    ck_assert_uint_lt(sim_now_ns(), 3000000000ULL);
    ck_assert_uint_ge(look_count, 7);
    ck_assert_uint_lt(look_count, 11);
    expect_words(probe_says(), "0x360       ne2000   not looked at: the search has taken too long; "
                               "nic=ne2000:0x360 looks there");
}
END_TEST

/* A card that its driver knows and cannot use: no other driver tries, who would disturb it more;
 * but where the user says so. */
START_TEST(broken_is_left_alone)
{
    machine("irq=poll");
    broken_at = 0x300;
    nics_init();
    unsigned asked = 0;
    for (unsigned i = 0; i < look_count; i++) {
        asked += looks[i].io == 0x300;
    }
    ck_assert_uint_eq(asked, 1);
    expect_words(probe_says(), "ne2000   not looked at: wd80x3 knows the card there");
    machine("irq=poll nic=wd80x3 nic=ne2000:0x300");
    broken_at = 0x300;
    nics_init();
    ck_assert(look_count == 4 && looks[3].io == 0x300);
    ck_assert_str_eq(looks[3].name, "ne2000");
}
END_TEST

/* Who names a place gets it looked at, however long the rest took. */
START_TEST(named_is_not_bounded)
{
    machine("irq=poll nic=ne2000 nic=wd80x3:0x3A0 nic=wd80x3:0x3C0 nic=wd80x3:0x3E0");
    slow_us = 500000;
    cards_at[0] = 0x3E0;
    nics_init();
    ck_assert_uint_eq(nic_count, 1);
}
END_TEST

/* More cards than we can use. */
START_TEST(too_many)
{
    static const uint16_t at[] = {0xE100, 0xE200, 0xE300, 0xE000, 0x2A0};
    machine("irq=poll");
    memcpy(cards_at, at, sizeof at);
    for (unsigned i = 0; i < 5; i++) {
        pci_card(4 + i, 0xE000 + 0x100 * i);
        cards_at[i] = (uint16_t)(0xE000 + 0x100 * i);
    }
    cards_at[5] = 0x2A0;
    nics_init();
    ck_assert_uint_eq(nic_count, NIC_MAX);
    ck_assert_uint_eq(look_count, NIC_MAX);
    expect_words(host_text(), "rtl8139 at 0xe400: there are 4 cards already, no more can be used");
    ck_assert_uint_eq(host_count(host_text(), "no more can be used"), 1);
    expect_words(probe_says(), "pci:0.8.0   rtl8139  not looked at: there are 4 cards already");
}
END_TEST

START_TEST(cannot_be_opened)
{
    machine("irq=poll");
    cards_at[0] = 0x2A0;
    opens_badly = true;
    nics_init();
    ck_assert_uint_eq(nic_count, 0);
    expect_words(host_text(), "wd80x3 at 0x2a0: found, but could not be opened (timed out)");
    ck_assert_uint_ge(closed[0], 1);
}
END_TEST

/* ---- what is told ---- */

START_TEST(command)
{
    machine("irq=poll");
    pci_card(5, 0xE000);
    cards_at[0] = 0xE000;
    cards_at[1] = 0x320;
    broken_at = 0x2E0;
    nics_init();
    expect_words(host_text(),
                 "3c503 at 0x2e0: its memory reads as ones; move it with its jumper\n");
    const char *said = probe_says();
    expect_words(said, "least intrusive first");
    expect_words(said, "  pci:0.5.0   rtl8139  card 0, Fake of rtl8139\n");
    expect_words(said, "  0x2a0       wd80x3   not ours (port reads 7f)\n"
                       "              3c503    not ours (port reads 7f)\n"
                       "              ne2000   not ours (port reads 7f)\n"
                       "  0x2e0       3c503    its memory reads as ones; move it with its jumper\n"
                       "  0x320       ne2000   card 1, Fake of ne2000\n"
                       "  nothing at 0x300 0x310 0x340 0x360 0x380\n");
}
END_TEST

/* For programs: every place once, in parts a record can hold. */
START_TEST(command_records)
{
    machine("irq=poll");
    cards_at[0] = 0x320;
    nics_init();
    probe_says();
    expect_words(host_records(), "\"name\":\"probe\",\"nic\":null,\"part\":1,\"parts\":1,");
    expect_words(host_records(), "[\"0x320\",\"ne2000\",\"taken\",\"card 0, Fake of ne2000\"]");
    expect_words(host_records(), "[\"0x2a0\",\"wd80x3\",\"nothing\",\"not ours (port reads 7f)\"]");
    ck_assert_uint_eq(host_count(host_records(), "\"],[\"") + 1, 11);
}
END_TEST

/* Long names and long reasons, and more places than there is room for. */
START_TEST(much_to_tell)
{
    char why[200], where[16];
    struct nic_place place = {.bus = NIC_ISA};
    machine("irq=poll");
    memset(why, 'x', sizeof why);
    why[sizeof why - 1] = '\0';
    nic_seen_begin();
    for (unsigned i = 0; i < 100; i++) {
        place.io.base = (uint16_t)(0x200 + i);
        nic_seen("driver", &place, SEEN_UNUSABLE, why);
    }
    nic_seen_end();
    expect_words(probe_says(), "and 36 more, for which there was no room");
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"table\""), 3);
    for (const char *line = host_records(); line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        ck_assert_int_lt(end - line, 4096);
        line = end + 1;
    }
    ck_assert_str_eq(nic_where(&(struct nic_place){.pnp = 3, .pnp_device = 1}, where, sizeof where),
                     "pnp:3.1");
    ck_assert_str_eq(
        nic_where(&(struct nic_place){.bus = NIC_PCI, .pci = 0x1FFF}, where, sizeof where),
        "pci:1f.1f.7");
}
END_TEST

/* Cards side by side, and which should be the fastest: by wire, by bus (measured, or else its
 * width), by ring. */
START_TEST(compared)
{
    machine("irq=poll");
    nic_count = 4;
    for (unsigned i = 0; i < 4; i++) {
        nics[i] = (struct nic){.driver = &a_writer,
                               .index = i,
                               .model = "A model with a long name",
                               .place = {.bus = NIC_ISA, .io = {(uint16_t)(0x300 + 0x20 * i)}},
                               .width = 16,
                               .ring_kb = 14,
                               .link_kbit = 10000,
                               .link = true,
                               .irq = IRQ_NONE};
    }
    nic_compare();
    expect_words(host_text(), "card        0                1                2                3");
    expect_words(host_text(), "model       A model with a l A model with a l A model with a l ");
    expect_words(host_text(),
                 "place       0x300            0x320            0x340            0x360");
    expect_words(host_text(), "equally fast");
    nics[2].ring_kb = 16;
    nic_compare();
    expect_words(host_text(), "card 2 should be the fastest: it has the bigger ring");
    nics[1].width = 32;
    nic_compare();
    expect_words(host_text(), "card 1 should be the fastest: it has the wider bus");
    nics[1].bus_in_kb_s = nics[1].bus_out_kb_s = 9000;
    nics[3].bus_in_kb_s = nics[3].bus_out_kb_s = 9500;
    nics[3].width = 32;
    nic_compare();
    expect_words(host_text(), "card 3 should be the fastest: it has the faster bus, as measured");
    expect_words(host_text(), "see selftest     900/900 KB/s ");
    nics[0].link_kbit = 100000;
    nics[0].full_duplex = true;
    nic_compare();
    expect_words(host_text(), "card 0 should be the fastest: it has the faster wire");
    expect_words(host_text(), "link        100 Mbit/s full  10 Mbit/s half");
    nics[0].link = nics[1].link = nics[3].link = false;
    nic_compare();
    expect_words(host_text(), "card 2 should be the fastest: it has a link");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *tc = tcase_create("search");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, least_intrusive_first);
    tcase_add_test(tc, ports_of_a_card);
    tcase_add_test(tc, excluded);
    tcase_add_test(tc, excluded_all);
    tcase_add_test(tc, named);
    tcase_add_test(tc, named_on_pci);
    tcase_add_test(tc, named_wrongly);
    tcase_add_test(tc, bounded);
    tcase_add_test(tc, named_is_not_bounded);
    tcase_add_test(tc, broken_is_left_alone);
    tcase_add_test(tc, too_many);
    tcase_add_test(tc, cannot_be_opened);
    tcase_add_test(tc, command);
    tcase_add_test(tc, command_records);
    tcase_add_test(tc, much_to_tell);
    tcase_add_test(tc, compared);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
