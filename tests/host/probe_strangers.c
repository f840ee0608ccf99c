/*
 * Probing what is no card, and what the boot options say about where to look.
 */
#include "tests/host/probe.h"

static struct sim_card card;

START_TEST(empty_bus)
{
    machine();
    find();
    found_none(NULL);
    ck_assert_uint_lt(sim_now_ns(), 50000000);
}
END_TEST

/* noprobe= keeps hands off completely: not even a read. */
static uint32_t forbidden_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("noprobe: port %x read", 0x300 + reg);
}

static void forbidden_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("noprobe: port %x written with %x", 0x300 + reg, value);
}

START_TEST(noprobe)
{
    static const char *const ranges[] = {"noprobe=0x300-0x31f", "noprobe=0x31f-0x31f",
                                         "noprobe=0x200-0x300", "noprobe=0x308-0x309"};
    machine();
    boot_options(ranges[_i]);
    sim_attach(&(struct sim_device){"private", 0x300, 32, forbidden_in, forbidden_out, NULL});
    sim_card_plug(&card, &sim_cards[0], 0x320, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x320);
    nics_close();
}
END_TEST

/* nic=: only there, also where we never look by ourselves. */
START_TEST(given_place)
{
    machine();
    boot_options("nic=ne2000:0x240,10");
    sim_attach(&(struct sim_device){"private", 0x300, 32, forbidden_in, forbidden_out, NULL});
    sim_card_plug(&card, &sim_cards[0], 0x240, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x240);
    ck_assert(nics[0].irq == 10 && nics[0].mode == NIC_MODE_IRQ);
    nics_close();
}
END_TEST

START_TEST(given_place_empty)
{
    machine();
    boot_options("nic=ne2000:0x240");
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_none("0x240");
}
END_TEST

/* A wrong line in nic=: said, and the card usable all the same. */
START_TEST(given_line_wrong)
{
    machine();
    boot_options("nic=ne2000:0x300,5");
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_one();
    ck_assert(!(nics[0].mode == NIC_MODE_IRQ && nics[0].irq == 5));
    ck_assert_uint_ge(host_count(host_text(), "5"), 1);
    ck_assert_msg(nics[0].mode == NIC_MODE_POLL || nics[0].irq == 10, "irq %d", nics[0].irq);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    nics_close();
}
END_TEST

START_TEST(unknown_driver)
{
    machine();
    boot_options("nic=ne2000:0x300");
    strcpy(options.nic[0].driver, "ne9999");
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_ptr_nonnull(strstr(host_text(), "ne9999"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"option\""), 1);
}
END_TEST

START_TEST(irq_poll_option)
{
    machine();
    boot_options("irq=poll");
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL);
    ck_assert_uint_eq(card.chip.imr, 0);
    nics_close();
}
END_TEST

TCase *probe_strangers(void)
{
    TCase *tc = tcase_create("strangers and options");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, empty_bus);
    tcase_add_loop_test(tc, noprobe, 0, 4);
    tcase_add_test(tc, given_place);
    tcase_add_test(tc, given_place_empty);
    tcase_add_test(tc, given_line_wrong);
    tcase_add_test(tc, unknown_driver);
    tcase_add_test(tc, irq_poll_option);
    return tc;
}
