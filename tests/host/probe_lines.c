/*
 * The line of a card found: conflicts with others are named, with what to change.
 */
#include "tests/host/probe.h"

static struct sim_card card, second;

static bool somebody(void *arg)
{
    (void)arg;
    return false;
}

static void lines_machine(void)
{
    memset(nics, 0, sizeof nics);
    machine();
}

static void expect_text(const char *words, unsigned times)
{
    ck_assert_msg(host_count(host_text(), words) == times, "%u times '%s' in: %s", times, words,
                  host_text());
}

/* The line of the console's COM1, and of the keyboard: whose it is, and which are free. */
START_TEST(taken_by_the_machine)
{
    static const struct {
        int line;
        const char *options, *owner;
    } cases[] = {
        {4, "nic=ne2000:0x300,4", "COM1"},
        {4, "nic=ne2000:0x300", "COM1"},
        {12, "nic=ne2000:0x300,12", "a PS/2 mouse"},
        {10, "nic=ne2000:0x300,10", "another device"},
    };
    char words[120];
    lines_machine();
    irq_attach(cases[_i].line, somebody, NULL);
    boot_options(cases[_i].options);
    sim_card_plug(&card, &sim_cards[0], 0x300, cases[_i].line);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL && nics[0].irq == IRQ_NONE);
    format(words, sizeof words,
           "irq %d is taken by %s, and edge-triggered: not shared, polling; free: 3, ",
           cases[_i].line, cases[_i].owner);
    expect_text(words, 1);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    nics_close();
}
END_TEST

/* The same, but the card drives nothing: the given line is the one to change. */
START_TEST(taken_and_dead)
{
    lines_machine();
    irq_attach(4, somebody, NULL);
    boot_options("nic=ne2000:0x300,4");
    sim_card_plug(&card, &sim_cards[0], 0x300, 14);
    find();
    expect_text("irq 4 is taken by COM1, and edge-triggered: not shared, polling", 1);
    nics_close();
}
END_TEST

/* Two jumpered cards on one line: the second says whose it is. */
START_TEST(taken_by_a_card)
{
    lines_machine();
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    sim_card_plug(&second, &sim_cards[0], 0x320, 10);
    find();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert(nics[0].irq == 10 && nics[1].mode == NIC_MODE_POLL);
    expect_text("ne2000 at 0x320: irq 10 is taken by card 0, and edge-triggered: not shared, "
                "polling; free: 3, 4, 5, 7, 9, 11, 12, 15\n",
                1);
    nics_close();
}
END_TEST

/* On a level line an ISA card is not shared unless the user says so. */
START_TEST(isa_on_level_line)
{
    lines_machine();
    sim_irq_elcr(1 << 10);
    if (_i == 1) {
        boot_options("nic=ne2000:0x300,10 nic=ne2000:0x320,10");
    }
    sim_card_plug(&card, &sim_cards[0], 0x300, 10);
    sim_card_plug(&second, &sim_cards[0], 0x320, 10);
    find();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert_int_eq(nics[1].mode, _i == 1 ? NIC_MODE_IRQ : NIC_MODE_POLL);
    ck_assert_int_eq(nics[1].irq, _i == 1 ? 10 : IRQ_NONE);
    expect_text("irq 10 is taken by card 0: not shared, polling; free: ", _i == 0);
    nics_close();
}
END_TEST

START_TEST(irq_2_is_9)
{
    lines_machine();
    boot_options("nic=ne2000:0x300,2");
    sim_card_plug(&card, &sim_cards[0], 0x300, 9);
    find();
    found_one();
    ck_assert(nics[0].irq == 9 && nics[0].mode == NIC_MODE_IRQ);
    expect_text("irq", 1); /* only the card's own line: nothing to complain of */
    nics_close();
}
END_TEST

/* A good line that others use too, by custom. */
START_TEST(customary_lines)
{
    static const struct {
        int line;
        const char *owner;
    } cases[] = {{3, "COM2"},          {5, "LPT2 and many sound cards"},   {7, "LPT1"},
                 {12, "a PS/2 mouse"}, {15, "the second disk controller"}, {11, NULL}};
    char words[80];
    lines_machine();
    sim_card_plug(&card, &sim_cards[0], 0x300, cases[_i].line);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_IRQ);
    if (cases[_i].owner != NULL) {
        format(words, sizeof words, "irq %d is also that of %s: do not use both", cases[_i].line,
               cases[_i].owner);
        expect_text(words, 1);
    } else {
        expect_text("is also that of", 0);
    }
    nics_close();
}
END_TEST

TCase *probe_lines(void)
{
    TCase *tc = tcase_create("lines");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, taken_by_the_machine, 0, 4);
    tcase_add_test(tc, taken_and_dead);
    tcase_add_test(tc, taken_by_a_card);
    tcase_add_loop_test(tc, isa_on_level_line, 0, 2);
    tcase_add_test(tc, irq_2_is_9);
    tcase_add_loop_test(tc, customary_lines, 0, 6);
    return tc;
}
