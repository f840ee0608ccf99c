/*
 * WD8003, WD8013, SMC Elite and SMC Ultra boards: which one it is, and how it is set up.
 *
 * The look is at the eight ports of the address PROM, whose sum is FFh.  Registers 6 and 7 are not
 * read before the board id says that they exist: the oldest boards hang the bus there.
 */
#include "drivers/8390/wd80x3.h"
#include "kernel/irq.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    LAN_ID = 6,
    LAN_CHECKSUM = 7,
    LAN_SUM = 0xFF,
    ID_FIELD = 0x3F,
    ID_LARGE = 0x40, /* 32 KB chips */
    ID_MCA = 0x80,
    FLOATING = 0xFF,
    CHIP_BYTES = 8 * 1024,
    LARGE_CHIP_BYTES = 32 * 1024,
    RAR_BASE = 0xC0000,
    RAR_A17_SHIFT = 11,
    PROM_WORDS = 48,
};

/* FreeBSD if_edreg.h, 86Box net_wd8003.c. */
static const struct wd_model models[] = {
    {0x03, WD_JUMPERS, false, "WD8003E"},
    {0x05, WD_JUMPERS16, true, "WD8013EBT"},
    {0x24, WD_SOFT, false, "WD8003W"},
    {0x25, WD_SOFT, false, "WD8003EB"},
    {0x26, WD_SOFT, true, "WD8013W"},
    {0x27, WD_SOFT, true, "WD8013EP"},
    {0x28, WD_SOFT, true, "WD8013WC (SMC Elite16)"},
    {0x29, WD_SOFT, true, "WD8013EPC (SMC Elite16)"},
    {0x2A, WD_ULTRA, true, "SMC8216T Ultra"},
    {0x2B, WD_ULTRA, true, "SMC8216 Ultra"},
    {0x2C, WD_SOFT, true, "WD8013EBP (SMC Elite16)"},
};

/* ---- the look ---- */

static const struct wd_model *model_of(uint8_t id)
{
    for (unsigned i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        if (models[i].id == (id & ID_FIELD) && (id & ID_MCA) == 0) {
            return &models[i];
        }
    }
    return NULL;
}

/* Byte after byte, and no further than it can be one: there are strangers that lose data when their
 * last port is read. */
static bool read_lan(const struct dp8390 *d, uint8_t lan[WD_LAN_BYTES])
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < WD_LAN_BYTES; i++) {
        if (i == LAN_CHECKSUM && !d->nic->place.given && model_of(lan[LAN_ID]) == NULL) {
            return false;
        }
        if (i == LAN_ID && (lan[0] == FLOATING || lan[1] == FLOATING || !nic_address_usable(lan))) {
            return false;
        }
        lan[i] = io_in8(d->asic, WD_LAN + i);
        sum = (uint8_t)(sum + lan[i]);
    }
    return sum == LAN_SUM;
}

/* Without an interface chip the registers repeat the PROM.  0 is not asked: on such boards it is
 * the MSR, and 6 and 7 hang the bus. */
static bool repeats_prom(const struct dp8390 *d, const uint8_t lan[WD_LAN_BYTES])
{
    for (unsigned reg = WD_ICR; reg <= WD_LAAR; reg++) {
        if (io_in8(d->asic, reg) != lan[reg]) {
            return false;
        }
    }
    return true;
}

/* A driver that left the Ultra's switch on hid the address; only who is sent here may look, and
 * register 7 comes last: on boards that repeat the PROM it hangs the bus. */
static bool read_hidden_lan(const struct dp8390 *d, uint8_t lan[WD_LAN_BYTES])
{
    const uint8_t hwr = io_in8(d->asic, U_HWR);
    unsigned rev;

    if ((hwr & U_HWR_SWH) == 0 || hwr == FLOATING || hwr == lan[U_HWR]) {
        return false;
    }
    rev = io_in8(d->asic, U_REV) & U_REV_FIELD;
    if (rev != U_REV_790 && rev != U_REV_795) {
        return false;
    }
    io_out8(d->asic, U_HWR, hwr & (uint8_t)~U_HWR_SWH);
    if (read_lan(d, lan)) {
        return true;
    }
    io_out8(d->asic, U_HWR, hwr);
    return false;
}

bool wd_look_at(const struct dp8390 *d, struct wd_look *look, char *why, size_t why_size)
{
    const uint8_t *lan = look->lan;

    if (!read_lan(d, look->lan) && !(d->nic->place.given && read_hidden_lan(d, look->lan))) {
        format(why, why_size,
               lan[0] == FLOATING && lan[1] == FLOATING ? "nothing there"
                                                        : "no WD or SMC address PROM");
        return false;
    }
    look->model = model_of(lan[LAN_ID]);
    if (look->model != NULL) {
        return true;
    }
    format(why, why_size, "a WD or SMC address PROM, but its board id %02x is unknown",
           lan[LAN_ID]);
    return false;
}

/* For the selftest: only who has been found is asked, so all of it may be read. */
bool wd_prom(struct dp8390 *d, struct dp8390_prom *prom)
{
    static char words[PROM_WORDS];
    const struct wd_model *model;
    uint8_t sum = 0;

    prom->n = WD_LAN_BYTES;
    for (unsigned i = 0; i < WD_LAN_BYTES; i++) {
        prom->raw[i] = io_in8(d->asic, WD_LAN + i);
        sum = (uint8_t)(sum + prom->raw[i]);
    }
    memcpy(prom->mac, prom->raw, sizeof(prom->mac));
    prom->words = words;
    model = model_of(prom->raw[LAN_ID]);
    if (sum != LAN_SUM || model == NULL) {
        format(words, sizeof(words), "id %02x, and the sum is %02x", prom->raw[LAN_ID], sum);
        return false;
    }
    format(words, sizeof(words), "%s, id %02x, sum ff", model->name, prom->raw[LAN_ID]);
    return true;
}

/* ---- its configuration ---- */

/* The bit can be written in an 8-bit slot, and is stuck at 1 in one of 16 bits. */
static bool in_wide_slot(const struct dp8390 *d, enum wd_kind kind)
{
    const uint8_t icr = io_in8(d->asic, WD_ICR);
    bool stuck;

    if (kind != WD_SOFT) {
        return kind == WD_ULTRA || (icr & ICR_BIT16) != 0;
    }
    io_out8(d->asic, WD_ICR, (icr ^ ICR_BIT16) & ICR_SAFE);
    stuck = (io_in8(d->asic, WD_ICR) & ICR_BIT16) != 0;
    io_out8(d->asic, WD_ICR, icr & ICR_SAFE);
    return stuck && (icr & ICR_BIT16) != 0;
}

static void read_soft(struct dp8390 *d, struct wd_look *look)
{
    static const int8_t lines[] = {9, 3, 5, 7, 10, 11, 15, 4};
    struct wd *wd = wd_of(d);
    const unsigned icr = io_in8(d->asic, WD_ICR);
    const unsigned irr = io_in8(d->asic, WD_IRR);
    const uint32_t upper = d->word ? wd->found_laar & LAAR_ADDRESS : 1;

    look->own = (uint32_t)(wd->found_msr & MSR_ADDRESS) << MSR_SHIFT | upper << LAAR_SHIFT;
    look->chip_bytes = (icr & ICR_MSZ) != 0 ? LARGE_CHIP_BYTES : CHIP_BYTES;
    if (d->nic->place.irq == IRQ_NONE) {
        d->nic->place.irq = lines[(irr & IRR_LINE) >> IRR_SHIFT | (icr & ICR_IR2)];
    }
}

static void read_ultra(struct dp8390 *d, struct wd_look *look)
{
    static const int8_t lines[] = {IRQ_NONE, 9, 3, 5, 7, 10, 11, 15};
    const unsigned gcr = wd_read_hidden(d, U_GCR);
    const unsigned rar = wd_read_hidden(d, U_RAR);

    wd_of(d)->found_rar = (uint8_t)rar;
    look->chip_bytes = CHIP_BYTES << ((rar & U_RAR_SIZE) >> U_RAR_SIZE_SHIFT);
    if ((rar & U_RAR_HIGH) == 0) {
        look->own = RAR_BASE | (rar & U_RAR_LOW) << MSR_SHIFT | (rar & U_RAR_A17) << RAR_A17_SHIFT;
    }
    if (d->nic->place.irq == IRQ_NONE) {
        d->nic->place.irq = lines[(gcr & U_GCR_IR10) >> 2 | (gcr & U_GCR_IR2) >> 4];
    }
    if (wd_read_hidden(d, U_GCR2) != 0) {
        d->board = &wd_pipe_board;
    }
}

void wd_read_configuration(struct dp8390 *d, struct wd_look *look)
{
    struct wd *wd = wd_of(d);

    wd->kind = look->model->kind;
    if (wd->kind == WD_SOFT && repeats_prom(d, look->lan)) {
        wd->kind = WD_JUMPERS;
    }
    look->chip_bytes = (look->lan[LAN_ID] & ID_LARGE) != 0 ? LARGE_CHIP_BYTES : CHIP_BYTES;
    if (wd->kind == WD_JUMPERS) {
        return;
    }
    d->word = look->model->wide && in_wide_slot(d, wd->kind);
    if (wd->kind == WD_ULTRA) {
        d->nic->ops = &dp8390_ops; /* a panic with U_HWR_SWH on must find what puts it back */
        read_ultra(d, look);
        d->no_rdc = true;
        return;
    }
    wd->found_laar = io_in8(d->asic, WD_LAAR);
    if (d->word) {
        wd->gate = WD_LAAR;
        wd->gate_shut = wd->found_laar & LAAR_ADDRESS;
    }
    if (wd->kind == WD_SOFT) {
        wd->found_msr = io_in8(d->asic, WD_MSR);
        read_soft(d, look);
        d->no_rdc = true;
    }
}
