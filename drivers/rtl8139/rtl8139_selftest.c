/*
 * Selftest of the RTL8139: registers, EEPROM, loopback, interrupt, and the speed of the PCI bus and
 * of the copy that each frame still costs.  Source: RTL8139C(L) data sheet ch. 5, 6.
 */
#include "drivers/rtl8139/rtl8139.h"
#include "kernel/error.h"
#include "kernel/math64.h"
#include "kernel/print.h"
#include "kernel/string.h"

/* ---- registers: the chip does nothing, so addresses may be any ---- */

static const uint8_t registers[] = {MAR0,      MAR0 + 4,  RBSTART,   TSAD0,
                                    TSAD0 + 4, TSAD0 + 8, TSAD0 + 12};
enum { REGISTERS = sizeof(registers), PATTERNS = 5 };

/* Multiples of 4, as addresses must be; the last tells the registers apart. */
static uint32_t pattern(unsigned index, unsigned round)
{
    static const uint32_t patterns[] = {0, 0xFFFFFFFC, 0x55555554, 0xAAAAAAA8};

    return round < PATTERNS - 1 ? patterns[round] : 0x01020304U * (index + 1) << 2;
}

static bool test_registers(struct selftest *t)
{
    const struct rtl8139 *d = rtl8139_of(t->nic);
    uint32_t wrong = 0;
    unsigned faulty = 0;

    if (rtl8139_reset(rtl8139_of(t->nic)) != 0) {
        selftest_say(SELFTEST_BAD, "does not come out of reset (CR %02x)", get8(d, CR));
        return false;
    }
    for (unsigned round = 0; round < PATTERNS; round++) {
        for (unsigned i = 0; i < REGISTERS; i++) {
            put32(d, registers[i], pattern(i, round));
        }
        for (unsigned i = 0; i < REGISTERS; i++) {
            const uint32_t differs = get32(d, registers[i]) ^ pattern(i, round);

            if (differs != 0 && wrong == 0) {
                wrong = differs;
                faulty = registers[i];
            }
        }
    }
    if (wrong != 0) {
        selftest_say(SELFTEST_BAD, "register %02xh does not hold what is written (bits %08x)",
                     faulty, wrong);
    } else {
        selftest_say(SELFTEST_GOOD, "%u registers of 32 bits hold what is written",
                     (unsigned)REGISTERS);
    }
    return false;
}

/* ---- EEPROM ---- */

enum { WORDS = 10, WORD_VENDOR = 1, WORD_DEVICE = 2, WORD_ADDRESS = 7 };

static bool test_eeprom(struct selftest *t)
{
    const struct rtl8139 *d = rtl8139_of(t->nic);
    uint16_t word[WORDS];
    uint8_t mac[6];
    char text[5 * WORDS + 1] = "";

    rtl8139_read_eeprom(d, word, WORDS);
    for (unsigned i = 0; i < WORDS; i++) {
        format(text + 5 * i, 6, "%04x ", word[i]);
    }
    text[5 * WORDS - 1] = '\0';
    for (unsigned i = 0; i < sizeof(mac); i++) {
        mac[i] = (uint8_t)(word[WORD_ADDRESS + i / 2] >> i % 2 * 8);
    }
    if (word[0] != RTL8139_EEPROM_ID) {
        selftest_say(SELFTEST_BAD, "%s: does not begin with %04x", text, RTL8139_EEPROM_ID);
    } else if (memcmp(mac, t->nic->mac, sizeof(mac)) != 0) {
        selftest_say(SELFTEST_GOOD, "%s", text);
        selftest_say(SELFTEST_BAD, "says %M, but the chip's registers %M", mac, t->nic->mac);
    } else {
        selftest_say(SELFTEST_GOOD, "%s", text);
        selftest_say(SELFTEST_GOOD, "%M, board %04x:%04x", mac, word[WORD_VENDOR],
                     word[WORD_DEVICE]);
    }
    return false;
}

/* ---- loopback: the driver's own paths, within the chip ---- */

enum {
    LOOP_WAIT_US = 20000, /* 1.2 ms at 10 Mbit/s */
    LOOP_FRAMES = 32,
    LOOP_BURST = 4,
    ETHERTYPE_LOOPBACK = 0x9000, /* configuration testing protocol (DIX 2.0 ch. 8) */
};

static uint8_t block[FRAME_MAX];

static const uint16_t loop_sizes[] = {60, 61, 64, 127, 256, 777, 1513, 1514};
enum { LOOP_SIZES = sizeof(loop_sizes) / sizeof(loop_sizes[0]) };

static void loop_frame(const struct nic *nic, unsigned length, unsigned seed)
{
    memcpy(block, nic->mac, 6);
    memcpy(block + 6, nic->mac, 6);
    block[12] = ETHERTYPE_LOOPBACK >> 8;
    block[13] = ETHERTYPE_LOOPBACK & 0xFF;
    for (unsigned i = 14; i < length; i++) {
        block[i] = (uint8_t)(i * 0x35 + seed);
    }
}

enum loop_end { LOOP_RIGHT, LOOP_DAMAGED, LOOP_LOST };

/* What came in meanwhile; others' frames do not count (an emulator's wire stays connected). */
static enum loop_end look(struct selftest *t, unsigned length)
{
    struct frame *got[LOOP_BURST];
    enum loop_end end = LOOP_LOST;
    const unsigned n = t->ops->rx_burst(t->nic, got, LOOP_BURST);

    for (unsigned i = 0; i < n; i++) {
        const struct frame *f = got[i];

        if (f->length >= 14 && memcmp(f->packet, block, 14) == 0) {
            end = f->length == length && memcmp(f->packet, block, length) == 0 ? LOOP_RIGHT
                                                                               : LOOP_DAMAGED;
        }
        frame_free(got[i]);
    }
    t->ops->rx_done(t->nic);
    return end;
}

static enum loop_end one_round(struct selftest *t, unsigned length, unsigned seed)
{
    const struct slice slice = {block, (uint16_t)length};
    const struct tx_frame frame = {&slice, 1, (uint16_t)length};
    struct deadline limit;
    enum loop_end end = LOOP_LOST;

    loop_frame(t->nic, length, seed);
    if (t->ops->tx_burst(t->nic, &frame, 1) != 1) {
        return LOOP_LOST;
    }
    limit = deadline_us(LOOP_WAIT_US);
    do {
        if ((t->ops->poll(t->nic) & EV_RX) != 0) {
            end = look(t, length);
        }
        rtl8139_reclaim(rtl8139_of(t->nic));
    } while (end == LOOP_LOST && !expired(&limit));
    return end;
}

static bool test_loopback(struct selftest *t)
{
    struct rtl8139 *d = rtl8139_of(t->nic);
    enum loop_end end = LOOP_RIGHT;
    unsigned length = 0, n = 0;

    rtl8139_restart(d);
    put32(d, TCR, TCR_IFG_NORMAL | TCR_MXDMA_1024 | TCR_LOOPBACK);
    for (; n < LOOP_FRAMES && end == LOOP_RIGHT; n++) {
        length = loop_sizes[n % LOOP_SIZES];
        end = one_round(t, length, n);
    }
    if (end == LOOP_LOST && !t->nic->link) {
        selftest_say(SELFTEST_NOTE, "within the chip: nothing came back, and there is no link");
    } else if (end == LOOP_RIGHT) {
        selftest_say(SELFTEST_GOOD, "within the chip: %u frames of 60 to 1514 bytes came back", n);
    } else {
        selftest_say(SELFTEST_BAD, "within the chip: frame %u of %u bytes %s (ISR %04x)", n, length,
                     end == LOOP_DAMAGED ? "came back damaged" : "did not come back",
                     get16(d, ISR));
    }
    t->ops->close(t->nic);
    return false;
}

/* ---- interrupt ---- */

enum { TIMER_CLOCKS = 330 /* 10 us */, TIMER_WAIT_US = 100000 /* an emulator is late */ };

/* The timer has reached its end: unmasking that pulls the line. */
static void raise_line(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    d->imr = ISR_TIMEOUT;
    put16(d, IMR, ISR_TIMEOUT);
}

static void quiet_line(struct nic *nic)
{
    struct rtl8139 *d = rtl8139_of(nic);

    put16(d, IMR, 0);
    d->imr = 0;
}

static bool test_interrupt(struct selftest *t)
{
    struct rtl8139 *d = rtl8139_of(t->nic);
    struct deadline limit;

    rtl8139_restart(d);
    put32(d, TIMER_INT, TIMER_CLOCKS);
    put32(d, TCTR, 0);
    limit = deadline_us(TIMER_WAIT_US);
    while ((get16(d, ISR) & ISR_TIMEOUT) == 0 && !expired(&limit)) {
    }
    selftest_interrupt(raise_line, quiet_line);
    put32(d, TIMER_INT, 0);
    put16(d, ISR, ISR_TIMEOUT);
    t->ops->close(t->nic);
    return false;
}

/* ---- speed ---- */

enum {
    SPEED_SAMPLES = 32,
    MEMORY_BLOCKS = 4,
    BLOCK = 1512, /* a frame, in whole words */
    REGISTER_READS = 64,
    FETCH_WAIT_US = 20000,
};

/* Microseconds times 1000 that a register access takes. */
static void measure_registers(struct selftest *t)
{
    const struct rtl8139 *d = rtl8139_of(t->nic);
    struct samples samples = {.n = 0};
    char text[24];

    for (unsigned i = 0; i < SPEED_SAMPLES; i++) {
        const uint64_t began = time_us();

        for (unsigned n = 0; n < REGISTER_READS; n++) {
            (void)get32(d, MPC);
        }
        samples_add(&samples, (uint32_t)(time_us() - began) * 1000 / REGISTER_READS);
    }
    selftest_say(SELFTEST_GOOD, "a register is read in %s us",
                 format_fixed(text, samples_percentile(&samples, 50), 3));
    samples_record(&samples, "register_in_32", (int)t->nic->index, "us", 3);
}

/*
 * From the doorbell until the chip has fetched a whole frame (OWN): it is in loopback, and fetches
 * as fast as the bus gives.  -1: it never did.
 */
static int64_t fetch_us(const struct rtl8139 *d, unsigned n)
{
    const uint64_t began = time_us();
    struct deadline limit = deadline_us(FETCH_WAIT_US);
    uint64_t took;

    put32(d, TSD0 + 4 * n, (uint32_t)d->threshold << TSD_THRESHOLD_SHIFT | FRAME_MAX);
    while ((get32(d, TSD0 + 4 * n) & TSD_OWN) == 0) {
        if (expired(&limit)) {
            return -1;
        }
    }
    took = time_us() - began;
    while ((get32(d, TSD0 + 4 * n) & (TSD_TOK | TSD_TUN | TSD_TABT)) == 0 && !expired(&limit)) {
    }
    return (int64_t)took;
}

static void measure_fetch(struct selftest *t)
{
    struct rtl8139 *d = rtl8139_of(t->nic);
    struct samples samples = {.n = 0};
    char text[24];

    rtl8139_restart(d);
    put32(d, TCR, TCR_IFG_NORMAL | TCR_MXDMA_1024 | TCR_LOOPBACK);
    for (unsigned i = 0; i < SPEED_SAMPLES; i++) {
        struct rtl8139_slot *slot = &d->slot[i % RTL8139_DESCRIPTORS];
        int64_t us;

        memset(slot->buffer.cpu, (int)i, FRAME_MAX); /* to nobody: not received, but in QEMU */
        us = fetch_us(d, i % RTL8139_DESCRIPTORS);
        if (us < 0) {
            selftest_say(SELFTEST_BAD, "a frame was not fetched in %u ms", FETCH_WAIT_US / 1000);
            break;
        }
        samples_add(&samples, selftest_kb_s(FRAME_MAX, (uint64_t)us));
    }
    t->ops->close(t->nic);
    if (samples.n == SPEED_SAMPLES) {
        selftest_say(SELFTEST_GOOD, "PCI: the card fetches a frame at %s KB/s",
                     format_fixed(text, samples_percentile(&samples, 50), 1));
        samples_record(&samples, "bus_out_32", (int)t->nic->index, "KB/s", 1);
    }
}

/* KB/s times 10 of one pass of `touch` over frames in the ring, and how they are told. */
static uint32_t measure_memory(struct selftest *t, void (*touch)(const uint8_t *from),
                               const char *name)
{
    const struct rtl8139 *d = rtl8139_of(t->nic);
    struct samples samples = {.n = 0};

    for (unsigned i = 0; i < SPEED_SAMPLES; i++) {
        const uint64_t began = time_us();

        for (unsigned n = 0; n < MEMORY_BLOCKS; n++) {
            touch(d->ring.cpu + n * BLOCK);
        }
        samples_add(&samples, selftest_kb_s(MEMORY_BLOCKS * BLOCK, time_us() - began));
    }
    samples_record(&samples, name, (int)t->nic->index, "KB/s", 1);
    return samples_percentile(&samples, 50);
}

static void read_once(const uint8_t *from)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < BLOCK; i += sizeof(sum)) {
        uint32_t word;

        memcpy(&word, from + i, sizeof(word));
        sum += word;
    }
    __asm__ volatile("" : : "r"(sum)); /* it is really read */
}

static void copy_once(const uint8_t *from)
{
    memcpy(block, from, BLOCK);
    __asm__ volatile("" : : "r"(block) : "memory"); /* each copy is really made */
}

/* The card moves frames itself; what is left to the processor is to read each byte that came in
 * once (its checksum), and to copy each that goes out. */
static void test_memory(struct selftest *t)
{
    char in[24], out[24];

    t->in_kb_s = measure_memory(t, read_once, "mem_read");
    t->out_kb_s = measure_memory(t, copy_once, "mem_copy");
    t->limit = "memory";
    selftest_say(SELFTEST_GOOD, "the processor reads %s KB/s, copies %s",
                 format_fixed(in, t->in_kb_s, 1), format_fixed(out, t->out_kb_s, 1));
}

static bool test_speed(struct selftest *t)
{
    switch (t->part) {
    case 0: measure_registers(t); return true;
    case 1: measure_fetch(t); return true;
    default: test_memory(t); return false;
    }
}

const struct selftest_step rtl8139_selftest[] = {
    {"registers", test_registers}, {"EEPROM", test_eeprom}, {"loopback", test_loopback},
    {"interrupt", test_interrupt}, {"speed", test_speed},   {NULL, NULL},
};
