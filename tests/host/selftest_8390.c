/*
 * The selftest on 8390 boards with something broken: each fault is named, and nothing else blamed.
 */
#include "tests/host/selftest.h"
#include "tests/host/sim/bus.h"

enum { NE2000, NE1000, RTL8019AS, LAZY = 6, RTL8029 = 7 };

struct broken {
    unsigned card;
    const char *says, *blames; /* blames null: no fault, this is only noted */
    struct sim_faults fault;
};

static const struct broken faults[] = {
    {NE2000, "16 bit: bit 3 is stuck at 1 at 5123h", "RAM", {.cell = 0x5123, .cell_high = 0x08}},
    {NE2000, "16 bit: bit 0 is stuck at 0 at 7fffh", "RAM", {.cell = 0x7FFF, .cell_low = 0x01}},
    {NE1000, "8 bit: bit 7 is stuck at 1 at 2000h", "RAM", {.cell = 0x2000, .cell_high = 0x80}},
    {RTL8029, "32 bit: bit 5 is stuck at 0 at 4ffeh", "RAM", {.cell = 0x4FFE, .cell_low = 0x20}},
    {NE2000,
     "wrong, the first at 4801h: wrote 48, read",
     "RAM",
     {.cell = 0x4801, .cell_high = 0x81, .cell_low = 0x40}},
    {NE2000,
     "address line A9 does not work: 4000h and 4200h are one",
     "RAM",
     {.dead_lines = 1U << 9}},
    {NE2000,
     "address line A3 does not work: 4000h and 4008h are one",
     "RAM, loopback",
     {.dead_lines = 1U << 3}},
    {NE1000,
     "address line A12 does not work: 2000h and 3000h are one",
     "RAM",
     {.dead_lines = 1U << 12}},
    {NE2000, "16 bit: cannot be seen, every byte reads ff", "RAM", {.no_memory = true}},
    {NE2000,
     "16 bit: the card did not take what was written at 4000h",
     "cycles, RAM",
     {.deaf_memory = true}},
    {NE2000, "lost writing: is", "cycles", {.lose_out = 4999}},
    {NE2000, "lost reading: is", "cycles", {.lose_in = 4999}},
    {NE1000, "doubled writing: is", "cycles", {.twice_out = 4999}},
    {RTL8029, "doubled reading: is", "cycles", {.twice_in = 4999}},
    {LAZY, "lost reading: is", "cycles", {.lose_in = 4999}},
    {LAZY, "doubled reading: is", "cycles", {.twice_in = 4999}},
    {NE2000,
     "1 of 16 do not hold what is written, first PAR2 (bits 04)",
     "registers",
     {.reg = 3, .reg_low = 0x04}},
    {NE2000,
     "1 of 16 do not hold what is written, first CURR (bits 01)",
     "registers",
     {.reg = 7, .reg_low = 0x01}},
    {NE2000,
     "1 of 16 do not hold what is written, first MAR5 (bits ff)",
     "registers",
     {.reg = 13, .reg_low = 0xFF}},
    {NE2000, "the multicast hash cannot be read (83C690)", NULL, {.hash_unreadable = true}},
    {NE2000, "does not show its DMA address", NULL, {.address_hidden = true}},
    {NE2000, "came back damaged", "loopback", {.loop_damage = 0x10}},
    {NE2000, "not tested: this chip sends nothing in loopback", NULL, {.loop_silent = true}},
};

START_TEST(fault_is_named)
{
    const struct broken *b = &faults[_i];
    st_up(b->card);
    st.chip->fault = b->fault;
    st_run();
    st_says(b->says);
    if (b->blames != NULL) {
        st_blames(b->blames);
    } else {
        st_says("this card works");
    }
    memset(&st.chip->fault, 0, sizeof st.chip->fault);
    st_works();
}
END_TEST

/* ---- PROM ---- */

START_TEST(prom_changes)
{
    st_up(NE2000);
    st.chip->mem[10] = st.chip->mem[11] ^= 1;
    st_run();
    st_says("PROM       BAD  says 00:20:af:12:34:57 now, at boot it was 00:20:af:12:34:56");
    st_blames("PROM");
    st_works();
}
END_TEST

START_TEST(prom_garbage)
{
    st_up(NE2000);
    memset(st.chip->mem, 0xFF, 32);
    st_run();
    st_says("ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff");
    st_says("garbage: not a station's address; it uses 00:20:af:12:34:56");
    st_blames("PROM");
    st_works();
}
END_TEST

START_TEST(prom_says)
{
    static const struct {
        unsigned card;
        const char *says;
    } known[] = {
        {NE2000, "00:20:af:12:34:56, a 16-bit board (signature WW)"},
        {NE1000, "an 8-bit board (signature WW)"},
        {3, "a board in an 8-bit slot (signature BB)"},
        {4, "a 16-bit clone (no signature)"},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        st_up(known[i].card);
        st_run();
        st_says(known[i].says);
        rig_down(&st);
    }
}
END_TEST

START_TEST(prom_unsigned_8_bit)
{
    struct rig_card card = rig_card(NE1000);
    struct sim_card_config cfg = *card.ne2000;
    cfg.signature = 0x49;
    card.ne2000 = &cfg;
    st_up_card(&card);
    st_run();
    st_says("an 8-bit clone (no signature)");
    rig_down(&st);
}
END_TEST

/* ---- loopback ---- */

START_TEST(transmitter_dead)
{
    st_up(NE2000);
    st.chip->fault.loop_dead = true;
    st_run();
    st_says("loopback   BAD  within the chip: a frame was not sent in 20 ms");
    st_blames("loopback");
    st_works();
}
END_TEST

START_TEST(transmitter_starves)
{
    st_up(NE2000);
    st.side->tx_fate(&st, FATE_UNDERRUN, 0);
    st_run();
    st_says("loopback   BAD  within the chip: sending failed (TSR 20)");
    st_blames("loopback");
    st_works();
}
END_TEST

START_TEST(loopback_says)
{
    st_up(RTL8019AS);
    st_run();
    st_says("loopback   good within the chip: 65 bytes and their CRC came back");
    rig_down(&st);
    st_up(5);
    st_run();
    st_says("loopback   note sent within the chip; its FIFO does not tell what came");
    rig_down(&st);
}
END_TEST

/* ---- the interrupt ---- */

/* No remote DMA says that it is done: a frame sent within the chip makes the interrupt. */
START_TEST(interrupt_without_remote_dma)
{
    st_up(NE2000);
    st.chip->dma_stuck = true;
    st_run();
    st_says("interrupt  good irq 5");
    st_blames("cycles, RAM");
    st.chip->dma_stuck = false;
    st_works();
}
END_TEST

/* ---- the reset, and coming back ---- */

START_TEST(no_reset_acknowledge)
{
    struct rig_card card = rig_card(NE2000);
    struct sim_card_config cfg = *card.ne2000;
    cfg.chip.no_reset_ack = true;
    card.ne2000 = &cfg;
    st_up_card(&card);
    st_run();
    st_says("registers  note no reset acknowledge");
    st_says("this card works");
    st_works();
}
END_TEST

/* Deaf when the bus is fast enough for everything else: no width is measured, nothing is stuck. */
START_TEST(nothing_measured_on_a_deaf_card)
{
    st_up(NE2000);
    st.chip->fault.deaf_memory = true;
    st_run();
    st_says("speed      note 16 bit: not measured");
    st_says("loopback   note not tested: the card does not take the frame");
    st_never_says("means");
    st.chip->fault.deaf_memory = false;
    st_works();
}
END_TEST

/* ---- boards whose memory the host sees ---- */

static struct rig_card card_named(const char *name)
{
    for (unsigned i = 0; i < rig_card_count(); i++) {
        if (strcmp(rig_card(i).name, name) == 0) {
            return rig_card(i);
        }
    }
    ck_abort_msg("no card %s", name);
}

static const struct {
    const char *card, *prom, *ram[2];
} seen[] = {
    {"wd8003e", "WD8003E, id 03, sum ff", {"8 bit: 8 KB from 0000h", NULL}},
    {"wd8013epc",
     "WD8013EPC (SMC Elite16), id 29, sum ff",
     {"16 bit: 16 KB from 0000h", "8 bit: 16 KB from 0000h"}},
    {"wd8013epc-8bit", "WD8013EPC (SMC Elite16), id 29", {"8 bit: 8 KB from 0000h", NULL}},
    {"smc8216",
     "SMC8216 Ultra, id 2b, sum ff",
     {"16 bit: 16 KB from 0000h", "8 bit: 16 KB from 0000h"}},
    {"smc8416-pipe", "SMC8216 Ultra, id 2b, sum ff", {"16 bit: 8 KB from 0000h", NULL}},
    {"3c503", "3Com's prefix", {"8 bit: 8 KB from 2000h", NULL}},
    {"3c503-16", "3Com's prefix", {"16 bit: 16 KB from 0000h", "8 bit: 16 KB from 0000h"}},
    {"3c503-fifo", "3Com's prefix", {"8 bit: 8 KB from 2000h", NULL}},
};

/* PROM and its meaning; memory marched through and measured in each width there is. */
START_TEST(memory_board)
{
    struct rig_card card = card_named(seen[_i].card);
    st_up_card(&card);
    st_run();
    st_says(seen[_i].prom);
    st_says(seen[_i].ram[0]);
    ck_assert_uint_eq(host_count(host_text(), "march test"), seen[_i].ram[1] == NULL ? 1 : 2);
    ck_assert_uint_eq(host_count(host_text(), "KB/s in, "), seen[_i].ram[1] == NULL ? 1 : 2);
    if (seen[_i].ram[1] != NULL) {
        static const char *const figures[] = {"mem_in_16", "mem_out_16", "mem_in_8", "mem_out_8"};
        st_says(seen[_i].ram[1]);
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_ptr_nonnull(strstr(host_records(), figures[i]));
        }
    }
    st_works();
}
END_TEST

/* 410 ns for a word and 800 for a byte: 4763 and 1220 KB/s, less what the clock costs. */
START_TEST(memory_figures)
{
    struct rig_card card = card_named("wd8013epc");
    st_up_card(&card);
    st_run();
    st_says("16 bit: 47");
    st_says("8 bit: 12");
    rig_down(&st);
}
END_TEST

static const struct broken memory_faults[] = {
    {0, "16 bit: bit 3 is stuck at 1 at 1123h", "RAM", {.cell = 0x1123, .cell_high = 0x08}},
    {0, "address line A9 does not work: 0000h and 0200h are one", "RAM", {.dead_lines = 1U << 9}},
    {0, "16 bit: cannot be seen, every byte reads ff", "RAM", {.no_memory = true}},
};

START_TEST(memory_fault_is_named)
{
    static const char *const boards[] = {"wd8013epc", "smc8216", "3c503-16"};
    const struct broken *b = &memory_faults[_i % 3];
    struct rig_card card = card_named(boards[_i / 3]);
    st_up_card(&card);
    st.chip->fault = b->fault;
    st_run();
    st_says(b->says);
    st_blames(b->blames);
    memset(&st.chip->fault, 0, sizeof st.chip->fault);
    st_works();
}
END_TEST

START_TEST(memory_board_prom_is_garbage)
{
    struct rig_card card = card_named(_i == 0 ? "wd8013epc" : "3c503");
    st_up_card(&card);
    if (_i == 0) {
        st.wd.prom[5] ^= 1;
    } else {
        st.el2.prom[0] = 0x08;
    }
    st_run();
    st_says(_i == 0 ? "garbage: id 29, and the sum is 00; it uses"
                    : "garbage: not a prefix of 3Com's");
    st_blames("PROM");
    st_works();
}
END_TEST

START_TEST(memory_board_prom_changes)
{
    struct rig_card card = card_named(_i == 0 ? "smc8216" : "3c503-fifo");
    st_up_card(&card);
    if (_i == 0) {
        st.wd.prom[5] ^= 1;
        st.wd.prom[7] ^= 1;
    } else {
        st.el2.prom[5] ^= 1;
    }
    st_run();
    st_says("PROM       BAD  says 00:20:af:12:34:57 now, at boot it was 00:20:af:12:34:56");
    st_blames("PROM");
    st_works();
}
END_TEST

TCase *selftest_8390(void)
{
    TCase *tc = tcase_create("broken 8390");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, fault_is_named, 0, sizeof faults / sizeof faults[0]);
    tcase_add_test(tc, prom_changes);
    tcase_add_test(tc, prom_garbage);
    tcase_add_test(tc, prom_says);
    tcase_add_test(tc, prom_unsigned_8_bit);
    tcase_add_test(tc, transmitter_dead);
    tcase_add_test(tc, transmitter_starves);
    tcase_add_test(tc, loopback_says);
    tcase_add_test(tc, interrupt_without_remote_dma);
    tcase_add_test(tc, no_reset_acknowledge);
    tcase_add_test(tc, nothing_measured_on_a_deaf_card);
    tcase_add_loop_test(tc, memory_board, 0, sizeof seen / sizeof seen[0]);
    tcase_add_test(tc, memory_figures);
    tcase_add_loop_test(tc, memory_fault_is_named, 0, 9);
    tcase_add_loop_test(tc, memory_board_prom_is_garbage, 0, 2);
    tcase_add_loop_test(tc, memory_board_prom_changes, 0, 2);
    return tc;
}
