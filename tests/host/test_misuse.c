/*
 * Trust in the simulated chip: every rule it enforces is broken here once, by a deliberately wrong
 * driver step, in a child process that must die with the right words.  And the right way through
 * each of these rituals must not abort.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "tests/host/misuse.h"
#include "tests/host/run_suite.h"

extern const struct wrong_step __start_wrong_steps[], __stop_wrong_steps[];

START_TEST(aborts)
{
    wrong_step_expect(&__start_wrong_steps[_i]);
}
END_TEST

static void send_nothing(void)
{
    online();
    transmit(0);
}

START_TEST(last_accesses_are_printed)
{
    char said[WRONG_OUTPUT];
    wrong_step_run(send_nothing, said);
    ck_assert_ptr_nonnull(strstr(said, "out8  300 <- 26"));
    ck_assert_ptr_nonnull(strstr(said, "out8  305 <- 00"));
}
END_TEST

/* ---- and the right ways do not abort ---- */

static bool masking_handler(void *arg)
{
    (void)arg;
    w(R_IMR, 0);
    return true;
}

START_TEST(right_start_and_transfer)
{
    online();
    put_words(0x4000, 60);
    transmit(60);
    ck_assert(r(R_CR) & N_TXP);
    delay_us(80);
    ck_assert(!(r(R_CR) & N_TXP));
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE), N_PTX);
    ck_assert_uint_eq(r(R_TPSR), N_TSR_PTX);
    ck_assert_uint_eq(sim_frames_sent(chip), 1);
    ck_assert_uint_eq(sim_sent(chip, 0)->length, 60);
    ck_assert_uint_eq(sim_sent(chip, 0)->data[2], 2);
    arrive();
    get_words((RING + 1) << 8, 64);
    w(R_BNRY, RING + 1);
    sim_card_free(&misuse_card);
}
END_TEST

START_TEST(right_overrun)
{
    overrun();
    unsigned stored = chip->stored;
    arrive();
    ck_assert_uint_eq(chip->stored, stored); /* deaf */
    ck_assert(r(R_ISR) & N_RST);
    cure(NORMAL);
    ck_assert(!(r(R_ISR) & (N_OVW | N_RST)));
    ck_assert_uint_eq(chip->overruns_cured, 1);
    w(R_BNRY, RING + 2);
    arrive();
    ck_assert_uint_eq(chip->stored, stored + 1); /* hears again */
    sim_card_free(&misuse_card);
}
END_TEST

/* Draining the ring without the procedure leaves the chip deaf. */
START_TEST(deaf_without_procedure)
{
    overrun();
    unsigned stored = chip->stored;
    w(R_BNRY, RING + 20);
    arrive();
    ck_assert_uint_eq(chip->stored, stored);
    ck_assert_uint_eq(chip->missed, 2);
}
END_TEST

/* A frame on the wire is finished by STOP; one that waits is cut, with neither PTX nor TXE. */
START_TEST(stop_and_transmission)
{
    online();
    transmit(60);
    w(R_CR, STOP0);
    delay_us(100);
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE | N_RST), N_PTX);
    ck_assert_uint_eq(sim_frames_sent(chip), 1);
    sim_card_free(&misuse_card);
    online();
    sim_hold_tx(chip);
    transmit(60);
    w(R_CR, STOP0);
    delay_us(1600);
    ck_assert_uint_eq(r(R_ISR) & (N_PTX | N_TXE), 0);
    sim_release_tx(chip);
    delay_us(1600);
    ck_assert_uint_eq(sim_frames_sent(chip), 0);
    ck_assert_uint_eq(chip->cut_short, 1);
}
END_TEST

START_TEST(tallies)
{
    online();
    sim_raise_tally(chip, TALLY_CRC, 127);
    ck_assert(!(r(R_ISR) & N_CNT));
    sim_raise_tally(chip, TALLY_CRC, 1);
    ck_assert(r(R_ISR) & N_CNT);
    w(R_ISR, N_CNT);
    ck_assert_msg(r(R_ISR) & N_CNT, "CNT must not clear while the tally is not read");
    sim_raise_tally(chip, TALLY_CRC, 200);
    ck_assert_uint_eq(r(14), SIM_TALLY_MAX);
    ck_assert_uint_eq(r(14), 0);
    w(R_ISR, N_CNT);
    ck_assert(!(r(R_ISR) & N_CNT));
}
END_TEST

/* An edge that comes while the line is still high is none: what irq_edge_not_lost rests on. */
START_TEST(edges)
{
    online();
    irq_attach(IRQ, masking_handler, NULL);
    w(R_IMR, N_PRX);
    arrive();
    ck_assert(sim_irq_line(IRQ));
    delay_us(1);
    ck_assert_uint_eq(irq_count(IRQ), 1);
    w(R_IMR, N_PRX); /* unmasking with work pending raises it again */
    delay_us(1);
    ck_assert_uint_eq(irq_count(IRQ), 2);
    cpu_cli();
    w(R_IMR, N_PRX);
    w(R_IMR, 0); /* gone before it was taken */
    cpu_sti();
    ck_assert_uint_eq(irq_count(IRQ), 2);
    ck_assert_uint_eq(irq_spurious(), 1);
}
END_TEST

/* Nobody answers in memory either, in any width; and two may not. */
static bool answers(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    (void)width;
    (void)self;
    *value = write ? *value : address & 0xFF;
    return address < 0xD1000;
}

static void two_at_one_place(void)
{
    uint8_t byte;
    sim_reset();
    sim_attach_memory(&(struct sim_memory){"one", answers, NULL});
    sim_attach_memory(&(struct sim_memory){"other", answers, NULL});
    mem_read8((struct iowin){0xD0000}, 0, &byte, 1);
}

START_TEST(memory_on_the_bus)
{
    static const struct wrong_step both = WRONG_STEP(two_at_one_place, "one and other both answer");
    const struct iowin w = {0xD0FFC};
    uint8_t got[8] = {0};
    sim_reset();
    mem_read16(w, 0, got, 4);
    mem_read8(w, 0, got, 1);
    ck_assert_mem_eq(got, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    ck_assert_uint_eq(sim_now_ns(), 4 * SIM_NS_MEM16 + SIM_NS_MEM8);
    sim_attach_memory(&(struct sim_memory){"one", answers, NULL});
    mem_read16(w, 0, got, 4);
    ck_assert_mem_eq(got, "\xFC\x00\xFE\x00\xFF\xFF\xFF\xFF", 8);
    mem_write8(w, 0, got, 8);
    wrong_step_expect(&both);
}
END_TEST

START_TEST(empty_bus)
{
    sim_reset();
    ck_assert_uint_eq(io_in8(port, 0), 0xFF);
    ck_assert_uint_eq(io_in16(port, 0), 0xFFFF);
    ck_assert_uint_eq(sim_now_ns(), SIM_NS_BYTE + SIM_NS_WORD);
    struct deadline d = deadline_us(50);
    while (!expired(&d)) {
    }
    ck_assert_uint_ge(sim_now_ns(), 50000);
}
END_TEST

/* IEEE 802.3: CRC of "123456789" is CBF43926h; hash of 01:00:5E:00:00:01 by hand. */
START_TEST(wire_sums)
{
    static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    ck_assert_uint_eq(wire_crc("123456789", 9), 0xCBF43926);
    ck_assert_uint_lt(wire_hash(broadcast), 64);
    ck_assert_uint_eq(wire_frame_ns(1514), 1220800);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse");
    TCase *tc = tcase_create("wrong steps");
    tcase_add_loop_test(tc, aborts, 0, (int)(__stop_wrong_steps - __start_wrong_steps));
    tcase_add_test(tc, last_accesses_are_printed);
    suite_add_tcase(suite, tc);
    tc = tcase_create("right steps");
    tcase_add_test(tc, right_start_and_transfer);
    tcase_add_test(tc, right_overrun);
    tcase_add_test(tc, deaf_without_procedure);
    tcase_add_test(tc, stop_and_transmission);
    tcase_add_test(tc, tallies);
    tcase_add_test(tc, edges);
    tcase_add_test(tc, empty_bus);
    tcase_add_test(tc, memory_on_the_bus);
    tcase_add_test(tc, wire_sums);
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, misuse_order());
    return run_suite(suite);
}
