/*
 * Simulated NE2000-style boards around the simulated chip.
 */
#include "tests/host/sim/ne2000.h"

#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/pci.h"

enum { PORTS = 0x20, DATA_PORT = 0x10, RESET_PORT = 0x1F, RESET_US = 100 };
enum { PCI_COMMAND = 4, PCI_LINE = 0x3C, PCI_PIN = 0x3D, CLASS_ETHERNET = 0x02000000 };

const uint8_t sim_card_mac[6] = {0x00, 0x20, 0xAF, 0x12, 0x34, 0x56};

/* 16 KB at 4000h, of which an RTL8019AS in an 8-bit slot can use the first half only; 8 KB at 2000h
 * for an NE1000. */
#define RAM_16K .ram_first = 0x4000, .ram_size = 0x4000, .max_stop = 0x80
#define RAM_8K .ram_first = 0x4000, .ram_size = 0x4000, .max_stop = 0x60, .word_forbidden = true
#define RAM_CABLETRON .ram_first = 0x0100, .ram_size = 0x3F00, .max_stop = 0x40
#define RAM_BYTES_8K                                                                               \
    .ram_first = 0x4000, .ram_size = 0x2000, .max_stop = 0x60, .word_forbidden = true
#define RAM_PCI_8K .ram_first = 0x4000, .ram_size = 0x2000, .max_stop = 0x60
#define RAM_NE1000 .ram_first = 0x2000, .ram_size = 0x2000, .max_stop = 0x40, .word_forbidden = true

/* Realtek's page 3: CONFIG0 to 3, as the EEPROM of each board has them. */
#define CONFIG_FULL_DUPLEX .config = {0x00, 0xC0, 0x00, 0x40} /* line 10, 300h, media by itself */
#define CONFIG_THIN .config = {0x04, 0xC0, 0xC0, 0x00}

const struct sim_card_config sim_cards[] = {
    {.name = "ne2000", .signature = 'W', .chip = {RAM_16K, .reset_us = RESET_US}},
    {.name = "ne1000",
     .signature = 'W',
     .prom = PROM_PLAIN,
     .slot8 = true,
     .chip = {RAM_NE1000, .reset_us = RESET_US, .read_first = true}},
    {.name = "rtl8019as",
     .signature = 'W',
     .chip = {RAM_16K, .reset_us = RESET_US, .id = {'P', 'p'}, CONFIG_FULL_DUPLEX,
              .loops_high = true}},
    {.name = "rtl8019as-8bit",
     .signature = 'B',
     .slot8 = true,
     .chip = {RAM_8K, .reset_us = RESET_US, .id = {'P', 'p'}, CONFIG_THIN}},
    {.name = "clone-no-signature",
     .signature = 0x49,
     .chip = {RAM_16K, .reset_us = RESET_US, .exact_fit = true}},
    {.name = "clone-garbled-length",
     .signature = 'W',
     .chip = {RAM_16K, .reset_us = RESET_US, .garbled_length = true, .next_at_stop = true,
              .never_rst = true, .no_fifo = true}},
    {.name = "clone-lazy",
     .signature = 'W',
     .chip = {RAM_16K, .reset_us = 5000, .reset_within = 2000, .no_rdc_after_read = true,
              .skips_page = true, .late_stop_us = 700, .prefetches = true}},
    {.name = "rtl8029",
     .signature = 'W',
     .pci = 0x802910EC,
     .chip = {RAM_16K, .reset_us = RESET_US, .id = {'P', 'C'}, .dwords = DWORDS_TOO,
              .config = {0x00, 0x00, 0x40, 0x00}}},
    {.name = "via86c926",
     .signature = 'W',
     .pci = 0x09261106,
     .chip = {RAM_16K, .reset_us = RESET_US, .dwords = DWORDS_HALF}},
    {.name = "ht80229",
     .prom = PROM_PLAIN,
     .signature = 'W',
     .pci = 0x559812C3,
     .chip = {RAM_PCI_8K, .reset_us = RESET_US, .dwords = DWORDS_ONLY}},
    {.name = "um9008-8bit",
     .signature = 'W',
     .slot8 = true,
     .chip = {RAM_BYTES_8K, .reset_us = RESET_US, .word_hangs = true}},
    {.name = "cabletron",
     .signature = 0xFF,
     .chip = {RAM_CABLETRON, .reset_us = RESET_US, .no_crda = true, .mar_write_only = true}},
    {.name = "at-lantic",
     .signature = 'W',
     .chip = {RAM_16K, .reset_us = RESET_US, .lantic = true, .mcr = {0x20, 0x04}}},
};

const unsigned sim_card_count = sizeof sim_cards / sizeof sim_cards[0];

/* ---- bus side ---- */

static void need_byte(const struct sim_card *card, unsigned reg, unsigned width)
{
    if (width != 8) {
        sim_misuse("%s: %u-bit access to 8-bit register %02x", card->cfg.name, width, reg);
    }
}

/* In an 8-bit slot the bus makes two byte cycles of a word, the second at the next port, which is
 * the data port again. */
static uint32_t data_in(struct sim_card *card, unsigned width)
{
    if (!card->cfg.slot8 || width == 8) {
        return sim_chip_data_in(&card->chip, width);
    }
    if ((card->chip.dcr & N_DCR_WTS) == 0) {
        sim_misuse("%s: word access to the data port in byte mode", card->cfg.name);
    }
    uint32_t low = sim_chip_data_in(&card->chip, 8) & 0xFF;
    return low | (sim_chip_data_in(&card->chip, 8) & 0xFF) << 8;
}

static void data_out(struct sim_card *card, uint32_t value, unsigned width)
{
    if (!card->cfg.slot8 || width == 8) {
        sim_chip_data_out(&card->chip, value, width);
        return;
    }
    if ((card->chip.dcr & N_DCR_WTS) == 0) {
        sim_misuse("%s: word access to the data port in byte mode", card->cfg.name);
    }
    sim_chip_data_out(&card->chip, value & 0xFF, 8);
    sim_chip_data_out(&card->chip, value >> 8, 8);
}

static uint32_t card_in(void *self, unsigned reg, unsigned width)
{
    struct sim_card *card = self;
    if (reg == DATA_PORT) {
        return data_in(card, width);
    }
    need_byte(card, reg, width);
    if (reg < DATA_PORT) {
        return sim_chip_in(&card->chip, reg);
    }
    if (reg != RESET_PORT) {
        sim_misuse("%s: port %02x is an alias nobody needs", card->cfg.name, reg);
    }
    sim_chip_reset_on(&card->chip);
    return 0xFF;
}

static void card_out(void *self, unsigned reg, uint32_t value, unsigned width)
{
    struct sim_card *card = self;
    if (reg == DATA_PORT) {
        data_out(card, value, width);
        return;
    }
    need_byte(card, reg, width);
    if (reg < DATA_PORT) {
        sim_chip_out(&card->chip, reg, (uint8_t)value);
    } else if (reg != RESET_PORT) {
        sim_misuse("%s: port %02x is an alias nobody needs", card->cfg.name, reg);
    } else if (card->chip
                   .held_in_reset) { /* the pulse ends; without a read before there was none */
        sim_chip_reset_off(&card->chip);
    }
}

/* ---- test side ---- */

static void burn_prom(struct sim_card *card)
{
    uint8_t prom[32] = {0}, *to = card->chip.mem;
    unsigned copies = card->cfg.prom == PROM_PLAIN ? 1 : 2;
    memcpy(prom, sim_card_mac, sizeof sim_card_mac);
    memset(prom + 6, 0x05, 8); /* board data */
    prom[0] = card->cfg.prom == PROM_GROUP ? 0x01 : prom[0];
    prom[14] = card->cfg.signature;
    prom[15] = card->cfg.signature == 0x49 ? 0x00 : card->cfg.signature; /* COPAM's */
    memset(prom + 16, 0x42, 16);
    for (unsigned i = 0; i < sizeof prom; i++) {
        switch (card->cfg.prom) {
        case PROM_ONES: to[i] = 0xFF; break;
        case PROM_ZEROS: to[i] = 0; break;
        case PROM_TAIL: to[i] = i < 24 ? prom[i / 2] : (uint8_t)(0xC3 + i); break;
        case PROM_RANDOM: to[i] = (uint8_t)(i * 151 + 77 + i * i); break;
        default: to[i] = prom[i / copies]; break;
        }
    }
}

static void plug_pci(uint32_t id, unsigned base, int irq)
{
    unsigned device = sim_pci_free_device(SIM_CARD_DEVICE);
    struct sim_pci_function *f = sim_pci_add(0, device, 0, id, CLASS_ETHERNET);
    sim_pci_bar(f, 0, base, PORTS);
    sim_pci_set16(f, PCI_COMMAND, 0x0005);
    sim_pci_set8(f, PCI_LINE, (uint8_t)irq);
    sim_pci_set8(f, PCI_PIN, 1);
}

void sim_card_plug(struct sim_card *card, const struct sim_card_config *cfg, unsigned base, int irq)
{
    card->cfg = *cfg;
    card->base = base;
    sim_chip_init(&card->chip, cfg->name, irq, &cfg->chip);
    if (cfg->no_ram) {
        card->chip.cfg.ram_size = 0;
    }
    burn_prom(card);
    if (cfg->pci != 0) {
        plug_pci(cfg->pci, base, irq);
    }
    sim_attach(&(struct sim_device){.name = cfg->name,
                                    .base = base,
                                    .ports = PORTS,
                                    .in = card_in,
                                    .out = card_out,
                                    .self = card});
}

void sim_card_left_running(struct sim_card *card)
{
    struct sim_chip *c = &card->chip;
    c->init = INIT_ALL;
    c->dcr = N_DCR_LS | (card->cfg.slot8 ? 0 : N_DCR_WTS);
    c->tcr = 0;
    c->rcr = N_RCR_AB;
    c->pstart = (uint8_t)(c->cfg.ram_first / SIM_PAGE + 6);
    c->pstop = (uint8_t)c->cfg.max_stop;
    c->bnry = c->pstart;
    c->curr = (uint8_t)(c->pstart + 1);
    memcpy(c->par, sim_card_mac, 6);
    c->stopped = false;
    c->isr = 0;
    c->imr = N_PRX;
    c->page = 1; /* wherever it happened to be */
}

void sim_card_free(struct sim_card *card)
{
    sim_chip_free(&card->chip);
}
