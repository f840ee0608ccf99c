/*
 * Plug and Play cards in the search: switched on where they are off, taken as they are where they
 * are on, and left as they were found.
 */
#include "tests/host/probe.h"
#include "tests/host/sim/isapnp.h"
#include "tests/host/sim/wd80x3.h"

enum { NET_LINES = 1 << 3 | 1 << 5 | 1 << 10 | 1 << 11 };

static const struct sim_pnp_card_config net_card = {
    .name = "Ethernet",
    .id = "XYZ0001",
    .serial = 77,
    .device = {{.id = "XYZ0001",
                .compatible = "PNP80D6",
                .first = 0x240,
                .last = 0x3E0,
                .irqs = NET_LINES}},
};
static const struct sim_pnp_card_config sound_card = {
    .name = "Sound",
    .id = "CTL0031",
    .serial = 1,
    .device = {{.id = "CTL0031", .first = 0x220, .last = 0x280, .irqs = 1 << 5}},
};

static struct sim_pnp_card pnp[2], sound;
static struct sim_card board[2], jumpered;

/* The board behind a Plug and Play chip is on the bus only while it is switched on. */
static void appears(void *self, unsigned io, int irq)
{
    struct sim_card *b = self;
    struct sim_card_config cfg = sim_cards[0];
    sim_card_plug(b, &cfg, io, irq == 0 ? 14 : irq); /* 14: reaches nobody */
}

static void vanishes(void *self)
{
    struct sim_card *b = self;
    ck_assert_msg(b->chip.stopped && b->chip.imr == 0, "switched off while it is running");
    sim_detach(b);
}

static void plug(unsigned n, uint32_t serial)
{
    struct sim_pnp_card_config cfg = net_card;
    cfg.serial = serial;
    sim_pnp_plug(&pnp[n], &cfg);
    sim_pnp_connect(&pnp[n], 0, appears, vanishes, &board[n]);
}

static void pnp_machine(void)
{
    memset(nics, 0, sizeof nics);
    machine();
    sim_pnp_reset();
}

static bool nobody(void *arg)
{
    (void)arg;
    return false;
}

static void expect_off(unsigned n)
{
    nics_close();
    ck_assert_uint_eq(pnp[n].deactivations, 1);
    ck_assert(!pnp[n].device[0].active && pnp[n].device[0].io == 0 && pnp[n].device[0].irq == 0);
    ck_assert(sim_pnp_all_wait());
    nics_close(); /* a panic on the way out */
    ck_assert_uint_eq(pnp[n].deactivations, 1);
}

START_TEST(inactive_is_switched_on)
{
    pnp_machine();
    sim_pnp_plug(&sound, &sound_card);
    plug(0, 5);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x240);
    ck_assert(nics[0].irq == 10 && nics[0].mode == NIC_MODE_IRQ);
    ck_assert_ptr_nonnull(strstr(host_text(), "Plug and Play card switched on: NE2000 compatible"));
    ck_assert_uint_eq(sound.activations, 0);
    ck_assert_ptr_nonnull(strstr(probe_words(), "CTL0031 Sound: no network card we know"));
    expect_off(0);
    /* A warm boot finds it again. */
    nic_count = 0;
    find();
    ck_assert_uint_eq(nic_count, 1);
    nics_close();
}
END_TEST

/* Set by the firmware: taken as it is, and left on. */
START_TEST(active_is_taken)
{
    pnp_machine();
    plug(0, 5);
    sim_pnp_set_active(&pnp[0], 0, 3, 0x2C0, 11);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, 0x2C0);
    ck_assert_int_eq(nics[0].irq, 11);
    nics_close();
    ck_assert_uint_eq(pnp[0].activations + pnp[0].deactivations, 0);
    ck_assert(pnp[0].device[0].active && board[0].chip.stopped);
}
END_TEST

/* On, without a line: found by provoking, like a jumpered card's. */
START_TEST(active_without_line)
{
    pnp_machine();
    plug(0, 5);
    sim_pnp_set_active(&pnp[0], 0, 3, 0x2C0, 0);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "no interrupts seen"));
    nics_close();
}
END_TEST

/* Two of them and a jumpered card in their way: all three at work, no two at one place. */
START_TEST(two_and_a_jumpered_card)
{
    pnp_machine();
    sim_card_plug(&jumpered, &sim_cards[0], 0x300, 11);
    plug(0, 5);
    plug(1, 6);
    find();
    ck_assert_uint_eq(nic_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(nics[i].mode == NIC_MODE_IRQ);
        for (unsigned k = 0; k < i; k++) {
            ck_assert(nics[i].irq != nics[k].irq);
            ck_assert(nics[i].place.io.base != nics[k].place.io.base);
        }
    }
    nics_close();
    ck_assert(pnp[0].deactivations == 1 && pnp[1].deactivations == 1);
}
END_TEST

/* Named by its place: that base and line; the driver alone: any. */
START_TEST(named)
{
    static const char *const words[] = {"nic=ne2000:0x340,5", "nic=ne2000:0x340", "nic=ne2000",
                                        "nic=ne2000:0x340,7"};
    static const unsigned bases[] = {0x340, 0x340, 0x240, 0x340};
    static const int lines[] = {5, 10, 10, 10};
    pnp_machine();
    plug(0, 5);
    boot_options(words[_i]);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, bases[_i]);
    ck_assert_int_eq(nics[0].irq, lines[_i]);
    ck_assert((strstr(host_text(), "cannot be set to irq 7") != NULL) == (_i == 3));
    expect_off(0);
}
END_TEST

/* IRQ 2 of nic= is 9 here too. */
START_TEST(named_with_irq_2)
{
    struct sim_pnp_card_config cfg = net_card;
    cfg.device[0].irqs |= 1 << 9;
    pnp_machine();
    sim_pnp_plug(&pnp[0], &cfg);
    sim_pnp_connect(&pnp[0], 0, appears, vanishes, &board[0]);
    boot_options("nic=ne2000:0x340,2");
    find();
    found_one();
    ck_assert(nics[0].irq == 9 && nics[0].mode == NIC_MODE_IRQ);
    expect_off(0);
}
END_TEST

/* nic= asks for another driver's: left alone, and told. */
START_TEST(not_asked_for)
{
    pnp_machine();
    plug(0, 5);
    boot_options("nic=rtl8139");
    find();
    found_none(NULL);
    ck_assert_uint_eq(pnp[0].activations, 0);
    ck_assert_ptr_nonnull(strstr(probe_words(), "XYZ0001 Ethernet: not asked for"));
}
END_TEST

/* Every line it can drive is taken: it works without one. */
START_TEST(no_line_left)
{
    static const int lines[] = {3, 5, 10, 11};
    pnp_machine();
    for (unsigned i = 0; i < 4; i++) {
        irq_attach(lines[i], nobody, NULL);
    }
    plug(0, 5);
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL && pnp[0].device[0].irq == 0);
    expect_off(0);
}
END_TEST

/* A place it cannot have. */
START_TEST(named_wrong_place)
{
    pnp_machine();
    plug(0, 5);
    boot_options("nic=ne2000:0x210");
    find();
    found_none("cannot be set to 0x210");
    ck_assert_uint_eq(host_count(host_text(), "Plug and Play card present, inactive"), 1);
    ck_assert_uint_eq(pnp[0].activations, 0);
}
END_TEST

/* Nowhere to put it: said, with what to do. */
START_TEST(no_room)
{
    pnp_machine();
    plug(0, 5);
    boot_options("noprobe=0x200-0x3FF");
    find();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_uint_eq(sim_pnp_accesses(), 0); /* there is no read port left either */
    pnp_machine();
    plug(0, 5);
    boot_options("noprobe=0x240-0x278 noprobe=0x27A-0x3DF noprobe=0x3E0-0x3FF");
    find();
    ck_assert_uint_eq(nic_count, 0);
    ck_assert_ptr_nonnull(strstr(host_text(), "Plug and Play card present, inactive: NE2000 "
                                              "compatible (XYZ0001): all its I/O ranges "
                                              "(0x240-0x3e0) are taken or in noprobe="));
}
END_TEST

/* The ports of the protocol excluded: not even a key. */
START_TEST(protocol_excluded)
{
    static const char *const words[] = {"noprobe=0x279-0x279", "noprobe=0xA70-0xA7F"};
    pnp_machine();
    plug(0, 5);
    boot_options(words[_i]);
    find();
    found_none(NULL);
    ck_assert_uint_eq(sim_pnp_accesses(), 0);
}
END_TEST

START_TEST(takes_no_setting)
{
    struct sim_pnp_card_config cfg = net_card;
    cfg.stays_off = _i == 0;
    cfg.device[0].first = _i == 0 ? 0x240 : 0;
    cfg.device[0].last = _i == 0 ? 0x3E0 : 0;
    pnp_machine();
    sim_pnp_plug(&pnp[0], &cfg);
    find();
    found_none("DOS tool");
    ck_assert_uint_eq(host_count(host_text(), "Plug and Play card present, inactive"), 1);
}
END_TEST

/* Switched on, but broken: switched off again. */
static void appears_broken(void *self, unsigned io, int irq)
{
    struct sim_card *b = self;
    struct sim_card_config cfg = sim_cards[0];
    cfg.no_ram = true;
    sim_card_plug(b, &cfg, io, irq);
}

START_TEST(broken_is_switched_off)
{
    pnp_machine();
    sim_pnp_plug(&pnp[0], &net_card);
    sim_pnp_connect(&pnp[0], 0, appears_broken, vanishes, &board[0]);
    find();
    found_none("no card memory");
    ck_assert_uint_eq(pnp[0].deactivations, 1);
}
END_TEST

/* SMC's EtherEZ: another driver's; its memory is on the bus where its own registers say. */
static struct sim_wd etherez;

static void etherez_appears(void *self, unsigned io, int irq)
{
    (void)self;
    sim_wd_plug(&etherez, &sim_wds[5], io, irq);
}

static void etherez_vanishes(void *self)
{
    (void)self;
    ck_assert(sim_wd_at_rest(&etherez));
    sim_detach(&etherez);
}

START_TEST(etherez_is_switched_on)
{
    static const struct sim_pnp_card_config card = {
        .name = "SMC EtherEZ (8416)",
        .id = "SMC8416",
        .serial = 9,
        .device = {{.id = "SMC8416", .first = 0x240, .last = 0x3E0, .irqs = 1 << 5 | 1 << 10}}};
    pnp_machine();
    sim_pnp_plug(&pnp[0], &card);
    sim_pnp_connect(&pnp[0], 0, etherez_appears, etherez_vanishes, NULL);
    find();
    found_one();
    ck_assert_str_eq(nics[0].driver->name, "wd80x3");
    ck_assert_uint_eq(nics[0].place.io.base, 0x240);
    ck_assert(nics[0].irq == 10 && nics[0].irq_proven);
    ck_assert_uint_eq(nics[0].place.mem, sim_wd_window(&etherez));
    ck_assert_ptr_nonnull(strstr(host_text(), "card switched on: SMC EtherEZ (8416) (SMC8416)"));
    expect_off(0);
}
END_TEST

TCase *probe_pnp(void)
{
    TCase *tc = tcase_create("plug and play");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, inactive_is_switched_on);
    tcase_add_test(tc, etherez_is_switched_on);
    tcase_add_test(tc, active_is_taken);
    tcase_add_test(tc, active_without_line);
    tcase_add_test(tc, two_and_a_jumpered_card);
    tcase_add_loop_test(tc, named, 0, 4);
    tcase_add_test(tc, named_with_irq_2);
    tcase_add_test(tc, not_asked_for);
    tcase_add_test(tc, no_line_left);
    tcase_add_test(tc, named_wrong_place);
    tcase_add_test(tc, no_room);
    tcase_add_loop_test(tc, protocol_excluded, 0, 2);
    tcase_add_loop_test(tc, takes_no_setting, 0, 2);
    tcase_add_test(tc, broken_is_switched_off);
    return tc;
}
