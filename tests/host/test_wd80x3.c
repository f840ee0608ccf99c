/*
 * WD8003, WD8013, SMC Elite and Ultra: found and named, their memory put where it works, and left
 * as found.  And the simulated boards end the test at every wrong step.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/probe.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/wd80x3.h"
#include "tests/host/wrong_step.h"

enum { AT = 0x280, LINE = 10 };

static struct sim_wd wd;

TCase *misuse_wd80x3(void);

static void plug(const struct sim_wd_config *cfg)
{
    machine();
    sim_wd_plug(&wd, cfg, AT, LINE);
}

/* One card, in order, with so many lines said about it besides its own. */
static const struct nic *found(unsigned more)
{
    found_one();
    ck_assert_str_eq(nics[0].driver->name, "wd80x3");
    ck_assert_mem_eq(nics[0].mac, sim_card_mac, 6);
    ck_assert_msg(host_count(host_text(), "\n") == 1 + more, "%s", host_text());
    return &nics[0];
}

static void close_and_check(void)
{
    nics_close();
    ck_assert(sim_wd_at_rest(&wd));
    ck_assert(!sim_irq_line(LINE));
    sim_wd_free(&wd);
}

/* ---- what is one ---- */

START_TEST(every_board)
{
    static const char *const models[] = {"WD8003E",   "WD8003EB", "WD8013EBT", "WD8013EPC",
                                         "WD8013EPC", "SMC8216",  "SMC8216",   "I/O pipe"};
    const struct sim_wd_config *cfg = &sim_wds[_i];
    plug(cfg);
    find();
    const struct nic *n = found(0);
    ck_assert_ptr_nonnull(strstr(n->model, models[_i]));
    ck_assert_uint_eq(n->width, cfg->slot16 ? 16 : 8);
    ck_assert_uint_eq(n->ring_kb, wd.chip.cfg.ram_size / 1024 - 3);
    ck_assert_uint_eq(wd.chip.pstop, wd.chip.cfg.ram_size / SIM_PAGE);
    ck_assert(n->irq == LINE && n->irq_proven && n->mode == NIC_MODE_IRQ);
    ck_assert_uint_eq(n->place.mem, cfg->pipe ? 0 : sim_wd_window(&wd));
    if (cfg->eeprom_mem != 0) {
        ck_assert_uint_eq(sim_wd_window(&wd), cfg->eeprom_mem);
    }
    close_and_check();
}
END_TEST

/* Every line its EEPROM can say, proven; some are told to be others', too. */
START_TEST(every_line)
{
    static const int lines[] = {3, 5, 7, 9, 10, 11, 15};
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        machine();
        sim_wd_plug(&wd, &sim_wds[_i], AT, lines[i]);
        find();
        ck_assert_int_eq(found(lines[i] < 9 || lines[i] == 15)->irq, lines[i]);
        close_and_check();
    }
}
END_TEST

START_TEST(line_given_wrong)
{
    static const char *const option[] = {"nic=wd80x3:0x280,7", "nic=wd80x3:0x280,2"};
    for (unsigned i = 0; i < 2; i++) {
        plug(&sim_wds[3]);
        boot_options(option[i]);
        find();
        ck_assert_int_eq(found(1)->irq, LINE);
        ck_assert_ptr_nonnull(strstr(host_text(), i == 0 ? "irq 7" : "irq 9"));
        close_and_check();
    }
}
END_TEST

/* The interrupt is shut off at the board: polled, and said so. */
START_TEST(line_dead)
{
    plug(&sim_wds[_i]);
    wd.broken = 14;
    sim_chip_route(&wd.chip, 14, false);
    find();
    ck_assert(found(1)->mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "no interrupts seen"));
    nics_close();
}
END_TEST

/* A WD8013EP without 16 bits is the WD8003EP; 32 KB chips. */
START_TEST(large_chips)
{
    struct sim_wd_config cfg = sim_wds[_i];
    cfg.large = true;
    cfg.eeprom_mem = cfg.eeprom_mem != 0 ? 0xD0000 : 0;
    plug(&cfg);
    find();
    ck_assert_uint_eq(found(0)->ring_kb, (wd.chip.pstop - 12U) / 4);
    ck_assert_uint_ge(wd.chip.pstop, 0x80);
    close_and_check();
}
END_TEST

/* The board id of a software-configured board, but no interface chip on it: its registers repeat
 * the PROM, and 6 and 7 hang the bus (the model ends the test). */
START_TEST(no_interface_chip)
{
    struct sim_wd_config cfg = sim_wds[0];
    cfg.id = 0x25;
    plug(&cfg);
    find();
    ck_assert_ptr_nonnull(strstr(found(0)->model, "WD8003EB"));
    ck_assert_uint_eq(nics[0].width, 8);
    close_and_check();
}
END_TEST

START_TEST(jumpered_16_bit_board_in_8_bit_slot)
{
    struct sim_wd_config cfg = sim_wds[2];
    cfg.slot16 = false;
    plug(&cfg);
    find();
    ck_assert_ptr_nonnull(strstr(found(0)->model, "WD8013EBT"));
    ck_assert_uint_eq(nics[0].width, 8);
    ck_assert_uint_eq(nics[0].ring_kb, 5);
    close_and_check();
}
END_TEST

/* Set up beyond the first megabyte, where we do not go: put where it can be seen, and back. */
START_TEST(memory_set_up_high)
{
    plug(&sim_wds[5]);
    uint8_t high = wd.rar |= 0x80;
    find();
    found(0);
    ck_assert_uint_eq(nics[0].place.mem, 0xD0000);
    close_and_check();
    ck_assert_uint_eq(wd.rar, high);
}
END_TEST

/* ---- what is none ---- */

/* A board of the family that nobody told us of: named, not touched. */
START_TEST(unknown_board)
{
    struct sim_wd_config cfg = sim_wds[1];
    cfg.id = 0x3E;
    plug(&cfg);
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("its board id 3e is unknown");
    ck_assert_uint_eq(wd.chip.starts + wd.chip.hardware_resets, 0);
}
END_TEST

static uint8_t ports[32];

static uint32_t ports_in(void *self, unsigned reg, unsigned width)
{
    (void)self;
    (void)width;
    return ports[reg];
}

static void ports_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    (void)self;
    (void)width;
    sim_misuse("a stranger's port %x was written with %x", reg, value);
}

/* The sum alone is no proof: a sound card has it, too.  Looked at, never written. */
START_TEST(same_sum)
{
    static const uint8_t strangers[][8] = {
        {0xFF, 0, 0, 0, 0, 0, 0, 0},                      /* Sound Blaster       */
        {0, 0xFF, 0, 0, 0, 0, 0, 0},                      /* ... another         */
        {0, 0, 0, 0, 0, 0, 0, 0xFF},                      /* no address          */
        {0x01, 0x00, 0x5E, 0x10, 0x20, 0x30, 0x29, 0x17}, /* a group's           */
        {0x00, 0x00, 0xC0, 0x11, 0x22, 0x33, 0x44, 0x95}, /* no such board       */
        {0x00, 0x00, 0xC0, 0x11, 0x22, 0x33, 0xA9, 0x30}, /* Micro Channel       */
        {0x00, 0x00, 0xC0, 0x11, 0x22, 0x33, 0x29, 0xAF}, /* sum is FE           */
    };
    machine();
    memset(ports, 0x28, sizeof ports);
    memcpy(ports + 8, strangers[_i], 8);
    sim_attach(&(struct sim_device){"stranger", AT, 32, ports_in, ports_out, NULL});
    boot_options("nic=wd80x3");
    find();
    found_none(NULL);
}
END_TEST

/* Checksum missing on a cheap clone: nobody can know it. */
START_TEST(no_checksum)
{
    struct sim_wd_config cfg = sim_wds[0];
    cfg.bad_sum = true;
    plug(&cfg);
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("no WD or SMC address PROM");
}
END_TEST

START_TEST(nothing_there)
{
    machine();
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("nothing there");
}
END_TEST

/* A driver left the second register set on: who is sent there finds it; nobody else writes. */
START_TEST(left_switched)
{
    struct sim_wd_config cfg = sim_wds[5];
    cfg.left_switched = true;
    plug(&cfg);
    boot_options("nic=wd80x3");
    find();
    found_none(NULL);
    plug(&cfg);
    boot_options("nic=wd80x3:0x280");
    find();
    found(0);
    close_and_check();
}
END_TEST

/* What looks like the switch is none, or behind it is no address: as it was. */
START_TEST(left_switched_is_put_back)
{
    struct sim_wd_config cfg = sim_wds[5];
    cfg.left_switched = cfg.bad_sum = true;
    plug(&cfg);
    uint8_t was = wd.hwr;
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("no WD or SMC address PROM");
    ck_assert_uint_eq(wd.hwr, was);
    ck_assert_uint_ne(was & 0x80, 0);
}
END_TEST

START_TEST(no_switch)
{
    machine();
    memset(ports, 0x28, sizeof ports);
    ports[4] = 0x80;
    ports[7] = _i == 0 ? 0x00 : 0x10; /* no revision of an 83C790 or 83C795 */
    sim_attach(&(struct sim_device){"stranger", AT, 32, ports_in, ports_out, NULL});
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("no WD or SMC address PROM");
}
END_TEST

/* ---- its memory ---- */

struct rom {
    uint32_t base, size;
};

static bool rom_cycle(void *self, uint32_t address, unsigned width, bool write, uint32_t *value)
{
    const struct rom *rom = self;
    (void)width;
    if (address < rom->base || address >= rom->base + rom->size) {
        return false;
    }
    ck_assert_msg(!write, "a ROM was written at %05x", address);
    *value = 0xAA55;
    return true;
}

static struct rom rom;

static void put_rom(uint32_t base)
{
    rom = (struct rom){base, 0x4000};
    sim_attach_memory(&(struct sim_memory){"ROM", rom_cycle, &rom});
}

/* Where somebody is already, nothing is switched on (the bus ends the test): moved. */
START_TEST(place_taken)
{
    uint32_t own = sim_wds[_i].eeprom_mem;
    plug(&sim_wds[_i]);
    put_rom(own != 0 ? own : 0xD0000);
    find();
    const struct nic *n = found(own != 0);
    ck_assert_uint_ne(n->place.mem, rom.base);
    ck_assert_uint_eq(n->place.mem, sim_wd_window(&wd));
    ck_assert(own == 0 || strstr(host_text(), "moved to 0x") != NULL);
    close_and_check();
    ck_assert(own == 0 || sim_wd_window(&wd) == own);
}
END_TEST

START_TEST(place_given)
{
    plug(&sim_wds[_i]);
    boot_options("nic=wd80x3:0x280,10,0xdc000");
    find();
    ck_assert_uint_eq(found(0)->place.mem, 0xDC000);
    ck_assert_uint_eq(sim_wd_window(&wd), 0xDC000);
    close_and_check();
    ck_assert(sim_wds[_i].eeprom_mem == 0 || sim_wd_window(&wd) == sim_wds[_i].eeprom_mem);
}
END_TEST

START_TEST(place_given_bad)
{
    static const char *const option[] = {
        "nic=wd80x3:0x280,10,0xd1000", "nic=wd80x3:0x280,10,0xf0000", "nic=wd80x3:0x280,10,0x90000",
        "nic=wd80x3:0x280,10,0xd4000"};
    plug(&sim_wds[3]);
    put_rom(0xD4000);
    boot_options(option[_i]);
    find();
    found_none(_i == 3 ? "another card or a ROM is at 0xd4000" : "a multiple of 0x4000");
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    ck_assert(sim_wd_at_rest(&wd));
}
END_TEST

/* Memory that never shows: one line with what to do, and everything off again. */
START_TEST(memory_dark)
{
    struct sim_wd_config cfg = sim_wds[_i];
    cfg.dark = true;
    plug(&cfg);
    boot_options("nic=wd80x3:0x280");
    find();
    found_none("reads ff: no cache, shadow RAM");
    ck_assert_uint_eq(host_count(host_text(), "\n"), 1);
    ck_assert(sim_wd_at_rest(&wd));
    ck_assert(!sim_irq_line(LINE));
}
END_TEST

/* Smaller than the registers say: seen, for it repeats itself. */
START_TEST(memory_small)
{
    struct sim_wd_config cfg = sim_wds[3];
    cfg.ram_size = 0x2000;
    plug(&cfg);
    boot_options("nic=wd80x3:0x280");
    find();
    ck_assert_uint_eq(found(1)->width, 8);
    close_and_check();
}
END_TEST

START_TEST(words_fail)
{
    struct sim_wd_config cfg = sim_wds[_i];
    cfg.no_words = true;
    plug(&cfg);
    find();
    ck_assert_uint_eq(found(1)->width, 8);
    ck_assert_ptr_nonnull(strstr(host_text(), "is it deep in the slot?"));
    close_and_check();
}
END_TEST

/* The gate was opened for each copy, and shut. */
START_TEST(gate_is_shut)
{
    uint8_t frame[300] = {0};
    struct frame *out[4];
    plug(&sim_wds[_i]);
    find();
    unsigned before = wd.opened;
    memcpy(frame, sim_card_mac, 6);
    for (unsigned i = 0; i < 3; i++) {
        sim_receive(&wd.chip, frame, sizeof frame);
    }
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 4), 3);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_mem_eq(out[i]->data, frame, sizeof frame);
        frame_free(out[i]);
    }
    ck_assert_uint_eq(wd.opened - before, sim_wds[_i].pipe ? 0 : 6);
    close_and_check();
}
END_TEST

/* ---- the chips that have no hash: every group address comes, and no harm ---- */

START_TEST(no_hash)
{
    static const uint8_t group[6] = {0x01, 0x00, 0x5E, 0x7F, 0x00, 0x01};
    const struct nic_filter filter = {.hash = {1, 0}};
    uint8_t frame[60] = {0};
    struct frame *out[2];
    plug(&sim_wds[3]);
    wd.chip.cfg.no_hash = true;
    find();
    nics[0].ops->set_filter(&nics[0], &filter);
    memcpy(frame, group, 6);
    sim_receive(&wd.chip, frame, sizeof frame);
    ck_assert_uint_eq(nics[0].ops->rx_burst(&nics[0], out, 2), 1);
    frame_free(out[0]);
    close_and_check();
}
END_TEST

static TCase *boards(void)
{
    TCase *tc = tcase_create("boards");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, every_board, 0, (int)sim_wd_count);
    tcase_add_loop_test(tc, every_line, 0, (int)sim_wd_count);
    tcase_add_test(tc, line_given_wrong);
    tcase_add_loop_test(tc, line_dead, 0, (int)sim_wd_count);
    tcase_add_loop_test(tc, large_chips, 0, 5);
    tcase_add_test(tc, no_interface_chip);
    tcase_add_test(tc, jumpered_16_bit_board_in_8_bit_slot);
    tcase_add_test(tc, memory_set_up_high);
    tcase_add_test(tc, unknown_board);
    tcase_add_test(tc, left_switched_is_put_back);
    tcase_add_loop_test(tc, no_switch, 0, 2);
    tcase_add_loop_test(tc, same_sum, 0, 7);
    tcase_add_test(tc, no_checksum);
    tcase_add_test(tc, nothing_there);
    tcase_add_test(tc, left_switched);
    tcase_add_loop_test(tc, place_taken, 0, 6);
    tcase_add_loop_test(tc, place_given, 0, 6);
    tcase_add_loop_test(tc, place_given_bad, 0, 4);
    tcase_add_loop_test(tc, memory_dark, 0, 6);
    tcase_add_test(tc, memory_small);
    for (unsigned i = 0; i < 2; i++) {
        tcase_add_loop_test(tc, words_fail, 2 + (int)i, 3 + (int)i);
    }
    tcase_add_loop_test(tc, words_fail, 5, 6);
    tcase_add_loop_test(tc, gate_is_shut, 0, (int)sim_wd_count);
    tcase_add_test(tc, no_hash);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("wd80x3");
    suite_add_tcase(suite, boards());
    suite_add_tcase(suite, misuse_wd80x3());
    return run_suite(suite);
}
