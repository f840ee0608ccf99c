/*
 * Data-port boards and what they tell of themselves: PROM, width, medium, line, count of cycles.
 */
#include "tests/host/probe.h"

static struct sim_card card;

static struct sim_card_config board(const char *name)
{
    for (unsigned i = 0; i < sim_card_count; i++) {
        if (strcmp(sim_cards[i].name, name) == 0) {
            return sim_cards[i];
        }
    }
    ck_abort_msg("no board %s", name);
}

static const struct nic *boot_with(const struct sim_card_config *cfg)
{
    machine();
    if (cfg->pci != 0) {
        sim_pci_plug(SIM_PCI_1);
    }
    sim_card_plug(&card, cfg, cfg->pci != 0 ? 0xE000 : 0x300, 10);
    find();
    return &nics[0];
}

static void unplug(void)
{
    nics_close();
    sim_card_free(&card);
}

/* ---- the PROM and the width: neither believed without the other ---- */

static const struct {
    enum sim_prom prom;
    uint8_t signature;
    bool slot8, ne1000;
    unsigned width;
} images[] = {
    {PROM_DOUBLED, 'W', false, false, 16},
    {PROM_DOUBLED, 'W', true, false, 8}, /* a 16-bit board in an 8-bit slot that does not tell */
    {PROM_DOUBLED, 'B', true, false, 8},
    {PROM_DOUBLED, 0x49, false, false, 16}, /* COPAM's 49 00 */
    {PROM_DOUBLED, 0xFF, false, false, 16},
    {PROM_TAIL, 0, false, false, 16}, /* pairs, but not to the end */
    {PROM_TAIL, 0, true, false, 8},
    {PROM_PLAIN, 'W', true, true, 8}, /* NE1000 */
    {PROM_PLAIN, 0xFF, true, true, 8},
    {PROM_PLAIN, 'W', true, false, 8}, /* its memory where an NE2000 has it */
};
enum { IMAGES = sizeof images / sizeof images[0] };

START_TEST(prom_images)
{
    struct sim_card_config cfg = board(images[_i].ne1000 ? "ne1000" : "ne2000");
    cfg.prom = images[_i].prom;
    cfg.signature = images[_i].signature;
    cfg.slot8 = cfg.chip.word_forbidden = images[_i].slot8;
    const struct nic *n = boot_with(&cfg);
    found_one();
    ck_assert_mem_eq(n->mac, sim_card_mac, 6);
    ck_assert_uint_eq(n->width, images[_i].width);
    bool is_signed = cfg.signature == 'W' || cfg.signature == 'B';
    ck_assert_msg((strstr(n->model, "no signature") == NULL) == is_signed, "model %s", n->model);
    ck_assert_msg((strstr(n->model, "NE1000") != NULL) == images[_i].ne1000, "model %s", n->model);
    unplug();
}
END_TEST

static const struct {
    const char *board, *model;
} names[] = {
    {"ne2000", "NE2000"},
    {"ne1000", "NE1000"},
    {"rtl8019as", "RTL8019AS"},
    {"clone-no-signature", "COPAM clone (no signature)"},
    {"cabletron", "Cabletron (no signature)"},
    {"at-lantic", "AT/LANTIC (DP83905)"},
    {"rtl8029", "RTL8029"},
    {"via86c926", "VIA 86C926"},
    {"ht80229", "Holtek HT80229"},
};
enum { NAMES = sizeof names / sizeof names[0] };

START_TEST(board_names)
{
    struct sim_card_config cfg = board(names[_i].board);
    const struct nic *n = boot_with(&cfg);
    found_one();
    ck_assert_str_eq(n->model, names[_i].model);
    unplug();
}
END_TEST

/* ---- line, medium, duplex ---- */

static const struct {
    const char *board;
    uint8_t config[4];
    const char *media;
    bool full_duplex;
    int line; /* noted before it was proven */
} told[] = {
    {"rtl8019as", {0x00, 0xC0, 0x00, 0x00}, "10BASE-T", false, 10},
    {"rtl8019as", {0x00, 0x80, 0x40, 0x40}, "10BASE-T", true, 9},
    {"rtl8019as", {0x04, 0xD0, 0x00, 0x00}, "10BASE2 (twisted pair has no link)", false, 11},
    {"rtl8019as", {0x00, 0xF0, 0x80, 0x00}, "10BASE5", false, 15},
    {"rtl8019as", {0x00, 0x40, 0xC0, 0x00}, "10BASE2", false, IRQ_NONE}, /* line switched off */
    {"rtl8019as", {0xFF, 0xFF, 0xFF, 0xFF}, NULL, false, IRQ_NONE},      /* no page 3 */
    {"rtl8029", {0x00, 0x00, 0x00, 0x40}, "10BASE-T", true, 10},
    {"at-lantic", {0x20, 0x04, 0, 0}, "10BASE-T", false, 10},
    {"at-lantic", {0x60, 0x00, 0, 0}, "10BASE-T (no link)", false, 10},
    {"at-lantic", {0x28, 0x01, 0, 0}, "10BASE2", false, 11},
    {"at-lantic", {0x18, 0x02, 0, 0}, "10BASE5", false, 9},
    {"ne2000", {0, 0, 0, 0}, NULL, false, IRQ_NONE},
};
enum { TOLD = sizeof told / sizeof told[0] };

START_TEST(chip_tells)
{
    struct sim_card_config cfg = board(told[_i].board);
    memcpy(cfg.chip.config, told[_i].config, sizeof cfg.chip.config);
    memcpy(cfg.chip.mcr, told[_i].config, sizeof cfg.chip.mcr);
    const struct nic *n = boot_with(&cfg);
    found_one();
    if (told[_i].media == NULL) {
        ck_assert_ptr_null(n->media);
    } else {
        ck_assert_str_eq(n->media, told[_i].media);
    }
    ck_assert(n->full_duplex == told[_i].full_duplex);
    ck_assert_int_eq(n->place.irq, told[_i].line);
    ck_assert_msg(n->link, "a link that the chip doubts is not lost");
    ck_assert_mem_eq(card.chip.cfg.mcr, told[_i].config, sizeof cfg.chip.mcr);
    ck_assert(n->irq == 10 && n->irq_proven); /* whatever the chip says */
    unplug();
}
END_TEST

/* What the user says goes before what the chip says. */
START_TEST(user_names_the_line)
{
    struct sim_card_config cfg = board(_i == 0 ? "rtl8019as" : "at-lantic");
    cfg.chip.config[1] = 0xD0;
    cfg.chip.mcr[0] = 0x28;
    machine();
    boot_options("nic=ne2000:0x300,10");
    sim_card_plug(&card, &cfg, 0x300, 10);
    find();
    found_one();
    ck_assert_int_eq(nics[0].place.irq, 10);
    unplug();
}
END_TEST

/* ---- cycles of the data port ---- */

START_TEST(bus_too_fast)
{
    struct sim_card_config cfg = board("ne2000");
    machine();
    sim_card_plug(&card, &cfg, 0x300, 10);
    card.chip.fault.lose_out = _i == 0 ? 11 : 0;
    card.chip.fault.twice_out = _i == 1 ? 11 : 0;
    card.chip.fault.twice_in = _i == 2 ? 11 : 0;
    find();
    found_none("bus cycles are lost or doubled");
    sim_card_free(&card);
}
END_TEST

/* The memory is right, the address is not: worth a word, no more. */
START_TEST(address_mismatch)
{
    struct sim_card_config cfg = board("ne2000");
    cfg.chip.crda_error = 2;
    boot_with(&cfg);
    found_one();
    ck_assert_ptr_nonnull(strstr(host_text(), "remote DMA address mismatch (4102, not 4100)"));
    unplug();
}
END_TEST

/* Words do not get through an 8-bit slot; some clones hang on them. */
START_TEST(words_hang)
{
    struct sim_card_config cfg = board("um9008-8bit");
    cfg.chip.no_reset_ack = _i == 1;
    const struct nic *n = boot_with(&cfg);
    found_one();
    ck_assert_uint_eq(n->width, 8);
    ck_assert_uint_eq(n->ring_kb, 5);
    unplug();
}
END_TEST

TCase *probe_boards(void)
{
    TCase *tc = tcase_create("boards");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, prom_images, 0, IMAGES);
    tcase_add_loop_test(tc, board_names, 0, NAMES);
    tcase_add_loop_test(tc, chip_tells, 0, TOLD);
    tcase_add_loop_test(tc, user_names_the_line, 0, 2);
    tcase_add_loop_test(tc, bus_too_fast, 0, 3);
    tcase_add_test(tc, address_mismatch);
    tcase_add_loop_test(tc, words_hang, 0, 2);
    return tc;
}
