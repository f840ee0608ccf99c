/*
 * The test sides of the card families.
 */
#include "tests/host/rig_card.h"

#include "drivers/rtl8139/rtl8139.h"
#include "tests/host/rig.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/pci.h"

struct rig_card rig_card(unsigned index)
{
    if (index < sim_card_count) {
        return (struct rig_card){sim_cards[index].name, &sim_cards[index], NULL};
    }
    index -= sim_card_count;
    return (struct rig_card){sim_rtls[index].name, NULL, &sim_rtls[index]};
}

unsigned rig_card_count(void)
{
    return sim_card_count + sim_rtl_count;
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

const struct rig_side rig_side_ne2000 = {
    .plug = ne_plug,
    .unplug = ne_unplug,
    .receive = ne_receive,
    .receive_at = ne_receive_at,
    .hold_tx = ne_hold_tx,
    .release_tx = ne_release_tx,
    .tx_fate = ne_tx_fate,
    .tx_quiet = ne_tx_quiet,
    .fill_ring = ne_fill_ring,
    .sent_count = ne_sent_count,
    .sent = ne_sent,
    .stored = ne_stored,
    .missed = ne_missed,
    .overruns = ne_overruns,
    .mask = ne_mask,
    .move_irq = ne_move_irq,
    .online = ne_online,
    .at_rest = ne_at_rest,
    .frame_ns = ne_frame_ns,
    .slots = 2,
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

const struct rig_side rig_side_rtl8139 = {
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
