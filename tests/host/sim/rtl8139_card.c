/*
 * Simulated RTL8139 boards: the specimens, and what a PCI slot makes of them.
 */
#include "tests/host/sim/rtl8139.h"

#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/bus.h"

enum {
    PORTS = 0x100,
    ID = 0x813910EC,
    CLASS_ETHERNET = 0x02000010,
    PM_AT = 0x50,
    SLEEPING = 3, /* CONFIG1 */
};

/* The same as sim_card_mac: the suite's frames suit both. */
const uint8_t sim_rtl_mac[6] = {0x00, 0x20, 0xAF, 0x12, 0x34, 0x56};

const struct sim_rtl_config sim_rtls[] = {
    {.name = "rtl8139-8k-edge", .version = 0x74000000, .ring_kb = 8, .ten = true, .half = true},
    {.name = "rtl8139-16k-edge", .version = 0x70000000, .ring_kb = 16, .asleep = true},
    {.name = "rtl8139-32k-edge", .version = 0x74400000, .ring_kb = 32, .half = true},
    {.name = "rtl8139-64k-edge",
     .version = 0x74800000,
     .ring_kb = 64,
     .rcr_empties_ring = true,
     .big_eeprom = true},
    {.name = "rtl8139-8k-level", .version = 0x78000000, .ring_kb = 8, .level = true},
    {.name = "rtl8139-16k-level",
     .version = 0x74000000,
     .ring_kb = 16,
     .level = true,
     .ten = true,
     .half = true},
    {.name = "rtl8139-32k-level",
     .version = 0x74800000,
     .ring_kb = 32,
     .level = true,
     .rcr_empties_ring = true},
    {.name = "rtl8139-64k-level",
     .version = 0x74C00000,
     .ring_kb = 64,
     .level = true,
     .half = true},
};

const unsigned sim_rtl_count = sizeof sim_rtls / sizeof sim_rtls[0];

/* What Realtek's tool writes: data sheet ch. 5. */
static void burn_eeprom(struct sim_rtl *c)
{
    c->eeprom.address_bits = c->cfg.big_eeprom ? 8 : 6;
    memset(c->eeprom.word, 0xFF, sizeof c->eeprom.word);
    if (c->cfg.no_address) {
        return;
    }
    c->eeprom.word[0] = 0x8129;
    c->eeprom.word[1] = ID & 0xFFFF;
    c->eeprom.word[2] = ID >> 16;
    for (unsigned i = 0; i < 3; i++) {
        c->eeprom.word[7 + i] = (uint16_t)(c->idr[2 * i] | c->idr[2 * i + 1] << 8);
    }
}

void sim_rtl_plug(struct sim_rtl *c, const struct sim_rtl_config *cfg, unsigned device,
                  unsigned base, int irq)
{
    memset(c, 0, sizeof *c);
    c->cfg = *cfg;
    c->name = cfg->name;
    c->base = base;
    c->irq = irq;
    c->link = true;
    c->ring = 8192;
    c->mulint = 0xA000; /* reserved bits that must be kept */
    c->config1 = cfg->asleep ? SLEEPING : 0;
    c->clock_stopped = cfg->asleep;
    memset(c->idr, 0xFF, 6);
    if (!cfg->no_address) {
        memcpy(c->idr, sim_rtl_mac, 6);
    }
    c->idr[5] = (uint8_t)(c->idr[5] + ((base - 0xE000) >> 8));
    burn_eeprom(c);
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        c->slot[i].tsd = L_OWN;
    }
    c->capr = 0xFFF0;
    c->pci = sim_pci_add(0, device, 0, ID, CLASS_ETHERNET);
    sim_pci_bar(c->pci, 0, base, PORTS);
    sim_pci_set16(c->pci, 4, 0x0007);
    sim_pci_set8(c->pci, 0x3C, (uint8_t)irq);
    sim_pci_set8(c->pci, 0x3D, 1);
    sim_pci_power(c->pci, PM_AT, false);
    sim_attach(&(struct sim_device){.name = cfg->name,
                                    .base = base,
                                    .ports = PORTS,
                                    .in = sim_rtl_in,
                                    .out = sim_rtl_out,
                                    .self = c});
}

void sim_rtl_free(struct sim_rtl *c)
{
    free(c->sent);
    c->sent = NULL;
}

bool sim_rtl_at_rest(const struct sim_rtl *c)
{
    return (c->cr & (L_TE | L_RE)) == 0 && c->imr == 0 && c->tx_event == 0 && c->timer_event == 0;
}

void sim_rtl_set_link(struct sim_rtl *c, bool up)
{
    c->link = up;
    sim_rtl_set_isr(c, L_PUN);
}

void sim_rtl_system_error(struct sim_rtl *c)
{
    c->cr = 0;
    c->epoch++;
    sim_rtl_transmitter_stop(c);
    sim_rtl_set_isr(c, L_SERR);
}
