/*
 * RTL8139, bus glue: which cards, and what has to be right before the chip can be used.
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/arena.h"
#include "kernel/error.h"
#include "kernel/pci.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    DEFAULT_RING_KB = 32, /* 64 is unreliable (QUIRKS), and has no room behind it */
    SMALL_RING_KB = 16,
    SMALL_RAM = 2 * 1024 * 1024,
    CONFIG1_ASLEEP = CONFIG1_PMEN | CONFIG1_PWRDN,
};

unsigned rtl8139_ring_kb;

/* Vendor and device; from the vendors' documents and the PCI ID list. */
static const struct nic_pci_id ids[] = {
    {0x10EC, 0x8139, "RTL8139"},
    {0x10EC, 0x8138, "RT8139 CardBus"},
    {0x1113, 0x1211, "Accton MPX5030"},
    {0x1500, 0x1360, "Delta 8139"},
    {0x4033, 0x1360, "Addtron 8139"},
    {0x1186, 0x1300, "D-Link DFE-538TX"},
    {0x1186, 0x1340, "D-Link DFE-690TXD"},
    {0x13D1, 0xAB06, "AboCom FE2000VX"},
    {0x1259, 0xA117, "Allied Telesyn 8139"},
    {0x1259, 0xA11E, "Allied Telesyn 8139"},
    {0x14EA, 0xAB06, "Planex FNW-3603-TX"},
    {0x14EA, 0xAB07, "Planex FNW-3800-TX"},
    {0x11DB, 0x1234, "Sega 8139"},
    {0x1432, 0x9130, "Edimax 8139"},
    {0x02AC, 0x1012, "SpeedStream 8139"},
    {0x018A, 0x0106, "LevelOne FPC-0106TX"},
    {0x126C, 0x1211, "Northern Telecom 8139"},
    {0x1743, 0x8139, "Peppercon 8139"},
    {0x021B, 0x8139, "Compaq HNE-300"},
    {0x16EC, 0x00FF, "USRobotics 997900"},
    {0, 0, NULL},
};

/* Chip by its hardware version: TCR bits 30-26, 23-22. */
static const struct {
    uint32_t version;
    const char *name;
} chips[] = {
    {0x40000000, "RTL8139"},   {0x60000000, "RTL8139"},  {0x70000000, "RTL8139A"},
    {0x70800000, "RTL8139A"},  {0x78000000, "RTL8139B"}, {0x7C000000, "RTL8130"},
    {0x74000000, "RTL8139C"},  {0x78800000, "RTL8100"},  {0x74400000, "RTL8139D/8100B"},
    {0x74800000, "RTL8139C+"}, {0x74C00000, "RTL8101"},
};

static const char *chip_name(const struct rtl8139 *d)
{
    uint32_t version = get32(d, TCR) & TCR_HWVERID;

    for (unsigned i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        if (chips[i].version == version) {
            return chips[i].name;
        }
    }
    return "RTL8139 (unknown version)";
}

/* Older chips sleep by CONFIG1 and the clock register; in newer ones those bits mean other things
 * that reset has set already, and clearing PMEN does no harm. */
static void wake(struct rtl8139 *d)
{
    uint32_t version = get32(d, TCR) & TCR_HWVERID;

    if (version >= 0x74000000) {
        return;
    }
    put8(d, CR9346, CR9346_UNLOCK);
    put8(d, CONFIG1, get8(d, CONFIG1) & (uint8_t)~CONFIG1_ASLEEP);
    put8(d, CR9346, CR9346_PROTECT);
    put8(d, HLTCLK, HLTCLK_RUN);
}

static int probe(const struct nic_place *place, struct nic *nic, char *why, size_t why_size)
{
    struct rtl8139 *d = rtl8139_of(nic);

    if (place->bus != NIC_PCI || place->io.base == 0) {
        format(why, why_size, "needs a PCI card with an I/O range");
        return E_NOT_FOUND;
    }
    memset(d, 0, sizeof(*d));
    d->reg = place->io;
    d->nic = nic;
    if (get32(d, TCR) == UINT32_MAX) {
        format(why, why_size, "all registers read as ones: the card does not answer");
        return E_HARDWARE;
    }
    wake(d);
    if (rtl8139_reset(d) != 0) {
        format(why, why_size, "does not come out of reset (CR %02x)", get8(d, CR));
        return E_TIMEOUT;
    }
    for (unsigned i = 0; i < sizeof(nic->mac); i++) {
        nic->mac[i] = get8(d, IDR0 + i);
    }
    if (!nic_address_usable(nic->mac)) {
        record_fault("prom", -1);
        record_int("io", place->io.base);
        record_end();
        format(why, why_size, "EEPROM gives no usable address (%M)", nic->mac);
        return E_HARDWARE;
    }
    if (rtl8139_ring_kb == 0) {
        rtl8139_ring_kb = arena_left() < SMALL_RAM ? SMALL_RING_KB : DEFAULT_RING_KB;
    }
    d->ring_bytes = rtl8139_ring_kb * 1024;
    format(nic->model, sizeof(nic->model), "%s", chip_name(d));
    nic->ops = &rtl8139_ops;
    nic->width = 32;
    nic->ring_kb = (uint16_t)rtl8139_ring_kb;
    nic->link_kbit = 100000;
    return OK;
}

NIC_DRIVER(rtl8139_driver) = {
    .name = "rtl8139",
    .pci_ids = ids,
    .probe = probe,
};
