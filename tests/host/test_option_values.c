/*
 * The values of boot options, well-formed and not.
 */
#include "kernel/option_values.h"

#include <check.h>
#include <string.h>

#include "kernel/irq.h"
#include "tests/host/options_rig.h"
#include "tests/host/run_suite.h"

START_TEST(addresses)
{
    accept("ip=192.168.1.2/24,192.168.1.254 ip=dhcp ip=10.0.0.1/8");
    ck_assert_uint_eq(o.ips, 3);
    ck_assert(!o.ip[0].dhcp && o.ip[1].dhcp && !o.ip[2].dhcp && o.ip[3].dhcp);
    ck_assert_uint_eq(o.ip[0].address, ip(192, 168, 1, 2));
    ck_assert_uint_eq(o.ip[0].netmask, ip(255, 255, 255, 0));
    ck_assert_uint_eq(o.ip[0].gateway, ip(192, 168, 1, 254));
    ck_assert_uint_eq(o.ip[2].netmask, ip(255, 0, 0, 0));
    ck_assert_uint_eq(o.ip[2].gateway, 0);
    accept("ip=10.0.0.1/30");
    ck_assert_uint_eq(o.ip[0].netmask, ip(255, 255, 255, 252));
    accept("ip=10.0.0.1/1");
    ck_assert_uint_eq(o.ip[0].netmask, ip(128, 0, 0, 0));
}
END_TEST

START_TEST(malformed_addresses)
{
    static const char *const bad[] = {
        "ip=",
        "ip=dhcp4",
        "ip=10.0.0.1",
        "ip=10.0.0/8",
        "ip=10.0.0.1/",
        "ip=10.0.0.1/0",
        "ip=10.0.0.1/31",
        "ip=10.0.0.1/33",
        "ip=10.0.0.256/8",
        "ip=10.0.0.1.2/8",
        "ip=10..0.1/8",
        "ip=0x0a.0.0.1/8",
        "ip=10.0.0.1/8x",
        "ip=10.0.0.1/8,",
        "ip=10.0.0.1/8,11.0.0.1",
        "ip=10.0.0.1/8,10.0.0.1",
        "ip=10.0.0.0/8",
        "ip=10.255.255.255/8",
        "ip=127.0.0.1/8",
        "ip=0.0.0.5/8",
        "ip=224.0.0.5/8",
        "ip=10.0.0.99999999999/8",
        "ip=10.0.0.1/8,10.0.0.2,",
        "ip=-1.0.0.1/8",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuse(bad[i]);
    }
}
END_TEST

/* Or the addresses behind it would go to the wrong cards. */
START_TEST(a_bad_address_keeps_its_place)
{
    parse("ip=nonsense ip=10.0.0.1/8");
    ck_assert_uint_eq(reports, 1);
    ck_assert_uint_eq(o.ips, 2);
    ck_assert(o.ip[0].dhcp && !o.ip[1].dhcp);
}
END_TEST

START_TEST(cards)
{
    accept("nic=ne2000 nic=ne2000:0x300,10 nic=wd80x3:0x280,5,0xD0000 nic=pci:1a.1f.7");
    ck_assert_uint_eq(o.nics, 4);
    ck_assert_str_eq(o.nic[0].driver, "ne2000");
    ck_assert_uint_eq(o.nic[0].io, 0);
    ck_assert_int_eq(o.nic[0].irq, IRQ_NONE);
    ck_assert_uint_eq(o.nic[1].io, 0x300);
    ck_assert_int_eq(o.nic[1].irq, 10);
    ck_assert_uint_eq(o.nic[2].mem, 0xD0000);
    ck_assert_int_eq(o.nic[2].irq, 5);
    ck_assert_str_eq(o.nic[3].driver, "pci");
    ck_assert_uint_eq(o.nic[3].pci, 0x1A << 8 | 0x1F << 3 | 7);
    accept("nic=auto nic=rtl8139 nic=auto nic=3c503 nic=e1000");
    ck_assert_uint_eq(o.nics, 3);
    ck_assert_str_eq(o.nic[1].driver, "3c503");
}
END_TEST

START_TEST(malformed_cards)
{
    static const char *const bad[] = {
        "nic=",
        "nic=ne2001",
        "nic=ne2000x",
        "nic=ne2000:",
        "nic=ne2000:300",
        "nic=ne2000:0x",
        "nic=ne2000:0x1f",
        "nic=ne2000:0x10000",
        "nic=ne2000:0x300,",
        "nic=ne2000:0x300,0xA",
        "nic=ne2000:0x300,16",
        "nic=ne2000:0x300,0",
        "nic=ne2000:0x300,5,D0000",
        "nic=ne2000:0x300,5,0x0",
        "nic=ne2000:0x300,5,0x100000000",
        "nic=ne2000:0x300,5,0xD0000,",
        "nic=pci:",
        "nic=pci:0.20.0",
        "nic=pci:0.1.8",
        "nic=pci:100.1.0",
        "nic=pci:0.1",
        "nic=pci:0.1.0.",
        "nic=AUTO",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuse(bad[i]);
    }
}
END_TEST

/* A wrong nic= is answered with what a right one is. */
START_TEST(wrong_nic_says_what_to_write)
{
    struct option_nic nic;
    ck_assert_ptr_nonnull(strstr(value_nic("ne2001", &nic), "wd80x3, 3c503"));
    ck_assert_ptr_nonnull(strstr(value_nic("ne2000:300", &nic), "0x100 to 0xffe0"));
    ck_assert_ptr_nonnull(strstr(value_nic("ne2000:0x300,8", &nic), "9 to 12"));
    ck_assert_ptr_nonnull(strstr(value_nic("ne2000:0x300,5,0xD0000,", &nic), "ne2000:0x300,10"));
    ck_assert_ptr_nonnull(strstr(value_nic("pci:1", &nic), "BB.D.F"));
}
END_TEST

START_TEST(other_malformed_values)
{
    static const char *const bad[] = {
        "noprobe=0x300",
        "noprobe=300-31f",
        "noprobe=0x31f-0x300",
        "noprobe=0x300-0x31f,",
        "irq=5",
        "irq=",
        "console=",
        "console=vga,",
        "console=com2",
        "console=com1:",
        "console=com1:115201",
        "console=com1:0",
        "console=com1:7000",
        "console=vga:9600",
        "console=vgacom1",
        "batch=1",
        "batch",
        "rxbudget=0",
        "rxbudget=257",
        "rxbudget=-1",
        "rxbudget=1.5",
        "rxbudget=0x10",
        "rxbudget=",
        "name=",
        "name=-a",
        "name=a-",
        "name=a.b",
        "name=a_b",
        "name=abcdefghijklmnop",
        "http=yes",
        "trace=dma",
        "trace=io,",
        "text=79",
        "soak=",
        "exit=1",
        "elcr=high",
        "txirq=2",
        "cpu=386",
        "frobnicate=1",
        "frobnicate",
        "=on",
        "BATCH=on",
        "batchx=on",
        "batc=on",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuse(bad[i]);
    }
}
END_TEST

START_TEST(longest_run)
{
    char line[1024] = "run=";
    memset(line + 4, 'x', sizeof o.run - 1);
    accept(line);
    ck_assert_uint_eq(strlen(o.run), sizeof o.run - 1);
    line[4 + sizeof o.run - 1] = 'x';
    parse(line);
    ck_assert_uint_eq(reports, 1);
    ck_assert_str_eq(o.run, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("option values");
    TCase *cases = tcase_create("options");
    tcase_add_test(cases, addresses);
    tcase_add_test(cases, malformed_addresses);
    tcase_add_test(cases, a_bad_address_keeps_its_place);
    tcase_add_test(cases, cards);
    tcase_add_test(cases, malformed_cards);
    tcase_add_test(cases, other_malformed_values);
    tcase_add_test(cases, wrong_nic_says_what_to_write);
    tcase_add_test(cases, longest_run);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
