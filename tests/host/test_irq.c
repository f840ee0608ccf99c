/*
 * kernel/irq.c and pic.c, unchanged, on a simulated pair of 8259A that is strict about what a
 * driver may do: initialisation in order, an end of interrupt only for a line in service, no mask
 * or handler running with interrupts enabled.
 *
 * Model, from the Intel 8259A data sheet (1988): an edge is latched, also while masked; the
 * request must still be high at the acknowledge, else the chip answers with its input 7 and sets
 * nothing in service.
 */
#include <check.h>
#include <stdlib.h>

#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/events.h"
#include "kernel/idt.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "kernel/time.h"

enum { MASTER = 0x20, SLAVE = 0xA0, ELCR_PORT = 0x4D0, CASCADE = 2, BASE = 0x20 };

struct chip {
    unsigned icw; /* next initialisation word expected, 0: initialised, 1: never touched */
    uint8_t vector, icw3, icw4;
    uint8_t mask, in_service, latched, high;
    uint8_t level; /* inputs that are level-triggered */
    bool read_isr;
};

static struct chip chips[2];
static uint16_t elcr;
static bool interrupts;
static bool handling;
static uint64_t now_us;
static void (*every_us)(void); /* a device that does something on its own */

/* ck_assert() writes to a pipe even when it holds: too slow for what runs a million times. */
#define REQUIRE(condition, what)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg("%s: %s", what, #condition);                                              \
        }                                                                                          \
    } while (0)

/* ---- the chips ---- */

static struct chip *chip_at(unsigned port)
{
    return (port & ~1u) == MASTER ? &chips[0] : &chips[1];
}

static void end_of_interrupt(struct chip *c, unsigned input)
{
    REQUIRE((c->in_service & 1 << input) != 0, "EOI for a line not in service");
    c->in_service &= (uint8_t) ~(1 << input);
}

static void command(struct chip *c, uint8_t byte)
{
    if ((byte & 0x10) != 0) {
        ck_assert_uint_eq(byte, 0x11); /* edge, cascaded, ICW4 follows */
        *c = (struct chip){.icw = 2, .high = c->high, .level = c->level};
    } else if ((byte & 0x08) != 0) {
        REQUIRE((byte & 3) == 3, "OCW3 other than read ISR");
        c->read_isr = true;
    } else {
        REQUIRE((byte & 0xE0) == 0x60, "OCW2 other than specific EOI");
        end_of_interrupt(c, byte & 7);
    }
}

static void data(struct chip *c, uint8_t byte)
{
    REQUIRE(c->icw != 1, "data before ICW1");
    switch (c->icw) {
    case 2:
        c->vector = byte;
        c->icw = 3;
        break;
    case 3:
        c->icw3 = byte;
        c->icw = 4;
        break;
    case 4:
        c->icw4 = byte;
        c->icw = 0;
        break;
    default: REQUIRE(!interrupts, "mask written"); c->mask = byte;
    }
}

void sim_bus_out(unsigned port, uint32_t byte, unsigned width)
{
    REQUIRE(width == 8, "8259A access");
    REQUIRE((port & ~1u) == MASTER || (port & ~1u) == SLAVE, "foreign port");
    if ((port & 1) == 0) {
        command(chip_at(port), (uint8_t)byte);
    } else {
        data(chip_at(port), (uint8_t)byte);
    }
}

uint32_t sim_bus_in(unsigned port, unsigned width)
{
    REQUIRE(width == 8, "8259A access");
    if ((port & ~1u) == ELCR_PORT) {
        return elcr >> 8 * (port & 1) & 0xFF;
    }
    struct chip *c = chip_at(port);
    REQUIRE((port & 1) == 0 && c->read_isr, "read of something else than the ISR");
    return c->in_service;
}

/* Highest-priority input that asks and is not held back by one in service; -1: none. */
static int asking(const struct chip *c)
{
    uint8_t requests = (c->latched | (c->high & c->level)) & (uint8_t)~c->mask;
    for (int input = 0; input < 8; input++) {
        if ((c->in_service & 1 << input) != 0) {
            return -1;
        }
        if ((requests & 1 << input) != 0) {
            return input;
        }
    }
    return -1;
}

static void set_cascade(void)
{
    bool up = asking(&chips[1]) >= 0;
    bool was = (chips[0].high & 1 << CASCADE) != 0;
    chips[0].latched |= up && !was ? 1 << CASCADE : 0;
    chips[0].high = (uint8_t)((chips[0].high & ~(1 << CASCADE)) | up << CASCADE);
}

/* The acknowledge cycle of one chip. */
static unsigned acknowledge(struct chip *c)
{
    int input = asking(c);
    if (input < 0 || (c->high & 1 << input) == 0) {
        if (input >= 0) {
            c->latched &= (uint8_t) ~(1 << input);
        }
        return 7;
    }
    c->in_service |= (uint8_t)(1 << input);
    c->latched &= (uint8_t) ~(1 << input);
    return (unsigned)input;
}

static void deliver(void)
{
    set_cascade();
    while (interrupts && !handling && asking(&chips[0]) >= 0) {
        unsigned input = acknowledge(&chips[0]);
        unsigned line = input;
        if (input == CASCADE && (chips[0].in_service & 1 << CASCADE) != 0) {
            line = 8 + acknowledge(&chips[1]);
            set_cascade(); /* falls, so that the next request of the slave is an edge again */
        }
        interrupts = false;
        handling = true;
        irq_dispatch((int)line);
        handling = false;
        interrupts = true;
        set_cascade();
    }
}

static void drive(int line, bool high)
{
    struct chip *c = &chips[line / 8];
    uint8_t bit = (uint8_t)(1 << line % 8);
    if (high && (c->high & bit) == 0) {
        c->latched |= bit;
    }
    c->high = high ? c->high | bit : c->high & (uint8_t)~bit;
    deliver();
}

/* ---- the rest of the machine ---- */

bool cpu_irq_save(void)
{
    bool before = interrupts;
    interrupts = false;
    return before;
}

void cpu_irq_restore(bool enabled)
{
    interrupts = interrupts || enabled;
    deliver();
}

void cpu_sti(void)
{
    cpu_irq_restore(true);
}

void cpu_cli(void)
{
    interrupts = false;
}

uint64_t time_us(void)
{
    now_us++;
    if (every_us != NULL) {
        every_us();
    }
    deliver();
    return now_us;
}

struct deadline deadline_us(uint32_t from_now)
{
    return (struct deadline){now_us + from_now};
}

bool expired(const struct deadline *d)
{
    return time_us() >= d->at_us;
}

void delay_us(uint32_t us)
{
    struct deadline end = deadline_us(us);
    while (!expired(&end)) {
    }
}

void idt_init(void)
{
}

static unsigned events;

void event_note(const char *what, uint32_t a, uint32_t b)
{
    (void)what;
    (void)a;
    (void)b;
    events++;
}

static void boot(void)
{
    chips[0] = chips[1] = (struct chip){.icw = 1};
    irq_init();
    interrupts = true;
}

/* A device on one line, for handlers and for irq_find(). */
struct device {
    int line;
    unsigned served;
};

static bool serve(void *arg)
{
    struct device *d = arg;
    REQUIRE(!interrupts, "handler");
    if ((chips[d->line / 8].high & 1 << d->line % 8) == 0) {
        return false;
    }
    d->served++;
    drive(d->line, false);
    return true;
}

/* ---- tests ---- */

START_TEST(initialised_in_order_and_masked)
{
    boot();
    ck_assert_uint_eq(chips[0].icw | chips[1].icw, 0);
    ck_assert_uint_eq(chips[0].vector, BASE);
    ck_assert_uint_eq(chips[1].vector, BASE + 8);
    ck_assert_uint_eq(chips[0].icw3, 1 << CASCADE);
    ck_assert_uint_eq(chips[1].icw3, CASCADE);
    ck_assert_uint_eq(chips[0].icw4, 1); /* no automatic EOI */
    ck_assert_uint_eq(chips[1].icw4, 1);
    ck_assert_uint_eq(chips[0].mask, 0xFF & ~(1 << CASCADE));
    ck_assert_uint_eq(chips[1].mask, 0xFF);
}
END_TEST

START_TEST(every_line_is_served_and_ended)
{
    boot();
    for (int line = 0; line < IRQ_LINES; line++) {
        struct device d = {line, 0};
        if (line == CASCADE) {
            continue;
        }
        ck_assert_int_eq(irq_attach(line, serve, &d), OK);
        ck_assert_uint_eq(irq_lines_in_use(), 1u << line);
        for (unsigned i = 1; i <= 3; i++) {
            drive(line, true);
            ck_assert_uint_eq(d.served, i);
            ck_assert_uint_eq(irq_count(line), i);
            ck_assert_uint_eq(chips[0].in_service | chips[1].in_service, 0);
        }
        irq_detach(line, serve, &d);
        drive(line, true);
        drive(line, false);
        ck_assert_uint_eq(d.served, 3);
        chips[line / 8].latched = 0;
    }
    ck_assert_uint_eq(irq_spurious(), 0);
}
END_TEST

START_TEST(line_2_is_9)
{
    boot();
    struct device d = {9, 0};
    ck_assert_int_eq(irq_attach(2, serve, &d), OK);
    drive(9, true);
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
    drive(5, true);
    ck_assert_uint_eq(a.served + b.served, 1);
    irq_detach(5, serve, &a);
    drive(5, true);
    ck_assert_uint_eq(a.served + b.served, 2);
    irq_detach(5, serve, &b);
    ck_assert_uint_eq(chips[0].mask & 1 << 5, 1 << 5);
    ck_assert_uint_eq(irq_unclaimed(5), 0);
}
END_TEST

/* A request that is gone at the acknowledge. */
static void glitch(int line)
{
    interrupts = false;
    drive(line, true);
    set_cascade();
    chips[line / 8].high &= (uint8_t) ~(1 << line % 8);
    interrupts = true;
    deliver();
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
    ck_assert_uint_eq(chips[0].in_service, 0);
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
    ck_assert_uint_eq(chips[0].in_service | chips[1].in_service, 0);
    drive(10, true);
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
    chips[1].level = 1 << 3;
    ck_assert_int_eq(irq_take_storm(), IRQ_NONE);
    irq_attach(11, shrug, NULL);
    drive(11, true); /* and nobody lowers it: comes back only once the line is masked */
    ck_assert_uint_ne(chips[1].mask & 1 << 3, 0);
    ck_assert_int_eq(irq_take_storm(), 11);
    ck_assert_int_eq(irq_take_storm(), IRQ_NONE);
    ck_assert_uint_eq(irq_unclaimed(11), irq_count(11));
    ck_assert_uint_eq(events, 1);
}
END_TEST

static void provoke(void *arg)
{
    const struct device *d = arg;
    drive(d->line, true);
}

static void quiet(void *arg)
{
    const struct device *d = arg;
    drive(d->line, false);
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
        if (line == CASCADE) {
            continue;
        }
        ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), line);
        ck_assert_uint_eq(chips[0].mask & ~(1u << CASCADE), 0xFF & ~(1u << CASCADE));
        ck_assert_uint_eq(chips[1].mask, 0xFF);
        ck_assert_uint_eq(chips[0].in_service | chips[1].in_service, 0);
    }
}
END_TEST

START_TEST(find_level_triggered)
{
    boot();
    chips[1].level = 1 << 3;
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
    ck_assert_uint_eq(chips[0].mask & 1 << 5, 0);
}
END_TEST

START_TEST(find_ignores_edges_from_before)
{
    boot();
    chips[0].latched = 1 << 6; /* the BIOS left the floppy controller waiting */
    chips[0].high = 1 << 6;
    struct device d = {5, 0};
    ck_assert_int_eq(irq_find(0xFFFF, provoke, quiet, &d), 5);
}
END_TEST

/* A sound card that interrupts every 0.3 ms. */
static void chatter(void)
{
    drive(7, now_us % 300 < 10);
}

START_TEST(find_among_noise)
{
    boot();
    every_us = chatter;
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
    elcr = 0xFFFF; /* no such register */
    ck_assert(!pic_is_level(11));
    elcr = 0x0C00;
    ck_assert(pic_is_level(11) && pic_is_level(10) && !pic_is_level(9) && !pic_is_level(3));
    elcr = 0x0C01; /* line 0 cannot be level: something else answers here */
    ck_assert(!pic_is_level(11));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("irq");
    TCase *tests = tcase_create("irq");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, initialised_in_order_and_masked);
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
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
