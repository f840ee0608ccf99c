/*
 * Finding cards: what is one is found and named, and garbage is not taken for one.
 */
#include <stdlib.h>

#include "kernel/shell.h"
#include "tests/host/probe.h"
#include "tests/host/run_suite.h"

enum { PCI_BASE = 0xE000 };

const char *probe_words(void)
{
    host_capture_clear();
    for (const struct shell_command *c = __start_shell_commands; c < __stop_shell_commands; c++) {
        if (strcmp(c->name, "probe") == 0) {
            char *argv[] = {"probe", NULL};
            ck_assert_int_eq(c->start(1, argv), SHELL_OK);
            return host_text();
        }
    }
    ck_abort_msg("no command probe");
}

static struct sim_card card;

/* A machine with this card only, where it would be. */
static void machine_with(const struct sim_card_config *cfg)
{
    machine();
    if (cfg->pci != 0) {
        sim_pci_plug(SIM_PCI_1);
    }
    sim_card_plug(&card, cfg, cfg->pci != 0 ? PCI_BASE : 0x300, 10);
}

static unsigned width_of(const struct sim_card_config *cfg)
{
    bool dwords = cfg->chip.dwords == DWORDS_TOO || cfg->chip.dwords == DWORDS_ONLY;
    return cfg->slot8 ? 8 : dwords ? 32 : 16;
}

/* ---- cards ---- */

START_TEST(every_card)
{
    const struct sim_card_config *cfg = &sim_cards[_i];
    machine_with(cfg);
    find();
    found_one();
    const struct nic *n = &nics[0];
    ck_assert_mem_eq(n->mac, sim_card_mac, 6);
    ck_assert_uint_eq(n->width, width_of(cfg));
    ck_assert_uint_eq(n->place.io.base, card.base);
    ck_assert_uint_eq(n->link_kbit, 10000);
    ck_assert_uint_eq(n->ring_kb, (card.chip.pstop - card.chip.pstart) / 4U);
    ck_assert_uint_eq(card.chip.pstop, cfg->chip.max_stop);
    ck_assert(n->irq == 10 && n->irq_proven && n->mode == NIC_MODE_IRQ);
    ck_assert_msg((strstr(n->model, "8019") != NULL) == (cfg->chip.id[1] == 'p'), "model %s",
                  n->model);
    if (cfg->signature != 'W' && cfg->signature != 'B') {
        ck_assert_msg(strstr(n->model, "no signature") != NULL, "model %s", n->model);
    }
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    ck_assert_ptr_nonnull(
        strstr(host_text(), cfg->pci != 0 ? "ne2000 at 0xe000" : "ne2000 at 0x300"));
    ck_assert_ptr_nonnull(strstr(host_text(), "00:20:af:12:34:56"));
    ck_assert_mem_eq(card.chip.par, sim_card_mac, 6);
    nics_close();
    sim_card_free(&card);
}
END_TEST

START_TEST(every_address)
{
    machine();
    sim_card_plug(&card, &sim_cards[0], probe_addresses[_i], 5);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].place.io.base, probe_addresses[_i]);
    ck_assert_int_eq(nics[0].irq, 5);
    nics_close();
}
END_TEST

START_TEST(every_line)
{
    static const int lines[] = {3, 4, 5, 7, 9, 10, 11, 12, 15};
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        memset(nics, 0, sizeof nics);
        nic_count = 0;
        machine();
        sim_card_plug(&card, &sim_cards[0], 0x300, lines[i]);
        find();
        found_one();
        ck_assert_int_eq(nics[0].irq, lines[i]);
        nics_close();
    }
}
END_TEST

/* No line reaches the machine: we poll, and say so. */
START_TEST(no_interrupt)
{
    machine();
    sim_card_plug(&card, &sim_cards[0], 0x300, 0); /* the tick's: nobody may claim it */
    find();
    found_one();
    ck_assert(nics[0].mode == NIC_MODE_POLL && !nics[0].irq_proven);
    ck_assert_ptr_nonnull(strstr(host_text(), "no interrupts seen"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    ck_assert(!nics_may_halt());
    nics_close();
}
END_TEST

START_TEST(two_cards)
{
    static struct sim_card second;
    machine();
    sim_card_plug(&second, &sim_cards[1], 0x360, 3);
    sim_card_plug(&card, &sim_cards[0], 0x280, 11);
    find();
    ck_assert_uint_eq(nic_count, 2);
    ck_assert(nics[0].place.io.base == 0x280 && nics[1].place.io.base == 0x360);
    ck_assert(nics[0].irq == 11 && nics[1].irq == 3);
    ck_assert(nics[0].index == 0 && nics[1].index == 1);
    nics_close();
}
END_TEST

/* The firmware put a PCI card where ISA cards are looked for: it is one card, found once. */
START_TEST(pci_card_at_isa_place)
{
    for (unsigned i = 0; sim_cards[i].pci == 0; i++) {
        ck_assert_uint_lt(i + 1, sim_card_count);
        if (sim_cards[i + 1].pci != 0) {
            machine();
            sim_pci_plug(SIM_PCI_1);
            sim_card_plug(&card, &sim_cards[i + 1], 0x300, 10);
        }
    }
    find();
    found_one();
    ck_assert(nics[0].place.bus == NIC_PCI);
    nics_close();
}
END_TEST

/* Warm reboot: the last system left it receiving, unmasked and on register page 1. */
START_TEST(left_running)
{
    uint8_t frame[60];
    machine_with(&sim_cards[_i]);
    sim_card_left_running(&card);
    memset(frame, 0xFF, sizeof frame);
    sim_receive(&card.chip, frame, sizeof frame);
    ck_assert(sim_irq_line(10));
    find();
    found_one();
    ck_assert_int_eq(nics[0].irq, 10);
    nics_close();
    ck_assert(!sim_irq_line(10));
}
END_TEST

/* Some clones ignore the reset port: bounded, and a word about it, whether we take it or not. */
START_TEST(no_reset_acknowledge)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.chip.no_reset_ack = true;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    ck_assert_msg(strstr(host_text(), "reset") != NULL, "not a word: %s", host_text());
    nics_close();
}
END_TEST

START_TEST(no_memory)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.no_ram = true;
    machine_with(&cfg);
    find();
    found_none("no card memory");
    ck_assert(!sim_irq_line(10) && card.chip.imr == 0);
}
END_TEST

/* Contents that cannot be a station address. */
static const enum sim_prom bad_proms[] = {PROM_ONES, PROM_ZEROS, PROM_GROUP};

START_TEST(garbage_prom)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.prom = bad_proms[_i];
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_none("0x300");
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"prom\""), 1);
    ck_assert(card.chip.stopped && card.chip.imr == 0);
    ck_assert(!sim_irq_line(10));
}
END_TEST

/* Who names the place wants the card used: with an address of our own, locally administered. */
START_TEST(garbage_prom_given)
{
    struct sim_card_config cfg = sim_cards[0];
    cfg.prom = bad_proms[_i];
    machine();
    boot_options("nic=ne2000:0x300");
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].mac[0] & 3, 2);
    ck_assert_mem_eq(card.chip.par, nics[0].mac, 6);
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"prom\""), 1);
    nics_close();
}
END_TEST

/* A 16-bit board with its 16-bit signature, plugged into an 8-bit slot: words are garbage. */
START_TEST(word_board_in_8bit_slot)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.slot8 = cfg.chip.word_forbidden = true;
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_one();
    ck_assert_uint_eq(nics[0].width, 8);
    ck_assert_mem_eq(nics[0].mac, sim_card_mac, 6);
    nics_close();
}
END_TEST

/* Remote DMA that never completes, from the start. */
START_TEST(dead_dma)
{
    machine_with(&sim_cards[_i]);
    card.chip.dma_stuck = true;
    find();
    found_none("no card memory");
    ck_assert(!sim_irq_line(10) && card.chip.imr == 0);
}
END_TEST

/* Noise: refused, or taken as a card without signature if address and memory are possible; never
 * half of each. */
START_TEST(random_prom)
{
    struct sim_card_config cfg = sim_cards[_i];
    cfg.prom = PROM_RANDOM;
    machine_with(&cfg);
    find();
    if (nic_count == 1) {
        ck_assert_uint_eq(nics[0].mac[0] & 1, 0);
        ck_assert_ptr_nonnull(strstr(nics[0].model, "no signature"));
    } else {
        found_none("PROM is garbage");
    }
    nics_close();
}
END_TEST

static TCase *cards_case(void)
{
    TCase *tc = tcase_create("cards");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_card, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, every_address, 0, 5);
    tcase_add_test(tc, every_line);
    tcase_add_test(tc, no_interrupt);
    tcase_add_test(tc, two_cards);
    tcase_add_test(tc, pci_card_at_isa_place);
    tcase_add_loop_test(tc, left_running, 0, (int)sim_card_count);
    tcase_add_test(tc, no_reset_acknowledge);
    tcase_add_loop_test(tc, no_memory, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, garbage_prom, 0, 3);
    tcase_add_loop_test(tc, garbage_prom_given, 0, 3);
    tcase_add_loop_test(tc, word_board_in_8bit_slot, 0, 1);
    tcase_add_loop_test(tc, dead_dma, 0, (int)sim_card_count);
    tcase_add_loop_test(tc, random_prom, 0, (int)sim_card_count);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("probe");
    suite_add_tcase(suite, cards_case());
    suite_add_tcase(suite, probe_strangers());
    suite_add_tcase(suite, probe_pnp());
    suite_add_tcase(suite, probe_decoys());
    suite_add_tcase(suite, probe_lines());
    suite_add_tcase(suite, probe_boards());
    suite_add_tcase(suite, probe_mix());
    return run_suite(suite);
}
