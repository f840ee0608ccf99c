/*
 * Receiver, transmitter and medium of the simulated DP8390D.
 */
#include "tests/host/sim/wire.h"

#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"

enum {
    BYTE_NS = 800, /* 10 Mbit/s */
    PREAMBLE = 8,
    GAP_NS = 9600,
    COLLISION_NS = 150000, /* one collision and some backoff */
    WIRE_MIN = 60,
    WIRE_MAX = 1514,
};

uint64_t wire_frame_ns(unsigned length)
{
    return (uint64_t)(PREAMBLE + length + SIM_FCS) * BYTE_NS;
}

/* ---- checks on the wire ---- */

uint32_t wire_crc(const void *data, unsigned n)
{
    static const uint32_t four_bits[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                           0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                           0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                           0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    const uint8_t *at = data;
    uint32_t crc = 0xFFFFFFFF;
    for (unsigned i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ four_bits[crc & 15];
        crc = crc >> 4 ^ four_bits[crc & 15];
    }
    return ~crc;
}

/* The six bits that come first out of the CRC register after the destination address. */
unsigned wire_hash(const uint8_t address[6])
{
    uint32_t crc = ~wire_crc(address, 6);
    unsigned hash = 0;
    for (unsigned bit = 0; bit < 6; bit++) {
        hash = hash << 1 | (crc >> bit & 1);
    }
    return hash;
}

/* ---- receiver, ch. 7 ---- */

static bool for_us(const struct sim_chip *c, const uint8_t *data)
{
    static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    if (memcmp(data, broadcast, 6) == 0) {
        return (c->rcr & (N_RCR_AB | N_RCR_PRO)) != 0;
    }
    if ((data[0] & 1) != 0) {
        unsigned hash = wire_hash(data);
        return (c->rcr & N_RCR_AM) != 0 &&
               (c->cfg.no_hash || (c->mar[hash / 8] >> hash % 8 & 1) != 0);
    }
    return (c->rcr & N_RCR_PRO) != 0 || memcmp(data, c->par, 6) == 0;
}

static void miss(struct sim_chip *c)
{
    c->missed++;
    c->rsr |= N_RSR_MPA;
    sim_chip_count(c, TALLY_MISSED);
}

static unsigned after(const struct sim_chip *c, unsigned page)
{
    return page + 1 == c->pstop ? c->pstart : page + 1;
}

static void overrun(struct sim_chip *c)
{
    c->overrun = OVERRUN_DEAF;
    c->overruns++;
    c->cr_read = c->isr_read = c->removed = c->acked = c->acked_early = false;
    miss(c);
    sim_chip_set_isr(c, N_OVW | N_RXE);
}

/* Pages are filled one after the other; a page that the boundary points to may not be entered. */
static bool fill_pages(struct sim_chip *c, const uint8_t *data, unsigned length, unsigned *next)
{
    unsigned page = c->curr, offset = SIM_RING_HEADER;
    if (page == c->bnry) {
        return false;
    }
    for (unsigned i = 0; i < length; i++) {
        if (offset == SIM_PAGE) {
            page = after(c, page);
            offset = 0;
            if (page == c->bnry) {
                return false;
            }
        }
        c->mem[page * SIM_PAGE + offset++] = data[i];
    }
    *next = after(c, page);
    if (c->cfg.skips_page && offset == SIM_PAGE && *next != c->bnry) {
        *next = after(c, *next);
    }
    return c->cfg.exact_fit || *next != c->bnry;
}

static void write_header(struct sim_chip *c, unsigned next, unsigned count)
{
    const struct sim_header_damage *d = &c->damage;
    uint8_t *header = &c->mem[c->curr * SIM_PAGE];
    if (c->cfg.next_at_stop && next == c->pstart) {
        next = c->pstop;
    }
    header[0] = (uint8_t)(d->on && d->status >= 0 ? d->status : c->rsr);
    header[1] = (uint8_t)(d->on && d->next >= 0 ? (unsigned)d->next : next);
    header[2] = (uint8_t)(d->on && d->count0 >= 0 ? (unsigned)d->count0 : count);
    header[3] = (uint8_t)(d->on && d->count1 >= 0 ? (unsigned)d->count1 : count >> 8);
    if (c->cfg.garbled_length) {
        header[3] = (uint8_t)(header[2] ^ 0x5A);
    }
    c->damage.on = false;
}

static void store(struct sim_chip *c, const uint8_t *data, unsigned length, unsigned damage)
{
    static uint8_t whole[0x4000];
    uint32_t crc = wire_crc(data, length) ^ (damage != 0 ? 0xBAD : 0);
    unsigned next;
    memcpy(whole, data, length);
    for (unsigned i = 0; i < SIM_FCS; i++) {
        whole[length + i] = (uint8_t)(crc >> (8 * i));
    }
    if (!fill_pages(c, whole, length + SIM_FCS, &next)) {
        overrun(c);
        return;
    }
    write_header(c, next, length + SIM_FCS);
    c->curr = (uint8_t)next;
    c->stored++;
    sim_chip_set_isr(c, damage != 0 ? N_RXE : N_PRX);
}

/* The frame has ended.  `listening`: the chip was on line when it began. */
static void arrive(struct sim_chip *c, const uint8_t *data, unsigned length, unsigned damage,
                   bool listening)
{
    if (!listening || !for_us(c, data)) {
        c->filtered += listening;
        return;
    }
    if (length < WIRE_MIN && (c->rcr & N_RCR_AR) == 0) {
        c->filtered++;
        return;
    }
    c->rsr = (uint8_t)((data[0] & 1) != 0 ? N_RSR_PHY : 0);
    if (damage != 0) {
        c->rsr |= damage == WIRE_ALIGN ? N_RSR_FAE | N_RSR_CRC : N_RSR_CRC;
        sim_chip_count(c, damage == WIRE_ALIGN ? TALLY_ALIGN : TALLY_CRC);
    } else {
        c->rsr |= N_RSR_PRX;
    }
    if ((c->rcr & N_RCR_MON) != 0 || c->overrun != OVERRUN_NONE) {
        miss(c);
        return;
    }
    if (damage != 0 && (c->rcr & N_RCR_SEP) == 0) {
        sim_chip_set_isr(c, N_RXE);
        return;
    }
    store(c, data, length, damage);
}

void sim_receive_damaged(struct sim_chip *c, const void *data, unsigned length, unsigned damage)
{
    arrive(c, data, length, damage, sim_chip_online(c));
}

void sim_receive(struct sim_chip *c, const void *data, unsigned length)
{
    sim_receive_damaged(c, data, length, WIRE_OK);
}

struct travelling {
    struct sim_chip *chip;
    bool listening;
    unsigned epoch; /* resets of the chip when it began: one later loses the frame */
    unsigned length;
    uint8_t data[];
};

static void frame_ends(void *arg)
{
    struct travelling *t = arg;
    arrive(t->chip, t->data, t->length, WIRE_OK,
           t->listening && t->epoch == t->chip->hardware_resets);
    free(t);
}

static void frame_begins(void *arg)
{
    struct travelling *t = arg;
    struct sim_chip *c = t->chip;
    uint64_t now = sim_now_ns();
    if (c->rx_until_ns > now || c->tx_free_ns > now) { /* the sender defers, too */
        uint64_t free_at = c->rx_until_ns > c->tx_free_ns ? c->rx_until_ns : c->tx_free_ns;
        sim_at(free_at, frame_begins, t);
        return;
    }
    uint64_t end = now + wire_frame_ns(t->length);
    c->rx_until_ns = end + GAP_NS;
    t->listening = sim_chip_online(c);
    t->epoch = c->hardware_resets;
    sim_at(end, frame_ends, t);
}

void sim_receive_at(struct sim_chip *c, uint64_t at_ns, const void *data, unsigned length)
{
    struct travelling *t = malloc(sizeof *t + length);
    t->chip = c;
    t->length = length;
    memcpy(t->data, data, length);
    sim_at(at_ns, frame_begins, t);
}

/* ---- transmitter, ch. 8 ---- */

static void record_sent(struct sim_chip *c)
{
    if (c->sent_count == c->sent_room) {
        c->sent_room = c->sent_room == 0 ? 64 : 2 * c->sent_room;
        c->sent = realloc(c->sent, c->sent_room * sizeof *c->sent);
    }
    struct sim_frame *f = &c->sent[c->sent_count++];
    f->length = c->tbcr;
    memcpy(f->data, &c->mem[c->tpsr * SIM_PAGE], c->tbcr);
}

/* What TSR says of a frame: ch. 10. */
static unsigned tsr_of(enum sim_tx_fate fate, unsigned collisions)
{
    static const uint8_t of_fate[] = {
        [FATE_SENT] = N_TSR_PTX,
        [FATE_COLLISIONS] = N_TSR_PTX,
        [FATE_ABORT] = N_TSR_ABT | N_TSR_COL,
        [FATE_UNDERRUN] = N_TSR_FU,
        [FATE_CARRIER] = N_TSR_PTX | N_TSR_CRS,
        [FATE_LATE] = N_TSR_PTX | N_TSR_OWC,
        [FATE_HEARTBEAT] = N_TSR_PTX | N_TSR_CDH,
    };
    return of_fate[fate] | (collisions > 0 ? N_TSR_COL : 0U);
}

static void tx_ends(void *arg)
{
    struct sim_chip *c = arg;
    bool lost = c->fate == FATE_ABORT || c->fate == FATE_UNDERRUN;
    c->tsr = (uint8_t)tsr_of(c->fate, c->fate_collisions);
    c->ncr = (uint8_t)(c->fate == FATE_ABORT ? 0 : c->fate_collisions); /* 16 wraps to 0 */
    c->fate = FATE_SENT;
    c->fate_collisions = 0;
    if (!lost) {
        record_sent(c);
    }
    c->tx = TX_IDLE;
    c->tx_event = 0;
    sim_chip_set_isr(c, lost ? N_TXE : N_PTX);
    if (!lost && c->on_sent != NULL) {
        c->on_sent();
    }
}

static void try_to_send(void *arg)
{
    struct sim_chip *c = arg;
    c->tx_event = 0;
    if (c->hold_tx || c->fate == FATE_NEVER) {
        return;
    }
    uint64_t now = sim_now_ns();
    uint64_t free_at = c->rx_until_ns > c->tx_free_ns ? c->rx_until_ns : c->tx_free_ns;
    if (free_at > now) {
        c->tx_event = sim_at(free_at, try_to_send, c);
        return;
    }
    if (c->fate_collisions > 0 && !c->backed_off) { /* a stop during backoff cuts the frame */
        c->backed_off = true;
        c->tx_event = sim_at(now + c->fate_collisions * COLLISION_NS, try_to_send, c);
        return;
    }
    c->tx = TX_ON_WIRE;
    c->backed_off = false;
    uint64_t end = now + wire_frame_ns(c->tbcr);
    c->tx_free_ns = end + GAP_NS;
    c->tx_event = sim_at(end, tx_ends, c);
}

/* Internal loopback: the medium knows nothing of it. */
static void self_ends(void *arg)
{
    struct sim_chip *c = arg;
    c->tx = TX_IDLE;
    c->tx_event = 0;
    c->tsr = N_TSR_PTX;
    sim_chip_set_isr(c, N_PTX);
}

void sim_wire_transmit(struct sim_chip *c)
{
    unsigned first = c->tpsr * SIM_PAGE;
    if (c->tx != TX_IDLE) {
        sim_misuse("dp8390: transmit command during a transmission");
    }
    bool to_self = c->cfg.wd83c690 && !c->stopped && (c->tcr & N_TCR_LB) == N_LB_INTERNAL &&
                   c->overrun == OVERRUN_NONE;
    if (!sim_chip_online(c) && !to_self) {
        sim_misuse("dp8390: transmit command while stopped or in loopback");
    }
    if (c->dma != DMA_IDLE) {
        sim_misuse("dp8390: transmit command before the remote DMA was complete");
    }
    if ((c->isr & (N_PTX | N_TXE)) != 0) {
        sim_misuse("dp8390: transmit command with the last result not acknowledged (ISR %02x)",
                   c->isr);
    }
    if (c->tbcr < WIRE_MIN || c->tbcr > WIRE_MAX) {
        sim_misuse("dp8390: transmit byte count %u outside 60..1514", c->tbcr);
    }
    if (!sim_chip_in_ram(c, first, c->tbcr) ||
        (first < c->pstop * SIM_PAGE && first + c->tbcr > c->pstart * SIM_PAGE)) {
        sim_misuse("dp8390: transmit memory %04x + %u is not card memory outside the ring", first,
                   c->tbcr);
    }
    c->tsr = 0;
    if (to_self) {
        c->tx = TX_ON_WIRE;
        c->tx_event = sim_at(sim_now_ns() + wire_frame_ns(c->tbcr), self_ends, c);
        return;
    }
    c->tx = TX_DEFERRING;
    c->tx_commands++;
    try_to_send(c);
}

/* A frame on the wire, either way, is finished first; one that still waits is cut. */
void sim_wire_stop(struct sim_chip *c)
{
    if (c->tx == TX_DEFERRING) {
        c->cut_short++;
        sim_wire_cut(c);
    } else if (c->tx == TX_ON_WIRE) {
        c->rest_at_ns = c->tx_free_ns - GAP_NS;
    }
    if (c->rx_until_ns > c->rest_at_ns + GAP_NS) {
        c->rest_at_ns = c->rx_until_ns - GAP_NS;
    }
}

void sim_wire_cut(struct sim_chip *c)
{
    sim_cancel(c->tx_event);
    c->tx_event = 0;
    c->tx = TX_IDLE;
    c->backed_off = false;
    if (c->fate == FATE_NEVER) {
        c->fate = FATE_SENT;
    }
}

/* ---- test side ---- */

void sim_hold_tx(struct sim_chip *c)
{
    c->hold_tx = true;
}

void sim_release_tx(struct sim_chip *c)
{
    c->hold_tx = false;
    if (c->tx == TX_DEFERRING && c->tx_event == 0) {
        try_to_send(c);
    }
}

void sim_tx_fate(struct sim_chip *c, enum sim_tx_fate fate, unsigned collisions)
{
    c->fate = fate;
    c->fate_collisions = collisions;
}

unsigned sim_fill_ring(struct sim_chip *c, unsigned length)
{
    uint8_t frame[WIRE_MAX] = {0};
    unsigned before = c->stored;
    memcpy(frame, c->par, 6);
    memset(frame + 6, 0x22, 6);
    for (unsigned i = 0; c->overrun == OVERRUN_NONE; i++) {
        frame[14] = (uint8_t)i;
        frame[15] = (uint8_t)(i >> 8);
        sim_receive(c, frame, length);
        if (i > 256) {
            sim_bad_test("wire: the ring does not fill: the chip is not receiving");
        }
    }
    return c->stored - before;
}

void sim_corrupt_header(struct sim_chip *c, struct sim_header_damage damage)
{
    c->damage = damage;
    c->damage.on = true;
}

void sim_raise_tally(struct sim_chip *c, enum sim_tally tally, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sim_chip_count(c, tally);
    }
}

bool sim_irq_level(const struct sim_chip *c)
{
    return (c->isr & c->imr & ~N_RST) != 0;
}

unsigned sim_frames_sent(const struct sim_chip *c)
{
    return c->sent_count;
}

const struct sim_frame *sim_sent(const struct sim_chip *c, unsigned index)
{
    if (index >= c->sent_count) {
        sim_bad_test("wire: frame %u of %u sent was asked for", index, c->sent_count);
    }
    return &c->sent[index];
}
