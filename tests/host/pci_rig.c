/*
 * The PC with PCI.
 */
#include "tests/host/pci_rig.h"

#include "drivers/rtl8139/rtl8139.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/irq.h"

enum { POOL = 16 };

struct sim_rtl card;
const struct sim_rtl_config good = {.name = "rtl8139", .version = 0x74000000, .level = true};

static struct frame pool[POOL];

void machine(enum sim_pci_machine kind)
{
    sim_reset();
    sim_dma_reset();
    host_capture_clear();
    options_default(&options);
    frame_pool_init(pool, POOL);
    memset(nics, 0, sizeof nics);
    nic_count = 0;
    sim_irq_elcr(1U << LINE);
    sim_pci_plug(kind);
    rtl8139_ring_kb = 8;
}

void plug(const struct sim_rtl_config *cfg)
{
    machine(SIM_PCI_1);
    sim_rtl_plug(&card, cfg, SLOT, IO, LINE);
}

void found(bool usable, const char *words)
{
    nics_init();
    ck_assert_msg((nic_count == 1) == usable, "%u cards: %s", nic_count, host_text());
    ck_assert_msg(words == NULL || host_count(host_text(), words) == 1, "no '%s' in: %s", words,
                  host_text());
}

static void complain(const char *word, const char *why)
{
    ck_abort_msg("option %s: %s", word, why);
}

void boot_options(const char *words)
{
    options_parse(&options, words, complain);
}
