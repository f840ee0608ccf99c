/*
 * A model of the DP8390D / NS32490D (National Semiconductor data sheet, July 1995), stricter than
 * any emulator: what the data sheet forbids or leaves undefined ends the test.
 *
 * Four files: dp8390.c is the host's side (registers, start and stop, overrun procedure),
 * remote.c its remote DMA, loopback.c a loopback within the chip, wire.c the other side (address
 * filter, receive ring, transmitter, medium). Register names and bits are written down here a
 * second time, from the data sheet: a mistake in the driver's header must not be repeated by the
 * model.
 */
#ifndef TESTS_SIM_DP8390_H
#define TESTS_SIM_DP8390_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_PAGE = 256,
    SIM_FCS = 4,
    SIM_RING_HEADER = 4,
    SIM_TALLY_ALARM = 128,
    SIM_TALLY_MAX = 192
};

/* Command register. */
enum {
    N_STP = 0x01,
    N_STA = 0x02,
    N_TXP = 0x04,
    N_RD = 0x38,
    N_RD_READ = 0x08,
    N_RD_WRITE = 0x10,
    N_RD_SEND = 0x18,
    N_RD_ABORT = 0x20
};
/* Interrupt status and mask. */
enum {
    N_PRX = 0x01,
    N_PTX = 0x02,
    N_RXE = 0x04,
    N_TXE = 0x08,
    N_OVW = 0x10,
    N_CNT = 0x20,
    N_RDC = 0x40,
    N_RST = 0x80
};
/* Transmit configuration and status, receive configuration and status, data configuration. */
enum { N_TCR_LB = 0x06, N_LB_INTERNAL = 0x02 };
enum {
    N_TSR_PTX = 0x01,
    N_TSR_COL = 0x04,
    N_TSR_ABT = 0x08,
    N_TSR_CRS = 0x10,
    N_TSR_FU = 0x20,
    N_TSR_CDH = 0x40,
    N_TSR_OWC = 0x80
};
enum {
    N_RCR_SEP = 0x01,
    N_RCR_AR = 0x02,
    N_RCR_AB = 0x04,
    N_RCR_AM = 0x08,
    N_RCR_PRO = 0x10,
    N_RCR_MON = 0x20
};
enum { N_RSR_PRX = 0x01, N_RSR_CRC = 0x02, N_RSR_FAE = 0x04, N_RSR_MPA = 0x10, N_RSR_PHY = 0x20 };
enum { N_DCR_WTS = 0x01, N_DCR_BOS = 0x02, N_DCR_LAS = 0x04, N_DCR_LS = 0x08, N_DCR_AR = 0x10 };

enum sim_tally { TALLY_ALIGN, TALLY_CRC, TALLY_MISSED };

/* Registers written since the last hardware reset; all are needed before going on line. */
enum {
    INIT_DCR = 1,
    INIT_RCR = 2,
    INIT_PSTART = 4,
    INIT_PSTOP = 8,
    INIT_BNRY = 16,
    INIT_CURR = 32,
    INIT_PAR = 64,
    INIT_MAR = 128,
    INIT_IMR = 256,
    INIT_TCR = 512,
    INIT_ALL = 1023
};

/* What a 32-bit access to the data port does: bridges to PCI differ. */
enum sim_dwords {
    DWORDS_NEVER, /* not on PCI: the bus splits it over two ports            */
    DWORDS_TOO,   /* two words at once                                       */
    DWORDS_HALF,  /* one word, its upper half garbage                        */
    DWORDS_ONLY   /* two words; and narrower accesses do nothing             */
};

/* What is good or bad about this specimen. */
struct sim_chip_config {
    unsigned ram_first, ram_size;
    uint8_t id[2];          /* page 0 registers 0Ah, 0Bh read this ("Pp": Realtek's)   */
    unsigned max_stop;      /* PSTOP may not exceed this (RTL8019AS in an 8-bit slot)  */
    bool word_forbidden;    /* 8-bit slot                                              */
    bool no_rdc_after_read; /* RDC comes after writes only                             */
    bool garbled_length;    /* high byte of the ring header's count is wrong           */
    bool skips_page;        /* takes one page more when a frame ends exactly with one  */
    bool next_at_stop;      /* the header says PSTOP where it means PSTART              */
    bool no_reset_ack;      /* RST is not set by the reset line                        */
    unsigned reset_us;      /* how long the reset line takes                           */
    unsigned reset_within;  /* ns from its read to its write, else it resets nothing; 0: any */
    bool exact_fit;         /* a frame may end on the page before the boundary page    */
    enum sim_dwords dwords;
    bool loops_high;       /* loopback in word mode takes the high byte of each word        */
    bool no_fifo;          /* ... and the FIFO does not show what came in                   */
    bool prefetches;       /* a remote read fetches the next word before it is asked for    */
    bool word_hangs;       /* 8-bit slot: a remote DMA in words never completes       */
    bool read_first;       /* a remote write that follows no read loses its first byte */
    bool never_rst;        /* RST is not set by STOP either                           */
    unsigned late_stop_us; /* STOP takes effect so much later, and RST shows only that */
    bool no_crda;          /* the remote DMA address cannot be read                   */
    unsigned crda_error;   /* it is off by so much, once something moved              */
    bool mar_write_only;   /* the multicast hash cannot be read                       */
    uint8_t config[4];     /* Realtek's page 3, registers 3 to 6                      */
    bool lantic;           /* AT/LANTIC: registers 0Ah, 0Bh read mode configuration   */
    uint8_t mcr[2];        /* ... A and B                                             */
    bool shared;           /* the board's memory is on the bus, no remote DMA wired   */
    bool wd83c690;         /* no remote DMA in the chip, MAR write-only, own loopback */
    bool no_hash;          /* AM takes every group address                            */
    bool wts_forced;       /* EtherLink II/16: DCR.WTS is always 1                    */
};

/* What is broken, for tests of the selftest.  Cycles of the data port: every n-th, 0 for none. */
struct sim_faults {
    unsigned lose_in, lose_out, twice_in, twice_out;
    unsigned cycles;             /* so far                                              */
    unsigned cell;               /* one byte of memory, ...                             */
    uint8_t cell_high, cell_low; /* ... whose bits are stuck at 1, at 0                 */
    unsigned dead_lines;         /* address lines that are always 0                     */
    bool no_memory;              /* nothing answers at the data port                    */
    bool deaf_memory;            /* remote writes never end                             */
    unsigned reg;                /* a register of page 1, ...                           */
    uint8_t reg_low;             /* ... whose bits are stuck at 0                       */
    bool hash_unreadable;        /* MAR reads as FF (83C690)                            */
    bool address_hidden;         /* CRDA reads as 0                                     */
    bool loop_dead;              /* what is sent in loopback never ends                 */
    bool loop_silent;            /* ... or at once, and nothing tells                   */
    uint8_t loop_damage;         /* what comes round in loopback is changed by this     */
};

enum { SIM_FIFO = 8 };

enum sim_dma { DMA_IDLE, DMA_READING, DMA_WRITING, DMA_ENDING /* all bytes in, RDC to come */ };
enum sim_tx { TX_IDLE, TX_DEFERRING /* the medium is busy */, TX_ON_WIRE };

/* How the next transmission ends. */
enum sim_tx_fate {
    FATE_SENT,
    FATE_COLLISIONS,
    FATE_ABORT,
    FATE_UNDERRUN,
    FATE_CARRIER,
    FATE_LATE,
    FATE_HEARTBEAT,
    FATE_NEVER
};

/* The overrun procedure, ch. 7: steps done so far. */
enum sim_overrun {
    OVERRUN_NONE,
    OVERRUN_DEAF /* detected */,
    OVERRUN_STOPPED /* 2: STOP */,
    OVERRUN_LOOPBACK /* 7: START in loopback */
};

struct sim_frame {
    unsigned length; /* without FCS */
    uint8_t data[2048];
};

struct sim_header_damage {
    bool on;
    int status, next, count0, count1; /* -1: leave alone */
};

struct sim_chip {
    struct sim_chip_config cfg;
    const char *name;
    int irq;

    /* registers */
    uint8_t page, isr, imr, dcr, tcr, rcr, pstart, pstop, bnry, curr, tpsr, tsr, ncr, rsr;
    uint8_t par[6], mar[8], cnt[3];
    uint16_t tbcr, rsar, rbcr;
    unsigned init;
    bool stopped;
    bool held_in_reset;
    uint64_t reset_ns;   /* when the reset line was asserted                  */
    uint64_t rest_at_ns; /* when a STOP has taken effect                     */
    uint64_t stop_ns;
    bool stop_hit_transmit; /* then RST is not set                              */
    uint8_t mem[0x10000];   /* PROM at 0, RAM at ram_first                      */
    uint8_t fifo[SIM_FIFO];
    unsigned fifo_at;
    struct sim_faults fault;

    enum sim_dma dma;
    unsigned dma_at, dma_left, dma_whole;
    bool dma_stuck;  /* test side: RDC never comes                       */
    bool just_read;  /* the last remote DMA was a read                   */
    int mcr_open;    /* AT/LANTIC: register just read, 0Ah or 0Bh; or -1 */
    bool rdc_missed; /* ... and one is owed                              */

    enum sim_overrun overrun;
    bool cr_read, isr_read, removed, acked, acked_early, curr_written, tx_pending_at_stop,
        txp_unread;
    uint8_t rbcr_cleared; /* bits 0, 1: RBCR0, RBCR1 written 0 since STOP     */

    enum sim_tx tx;
    unsigned tx_event;
    uint64_t tx_free_ns; /* interframe gap over                              */
    enum sim_tx_fate fate;
    unsigned fate_collisions;
    bool backed_off;
    bool hold_tx;
    bool irq_gated;     /* the board keeps the line off                  */
    bool used_unmasked; /* test side: txirq=1, guarded by the processor's flag instead */

    uint64_t rx_until_ns; /* a frame is coming in until then                  */
    struct sim_header_damage damage;

    /* what happened, for the tests */
    struct sim_frame *sent;
    unsigned sent_count, sent_room;
    void (*on_sent)(void); /* called when a frame has left; or null */
    unsigned cut_short;    /* transmissions lost to STOP: must be sent again   */
    unsigned stored, missed, filtered, overruns, overruns_cured, hardware_resets, starts;
    unsigned tx_commands;
    unsigned dma_commands;
};

/* Power on.  `irq` is the line it drives. */
void sim_chip_init(struct sim_chip *c, const char *name, int irq,
                   const struct sim_chip_config *cfg);
void sim_chip_free(struct sim_chip *c);

/* ---- bus side ---- */

uint8_t sim_chip_in(struct sim_chip *c, unsigned reg);
void sim_chip_out(struct sim_chip *c, unsigned reg, uint8_t value);

/* The board's data port. */
uint32_t sim_chip_data_in(struct sim_chip *c, unsigned width);
void sim_chip_data_out(struct sim_chip *c, uint32_t value, unsigned width);

/* The host reads or writes `n` bytes of card memory at `first` directly: is that all right now? */
void sim_chip_host_access(struct sim_chip *c, unsigned first, unsigned n, bool read);

/* One cycle of the host's there; with the memory's faults. */
void sim_chip_cycle(struct sim_chip *c, unsigned at, unsigned width, bool write, uint32_t *value);

/* The board connects the chip's line to `irq`, or keeps it off. */
void sim_chip_route(struct sim_chip *c, int irq, bool gated);

/* The board's reset line goes active, and inactive again. */
void sim_chip_reset_on(struct sim_chip *c);
void sim_chip_reset_off(struct sim_chip *c);

/* ---- between the two halves of the model ---- */

void sim_chip_set_isr(struct sim_chip *c, unsigned bits);
void sim_chip_update_irq(struct sim_chip *c);
bool sim_chip_online(const struct sim_chip *c);
bool sim_chip_in_ram(const struct sim_chip *c, unsigned first, unsigned n);
void sim_chip_count(struct sim_chip *c, enum sim_tally tally);

/* remote.c: the bus is broken on purpose; the RD field of CR was written. */
bool sim_chip_broken(const struct sim_chip *c);
void sim_dma_start(struct sim_chip *c, bool read);
void sim_dma_abort(struct sim_chip *c, bool stopping);
unsigned sim_dma_address(const struct sim_chip *c);

/* loopback.c: would TXP go round within the chip?  Do it; and a read of the FIFO. */
bool sim_loopback_chosen(const struct sim_chip *c);
void sim_loopback_send(struct sim_chip *c);
uint8_t sim_fifo_read(struct sim_chip *c);
void sim_chip_check_range(struct sim_chip *c, unsigned first, unsigned n, bool read);

/* wire.c: the TXP bit was written; STOP; the reset line. */
void sim_wire_transmit(struct sim_chip *c);
void sim_wire_stop(struct sim_chip *c);
void sim_wire_cut(struct sim_chip *c);

#endif
