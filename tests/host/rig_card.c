/*
 * The test sides of the card families.
 */
#include "tests/host/rig_card.h"

#include "drivers/rtl8139/rtl8139.h"
#include "tests/host/rig.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pci.h"

unsigned rig_8390_count(void)
{
    return sim_card_count + sim_wd_count + sim_el2_count;
}

unsigned rig_card_count(void)
{
    return rig_8390_count() + sim_rtl_count;
}

struct rig_card rig_card(unsigned index)
{
    if (index < sim_card_count) {
        return (struct rig_card){.name = sim_cards[index].name, .ne2000 = &sim_cards[index]};
    }
    index -= sim_card_count;
    if (index < sim_wd_count) {
        return (struct rig_card){.name = sim_wds[index].name, .wd80x3 = &sim_wds[index]};
    }
    index -= sim_wd_count;
    if (index < sim_el2_count) {
        return (struct rig_card){.name = sim_el2s[index].name, .el2 = &sim_el2s[index]};
    }
    index -= sim_el2_count;
    return (struct rig_card){.name = sim_rtls[index].name, .rtl8139 = &sim_rtls[index]};
}

uint64_t rig_bus_ns(const struct rig_card *card, unsigned bytes)
{
    if (card->ne2000 != NULL) {
        return card->ne2000->slot8 ? bytes * (uint64_t)SIM_NS_BYTE
                                   : bytes / 2 * (uint64_t)SIM_NS_WORD;
    }
    if (card->wd80x3 != NULL) {
        return card->wd80x3->pipe     ? bytes / 2 * (uint64_t)SIM_NS_WORD
               : card->wd80x3->slot16 ? bytes / 2 * (uint64_t)SIM_NS_MEM16
                                      : bytes * (uint64_t)SIM_NS_MEM8;
    }
    if (card->el2 != NULL) { /* its FIFO is asked after every 8 bytes */
        return card->el2->memory == 0 ? bytes / 8 * (4ULL * SIM_NS_WORD + SIM_NS_BYTE)
               : card->el2->wide      ? bytes / 2 * (uint64_t)SIM_NS_MEM16
                                      : bytes * (uint64_t)SIM_NS_MEM8;
    }
    return 0;
}

/* ---- 8390 ---- */

static void ne_plug(struct rig *r)
{
    bool pci = r->cfg.ne2000->pci != 0;
    if (pci) {
        sim_pci_plug(SIM_PCI_1);
    }
    sim_card_plug(&r->card, r->cfg.ne2000, pci ? RIG_PCI_BASE : RIG_BASE, RIG_IRQ);
    r->chip = &r->card.chip;
}

static void ne_unplug(struct rig *r)
{
    sim_card_free(&r->card);
}

static void ne_receive(struct rig *r, const void *data, unsigned length, unsigned damage)
{
    sim_receive_damaged(r->chip, data, length, damage);
}

static void ne_receive_at(struct rig *r, uint64_t at_ns, const void *data, unsigned length)
{
    sim_receive_at(r->chip, at_ns, data, length);
}

static void ne_hold_tx(struct rig *r)
{
    sim_hold_tx(r->chip);
}

static void ne_release_tx(struct rig *r)
{
    sim_release_tx(r->chip);
}

static void ne_tx_fate(struct rig *r, enum sim_tx_fate fate, unsigned collisions)
{
    sim_tx_fate(r->chip, fate, collisions);
}

static bool ne_tx_quiet(const struct rig *r)
{
    return r->chip->tx == TX_IDLE && r->chip->fate == FATE_SENT;
}

static unsigned ne_fill_ring(struct rig *r, unsigned length)
{
    return sim_fill_ring(r->chip, length);
}

static unsigned ne_sent_count(const struct rig *r)
{
    return sim_frames_sent(r->chip);
}

static const struct sim_frame *ne_sent(const struct rig *r, unsigned index)
{
    return sim_sent(r->chip, index);
}

static unsigned ne_stored(const struct rig *r)
{
    return r->chip->stored;
}

static unsigned ne_missed(const struct rig *r)
{
    return r->chip->missed;
}

static unsigned ne_overruns(const struct rig *r)
{
    return r->chip->overruns;
}

static unsigned ne_mask(const struct rig *r)
{
    return r->chip->imr;
}

static void ne_move_irq(struct rig *r, int line)
{
    r->chip->irq = line;
}

static bool ne_online(const struct rig *r)
{
    return sim_chip_online(r->chip);
}

static bool ne_at_rest(const struct rig *r)
{
    return r->chip->stopped && r->chip->imr == 0 && r->chip->dma == DMA_IDLE;
}

static uint64_t ne_frame_ns(const struct rig *r, unsigned length)
{
    (void)r;
    return wire_frame_ns(length);
}

/* What every board with this chip does alike. */
#define SIDE_OF_DP8390                                                                             \
    .receive = ne_receive, .receive_at = ne_receive_at, .hold_tx = ne_hold_tx,                     \
    .release_tx = ne_release_tx, .tx_fate = ne_tx_fate, .tx_quiet = ne_tx_quiet,                   \
    .fill_ring = ne_fill_ring, .sent_count = ne_sent_count, .sent = ne_sent, .stored = ne_stored,  \
    .missed = ne_missed, .overruns = ne_overruns, .mask = ne_mask, .online = ne_online,            \
    .frame_ns = ne_frame_ns, .slots = 2

static const struct rig_side side_ne2000 = {
    SIDE_OF_DP8390,          .plug = ne_plug,       .unplug = ne_unplug,
    .move_irq = ne_move_irq, .at_rest = ne_at_rest,
};

/* ---- the same chip on WD80x3 boards ---- */

static void wd_plug(struct rig *r)
{
    sim_wd_plug(&r->wd, r->cfg.wd80x3, RIG_BASE, RIG_IRQ);
    r->chip = &r->wd.chip;
}

static void wd_unplug(struct rig *r)
{
    sim_wd_free(&r->wd);
}

static void wd_move_irq(struct rig *r, int line)
{
    r->wd.broken = line;
    sim_chip_route(r->chip, line, r->chip->irq_gated);
}

static bool wd_at_rest(const struct rig *r)
{
    return sim_wd_at_rest(&r->wd);
}

static const struct rig_side side_wd80x3 = {
    SIDE_OF_DP8390,          .plug = wd_plug,       .unplug = wd_unplug,
    .move_irq = wd_move_irq, .at_rest = wd_at_rest,
};

/* ---- and on 3C503 boards ---- */

static void el2_plug(struct rig *r)
{
    sim_el2_plug(&r->el2, r->cfg.el2, RIG_BASE, RIG_IRQ);
    r->chip = &r->el2.chip;
}

static void el2_unplug(struct rig *r)
{
    sim_el2_free(&r->el2);
}

static void el2_move_irq(struct rig *r, int line)
{
    sim_el2_wire(&r->el2, line);
}

static bool el2_at_rest(const struct rig *r)
{
    return sim_el2_at_rest(&r->el2);
}

static const struct rig_side side_el2 = {
    SIDE_OF_DP8390,           .plug = el2_plug,       .unplug = el2_unplug,
    .move_irq = el2_move_irq, .at_rest = el2_at_rest,
};

/* ---- RTL8139: a PCI machine around it ---- */

static void rtl_plug(struct rig *r)
{
    sim_pci_plug(SIM_PCI_1);
    sim_irq_elcr(r->cfg.rtl8139->level ? 1U << RIG_IRQ : 0);
    rtl8139_ring_kb = r->cfg.rtl8139->ring_kb;
    sim_rtl_plug(&r->rtl, r->cfg.rtl8139, RIG_PCI_DEVICE, RIG_PCI_BASE, RIG_IRQ);
}

static void rtl_unplug(struct rig *r)
{
    sim_rtl_free(&r->rtl);
}

static void rtl_receive(struct rig *r, const void *data, unsigned length, unsigned damage)
{
    sim_rtl_receive(&r->rtl, data, length, damage);
}

static void rtl_receive_at(struct rig *r, uint64_t at_ns, const void *data, unsigned length)
{
    sim_rtl_receive_at(&r->rtl, at_ns, data, length);
}

static void rtl_hold_tx(struct rig *r)
{
    sim_rtl_hold_tx(&r->rtl);
}

static void rtl_release_tx(struct rig *r)
{
    sim_rtl_release_tx(&r->rtl);
}

static void rtl_tx_fate(struct rig *r, enum sim_tx_fate fate, unsigned collisions)
{
    r->rtl.fate = fate;
    r->rtl.fate_collisions = collisions;
}

static bool rtl_tx_quiet(const struct rig *r)
{
    return !r->rtl.busy && r->rtl.fate == FATE_SENT;
}

static unsigned rtl_fill_ring(struct rig *r, unsigned length)
{
    return sim_rtl_fill_ring(&r->rtl, length);
}

static unsigned rtl_sent_count(const struct rig *r)
{
    return r->rtl.sent_count;
}

static const struct sim_frame *rtl_sent(const struct rig *r, unsigned index)
{
    return &r->rtl.sent[index];
}

static unsigned rtl_stored(const struct rig *r)
{
    return r->rtl.stored;
}

static unsigned rtl_missed(const struct rig *r)
{
    return r->rtl.missed;
}

static unsigned rtl_overruns(const struct rig *r)
{
    return r->rtl.overruns;
}

static unsigned rtl_mask(const struct rig *r)
{
    return r->rtl.imr;
}

static void rtl_move_irq(struct rig *r, int line)
{
    r->rtl.irq = line;
}

static bool rtl_online(const struct rig *r)
{
    return (r->rtl.cr & (L_RE | L_TE)) == (L_RE | L_TE);
}

static bool rtl_at_rest(const struct rig *r)
{
    return sim_rtl_at_rest(&r->rtl);
}

static uint64_t rtl_frame_ns(const struct rig *r, unsigned length)
{
    return sim_rtl_frame_ns(&r->rtl, length);
}

static const struct rig_side side_rtl8139 = {
    .plug = rtl_plug,
    .unplug = rtl_unplug,
    .receive = rtl_receive,
    .receive_at = rtl_receive_at,
    .hold_tx = rtl_hold_tx,
    .release_tx = rtl_release_tx,
    .tx_fate = rtl_tx_fate,
    .tx_quiet = rtl_tx_quiet,
    .fill_ring = rtl_fill_ring,
    .sent_count = rtl_sent_count,
    .sent = rtl_sent,
    .stored = rtl_stored,
    .missed = rtl_missed,
    .overruns = rtl_overruns,
    .mask = rtl_mask,
    .move_irq = rtl_move_irq,
    .online = rtl_online,
    .at_rest = rtl_at_rest,
    .frame_ns = rtl_frame_ns,
    .slots = L_DESCRIPTORS,
};

const struct rig_side *rig_side(const struct rig_card *card)
{
    return card->rtl8139 != NULL  ? &side_rtl8139
           : card->el2 != NULL    ? &side_el2
           : card->wd80x3 != NULL ? &side_wd80x3
                                  : &side_ne2000;
}
