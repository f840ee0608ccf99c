/*
 * The result history: `report`, its table and the line for forums.
 */
#include "tests/host/test_net.h"

#include <string.h>

#include "lwip/opt.h"
#include "net/meter.h"
#include "net/nicif.h"
#include "net/report.h"

static struct meter meter;

/* A transfer of `bytes` in `ms`. */
static void transfer(enum meter_dir dir, bool udp, uint32_t bytes, unsigned ms, const char *how)
{
    ip_addr_t host;

    IP_ADDR4(&host, 10, 0, 0, 2);
    meter_start(&meter, "iperf2", dir, udp, nicif_netif(&nics[0]), &host, 4000);
    rig_run_ms(ms);
    meter_add(&meter, bytes);
    meter.datagrams = bytes / 1000;
    meter_end(&meter, how);
    rig_forget();
}

static unsigned lines, longest;
static char all[20000];

static void collect(void *arg, const char *line)
{
    ck_assert_ptr_eq(arg, all);
    lines++;
    longest = strlen(line) > longest ? (unsigned)strlen(line) : longest;
    strcat(all, line);
    strcat(all, "\n");
}

static void write_all(void)
{
    lines = longest = 0;
    all[0] = '\0';
    report_write(collect, all);
}

START_TEST(nothing_yet)
{
    write_all();
    ck_assert_str_eq(all, "no results yet\n");
}
END_TEST

/* Words begin where their heading does, the rate ends where its does. */
static void headings_stand_over_their_columns(void)
{
    static const char *const columns[][2] = {
        {"proto", "tcp"}, {"bound", "peer"}, {"lost", "0 again"}, {"peer", "10.0.0.2"}};
    const char *first, *row;

    write_all();
    first = strchr(all, '\n') + 1;
    row = strchr(first, '\n') + 1;
    for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const char *heading = strstr(all, columns[i][0]), *value = strstr(row, columns[i][1]);

        ck_assert_msg(heading != NULL && value != NULL, "%s", columns[i][0]);
        ck_assert_msg(heading - all == value - row, "%s is at %d, %s at %d", columns[i][0],
                      (int)(heading - all), columns[i][1], (int)(value - row));
    }
    ck_assert_int_eq(strstr(all, "KB/s") + 4 - all, strchr(row, '.') + 3 - row);
}

START_TEST(one_line_a_result)
{
    transfer(METER_RX, false, 1024000, 1000, "ok");
    transfer(METER_TX, false, 512000, 1000, "timeout");
    ck_assert_int_eq(rig_command("report", 100), 0);
    ck_assert(rig_said("  1 0 iperf2-r tcp"));
    ck_assert(rig_said("  2 0 iperf2-t tcp"));
    ck_assert(rig_said("10.0.0.2 timeout"));
    ck_assert(rig_said(" 0 again"));
    headings_stand_over_their_columns();
    ck_assert_int_eq(rig_command("report more", 100), 1);
}
END_TEST

START_TEST(losses_are_told)
{
    struct sequence seq;

    sequence_start(&seq, 1);
    sequence_add(&seq, 10);
    ip_addr_t host;

    IP_ADDR4(&host, 10, 0, 0, 2);
    meter_start(&meter, "iperf2", METER_RX, true, nicif_netif(&nics[0]), &host, 4000);
    rig_run_ms(100);
    meter.datagrams = 1;
    meter_add(&meter, 1000);
    meter_add_sequence(&meter, &seq);
    meter_end(&meter, "ok");
    write_all();
    ck_assert_ptr_nonnull(strstr(all, " 9/10 "));
}
END_TEST

/* The last 64, numbered on. */
START_TEST(a_long_history)
{
    for (unsigned i = 0; i < 70; i++) {
        transfer(METER_RX, true, 1000 * (i + 1), 20, "ok");
    }
    write_all();
    ck_assert_uint_eq(lines, 1 + REPORT_RESULTS + 1);
    ck_assert_ptr_null(strstr(all, "\n  6 0 "));
    ck_assert_ptr_nonnull(strstr(all, "\n  7 0 "));
    ck_assert_ptr_nonnull(strstr(all, "\n 70 0 "));
    ck_assert_uint_lt(longest, REPORT_LINE);
}
END_TEST

/* The best of each kind, of runs that are long enough and were not cut short. */
START_TEST(the_line_to_paste)
{
    transfer(METER_RX, false, 1000000, 1000, "ok");
    transfer(METER_RX, false, 512000, 1000, "ok");
    transfer(METER_RX, false, 102400, 1, "ok"); /* too short to tell */
    transfer(METER_TX, true, 256000, 1000, "ok");
    transfer(METER_TX, true, 900000, 1000, "refused"); /* nobody was there */
    transfer(METER_TX, false, 900000, 1000, "abort");
    write_all();
    ck_assert_ptr_nonnull(strstr(all, "NicTest86 "));
    ck_assert_ptr_nonnull(strstr(all, "ne2000 ("));
    ck_assert_ptr_nonnull(strstr(all, "; TCP in 9"));
    ck_assert_ptr_nonnull(strstr(all, "; UDP out 2"));
    ck_assert_ptr_null(strstr(all, "TCP out"));
}
END_TEST

/* DESIGN 10: 1,186,606 bytes a second at 10 Mbit/s. */
START_TEST(limits_of_the_wire)
{
    ck_assert_uint_eq(report_wire_limit(10000, false, 0), 1186605);
    ck_assert_uint_eq(report_wire_limit(10000, true, 1472), 1250000ull * 1472 / 1538);
    ck_assert_uint_eq(report_wire_limit(10000, true, 1), 1250000 / 84);
    ck_assert_uint_eq(report_wire_limit(10000, true, 1473), 1250000ull * 1473 / (1473 + 8 + 116));
    ck_assert_uint_eq(report_wire_limit(100000, false, 0), 11866059);
    ck_assert_uint_eq(report_wire_limit(0, true, 1000), 0);
}
END_TEST

Suite *net_report_suite(void)
{
    Suite *suite = suite_create("net_report");
    TCase *report = rig_case(suite, "report");

    tcase_add_test(report, nothing_yet);
    tcase_add_test(report, one_line_a_result);
    tcase_add_test(report, losses_are_told);
    tcase_add_test(report, a_long_history);
    tcase_add_test(report, the_line_to_paste);
    tcase_add_test(report, limits_of_the_wire);
    return suite;
}
