/*
 * Trust in the simulated Plug and Play cards: every rule they enforce is broken here once, by a
 * deliberately wrong step.  That the right way does not abort is shown in test_isapnp.c.
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/io.h"
#include "kernel/isapnp.h"
#include "kernel/time.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/isapnp.h"
#include "tests/host/wrong_step.h"

static const struct sim_pnp_card_config net_card = {
    .name = "PnP NE2000",
    .id = "RTL8019",
    .serial = 0x12345678,
    .device = {{.id = "RTL8019",
                .compatible = "PNP80D6",
                .first = 0x240,
                .last = 0x3E0,
                .irqs = 1 << 5 | 1 << 10}},
};
static const struct sim_pnp_card_config unchecked_card = {
    .name = "Unchecked",
    .id = "PNP80D6",
    .serial = 2,
    .device = {{.id = "PNP80D6", .no_range_check = true}}};
static const struct sim_pnp_card_config second_card = {
    .name = "Second", .id = "PNP80D6", .serial = 1, .device = {{.id = "PNP80D6"}}};

static struct sim_pnp_card cards[2];

static bool any_port(uint16_t port)
{
    (void)port;
    return true;
}

static bool any_device(const struct isapnp_device *device, void *arg)
{
    (void)device;
    (void)arg;
    return true;
}

/* ---- the wrong ways ---- */

static const struct ioport address_port = {0x279}, data_port = {0xA79};

static void put(unsigned reg, unsigned value)
{
    io_out8(address_port, 0, (uint8_t)reg);
    io_out8(data_port, 0, (uint8_t)value);
}

static void key(unsigned bytes)
{
    uint8_t state = ISAPNP_LFSR_SEED;
    io_out8(address_port, 0, 0);
    io_out8(address_port, 0, 0);
    for (unsigned i = 0; i < bytes; i++) {
        io_out8(address_port, 0, state);
        state = isapnp_lfsr(state, 0);
    }
}

/* Card 1 numbered, the read port set, asleep. */
static void prepare(void)
{
    sim_reset();
    sim_pnp_reset();
    sim_pnp_plug(&cards[0], &net_card);
    ck_assert_uint_eq(isapnp_scan(any_port, any_device, NULL), 1);
}

static void open_card(void)
{
    prepare();
    key(32);
    put(3, 1);
}

static void key_broken_off(void)
{
    prepare();
    key(20);
    io_out8(address_port, 0, 0);
}
static void data_in_key(void)
{
    prepare();
    key(20);
    io_out8(data_port, 0, 0);
}
static void no_key(void)
{
    prepare();
    put(3, 1);
}
static void reset(void)
{
    open_card();
    put(2, 1);
}
static void nobody_selected(void)
{
    prepare();
    key(32);
    put(0x30, 1);
}
static void bad_read_port(void)
{
    prepare();
    key(32);
    put(2, 4);
    put(3, 0);
    put(0, 0x100 >> 2);
}
static void pairs_too_fast(void)
{
    prepare();
    key(32);
    put(2, 4);
    put(3, 0);
    io_out8(address_port, 0, 1);
    delay_us(1000);
    for (unsigned i = 0; i < 3; i++) {
        io_in8((struct ioport){0x273}, 0);
    }
}
static void isolation_at_once(void)
{
    prepare();
    key(32);
    put(2, 4);
    put(3, 0);
    io_out8(address_port, 0, 1);
    io_in8((struct ioport){0x273}, 0);
}
static void number_early(void)
{
    prepare();
    key(32);
    put(2, 4);
    put(3, 0);
    put(6, 1);
}
static void number_of_another(void)
{
    prepare();
    sim_pnp_plug(&cards[1], &second_card);
    key(32);
    put(3, 0);
    io_out8(address_port, 0, 1);
    delay_us(1000);
    for (unsigned bit = 0; bit < 72; bit++) {
        io_in8((struct ioport){0x273}, 0);
        io_in8((struct ioport){0x273}, 0);
        delay_us(250);
    }
    put(6, 1);
}
static void number_for_two(void)
{
    prepare();
    sim_pnp_plug(&cards[1], &second_card);
    key(32);
    put(2, 4);
    put(3, 0);
    put(6, 1);
}
static void number_for_nobody(void)
{
    prepare();
    key(32);
    put(6, 1);
}
static void resource_not_ready(void)
{
    open_card();
    io_out8(address_port, 0, 4);
    io_in8((struct ioport){0x273}, 0);
}
static void no_such_device(void)
{
    open_card();
    put(7, 1);
}
static void no_such_base(void)
{
    open_card();
    put(0x60, 0x03);
    put(0x61, 0x18);
}
static void no_such_line(void)
{
    open_card();
    put(0x70, 4);
}
static void on_without_base(void)
{
    open_card();
    put(0x30, 1);
}
static void changed_while_on(void)
{
    open_card();
    put(0x60, 0x03);
    put(0x61, 0x00);
    put(0x30, 1);
    put(0x60, 0x02);
}
static void check_while_on(void)
{
    open_card();
    put(0x60, 0x03);
    put(0x61, 0x00);
    put(0x30, 1);
    put(0x31, 2);
}
static void written_in_check(void)
{
    open_card();
    put(0x60, 0x03);
    put(0x61, 0x00);
    put(0x31, 2);
    io_out8((struct ioport){0x300}, 0, 0);
}
static void no_range_check(void)
{
    prepare();
    sim_pnp_plug(&cards[1], &unchecked_card);
    cards[1].csn = 2;
    key(32);
    put(3, 2);
    put(0x31, 2);
}
static void one_number_twice(void)
{
    prepare();
    sim_pnp_plug(&cards[1], &second_card);
    cards[1].csn = 1;
    key(32);
    put(3, 1);
    put(0x30, 0);
}
static void unknown_read(void)
{
    open_card();
    io_out8(address_port, 0, 0x10);
    io_in8((struct ioport){0x273}, 0);
}
static void word_read(void)
{
    open_card();
    io_in16((struct ioport){0x273}, 0);
}
static void word_written(void)
{
    open_card();
    io_out16(data_port, 0, 0);
}
static void read_port_written(void)
{
    open_card();
    io_out8((struct ioport){0x273}, 0, 0);
}
static void unknown_register(void)
{
    open_card();
    put(0x74, 0);
}

static const struct wrong_step wrong[] = {
    WRONG_STEP(key_broken_off, "key broken off after 20"),
    WRONG_STEP(data_in_key, "middle of the key"),
    WRONG_STEP(no_key, "wait for the key"),
    WRONG_STEP(reset, "a reset loses"),
    WRONG_STEP(nobody_selected, "no card selected"),
    WRONG_STEP(bad_read_port, "read port 103"),
    WRONG_STEP(pairs_too_fast, "too soon"),
    WRONG_STEP(isolation_at_once, "too soon"),
    WRONG_STEP(number_early, "outside the end of isolation"),
    WRONG_STEP(number_of_another, "number 1 is zero or another card's"),
    WRONG_STEP(number_for_two, "given to two cards"),
    WRONG_STEP(number_for_nobody, "given to nobody"),
    WRONG_STEP(resource_not_ready, "before it is ready"),
    WRONG_STEP(no_such_device, "no device 1"),
    WRONG_STEP(no_such_base, "cannot be set to 318"),
    WRONG_STEP(no_such_line, "has no line 4"),
    WRONG_STEP(on_without_base, "without a base"),
    WRONG_STEP(changed_while_on, "of an active device changed"),
    WRONG_STEP(check_while_on, "of an active device changed"),
    WRONG_STEP(written_in_check, "range being checked written"),
    WRONG_STEP(no_range_check, "it has no range check"),
    WRONG_STEP(one_number_twice, "two cards being configured at once"),
    WRONG_STEP(unknown_read, "register 10 read"),
    WRONG_STEP(word_read, "16-bit read of the read port"),
    WRONG_STEP(word_written, "16-bit write"),
    WRONG_STEP(read_port_written, "read port written"),
    WRONG_STEP(unknown_register, "register 74 written"),
};

START_TEST(misuse)
{
    wrong_step_expect(&wrong[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse of Plug and Play");
    TCase *tc = tcase_create("misuse");
    tcase_add_loop_test(tc, misuse, 0, sizeof wrong / sizeof wrong[0]);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
