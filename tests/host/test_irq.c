/*
 * kernel/irq.c and pic.c, unchanged, on a simulated pair of 8259A (tests/host/sim/pic8259.h).
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/error.h"
#include "kernel/events.h"
#include "kernel/idt.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/pic8259.h"

enum { BASE = 0x20 };

static unsigned events;

void idt_init(void)
{
}

void event_note(const char *what, uint32_t a, uint32_t b)
{
    (void)what;
    (void)a;
    (void)b;
    events++;
}

static void boot(void)
{
    sim8259[0] = sim8259[1] = (struct sim8259){.icw = 1};
    irq_init();
    sim8259_interrupts = true;
}

/* A device on one line, for handlers and for irq_find(). */
struct device {
    int line;
    unsigned served;
};

static bool serve(void *arg)
{
    struct device *d = arg;
    REQUIRE(!sim8259_interrupts, "handler");
    if ((sim8259[d->line / 8].high & 1 << d->line % 8) == 0) {
        return false;
    }
    d->served++;
    sim8259_drive(d->line, false);
    return true;
}

/* ---- tests ---- */

START_TEST(initialised_in_order_and_masked)
{
    boot();
    ck_assert_uint_eq(sim8259[0].icw | sim8259[1].icw, 0);
    ck_assert_uint_eq(sim8259[0].vector, BASE);
    ck_assert_uint_eq(sim8259[1].vector, BASE + 8);
    ck_assert_uint_eq(sim8259[0].icw3, 1 << SIM8259_CASCADE);
    ck_assert_uint_eq(sim8259[1].icw3, SIM8259_CASCADE);
    ck_assert_uint_eq(sim8259[0].icw4, 1); /* no automatic EOI */
    ck_assert_uint_eq(sim8259[1].icw4, 1);
    ck_assert_uint_eq(sim8259[0].mask, 0xFF & ~(1 << SIM8259_CASCADE));
    ck_assert_uint_eq(sim8259[1].mask, 0xFF);
}
END_TEST

/* As the BIOS had it, so that its own handlers run again. */
START_TEST(given_back_as_found)
{
    sim8259[0] = sim8259[1] = (struct sim8259){.icw = 1};
    sim8259[0].mask = 0xB8;
    sim8259[1].mask = 0x8E;
    irq_init();
    ck_assert_uint_eq(sim8259[1].mask, 0xFF);
    pic_leave();
    ck_assert_uint_eq(sim8259[0].icw | sim8259[1].icw, 0);
    ck_assert_uint_eq(sim8259[0].vector, 0x08);
    ck_assert_uint_eq(sim8259[1].vector, 0x70);
    ck_assert_uint_eq(sim8259[0].icw3, 1 << SIM8259_CASCADE);
    ck_assert_uint_eq(sim8259[1].icw3, SIM8259_CASCADE);
    ck_assert_uint_eq(sim8259[0].mask, 0xB8);
    ck_assert_uint_eq(sim8259[1].mask, 0x8E);
}
END_TEST

START_TEST(every_line_is_served_and_ended)
{
    boot();
    for (int line = 0; line < IRQ_LINES; line++) {
        struct device d = {line, 0};
        if (line == SIM8259_CASCADE) {
            continue;
        }
        ck_assert_int_eq(irq_attach(line, serve, &d), OK);
        ck_assert_uint_eq(irq_lines_in_use(), 1u << line);
        for (unsigned i = 1; i <= 3; i++) {
            sim8259_drive(line, true);
            ck_assert_uint_eq(d.served, i);
            ck_assert_uint_eq(irq_count(line), i);
            ck_assert_uint_eq(sim8259[0].in_service | sim8259[1].in_service, 0);
        }
        irq_detach(line, serve, &d);
        sim8259_drive(line, true);
        sim8259_drive(line, false);
        ck_assert_uint_eq(d.served, 3);
        sim8259[line / 8].latched = 0;
    }
    ck_assert_uint_eq(irq_spurious(), 0);
}
END_TEST

START_TEST(line_2_is_9)
{
    boot();
    struct device d = {9, 0};
    ck_assert_int_eq(irq_attach(2, serve, &d), OK);
    sim8259_drive(9, true);
    ck_assert_uint_eq(d.served, 1);
    ck_assert_uint_eq(irq_count(2), 1);
    ck_assert_uint_eq(irq_lines_in_use(), 1 << 9);
}
END_TEST

START_TEST(impossible_lines_and_a_full_one)
{
    boot();
    struct device d = {5, 0};
    ck_assert_int_eq(irq_attach(-1, serve, &d), E_RANGE);
    ck_assert_int_eq(irq_attach(16, serve, &d), E_RANGE);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(irq_attach(5, serve, &d), OK);
    }
    ck_assert_int_eq(irq_attach(5, serve, &d), E_NO_MEMORY);
}
END_TEST

START_TEST(shared_line_stays_until_the_last_leaves)
{
    boot();
    struct device a = {5, 0}, b = {5, 0};
    irq_attach(5, serve, &a);
    irq_attach(5, serve, &b);
    sim8259_drive(5, true);
    ck_assert_uint_eq(a.served + b.served, 1);
    irq_detach(5, serve, &a);
    sim8259_drive(5, true);
    ck_assert_uint_eq(a.served + b.served, 2);
    irq_detach(5, serve, &b);
    ck_assert_uint_eq(sim8259[0].mask & 1 << 5, 1 << 5);
    ck_assert_uint_eq(irq_unclaimed(5), 0);
}
END_TEST

/* A request that is gone at the acknowledge. */
static void glitch(int line)
{
    sim8259_interrupts = false;
    sim8259_drive(line, true);
    sim8259_cascade();
    sim8259[line / 8].high &= (uint8_t) ~(1 << line % 8);
    sim8259_interrupts = true;
    sim8259_deliver();
}

START_TEST(spurious_7_gets_no_eoi)
{
    boot();
    struct device d = {5, 0};
    irq_attach(5, serve, &d);
    glitch(5);
    ck_assert_uint_eq(irq_spurious(), 1);
    ck_assert_uint_eq(irq_count(7), 0);
    ck_assert_uint_eq(irq_count(5), 0);
    ck_assert_uint_eq(sim8259[0].in_service, 0);
}
END_TEST

START_TEST(spurious_15_ends_the_cascade_only)
{
    boot();
    struct device d = {10, 0};
    irq_attach(10, serve, &d);
    glitch(10);
    ck_assert_uint_eq(irq_spurious(), 1);
    ck_assert_uint_eq(irq_count(15), 0);
    ck_assert_uint_eq(sim8259[0].in_service | sim8259[1].in_service, 0);
    sim8259_drive(10, true);
    ck_assert_uint_eq(d.served, 1);
}
END_TEST

static bool shrug(void *arg)
{
    (void)arg;
    return false;
}

START_TEST(a_storm_is_masked_and_told_once)
{
    boot();
    sim8259[1].level = 1 << 3;
    ck_assert_int_eq(irq_take_storm(), IRQ_NONE);
    irq_attach(11, shrug, NULL);
    sim8259_drive(11, true); /* and nobody lowers it: comes back only once the line is masked */
    ck_assert_uint_ne(sim8259[1].mask & 1 << 3, 0);
    ck_assert_int_eq(irq_take_storm(), 11);
    ck_assert_int_eq(irq_take_storm(), IRQ_NONE);
    ck_assert_uint_eq(irq_unclaimed(11), irq_count(11));
    ck_assert_uint_eq(events, 1);
}
END_TEST

static void provoke(void *arg)
{
    const struct device *d = arg;
    sim8259_drive(d->line, true);
}

static void quiet(void *arg)
{
    const struct device *d = arg;
    sim8259_drive(d->line, false);
}

static void nothing(void *arg)
{
    (void)arg;
}

START_TEST(find_every_line)
{
    boot();
    for (int line = 0; line < IRQ_LINES; line++) {
        struct device d = {line, 0};
        if (line == SIM8259_CASCADE) {
            continue;
        }
        ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), line);
        ck_assert_uint_eq(sim8259[0].mask & ~(1u << SIM8259_CASCADE),
                          0xFF & ~(1u << SIM8259_CASCADE));
        ck_assert_uint_eq(sim8259[1].mask, 0xFF);
        ck_assert_uint_eq(sim8259[0].in_service | sim8259[1].in_service, 0);
    }
}
END_TEST

START_TEST(find_level_triggered)
{
    boot();
    sim8259[1].level = 1 << 3;
    struct device d = {11, 0};
    ck_assert_int_eq(irq_find(0x0E00, provoke, quiet, &d), 11);
}
END_TEST

START_TEST(find_nothing_where_nothing_is)
{
    boot();
    struct device d = {5, 0};
    ck_assert_int_eq(irq_find(0xFFFF, nothing, nothing, &d), IRQ_NONE);
    ck_assert_int_eq(irq_find(0xFFFF & ~(1 << 5), provoke, quiet, &d), IRQ_NONE);
    ck_assert_int_eq(irq_find(0, provoke, quiet, &d), IRQ_NONE);
}
END_TEST

START_TEST(find_leaves_lines_in_use_alone)
{
    boot();
    struct device d = {5, 0};
    irq_attach(5, serve, &d);
    ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), IRQ_NONE);
    ck_assert_uint_eq(sim8259[0].mask & 1 << 5, 0);
}
END_TEST

START_TEST(find_ignores_edges_from_before)
{
    boot();
    sim8259[0].latched = 1 << 6; /* the BIOS left the floppy controller waiting */
    sim8259[0].high = 1 << 6;
    struct device d = {5, 0};
    ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), 5);
}
END_TEST

/* A sound card that sim8259_interrupts every 0.3 ms. */
static void chatter(void)
{
    sim8259_drive(7, sim8259_us % 300 < 10);
}

START_TEST(find_among_noise)
{
    boot();
    sim8259_every_us = chatter;
    struct device d = {5, 0};
    ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), 5);
    d.line = 7;
    ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), IRQ_NONE);
}
END_TEST

static unsigned provoked;

static void provoke_twice_only(void *arg)
{
    if (provoked++ < 2) {
        provoke(arg);
    }
}

START_TEST(find_wants_three_out_of_three)
{
    boot();
    struct device d = {5, 0};
    ck_assert_int_eq(irq_find(0xFFFF, provoke_twice_only, quiet, &d), IRQ_NONE);
    ck_assert_uint_eq(provoked, 3);
}
END_TEST

START_TEST(edge_or_level)
{
    sim8259_elcr = 0xFFFF; /* no such register */
    ck_assert(!pic_is_level(11));
    sim8259_elcr = 0x0C00;
    ck_assert(pic_is_level(11) && pic_is_level(10) && !pic_is_level(9) && !pic_is_level(3));
    sim8259_elcr = 0x0C01; /* line 0 cannot be level: something else answers here */
    ck_assert(!pic_is_level(11));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("irq");
    TCase *tests = tcase_create("irq");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, initialised_in_order_and_masked);
    tcase_add_test(tests, given_back_as_found);
    tcase_add_test(tests, every_line_is_served_and_ended);
    tcase_add_test(tests, line_2_is_9);
    tcase_add_test(tests, impossible_lines_and_a_full_one);
    tcase_add_test(tests, shared_line_stays_until_the_last_leaves);
    tcase_add_test(tests, spurious_7_gets_no_eoi);
    tcase_add_test(tests, spurious_15_ends_the_cascade_only);
    tcase_add_test(tests, a_storm_is_masked_and_told_once);
    tcase_add_test(tests, find_every_line);
    tcase_add_test(tests, find_level_triggered);
    tcase_add_test(tests, find_nothing_where_nothing_is);
    tcase_add_test(tests, find_leaves_lines_in_use_alone);
    tcase_add_test(tests, find_ignores_edges_from_before);
    tcase_add_test(tests, find_among_noise);
    tcase_add_test(tests, find_wants_three_out_of_three);
    tcase_add_test(tests, edge_or_level);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
