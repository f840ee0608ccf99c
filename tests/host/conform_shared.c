/*
 * Conformance: two cards, lines that are shared, and lines the firmware is wrong about.
 */
#include <string.h>

#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "tests/host/conform.h"
#include "tests/host/host_support.h"

enum { SECOND_BASE = 0xE100, SECOND_DEVICE = 11 };

static struct rig r;

/* ---- two cards ---- */

static struct sim_rtl second;

static void plug_two(const struct rig_card *cfg, int second_line)
{
    rig_machine(&r, cfg);
    sim_rtl_plug(&second, cfg->rtl8139, SECOND_DEVICE, SECOND_BASE, second_line);
    rig_find(&r);
    ck_assert_uint_eq(nic_count, 2);
}

static void unplug_two(void)
{
    rig_down(&r);
    ck_assert(sim_rtl_at_rest(&second));
    sim_rtl_free(&second);
}

static void to_second(unsigned length)
{
    uint8_t frame[FRAME_MAX] = {0};
    memcpy(frame, second.idr, 6);
    sim_rtl_receive(&second, frame, length, WIRE_OK);
}

static unsigned take_from(struct nic *nic)
{
    struct frame *out[4];
    unsigned n = (nic_events(nic) & EV_RX) != 0 ? nic->ops->rx_burst(nic, out, 4) : 0;
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_eq(out[i]->nic, nic->index);
        frame_free(out[i]);
    }
    rig_rx_done(nic);
    return n;
}

CASE(two_cards_two_lines)
{
    plug_two(cfg, 11);
    ck_assert(nics[0].irq == RIG_IRQ && nics[1].irq == 11);
    ck_assert(nics[0].mac[5] != nics[1].mac[5]);
    for (unsigned busy = 0; busy < 2; busy++) {
        if (busy == 0) {
            rig_receive(&r, 60, 1);
        } else {
            to_second(60);
        }
        cpu_cli();
        ck_assert_msg(!nics_arm(), "armed with work waiting on card %u", busy);
        cpu_sti();
        ck_assert_uint_eq(r.rtl.imr | second.imr, 0);
        ck_assert(!sim_irq_line(RIG_IRQ) && !sim_irq_line(11));
        ck_assert_uint_eq(take_from(&nics[busy]), 1);
        ck_assert_uint_eq(take_from(&nics[busy]), 0);
    }
    unplug_two();
}

static void both_come(void *arg)
{
    (void)arg;
    to_second(60);
    rig_receive(&r, 60, 1);
}

/* Both on one level line: each takes what is its own, at every moment the frames can come. */
CASE(shared_level_line)
{
    if (!conform_is_level(cfg)) {
        return;
    }
    bool done = false;
    for (uint64_t k = 0; !done; k++) {
        plug_two(cfg, RIG_IRQ);
        ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[1].mode == NIC_MODE_IRQ);
        ck_assert(nics[0].irq == RIG_IRQ && nics[1].irq == RIG_IRQ);
        uint64_t begin = sim_accesses();
        unsigned got[2] = {0, 0};
        sim_at_access(begin + k, both_come, NULL);
        for (unsigned turns = 0; got[0] + got[1] < 2; turns++) {
            ck_assert_uint_lt(turns, 200);
            got[0] += take_from(&nics[0]);
            got[1] += take_from(&nics[1]);
            if (got[0] + got[1] < 2) {
                rig_idle(&r);
            }
        }
        ck_assert(got[0] == 1 && got[1] == 1);
        done = sim_accesses() - begin < k;
        ck_assert_uint_eq(irq_unclaimed(RIG_IRQ), 0);
        unplug_two();
    }
}

/* On one edge line they would hide each other's interrupts: the second polls, and says why. */
CASE(edge_line_not_shared)
{
    if (conform_is_level(cfg)) {
        return;
    }
    plug_two(cfg, RIG_IRQ);
    ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[1].mode == NIC_MODE_POLL);
    ck_assert_ptr_nonnull(strstr(host_text(), "edge-triggered: not shared"));
    ck_assert_uint_eq(host_count(host_records(), "\"what\":\"irq_missing\""), 1);
    ck_assert(!nics_may_halt());
    both_come(NULL);
    ck_assert_uint_eq(take_from(&nics[0]), 1);
    ck_assert_uint_eq(take_from(&nics[1]), 1);
    unplug_two();
}

/* The firmware notes a line that is not the second card's; it is the first one's, and shared. */
CASE(wrong_line_shared)
{
    static const uint8_t noted[] = {11, 255, 13};
    for (unsigned i = 0; i < sizeof noted; i++) {
        rig_machine(&r, cfg);
        sim_rtl_plug(&second, cfg->rtl8139, SECOND_DEVICE, SECOND_BASE, RIG_IRQ);
        sim_pci_set8(second.pci, 0x3C, noted[i]);
        rig_find(&r);
        ck_assert_uint_eq(nic_count, 2);
        ck_assert(nics[0].mode == NIC_MODE_IRQ);
        ck_assert_uint_eq(irq_take_storm(), IRQ_NONE);
        ck_assert(!conform_is_level(cfg) || irq_unclaimed(RIG_IRQ) == 0);
        ck_assert_uint_eq(nics[1].pending | nics[1].stats.irqs, 0);
        if (!conform_is_level(cfg)) {
            ck_assert(nics[1].mode == NIC_MODE_POLL);
        } else {
            ck_assert_msg(nics[1].mode == NIC_MODE_IRQ && nics[1].irq == RIG_IRQ, "%s",
                          host_text());
            both_come(NULL);
            ck_assert_uint_eq(take_from(&nics[0]), 1);
            ck_assert_uint_eq(take_from(&nics[1]), 1);
            cpu_cli();
            ck_assert(nics_arm());
            to_second(60);
            cpu_sti();
            ck_assert_uint_eq(nics[1].stats.irqs, 1);
            ck_assert_uint_eq(nics[0].stats.irqs, 0);
            nics_disarm();
            ck_assert_uint_eq(take_from(&nics[1]), 1);
        }
        unplug_two();
    }
}

/* ---- what the firmware says of the line ---- */

/* None noted: found by provoking, or polled; one line of text either way. */
CASE(irq_zero_and_255)
{
    static const uint8_t noted[] = {0, 255, 16, 13};
    for (unsigned i = 0; i < sizeof noted; i++) {
        for (unsigned reaches = 0; reaches < 2; reaches++) {
            rig_machine(&r, cfg);
            sim_pci_set8(r.rtl.pci, 0x3C, noted[i]);
            if (!reaches) {
                r.rtl.irq = 0; /* the tick's: nobody may claim it */
            }
            rig_find(&r);
            ck_assert_uint_eq(nic_count, 1);
            ck_assert(nics[0].mode == (reaches ? NIC_MODE_IRQ : NIC_MODE_POLL));
            ck_assert(!reaches || nics[0].irq == RIG_IRQ);
            ck_assert_uint_eq(host_count(host_text(), "the firmware gave it no interrupt"),
                              noted[i] != 13);
            rig_receive(&r, 77, 5);
            rig_pump(&r);
            rig_expect(&r, 0, 77, 5);
            rig_down(&r);
        }
    }
}

/* elcr=: the line is put into that mode, and the card works in it. */
CASE(elcr_is_set)
{
    for (unsigned level = 0; level < 2; level++) {
        rig_machine(&r, cfg);
        options.elcr = level ? ELCR_LEVEL : ELCR_EDGE;
        rig_find(&r);
        ck_assert(nics[0].mode == NIC_MODE_IRQ && nics[0].irq == RIG_IRQ);
        ck_assert_ptr_nonnull(
            strstr(host_records(), level ? "\"trigger\":\"level\"" : "\"trigger\":\"edge\""));
        rig_receive(&r, 77, 5);
        rig_pump(&r);
        rig_expect(&r, 0, 77, 5);
        rig_down(&r);
    }
}

TCase *conform_shared(void)
{
    TCase *tc = tcase_create("shared lines");
    tcase_set_timeout(tc, 120);
    ADD_CASE_8139(tc, two_cards_two_lines, "see second_card_refuses_rearm");
    ADD_CASE_8139(tc, shared_level_line, "ISA lines are edges");
    ADD_CASE_8139(tc, edge_line_not_shared, "no two ISA cards drive one line");
    ADD_CASE_8139(tc, wrong_line_shared, "an ISA card's line is its own");
    ADD_CASE_8139(tc, irq_zero_and_255, "no configuration space");
    ADD_CASE_8139(tc, elcr_is_set, "PCI lines only");
    return tc;
}
