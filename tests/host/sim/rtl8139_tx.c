/*
 * Transmit descriptors of the simulated RTL8139, and the medium they send to.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"
#include "tests/host/sim/rtl8139.h"
#include "tests/host/sim/wire.h"

enum {
    WIRE_MIN = 60,
    FETCH_NS = 2000,    /* bus latency, and ...                              */
    FETCH_NS_BYTE = 10, /* ... 33 MHz, 32 bits                               */
    COLLISION_NS = 15000,
    LOOPBACK_SHIFT = 17,
};

static void next_frame(struct sim_rtl *c);

static uint8_t *buffer(const struct sim_rtl *c, const struct sim_rtl_slot *s)
{
    return sim_dma(c->name, s->tsad, s->tsd & L_SIZE);
}

static void record_sent(struct sim_rtl *c, const struct sim_rtl_slot *s)
{
    if (c->sent_count == c->sent_room) {
        c->sent_room = c->sent_room == 0 ? 64 : 2 * c->sent_room;
        c->sent = realloc(c->sent, c->sent_room * sizeof *c->sent);
    }
    struct sim_frame *f = &c->sent[c->sent_count++];
    f->length = s->tsd & L_SIZE;
    memcpy(f->data, s->copy, f->length);
}

/* Status bits of a descriptor.  An underrun was repaired by sending again: TUN stands for TOK. */
static uint32_t status_of(const struct sim_rtl *c)
{
    static const uint32_t of_fate[] = {
        [FATE_SENT] = L_TSD_TOK,
        [FATE_COLLISIONS] = L_TSD_TOK,
        [FATE_ABORT] = L_TABT,
        [FATE_UNDERRUN] = L_TUN,
        [FATE_CARRIER] = L_TSD_TOK | L_CRS,
        [FATE_LATE] = L_TSD_TOK | L_OWC,
        [FATE_HEARTBEAT] = L_TSD_TOK | L_CDH,
    };
    uint32_t always = c->cfg.ten ? 0 : L_CRS; /* means nothing at 100 Mbit/s */
    return of_fate[c->fate] | always | (c->fate == FATE_ABORT ? 0 : c->fate_collisions & 15) << 24;
}

/* TCR bits 17, 18 both set: what is sent is received, and the wire sees nothing of it. */
static bool in_loopback(const struct sim_rtl *c)
{
    return (c->tcr >> LOOPBACK_SHIFT & 3) == 3;
}

static void comes_round(struct sim_rtl *c, struct sim_rtl_slot *s)
{
    unsigned length = s->tsd & L_SIZE;
    s->copy[length - 1] ^= c->fault.loop_damage;
    if (!c->fault.loop_lost) {
        sim_rtl_receive(c, s->copy, length, WIRE_OK);
    }
}

static void frame_sent(void *arg)
{
    struct sim_rtl *c = arg;
    struct sim_rtl_slot *s = &c->slot[c->sending];
    c->tx_event = 0;
    c->busy = false;
    s->tsd |= status_of(c);
    if (c->fate == FATE_ABORT) {
        s->state = SLOT_ABORTED;
        c->aborted = true;
        c->aborts++;
    } else {
        if (in_loopback(c)) {
            comes_round(c, s);
        } else {
            record_sent(c, s);
        }
        s->state = SLOT_DONE;
        c->sending = (c->sending + 1) % L_DESCRIPTORS;
    }
    unsigned bits = c->fate == FATE_ABORT ? L_TER : L_TOK;
    c->fate = FATE_SENT;
    c->fate_collisions = 0;
    sim_rtl_set_isr(c, bits);
    next_frame(c);
}

static void medium_free(void *arg)
{
    struct sim_rtl *c = arg;
    uint64_t now = sim_now_ns(), free_at = c->tx_free_ns;
    c->tx_event = 0;
    if (c->hold_tx || c->fate == FATE_NEVER) {
        return;
    }
    if (c->cfg.half && c->rx_until_ns > free_at) {
        free_at = c->rx_until_ns;
    }
    if (free_at > now) {
        c->tx_event = sim_at(free_at, medium_free, c);
        return;
    }
    uint64_t end = now + c->fate_collisions * COLLISION_NS +
                   sim_rtl_frame_ns(c, c->slot[c->sending].tsd & L_SIZE);
    c->tx_free_ns = end + sim_rtl_gap_ns(c);
    c->tx_event = sim_at(end, frame_sent, c);
}

/* The last byte is in the FIFO: the buffer is the host's again, the frame not yet on the wire. */
static void fetched(void *arg)
{
    struct sim_rtl *c = arg;
    struct sim_rtl_slot *s = &c->slot[c->sending];
    if (memcmp(buffer(c, s), s->copy, s->tsd & L_SIZE) != 0) {
        sim_misuse("%s: buffer of descriptor %u changed before it was fetched", c->name,
                   c->sending);
    }
    s->tsd |= L_OWN;
    s->state = SLOT_FETCHED;
    medium_free(c);
}

static void next_frame(struct sim_rtl *c)
{
    struct sim_rtl_slot *s = &c->slot[c->sending];
    if (c->busy || c->aborted || s->state != SLOT_WAITING || !sim_pci_masters(c->pci) ||
        c->fault.never_fetches) {
        return;
    }
    c->busy = true;
    c->tx_event = sim_at(sim_now_ns() + FETCH_NS + FETCH_NS_BYTE * (s->tsd & L_SIZE), fetched, c);
}

/* OWN written 0: send.  Strictly in turn, and only what the host has seen the end of. */
void sim_rtl_doorbell(struct sim_rtl *c, unsigned n, uint32_t value)
{
    struct sim_rtl_slot *s = &c->slot[n];
    unsigned size = value & L_SIZE, threshold = value >> 16 & 0x3F;
    if ((c->cr & L_TE) == 0) {
        sim_misuse("%s: TSD%u written before TE was set", c->name, n);
    }
    if (n != c->bell) {
        sim_misuse("%s: TSD%u written out of turn, it is that of %u", c->name, n, c->bell);
    }
    if (s->state != SLOT_FREE && (s->state != SLOT_DONE || !s->looked_at)) {
        sim_misuse("%s: TSD%u written while the descriptor is %s", c->name, n,
                   s->state == SLOT_DONE ? "done, but nobody has looked" : "in use");
    }
    if ((value & ~(uint32_t)(L_SIZE | L_ERTXTH)) != 0) {
        sim_misuse("%s: TSD%u: status bits written (%08x)", c->name, n, value);
    }
    if (size < WIRE_MIN || size > L_TSD_MAX) {
        sim_misuse("%s: TSD%u: size %u outside 60..1792", c->name, n, size);
    }
    if (threshold == 0) {
        sim_misuse("%s: TSD%u: early transmit at 8 bytes underruns on any bus", c->name, n);
    }
    if (s->tsad == 0) {
        sim_misuse("%s: TSD%u written before TSAD%u", c->name, n, n);
    }
    c->highest_threshold = threshold > c->highest_threshold ? threshold : c->highest_threshold;
    s->tsd = value;
    s->state = SLOT_WAITING;
    s->looked_at = false;
    memcpy(s->copy, buffer(c, s), size);
    c->bell = (c->bell + 1) % L_DESCRIPTORS;
    next_frame(c);
}

/* The frame that was given up is fetched, and sent, again. */
void sim_rtl_clear_abort(struct sim_rtl *c)
{
    struct sim_rtl_slot *s = &c->slot[c->sending];
    if (!c->aborted) {
        sim_misuse("%s: CLRABT with nothing aborted", c->name);
    }
    c->aborted = false;
    s->state = SLOT_WAITING;
    s->tsd &= L_SIZE | L_ERTXTH;
    next_frame(c);
}

/* Whatever waits is forgotten; descriptors begin at 0 again. */
void sim_rtl_transmitter_stop(struct sim_rtl *c)
{
    sim_cancel(c->tx_event);
    c->tx_event = 0;
    c->busy = c->aborted = false;
    c->sending = c->bell = 0;
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        c->slot[i].state = SLOT_FREE;
    }
    if (c->fate == FATE_NEVER) {
        c->fate = FATE_SENT;
    }
}

void sim_rtl_hold_tx(struct sim_rtl *c)
{
    c->hold_tx = true;
}

void sim_rtl_release_tx(struct sim_rtl *c)
{
    c->hold_tx = false;
    if (c->busy && c->tx_event == 0) {
        medium_free(c);
    }
}
