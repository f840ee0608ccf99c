/*
 * The registry of cards: what was found, and what is told about it.  nic_look.c finds them,
 * nic_prove.c proves their interrupts.
 */
#include "drivers/nic.h"

#include "drivers/nic_look.h"
#include "drivers/nic_pnp.h"
#include "kernel/console.h"
#include "kernel/irq.h"
#include "kernel/pic.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    BYTE_BITS = 8,
    CRC_POLYNOMIAL = 0x04C11DB7,
    HASH_SHIFT = 32 - 6, /* the upper 6 bits */
};

struct nic nics[NIC_MAX];
unsigned nic_count;

void nic_log(const struct nic *nic, const char *fmt, ...)
{
    char text[160];
    va_list args;

    va_start(args, fmt);
    vformat(text, sizeof(text), fmt, args);
    va_end(args);
    console_fresh_line();
    kprintf("%s at 0x%x: %s\n", nic->driver->name, nic->place.io.base, text);
}

/* ---- what was found ---- */

static void record_card(const struct nic *nic)
{
    char mac[18];

    format(mac, sizeof(mac), "%M", nic->mac);
    record_begin("nic");
    record_int("nic", nic->index);
    record_str("driver", nic->driver->name);
    record_str("model", nic->model);
    record_str("bus", nic->place.bus == NIC_PCI ? "pci" : "isa");
    record_int("width", nic->width);
    record_int("io", nic->place.io.base);
    if (nic->irq == IRQ_NONE) {
        record_null("irq");
        record_null("trigger");
    } else {
        record_int("irq", nic->irq);
        record_str("trigger", pic_is_level(nic->irq) ? "level" : "edge");
    }
    record_bool("irq_proven", nic->irq_proven);
    record_str("mode", nic->mode == NIC_MODE_IRQ ? "irq" : "poll");
    if (nic->place.mem == 0) {
        record_null("mem");
    } else {
        record_int("mem", nic->place.mem);
    }
    record_int("ring_kb", nic->ring_kb);
    record_str("mac", mac);
    record_end();
}

void nic_announce(const struct nic *nic)
{
    char how[16];

    if (nic->mode == NIC_MODE_IRQ) {
        format(how, sizeof(how), "irq %d", nic->irq);
    } else {
        format(how, sizeof(how), "polling");
    }
    console_fresh_line();
    kprintf("%s at 0x%x %s: %s, %u-bit, %M\n", nic->driver->name, nic->place.io.base, how,
            nic->model, nic->width, nic->mac);
    record_card(nic);
}

/* ---- closing ---- */

/* Also one that was just being opened: the last, not counted yet. */
void nics_close(void)
{
    for (unsigned i = 0; i < NIC_MAX; i++) {
        if (nics[i].ops != NULL) {
            nics[i].ops->close(&nics[i]);
            nic_pnp_release(&nics[i]);
        }
    }
}

/* ---- for drivers ---- */

bool nic_address_usable(const uint8_t mac[6])
{
    unsigned any = 0;

    for (unsigned i = 0; i < 6; i++) {
        any |= mac[i];
    }
    return any != 0 && (mac[0] & 1) == 0;
}

/* IEEE 802.3 clause 3.2.9: least significant bit of each byte first. */
static uint32_t crc_of(const uint8_t mac[6])
{
    uint32_t crc = UINT32_MAX;

    for (unsigned i = 0; i < 6 * BYTE_BITS; i++) {
        uint32_t bit = (uint32_t)mac[i / BYTE_BITS] >> i % BYTE_BITS & 1;

        crc = crc << 1 ^ ((crc >> 31 ^ bit) != 0 ? CRC_POLYNOMIAL : 0);
    }
    return crc;
}

void nic_filter_add(struct nic_filter *filter, const uint8_t mac[6])
{
    uint32_t bit = crc_of(mac) >> HASH_SHIFT;

    filter->hash[bit / 32] |= 1U << bit % 32;
}

void nic_count_burst(struct nic *nic, unsigned n)
{
    unsigned bucket = 0;

    for (unsigned rest = n - 1; rest > 0 && bucket < NIC_BURST_BUCKETS - 1; rest /= 2) {
        bucket++;
    }
    nic->stats.rx_burst[bucket]++;
}

static void report_growth(const struct nic *nic, const char *what, uint32_t now, uint32_t *told)
{
    if (now == *told) {
        return;
    }
    record_fault(what, (int)nic->index);
    record_int("count", now);
    record_end();
    *told = now;
}

void nic_report_faults(struct nic *nic)
{
    report_growth(nic, "overrun", nic->stats.rx_overrun, &nic->told_overrun);
    report_growth(nic, "ring_resync", nic->stats.rx_resync, &nic->told_resync);
}

void nic_stats_reset(struct nic *nic)
{
    nic->ops->service(nic, 0); /* the chip's own tallies belong to the past as well */
    memset(&nic->stats, 0, sizeof(nic->stats));
    nic->told_overrun = nic->told_resync = 0;
}
