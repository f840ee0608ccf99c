/*
 * A model of the RTL8139 (RTL8139C(L) data sheet, Realtek, rev. 1.4, 2002; the receive ring's
 * layout, of which the data sheet says nothing, from "RTL8139(A/B) Programming Guide", Realtek,
 * 1999), stricter than any emulator: what they forbid or leave open ends the test.
 *
 * Three files: rtl8139.c is the host's side (registers, start, reset, timer), rtl8139_wire.c the
 * other one (filter, ring, descriptors, medium), rtl8139_card.c the board.  Register names and bits
 * are written down here a second time: a mistake in the driver's header must not be repeated by the
 * model.
 */
#ifndef TESTS_SIM_RTL8139_H
#define TESTS_SIM_RTL8139_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/sim/dp8390.h"
#include "tests/host/sim/eeprom.h"
#include "tests/host/sim/pci.h"

enum { L_DESCRIPTORS = 4, L_HEADER = 4, L_TSD_MAX = 1792, L_FRAME_MOST = 4096 };

/* Command; interrupt status and mask. */
enum { L_BUFE = 0x01, L_TE = 0x04, L_RE = 0x08, L_RST = 0x10 };
enum {
    L_ROK = 0x0001,
    L_RER = 0x0002,
    L_TOK = 0x0004,
    L_TER = 0x0008,
    L_RXOVW = 0x0010,
    L_PUN = 0x0020,
    L_FOVW = 0x0040,
    L_TIMEOUT = 0x4000,
    L_SERR = 0x8000,
    L_ISR_ALL = 0xE07F
};
/* Transmit status of a descriptor. */
enum {
    L_SIZE = 0x1FFF,
    L_OWN = 0x2000,
    L_TUN = 0x4000,
    L_TSD_TOK = 0x8000,
    L_ERTXTH = 0x3F0000,
    L_CDH = 0x10000000,
    L_OWC = 0x20000000,
    L_TABT = 0x40000000
};
#define L_CRS 0x80000000U
/* Receive configuration, header. */
enum {
    L_AAP = 0x01,
    L_APM = 0x02,
    L_AM = 0x04,
    L_AB = 0x08,
    L_AR = 0x10,
    L_AER = 0x20,
    L_WRAP = 0x80
};
enum {
    L_H_ROK = 0x0001,
    L_H_FAE = 0x0002,
    L_H_CRC = 0x0004,
    L_H_BAR = 0x2000,
    L_H_PAM = 0x4000,
    L_H_MAR = 0x8000,
    L_UNFINISHED = 0xFFF0
};

/* What is good or bad about this specimen, and what it is plugged into. */
struct sim_rtl_config {
    const char *name;
    uint32_t version;      /* as in TCR, bits 30-26 and 23-22                  */
    unsigned ring_kb;      /* for the driver: the size it is to choose         */
    bool level;            /* the machine's line is level-triggered            */
    bool ten, half;        /* link: 10 Mbit/s; half duplex                     */
    bool asleep;           /* old chips: CONFIG1 and the clock stop it         */
    bool rcr_empties_ring; /* writing RCR takes the ring back to its beginning */
    bool stuck_in_reset;
    bool all_ones;   /* answers nothing but ones                         */
    bool no_address; /* the EEPROM is empty                              */
    bool big_eeprom; /* one of 256 words                                 */
};

struct sim_rtl_slot {
    enum { SLOT_FREE, SLOT_WAITING, SLOT_FETCHED, SLOT_DONE, SLOT_ABORTED } state;
    bool looked_at; /* its end was seen by the host                   */
    uint32_t tsd, tsad;
    uint8_t copy[L_TSD_MAX]; /* what was in the buffer at the doorbell         */
};

struct sim_rtl {
    struct sim_rtl_config cfg;
    const char *name;
    unsigned base;
    int irq;
    struct sim_pci_function *pci;

    /* registers */
    uint8_t idr[6], cr, cr9346, config1;
    uint32_t mar[2], rbstart, tcr, rcr, timer_int, mpc;
    uint16_t capr, imr, isr, mulint;
    uint64_t timer_ns; /* when TCTR was 0                                 */
    unsigned timer_event;
    uint64_t reset_until_ns;
    bool rbstart_written, clock_stopped;
    bool link;
    unsigned epoch; /* resets and restarts of the receiver             */

    /* receive ring */
    uint32_t ring, cbr, read_at;    /* size; offsets                        */
    uint8_t frame_start[65536 / 4]; /* may the read pointer be there?       */
    bool overflow_unread;           /* nothing was taken out since          */
    bool lied;                      /* a header was garbled: starts unknown */
    uint64_t rx_until_ns;
    struct {
        bool on;
        int status, length;
    } damage;               /* of the next header; -1: leave alone */
    uint64_t unfinished_ns; /* the next frame's header comes early by so much */

    /* transmitter */
    struct sim_rtl_slot slot[L_DESCRIPTORS];
    unsigned sending, bell; /* the chip's and the host's next descriptor       */
    bool busy, aborted;
    unsigned tx_event;
    uint64_t tx_free_ns;
    enum sim_tx_fate fate;
    unsigned fate_collisions;
    bool hold_tx;

    struct sim_eeprom eeprom;

    /* test side: what is broken, for tests of the selftest */
    struct {
        uint32_t mar_low;    /* bits of MAR stuck at 0                     */
        uint8_t loop_damage; /* the last byte of what comes round, changed */
        bool loop_lost;
        bool never_fetches;
    } fault;

    /* test side: the driver may use the card unmasked, and from the handler (txirq=1) */
    bool used_unmasked;

    /* what happened, for the tests */
    struct sim_frame *sent;
    unsigned sent_count, sent_room;
    unsigned stored, missed, filtered, overruns, resets, starts, aborts, highest_threshold,
        capr_writes;
};

/* The address of one at E000h; the last byte counts up with every 100h of ports. */
extern const uint8_t sim_rtl_mac[6];

/* The specimens every conformance case runs on. */
extern const struct sim_rtl_config sim_rtls[];
extern const unsigned sim_rtl_count;

/* Put one into the machine: PCI function `device` of bus 0, registers at `base`, line `irq`. */
void sim_rtl_plug(struct sim_rtl *c, const struct sim_rtl_config *cfg, unsigned device,
                  unsigned base, int irq);
void sim_rtl_free(struct sim_rtl *c);

/* Nothing runs, nothing is unmasked, no DMA to come. */
bool sim_rtl_at_rest(const struct sim_rtl *c);

/* ---- test side: the cable ---- */

void sim_rtl_receive(struct sim_rtl *c, const void *data, unsigned length, unsigned damage);
void sim_rtl_receive_at(struct sim_rtl *c, uint64_t at_ns, const void *data, unsigned length);
void sim_rtl_hold_tx(struct sim_rtl *c);
void sim_rtl_release_tx(struct sim_rtl *c);
unsigned sim_rtl_fill_ring(struct sim_rtl *c, unsigned length);
void sim_rtl_set_link(struct sim_rtl *c, bool up);
uint64_t sim_rtl_frame_ns(const struct sim_rtl *c, unsigned length);
uint64_t sim_rtl_gap_ns(const struct sim_rtl *c);

/* ---- test side: faults ---- */

/* The receive FIFO overflows: one frame lost. */
void sim_rtl_fifo_overflow(struct sim_rtl *c);

/* The next frame's header is written at once, with length FFF0h, and completed `ns` later. */
#define SIM_RTL_NEVER UINT64_MAX
void sim_rtl_unfinished(struct sim_rtl *c, uint64_t ns);

/* The next frame's header says something else; -1: leave alone. */
void sim_rtl_garble(struct sim_rtl *c, int status, int length);

void sim_rtl_system_error(struct sim_rtl *c);

/* ---- between the parts of the model ---- */

uint32_t sim_rtl_in(void *self, unsigned reg, unsigned width);
void sim_rtl_out(void *self, unsigned reg, uint32_t value, unsigned width);

void sim_rtl_set_isr(struct sim_rtl *c, unsigned bits);
void sim_rtl_update_irq(struct sim_rtl *c);
void sim_rtl_receiver_start(struct sim_rtl *c);
void sim_rtl_write_capr(struct sim_rtl *c, uint16_t value);
void sim_rtl_doorbell(struct sim_rtl *c, unsigned n, uint32_t value);
void sim_rtl_clear_abort(struct sim_rtl *c);
void sim_rtl_transmitter_stop(struct sim_rtl *c);

#endif
