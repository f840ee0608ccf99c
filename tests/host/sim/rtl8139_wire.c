/*
 * Receive ring of the simulated RTL8139, and the medium it hears.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/rtl8139.h"
#include "tests/host/sim/wire.h"

enum {
    PREAMBLE = 8,
    WIRE_MIN = 60,
    RING_MOST = 65536,
    FILLED_MOST = 1000,
    GARBAGE = 0xEE,
    GIVEN_BACK = 0xA5,
};

static uint64_t byte_ns(const struct sim_rtl *c)
{
    return c->cfg.ten ? 800 : 80;
}

uint64_t sim_rtl_gap_ns(const struct sim_rtl *c)
{
    return 12 * byte_ns(c);
}

uint64_t sim_rtl_frame_ns(const struct sim_rtl *c, unsigned length)
{
    return (PREAMBLE + length + SIM_FCS) * byte_ns(c);
}

/* ---- receive ring ---- */

static bool is_start(const struct sim_rtl *c, uint32_t offset)
{
    return c->frame_start[offset / 4] != 0;
}

void sim_rtl_receiver_start(struct sim_rtl *c)
{
    c->starts++;
    c->epoch++;
    c->cbr = c->read_at = 0;
    c->capr = 0xFFF0;
    c->overflow_unread = c->lied = false;
    memset(c->frame_start, 0, sizeof c->frame_start);
    c->frame_start[0] = 1;
}

/* How far an offset is behind the read pointer. */
static uint32_t ahead(const struct sim_rtl *c, uint32_t offset)
{
    return (offset - c->read_at) & (c->ring - 1);
}

/* With WRAP on a frame that meets the end runs on behind the ring. */
static bool runs_on(const struct sim_rtl *c)
{
    return (c->rcr & L_WRAP) != 0 && c->ring < RING_MOST;
}

/* What was given back may be written over at any time: whoever still reads it finds garbage. */
static void spoil(const struct sim_rtl *c, uint32_t offset, uint32_t n)
{
    if (n != 0) {
        memset(sim_dma(c->name, c->rbstart + offset, n), GIVEN_BACK, n);
    }
}

void sim_rtl_write_capr(struct sim_rtl *c, uint16_t value)
{
    uint32_t at = (value + 16U) & 0xFFFF;
    if ((c->cr & L_RE) == 0) {
        sim_misuse("%s: CAPR written while the receiver is off", c->name);
    }
    if (at >= c->ring || at % 4 != 0) {
        sim_misuse("%s: CAPR %04x: %05x is not a dword of the ring", c->name, value, at);
    }
    if (ahead(c, at) > ahead(c, c->cbr)) {
        sim_misuse("%s: CAPR %04x passes CBR %04x", c->name, value, c->cbr);
    }
    if (!is_start(c, at) && !c->lied) {
        sim_misuse("%s: CAPR %04x is inside a frame", c->name, value);
    }
    if (c->cbr == c->read_at) { /* "CAPR is written but the buffer is empty" */
        sim_rtl_set_isr(c, L_PUN);
    }
    if (at < c->read_at && runs_on(c)) {
        uint32_t end = 0; /* of the frame that ran on */

        while (!is_start(c, end)) {
            end += 4;
        }
        spoil(c, c->ring, end);
    }
    for (uint32_t i = c->read_at; i != at; i = (i + 4) & (c->ring - 1)) {
        c->frame_start[i / 4] = 0;
        spoil(c, i, 4);
    }
    c->frame_start[at / 4] = 1;
    c->overflow_unread = c->overflow_unread && at == c->read_at;
    c->read_at = at;
    c->capr = value;
    c->capr_writes++;
}

static void miss(struct sim_rtl *c)
{
    c->missed++;
    c->mpc = (c->mpc + 1) & 0xFFFFFF;
}

/* One bus-master write into the ring, going on at its beginning if WRAP is off. */
static void ring_write(const struct sim_rtl *c, uint32_t offset, const uint8_t *from, uint32_t n)
{
    uint32_t room = runs_on(c) || offset + n <= c->ring ? n : c->ring - offset;
    memcpy(sim_dma(c->name, c->rbstart + offset, room), from, room);
    if (room < n) {
        memcpy(sim_dma(c->name, c->rbstart, n - room), from + room, n - room);
    }
}

static void write_header(const struct sim_rtl *c, uint32_t offset, unsigned status, unsigned length)
{
    uint8_t header[L_HEADER] = {(uint8_t)status, (uint8_t)(status >> 8), (uint8_t)length,
                                (uint8_t)(length >> 8)};
    ring_write(c, offset, header, sizeof header);
}

struct arriving {
    struct sim_rtl *chip;
    unsigned epoch;
    uint32_t offset;
    unsigned status, length; /* with FCS */
    uint8_t data[];
};

/* The rest of a frame whose header came early; lost if the receiver was restarted meanwhile. */
static void finish(void *arg)
{
    struct arriving *a = arg;
    struct sim_rtl *c = a->chip;
    if (a->epoch == c->epoch) {
        ring_write(c, a->offset + L_HEADER, a->data, a->length);
        write_header(c, a->offset, a->status, a->length);
        sim_rtl_set_isr(c, L_ROK);
    }
    free(a);
}

static void store(struct sim_rtl *c, const uint8_t *data, unsigned length, unsigned status)
{
    struct arriving *a = malloc(sizeof *a + length + SIM_FCS);
    uint32_t crc = wire_crc(data, length);
    uint32_t takes = (L_HEADER + length + SIM_FCS + 3) & ~3U;
    *a = (struct arriving){c, c->epoch, c->cbr, status, length + SIM_FCS};
    memcpy(a->data, data, length);
    for (unsigned i = 0; i < SIM_FCS; i++) {
        a->data[length + i] = (uint8_t)(crc >> 8 * i);
    }
    c->lied |= c->damage.on;
    if (c->damage.on) {
        a->status = c->damage.status >= 0 ? (unsigned)c->damage.status : status;
    }
    c->cbr = (c->cbr + takes) & (c->ring - 1);
    c->frame_start[c->cbr / 4] = 1;
    c->stored++;
    if (c->unfinished_ns != 0) {
        static const uint8_t garbage[L_FRAME_MOST + L_HEADER];
        ring_write(c, a->offset + L_HEADER, garbage, a->length);
        write_header(c, a->offset, GARBAGE, L_UNFINISHED);
        if (c->unfinished_ns == SIM_RTL_NEVER) {
            free(a);
        } else {
            sim_at(sim_now_ns() + c->unfinished_ns, finish, a);
        }
        c->unfinished_ns = 0;
        return;
    }
    finish(a);
    if (c->damage.on && c->damage.length >= 0) {
        unsigned said = c->damage.status >= 0 ? (unsigned)c->damage.status : status;
        write_header(c, (c->cbr - takes) & (c->ring - 1), said, (unsigned)c->damage.length);
    }
    c->damage.on = false;
}

static bool for_us(const struct sim_rtl *c, const uint8_t *data, unsigned *status)
{
    static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    bool all = (c->rcr & L_AAP) != 0;
    *status = L_H_ROK;
    if (memcmp(data, broadcast, 6) == 0) {
        *status |= L_H_BAR;
        return all || (c->rcr & L_AB) != 0;
    }
    if ((data[0] & 1) != 0) {
        unsigned hash = wire_hash(data);
        *status |= L_H_MAR;
        return (c->rcr & L_AM) != 0 && (c->mar[hash / 32] >> hash % 32 & 1) != 0;
    }
    bool ours = memcmp(data, c->idr, 6) == 0;
    *status |= ours ? L_H_PAM : 0;
    return all || (ours && (c->rcr & L_APM) != 0);
}

/* The read pointer equal to CBR means empty, so the ring is never filled to the last byte. */
static bool fits(const struct sim_rtl *c, unsigned length)
{
    uint32_t free = c->ring - ahead(c, c->cbr);
    return ((L_HEADER + length + SIM_FCS + 3) & ~3U) < free;
}

static void arrive(struct sim_rtl *c, const uint8_t *data, unsigned length, unsigned damage,
                   bool listening)
{
    unsigned status;
    if (!listening || !for_us(c, data, &status) || length < WIRE_MIN || length > L_FRAME_MOST) {
        c->filtered += listening;
        return;
    }
    if (damage != 0) {
        sim_rtl_set_isr(c, L_RER);
        return;
    }
    if ((c->isr & (L_RXOVW | L_FOVW)) != 0 || !sim_pci_masters(c->pci)) {
        miss(c); /* deaf until the cause is acknowledged */
        return;
    }
    if (!fits(c, length)) {
        c->overruns++;
        c->overflow_unread = true;
        miss(c);
        sim_rtl_set_isr(c, L_RXOVW);
        return;
    }
    store(c, data, length, status);
}

static bool listens(const struct sim_rtl *c)
{
    return (c->cr & L_RE) != 0 && sim_now_ns() >= c->reset_until_ns;
}

void sim_rtl_receive(struct sim_rtl *c, const void *data, unsigned length, unsigned damage)
{
    arrive(c, data, length, damage, listens(c));
}

struct travelling {
    struct sim_rtl *chip;
    bool listening;
    unsigned epoch;
    unsigned length;
    uint8_t data[];
};

static void frame_ends(void *arg)
{
    struct travelling *t = arg;
    arrive(t->chip, t->data, t->length, WIRE_OK, t->listening && t->epoch == t->chip->epoch);
    free(t);
}

static void frame_begins(void *arg)
{
    struct travelling *t = arg;
    struct sim_rtl *c = t->chip;
    uint64_t now = sim_now_ns(), free_at = c->rx_until_ns;
    if (c->cfg.half && c->tx_free_ns > free_at) {
        free_at = c->tx_free_ns;
    }
    if (free_at > now) {
        sim_at(free_at, frame_begins, t);
        return;
    }
    uint64_t end = now + sim_rtl_frame_ns(c, t->length);
    c->rx_until_ns = end + sim_rtl_gap_ns(c);
    t->listening = listens(c);
    t->epoch = c->epoch;
    sim_at(end, frame_ends, t);
}

void sim_rtl_receive_at(struct sim_rtl *c, uint64_t at_ns, const void *data, unsigned length)
{
    struct travelling *t = malloc(sizeof *t + length);
    t->chip = c;
    t->length = length;
    memcpy(t->data, data, length);
    sim_at(at_ns, frame_begins, t);
}

/* ---- test side ---- */

unsigned sim_rtl_fill_ring(struct sim_rtl *c, unsigned length)
{
    uint8_t frame[2048] = {0};
    unsigned before = c->stored, overruns = c->overruns;
    memcpy(frame, c->idr, 6);
    memset(frame + 6, 0x22, 6);
    for (unsigned i = 0; c->overruns == overruns; i++) {
        frame[14] = (uint8_t)i;
        frame[15] = (uint8_t)(i >> 8);
        sim_rtl_receive(c, frame, length, WIRE_OK);
        if (i > FILLED_MOST) {
            sim_bad_test("%s: the ring does not fill: the chip is not receiving", c->name);
        }
    }
    return c->stored - before;
}

void sim_rtl_fifo_overflow(struct sim_rtl *c)
{
    miss(c);
    sim_rtl_set_isr(c, L_FOVW);
}

void sim_rtl_unfinished(struct sim_rtl *c, uint64_t ns)
{
    c->unfinished_ns = ns;
}

void sim_rtl_garble(struct sim_rtl *c, int status, int length)
{
    c->damage.on = true;
    c->damage.status = status;
    c->damage.length = length;
}
