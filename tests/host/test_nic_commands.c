/*
 * What people and programs can ask about the cards: nics, counters and their record.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/nic.h"
#include "drivers/nic_pci.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/record.h"
#include "kernel/shell.h"
#include "tests/host/host_support.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum { POOL = 8 };

static struct frame pool[POOL];
static unsigned services, reclaims;

static int no_probe(const struct nic_place *place, struct nic *nic, char *why, size_t size)
{
    (void)place;
    (void)nic;
    (void)why;
    (void)size;
    return E_NOT_FOUND;
}

NIC_DRIVER(fake_driver) = {.name = "fake", .probe = no_probe};

static void service(struct nic *nic, unsigned events)
{
    (void)nic;
    ck_assert_uint_eq(events, 0); /* the chip's own tallies */
    services++;
}

static void tx_reclaim(struct nic *nic)
{
    (void)nic;
    reclaims++;
}

static const struct nic_ops fake_ops = {.service = service, .tx_reclaim = tx_reclaim};

static void card(unsigned index, enum nic_bus bus)
{
    nics[index] = (struct nic){
        .driver = &fake_driver,
        .ops = &fake_ops,
        .index = index,
        .model = "Fake",
        .mac = {0x02, 0, 0, 0, 0, (uint8_t)index},
        .place = {.bus = bus, .io = {(uint16_t)(0x300 + 0x20 * index)}, .pci = 9 << 3},
        .width = 16,
        .ring_kb = 14,
        .link_kbit = 10000,
        .link = true,
        .irq = IRQ_NONE,
        .mode = NIC_MODE_POLL,
    };
    nic_count = index + 1;
}

static void machine(void)
{
    sim_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, POOL);
    memset(nics, 0, sizeof nics);
    nic_count = services = reclaims = 0;
}

static int run(const char *name, const char *argument)
{
    host_capture_clear();
    for (const struct shell_command *c = __start_shell_commands; c < __stop_shell_commands; c++) {
        if (strcmp(c->name, name) == 0) {
            char word[32] = "", *argv[] = {word, word, NULL};
            strncpy(word, argument == NULL ? "" : argument, sizeof word - 1);
            return c->start(argument == NULL ? 1 : 2, argv);
        }
    }
    ck_abort_msg("no command %s", name);
}

static void expect(const char *words)
{
    ck_assert_msg(strstr(host_text(), words) != NULL, "no '%s' in: %s", words, host_text());
}

static void expect_record(const char *words)
{
    ck_assert_msg(strstr(host_records(), words) != NULL, "no '%s' in: %s", words, host_records());
}

START_TEST(without_a_card)
{
    machine();
    ck_assert_int_eq(run("nics", NULL), SHELL_NO_CARD);
    expect("no network card found");
    ck_assert_int_eq(run("counters", NULL), SHELL_NO_CARD);
    ck_assert_int_eq(run("counters", "reset"), SHELL_NO_CARD);
    ck_assert_str_eq(host_records(), "");
}
END_TEST

START_TEST(nics_of_one)
{
    machine();
    card(0, NIC_ISA);
    ck_assert_int_eq(run("nics", NULL), SHELL_OK);
    expect("0  fake  Fake  02:00:00:00:00:00\n");
    expect("ISA, I/O 0x300, polling, 16 bits wide, ring 14 KB");
    expect("link 10 Mbit/s, half duplex");
    ck_assert_uint_eq(host_count(host_text(), "fastest"), 0);
    nics[0].irq = 10;
    nics[0].mode = NIC_MODE_IRQ;
    nics[0].irq_proven = true;
    nics[0].link = false;
    ck_assert_int_eq(run("nics", NULL), SHELL_OK);
    expect("irq 10 (proven, edge), by interrupt");
    expect("link down");
    nics[0].irq_proven = false;
    nics[0].mode = NIC_MODE_POLL;
    ck_assert_int_eq(run("nics", NULL), SHELL_OK);
    expect("irq 10 (not proven, edge), polling");
}
END_TEST

START_TEST(nics_of_two)
{
    machine();
    sim_irq_elcr(1 << 11);
    card(0, NIC_ISA);
    card(1, NIC_PCI);
    nics[1].irq = 11;
    nics[1].mode = NIC_MODE_IRQ;
    nics[1].link_kbit = 100000;
    nics[1].full_duplex = true;
    nics[1].place.changed = NIC_PCI_MASTER;
    ck_assert_int_eq(run("nics", NULL), SHELL_OK);
    expect("PCI, I/O 0x320, irq 11 (not proven, level)");
    expect("pci:0.9.0, switched on: bus mastering");
    expect("link 100 Mbit/s, full duplex");
    expect("line        polling          irq 11, level");
    expect("place       0x300            pci:0.9.0");
    expect("card 1 should be the fastest: it has the faster wire");
}
END_TEST

static unsigned asked[3];

static void more_keys(void)
{
    asked[0]++;
    record_int("more", 7);
}

static void more_lines(void)
{
    asked[1]++;
}

static void more_reset(void)
{
    asked[2]++;
}

/* Traffic always, causes only where they happened; all of them in the record. */
START_TEST(counters)
{
    static const struct nic_more_counters more = {more_keys, more_lines, more_reset};
    machine();
    card(0, NIC_ISA);
    nics[0].stats.rx_frames = 5000000000ULL;
    nics[0].stats.rx_crc = 3;
    nics[0].stats.rx_burst[0] = 11;
    nics[0].stats.rx_burst[7] = 2;
    ck_assert_int_eq(run("counters", NULL), SHELL_OK);
    expect("card 0, fake at 0x300");
    expect("5000000000  frames received");
    expect("         3  received with wrong CRC");
    expect("         0  frames sent");
    ck_assert_uint_eq(host_count(host_text(), "ring overruns"), 0);
    expect("1: 11  more: 2");
    expect_record("\"rx_frames\":5000000000,");
    expect_record("\"rx_overrun\":0,");
    expect_record("\"burst_1\":11,");
    expect_record("\"pool_size\":8,");
    ck_assert(services == 0 && reclaims == 1); /* what has left is counted first */
    nic_add_counters(&more);
    ck_assert_int_eq(run("counters", NULL), SHELL_OK);
    expect_record("\"more\":7");
    ck_assert(asked[0] == 1 && asked[1] == 1 && asked[2] == 0);
    ck_assert_int_eq(run("counters", "reset"), SHELL_OK);
    ck_assert(asked[0] == 2 && asked[2] == 1);
    ck_assert_uint_eq(services, 1);
    expect_record("\"rx_frames\":0,");
    ck_assert_uint_eq(nics[0].stats.rx_burst[7], 0);
    ck_assert_int_eq(run("counters", "rest"), SHELL_FAILED);
    expect("usage: counters [reset]");
}
END_TEST

/* Bursts in the histogram: 1, 2, 3-4, 5-8 ... and more. */
START_TEST(bursts)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 1000};
    static const unsigned buckets[] = {0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    machine();
    card(0, NIC_ISA);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&nics[0].stats, 0, sizeof nics[0].stats);
        nic_count_burst(&nics[0], sizes[i]);
        ck_assert_msg(nics[0].stats.rx_burst[buckets[i]] == 1, "a burst of %u", sizes[i]);
    }
}
END_TEST

/* A flood of faults is one record a second, and none if there was none. */
START_TEST(faults)
{
    machine();
    card(0, NIC_ISA);
    nic_report_faults(&nics[0]);
    ck_assert_str_eq(host_records(), "");
    nics[0].stats.rx_overrun = 5;
    nics[0].stats.rx_resync = 1;
    nic_report_faults(&nics[0]);
    nic_report_faults(&nics[0]);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"overrun\""), 1);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"ring_resync\""), 1);
    expect_record("\"count\":5");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nic commands");
    TCase *tc = tcase_create("commands");
    tcase_add_test(tc, without_a_card);
    tcase_add_test(tc, nics_of_one);
    tcase_add_test(tc, nics_of_two);
    tcase_add_test(tc, counters);
    tcase_add_test(tc, bursts);
    tcase_add_test(tc, faults);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
