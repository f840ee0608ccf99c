/*
 * The selftest on sound cards: what it says, what it leaves alone, and that the card is back at
 * once.  selftest_8390.c and selftest_8139.c break something and look whether it is named.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/cpu.h"
#include "kernel/error.h"
#include "kernel/options.h"
#include "tests/host/run_suite.h"
#include "tests/host/selftest.h"
#include "tests/host/sim/bus.h"

enum { ROWS = 24, COLUMNS = 80, PARTS_MAX = 2000, PART_US = 80000 };

struct rig st;

void st_up_card(const struct rig_card *card)
{
    rig_up(&st, card);
    host_capture_clear();
}

void st_up(unsigned index)
{
    struct rig_card card = rig_card(index);
    st_up_card(&card);
}

unsigned st_first_8139(void)
{
    unsigned index = 0;
    while (rig_card(index).rtl8139 == NULL) {
        index++;
    }
    return index;
}

void st_run(void)
{
    unsigned parts = 0;
    ck_assert_int_eq(selftest_begin(st.nic), OK);
    for (bool more = true; more; parts++) {
        uint64_t began = sim_now_ns();
        more = selftest_turn();
        ck_assert_uint_lt(parts, PARTS_MAX);
        /* The rest of the machine waits for so long.  A dead card costs some limits of 20 ms. */
        ck_assert_uint_lt((sim_now_ns() - began) / 1000, PART_US);
    }
}

void st_says(const char *words)
{
    ck_assert_msg(strstr(host_text(), words) != NULL, "no word of '%s' in:\n%s", words,
                  host_text());
}

void st_never_says(const char *words)
{
    ck_assert_msg(strstr(host_text(), words) == NULL, "'%s' in:\n%s", words, host_text());
}

void st_blames(const char *step)
{
    char verdict[80];
    snprintf(verdict, sizeof verdict, "not to be trusted: %s\n", step);
    st_says(verdict);
    ck_assert_uint_gt(selftest_faults(), 0);
}

void st_works(void)
{
    unsigned sent = st.side->sent_count(&st), received = st.received;
    uint64_t frames = st.nic->stats.rx_frames;
    ck_assert(st.side->online(&st));
    rig_receive(&st, 300, 7);
    ck_assert(rig_send(&st, 99, 8));
    ck_assert(rig_drain(&st));
    rig_expect(&st, received, 300, 7);
    rig_expect_sent(&st, sent, 99, 8);
    ck_assert_uint_eq(st.nic->stats.rx_frames, frames + 1);
    rig_down(&st);
}

/* ---- what it says ---- */

/* One screen, and nothing wider than it. */
static void fits_a_screen(void)
{
    unsigned rows = 0;
    for (const char *at = host_text(); *at != '\0'; rows++) {
        size_t n = strcspn(at, "\n");
        ck_assert_msg(n < COLUMNS, "%zu columns: %.*s", n, (int)n, at);
        at += n + (at[n] == '\n');
    }
    ck_assert_msg(rows < ROWS, "%u rows:\n%s", rows, host_text());
}

START_TEST(sound)
{
    st_up((unsigned)_i);
    rig_receive(&st, 100, 1);
    ck_assert(rig_send(&st, 60, 2));
    ck_assert(rig_drain(&st));
    struct nic_stats before = st.nic->stats;
    unsigned sent = st.side->sent_count(&st);
    unsigned width = st.nic->width;
    host_capture_clear();
    st_run();
    st_never_says("BAD");
    st_says("this card works\n");
    bool unreadable = st.cfg.ne2000 != NULL && st.cfg.ne2000->chip.mar_write_only;
    st_says(unreadable ? "registers  note good, but" : "registers  good");
    st_says("loopback   ");
    st_says("interrupt  good irq 5");
    ck_assert_uint_eq(selftest_faults(), 0);
    fits_a_screen();
    ck_assert_uint_eq(st.side->sent_count(&st), sent); /* nothing left the card */
    ck_assert_mem_eq(&st.nic->stats, &before, sizeof before);
    ck_assert_uint_eq(st.nic->width, width);
    st_works();
}
END_TEST

START_TEST(records)
{
    static const char *const figures[] = {"irq_latency", "bus_out_%u", "bus_tcp_rx", "bus_tcp_tx"};
    char name[24], wanted[80];
    st_up((unsigned)_i);
    st_run();
    for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        snprintf(name, sizeof name, figures[i], st.nic->width);
        snprintf(wanted, sizeof wanted, "{\"ev\":\"bench\",\"name\":\"%s\",\"nic\":0,", name);
        ck_assert_msg(host_count(host_records(), wanted) == 1, "%s: %s", wanted, host_records());
    }
    ck_assert_uint_eq(host_count(host_records(), "\"ev\":\"table\",\"name\":\"selftest\",\"nic\":0,"
                                                 "\"columns\":[\"step\",\"verdict\",\"words\"],"
                                                 "\"rows\":[[\"registers\",\"good\",\""),
                      1);
    ck_assert_ptr_nonnull(strstr(host_records(), "]],\"verdict\":\"this card works\""));
    rig_down(&st);
}
END_TEST

/* The simulated bus moves a word in 850 ns: 2298 KB/s; and a byte in 1 us: 977. */
START_TEST(figures)
{
    st_up(0);
    st_run();
    st_says("16 bit: 22");
    st_says("8 bit: 97");
    st_says("at most 1158.8 KB/s of TCP in: the wire (bus 5");
    rig_down(&st);
}
END_TEST

/* In bytes the bus is slower than the wire. */
START_TEST(slow_bus)
{
    st_up(1);
    st_run();
    st_says("at most 9");
    st_says("KB/s of TCP in: the bus (wire: 1158.8)");
    st_says("KB/s of TCP out: the bus (wire: 1158.8)");
    st_says("this card works");
    rig_down(&st);
}
END_TEST

/* ---- meanwhile ---- */

START_TEST(card_is_away)
{
    static const uint8_t frame[60];
    struct slice slice = {frame, sizeof frame};
    struct tx_frame tx = {&slice, 1, sizeof frame};
    struct frame *out[4];
    const struct nic_ops *own;
    st_up((unsigned)_i);
    own = st.nic->ops;
    ck_assert_int_eq(selftest_begin(st.nic), OK);
    ck_assert_int_eq(selftest_begin(st.nic), E_BUSY);
    while (selftest_turn()) {
        ck_assert_ptr_ne(st.nic->ops, own);
        ck_assert_uint_eq(st.nic->ops->poll(st.nic), 0);
        ck_assert_uint_eq(st.nic->ops->rx_burst(st.nic, out, 4), 0);
        ck_assert_uint_eq(st.nic->ops->tx_burst(st.nic, &tx, 1), 0);
        ck_assert(!st.nic->ops->tx_idle(st.nic));
        st.nic->ops->service(st.nic, EV_RX | EV_TX);
        st.nic->ops->irq_provoke(st.nic);
        st.nic->ops->irq_unmask(st.nic, EV_RX);
        ck_assert_int_eq(st.nic->ops->open(st.nic), OK);
        cpu_cli();
        ck_assert(nics_arm()); /* it never keeps the machine from halting ... */
        nics_disarm();
        cpu_sti();
        ck_assert_uint_eq(st.side->mask(&st), 0); /* ... and is never armed */
    }
    ck_assert_ptr_eq(st.nic->ops, own);
    ck_assert(!selftest_turn());
    st_works();
}
END_TEST

/* A filter set meanwhile is in force afterwards. */
START_TEST(filter_is_kept)
{
    const struct nic_filter all = {.promiscuous = true};
    uint8_t frame[64] = {0x02, 1, 2, 3, 4, 5};
    unsigned received;
    st_up((unsigned)_i);
    ck_assert_int_eq(selftest_begin(st.nic), OK);
    for (unsigned i = 0; selftest_turn(); i++) {
        if (i == 3) {
            st.nic->ops->set_filter(st.nic, &all);
        }
    }
    received = st.received;
    st.side->receive(&st, frame, sizeof frame, WIRE_OK);
    rig_pump(&st);
    ck_assert_uint_eq(st.received, received + 1);
    rig_down(&st);
}
END_TEST

/* Wherever it is given up, the card is back at once. */
START_TEST(aborted)
{
    bool more = true;
    for (unsigned parts = 0; more; parts += parts < 8 ? 1 : 23) {
        st_up((unsigned)_i);
        ck_assert_int_eq(selftest_begin(st.nic), OK);
        for (unsigned i = 0; i < parts && more; i++) {
            more = selftest_turn();
        }
        selftest_abort();
        ck_assert(!selftest_turn());
        st_works();
    }
}
END_TEST

/* Leaving the machine in the middle of it leaves the card as every card is left. */
START_TEST(quit_meanwhile)
{
    st_up((unsigned)_i);
    ck_assert_int_eq(selftest_begin(st.nic), OK);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(selftest_turn());
    }
    nics_close();
    ck_assert(st.side->at_rest(&st));
    st.side->unplug(&st);
}
END_TEST

/* With txirq=1 the card is unmasked all the time: not while it is tested, and again afterwards. */
START_TEST(with_txirq)
{
    options.txirq = true;
    struct rig_card card = rig_card((unsigned)_i);
    rig_machine(&st, &card);
    options.txirq = true;
    rig_find(&st);
    st.card.chip.used_unmasked = st.rtl.used_unmasked = true;
    rig_pump(&st);
    st_run();
    st_says("this card works");
    rig_receive(&st, 200, 3);
    for (unsigned turns = 0; st.received == 0 && turns < 10; turns++) {
        if (!rig_turn(&st)) {
            cpu_cli();
            (void)nics_arm();
            cpu_sti();
        }
    }
    ck_assert_uint_eq(st.received, 1);
    rig_down(&st);
}
END_TEST

START_TEST(polled_by_choice)
{
    struct rig_card card = rig_card((unsigned)_i);
    rig_machine(&st, &card);
    options.poll = true;
    rig_find(&st);
    st_run();
    st_says("interrupt  note not tested: irq=poll was asked for");
    st_says("this card works");
    rig_down(&st);
}
END_TEST

/* No line reaches the machine: that is a fault, and has been since boot. */
START_TEST(no_line)
{
    struct rig_card card = rig_card((unsigned)_i);
    rig_machine(&st, &card);
    st.side->move_irq(&st, 0);
    rig_find(&st);
    st_run();
    st_says("interrupt  BAD  reaches no line of this PC");
    st_blames("interrupt");
    rig_down(&st);
}
END_TEST

START_TEST(dead_line)
{
    st_up((unsigned)_i);
    st.side->move_irq(&st, 0);
    st_run();
    st_says("interrupt  BAD  none on irq 5 within 20 ms (try 1 of 32)");
    st_blames("interrupt");
    st.side->move_irq(&st, RIG_IRQ);
    st_works();
}
END_TEST

START_TEST(no_steps)
{
    st_up(0);
    struct nic_ops ops = *st.nic->ops;
    ops.selftest = NULL;
    st.nic->ops = &ops;
    ck_assert_int_eq(selftest_begin(st.nic), E_UNSUPPORTED);
    ck_assert(!selftest_turn());
    selftest_abort(); /* of nothing */
    rig_down(&st);
}
END_TEST

static TCase *sound_cards(void)
{
    TCase *tc = tcase_create("sound cards");
    const int cards = (int)rig_card_count(), first_rtl = (int)st_first_8139();
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, sound, 0, cards);
    tcase_add_loop_test(tc, records, 0, 1);
    tcase_add_loop_test(tc, records, first_rtl, first_rtl + 1);
    tcase_add_test(tc, figures);
    tcase_add_test(tc, slow_bus);
    tcase_add_loop_test(tc, card_is_away, first_rtl - 1, first_rtl + 1);
    tcase_add_loop_test(tc, filter_is_kept, first_rtl - 1, first_rtl + 1);
    tcase_add_loop_test(tc, aborted, first_rtl - 1, first_rtl + 1);
    tcase_add_loop_test(tc, quit_meanwhile, first_rtl - 1, first_rtl + 1);
    tcase_add_loop_test(tc, with_txirq, 1, 2);
    tcase_add_loop_test(tc, with_txirq, first_rtl, first_rtl + 1);
    tcase_add_loop_test(tc, polled_by_choice, 1, 2);
    tcase_add_loop_test(tc, no_line, 1, 2);
    tcase_add_loop_test(tc, dead_line, 1, 2);
    tcase_add_loop_test(tc, dead_line, first_rtl, first_rtl + 1);
    tcase_add_test(tc, no_steps);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("selftest");
    suite_add_tcase(suite, sound_cards());
    suite_add_tcase(suite, selftest_8390());
    suite_add_tcase(suite, selftest_8139());
    return run_suite(suite);
}
