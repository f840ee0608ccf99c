/*
 * Cards of every family in one machine, and more of one: all found, all at work.
 */
#include "tests/host/probe.h"
#include "tests/host/sim/3c503.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/rtl8139.h"
#include "tests/host/sim/wd80x3.h"

enum { LENGTH = 200, PLACES = 4 };

static struct sim_card port_board[PLACES];
static struct sim_wd wd[2];
static struct sim_el2 el2[3];
static struct sim_rtl rtl;
static const struct sim_rtl_config rtl_config = {
    .name = "rtl8139", .version = 0x74000000, .level = true};

static void any_machine(void)
{
    machine();
    sim_dma_reset();
    sim_irq_elcr(1U << 11);
    sim_pci_plug(SIM_PCI_1);
}

/* One frame each way through card `index`. */
static void works(unsigned index, struct sim_chip *chip)
{
    struct nic *nic = &nics[index];
    uint8_t frame[LENGTH] = {0};
    struct frame *out[2];
    const struct slice slice = {frame, LENGTH};
    const struct tx_frame tx = {&slice, 1, LENGTH};
    memcpy(frame, nic->mac, 6);
    frame[LENGTH - 1] = (uint8_t)(index + 1);
    if (chip != NULL) {
        sim_receive(chip, frame, LENGTH);
    } else {
        sim_rtl_receive(&rtl, frame, LENGTH, WIRE_OK);
        nic->ops->poll(nic);
    }
    ck_assert_uint_eq(nic->ops->rx_burst(nic, out, 2), 1);
    ck_assert_mem_eq(out[0]->packet, frame, LENGTH);
    frame_free(out[0]);
    if (nic->ops->rx_done != NULL) {
        nic->ops->rx_done(nic);
    }
    ck_assert_uint_eq(nic->ops->tx_burst(nic, &tx, 1), 1);
    sim_run_us(1000);
    ck_assert_uint_eq(chip != NULL ? chip->sent_count : rtl.sent_count, 1);
    const struct sim_frame *sent = chip != NULL ? chip->sent : rtl.sent;
    ck_assert_mem_eq(sent->data, frame, LENGTH);
}

/* In the order of how much a look disturbs; each with its own line, at work at once. */
START_TEST(every_family)
{
    static const char *const drivers[] = {"rtl8139", "wd80x3", "3c503", "ne2000"};
    static const int lines[] = {11, 10, 5, 3};
    any_machine();
    sim_card_plug(&port_board[0], &sim_cards[0], 0x300, lines[3]);
    sim_el2_plug(&el2[0], &sim_el2s[0], 0x2E0, lines[2]);
    sim_wd_plug(&wd[0], &sim_wds[5], 0x280, lines[1]);
    sim_rtl_plug(&rtl, &rtl_config, 9, 0xE000, lines[0]);
    find();
    ck_assert_msg(nic_count == 4, "%s", host_text());
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_str_eq(nics[i].driver->name, drivers[i]);
        ck_assert(nics[i].irq == lines[i] && nics[i].irq_proven);
    }
    for (unsigned i = 0; i < 2; i++) { /* in either order */
        static struct sim_chip *const chips[] = {NULL, &wd[0].chip, &el2[0].chip,
                                                 &port_board[0].chip};
        for (unsigned n = 0; n < 2; n++) {
            unsigned index = i == 0 ? n : 3 - n;
            works(index, chips[index]);
        }
    }
    nics_close();
    ck_assert(sim_wd_at_rest(&wd[0]) && sim_el2_at_rest(&el2[0]) && sim_rtl_at_rest(&rtl));
    ck_assert(port_board[0].chip.stopped && port_board[0].chip.imr == 0);
}
END_TEST

/* Two of a kind whose memory is set up for one place: no two answer there at once (the bus would
 * end the test). */
START_TEST(two_at_one_address)
{
    any_machine();
    sim_wd_plug(&wd[0], &sim_wds[_i], 0x280, 10);
    sim_wd_plug(&wd[1], &sim_wds[_i], 0x300, 3);
    find();
    ck_assert_msg(nic_count == 2, "%s", host_text());
    for (unsigned i = 0; i < 2; i++) {
        works(i, &wd[i].chip);
        ck_assert(nics[i].irq_proven);
    }
    nics_close();
    ck_assert(sim_wd_at_rest(&wd[0]) && sim_wd_at_rest(&wd[1]));
}
END_TEST

/* Whatever answers is broken: none is taken, all are quiet, and it takes three seconds at most. */
START_TEST(all_broken)
{
    static const unsigned ports[] = {0x300, 0x320, 0x340, 0x360};
    static const unsigned el2_ports[] = {0x280, 0x2A0, 0x2E0}, wd_ports[] = {0x240, 0x380};
    struct sim_card_config card = sim_cards[0];
    struct sim_wd_config dark = sim_wds[3];
    struct sim_el2_config dead = sim_el2s[2];
    any_machine();
    card.chip.no_reset_ack = true;
    dark.dark = true;
    dead.fifo_dead = true;
    for (unsigned i = 0; i < PLACES; i++) {
        sim_card_plug(&port_board[i], &card, ports[i], 10);
        port_board[i].chip.dma_stuck = true;
    }
    for (unsigned i = 0; i < 3; i++) {
        sim_el2_plug(&el2[i], &dead, el2_ports[i], 5);
    }
    for (unsigned i = 0; i < 2; i++) {
        sim_wd_plug(&wd[i], &dark, wd_ports[i], 3);
    }
    uint64_t begin = sim_now_ns();
    nics_init();
    ck_assert_uint_lt((sim_now_ns() - begin) / 1000000, 3000);
    ck_assert_msg(nic_count == 0, "%s", host_text());
    for (unsigned i = 0; i < PLACES; i++) {
        ck_assert(port_board[i].chip.imr == 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(sim_el2_at_rest(&el2[i]));
    }
    ck_assert(sim_wd_at_rest(&wd[0]) && sim_wd_at_rest(&wd[1]));
}
END_TEST

TCase *probe_mix(void)
{
    TCase *tc = tcase_create("mix");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, every_family);
    tcase_add_loop_test(tc, two_at_one_address, 0, 6);
    tcase_add_test(tc, all_broken);
    return tc;
}
