/*
 * WD8003, WD8013, SMC Elite and SMC Ultra boards at work: an 8390 whose memory the host sees.
 *
 * Ports: 00-0F the board's registers and address PROM, 10-1F the chip.  The memory is on the bus
 * only while something is copied: a 16-bit window makes the whole 128 KB around it 16 bits wide,
 * and a machine that reboots then cannot read its 8-bit firmware there; the first Ultras also
 * spoilt transfers of bus-master disk controllers while theirs was on.
 */
#include "drivers/8390/wd80x3.h"
#include "drivers/8390/board.h"
#include "drivers/8390/shmem.h"

enum {
    RESET_PULSE_US = 10,
    RECALL_US = 5000, /* a reset may read the EEPROM anew: FreeBSD if_ed_wd80x3.c */
    PIPE_PIECE = 64,
    A17 = 1 << 17,
};

/* ---- the memory, and the gate in front of it ---- */

/*
 * 8-bit boards and the Ultra are gated by the memory enable, which also holds the address on the
 * former; 16-bit ones by the width, as an 8-bit window disturbs nobody.
 */
void wd_set_window(struct dp8390 *d)
{
    struct wd *wd = wd_of(d);
    const uint32_t at = d->window.base;

    wd->msr = (uint8_t)(at >> MSR_SHIFT & MSR_ADDRESS);
    wd->laar = (uint8_t)(at >> LAAR_SHIFT & LAAR_ADDRESS);
    wd->gate = WD_MSR;
    if (wd->kind == WD_ULTRA) {
        wd->msr = 0;
        wd->rar = (uint8_t)((wd->found_rar & U_RAR_SIZE) | (at >> MSR_SHIFT & U_RAR_LOW) |
                            ((at & A17) != 0 ? U_RAR_A17 : 0U));
    } else if (d->word) {
        wd->msr |= MSR_MENB;
        wd->laar |= LAAR_L16EN;
        wd->gate = WD_LAAR;
    }
    wd->gate_shut = wd->gate == WD_LAAR ? wd->laar : wd->msr;
    wd->gate_open = wd->gate_shut | (wd->gate == WD_LAAR ? LAAR_M16EN : MSR_MENB);
}

static void open_gate(struct dp8390 *d)
{
    io_out8(d->asic, wd_of(d)->gate, wd_of(d)->gate_open);
}

static void shut_gate(struct dp8390 *d)
{
    io_out8(d->asic, wd_of(d)->gate, wd_of(d)->gate_shut);
}

static void wd_read(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    open_gate(d);
    shmem_read(d->window, d->word, address, to, n);
    shut_gate(d);
}

static int wd_write(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                    unsigned padded)
{
    open_gate(d);
    shmem_write(d->window, d->word, address, frame, padded);
    shut_gate(d);
    return 0;
}

/* ---- the I/O pipe of the 83C790 ---- */

/* Both bytes in one go: any other access in between would begin the address anew. */
static void point_pipe(const struct dp8390 *d, unsigned address)
{
    io_out8(d->asic, U_IOPA, (uint8_t)address);
    io_out8(d->asic, U_IOPA, (uint8_t)(address >> 8));
}

static void pipe_read(struct dp8390 *d, unsigned address, void *to, unsigned n)
{
    point_pipe(d, address);
    io_in16_rep(d->asic, U_IOPD, to, n / 2);
    if (n % 2 != 0) {
        ((uint8_t *)to)[n - 1] = (uint8_t)io_in16(d->asic, U_IOPD);
    }
}

static int pipe_write(struct dp8390 *d, unsigned address, const struct tx_frame *frame,
                      unsigned padded)
{
    struct gather walk = {.frame = frame};
    uint8_t piece[PIPE_PIECE];

    point_pipe(d, address);
    for (unsigned done = 0; done < padded; done += PIPE_PIECE) {
        const unsigned left = padded - done;
        const unsigned n = left < PIPE_PIECE ? left + left % 2 : PIPE_PIECE;

        gather_next(&walk, piece, n);
        io_out16_rep(d->asic, U_IOPD, piece, n / 2);
    }
    return 0;
}

/* ---- on, off, reset ---- */

/* The switch is always put back, or the next driver finds no station address. */
static uint8_t show_hidden(const struct dp8390 *d)
{
    const uint8_t hwr = io_in8(d->asic, U_HWR) & (uint8_t)~U_HWR_SWH;

    io_out8(d->asic, U_HWR, hwr | U_HWR_SWH);
    return hwr;
}

uint8_t wd_read_hidden(const struct dp8390 *d, enum wd_reg reg)
{
    const uint8_t hwr = show_hidden(d);
    const uint8_t value = io_in8(d->asic, reg);

    io_out8(d->asic, U_HWR, hwr);
    return value;
}

static void write_rar(const struct dp8390 *d, uint8_t rar)
{
    const uint8_t hwr = show_hidden(d);

    io_out8(d->asic, U_RAR, rar);
    io_out8(d->asic, U_HWR, hwr);
}

static void enable_ultra(struct dp8390 *d, bool on)
{
    const struct wd *wd = wd_of(d);
    const uint8_t bpr = io_in8(d->asic, U_BPR) & (uint8_t)~U_BPR_M16EN;
    const uint8_t line = d->board == &wd_pipe_board ? U_ICR_EIL | U_ICR_IOPEN : U_ICR_EIL;

    io_out8(d->asic, U_ICR, 0);
    io_out8(d->asic, U_CR, 0);
    if (wd->rar != wd->found_rar) {
        write_rar(d, on ? wd->rar : wd->found_rar);
    }
    io_out8(d->asic, U_BPR, bpr | (on && d->word ? U_BPR_M16EN : 0));
    io_out8(d->asic, U_ICR, on ? line : 0);
}

/* The MSR last: on the oldest boards it is the only register, and the others alias it. */
static void wd_enable(struct dp8390 *d, bool on)
{
    const struct wd *wd = wd_of(d);

    if (wd->kind == WD_ULTRA) {
        enable_ultra(d, on);
        return;
    }
    if (!on) {
        io_out8(d->asic, WD_MSR, wd->found_msr & MSR_ADDRESS);
    }
    if (wd->kind != WD_JUMPERS) {
        io_out8(d->asic, WD_LAAR, on ? wd->laar : wd->found_laar & LAAR_ADDRESS);
    }
    if (wd->kind == WD_SOFT) {
        const uint8_t irr = io_in8(d->asic, WD_IRR) & (uint8_t)~IRR_IEN;

        io_out8(d->asic, WD_IRR, irr | (on ? IRR_IEN : 0));
    }
    if (on) {
        io_out8(d->asic, WD_MSR, wd->msr);
    }
}

/* The Ultra's switch, too: with it on nobody finds the station address. */
static void wd_let_go(struct dp8390 *d)
{
    if (wd_of(d)->kind == WD_ULTRA) {
        io_out8(d->asic, U_HWR, io_in8(d->asic, U_HWR) & (uint8_t)~U_HWR_SWH);
    }
    shut_gate(d);
}

/* The memory is off the bus meanwhile: its gate can be shut, wherever it is. */
int wd_pulse(struct dp8390 *d)
{
    io_out8(d->asic, WD_MSR, MSR_RST);
    if (wd_of(d)->gate == WD_LAAR) {
        shut_gate(d);
    }
    delay_us(RESET_PULSE_US);
    io_out8(d->asic, WD_MSR, 0);
    delay_us(RECALL_US);
    return dp8390_await_reset(d);
}

static int wd_reset(struct dp8390 *d)
{
    const int error = wd_pulse(d);

    wd_enable(d, true);
    return error;
}

const struct dp8390_board wd_board = {
    .reset = wd_reset,
    .read = wd_read,
    .write = wd_write,
    .enable = wd_enable,
    .let_go = wd_let_go,
    .prom = wd_prom,
};

const struct dp8390_board wd_pipe_board = {
    .reset = wd_reset,
    .read = pipe_read,
    .write = pipe_write,
    .enable = wd_enable,
    .let_go = wd_let_go,
    .prom = wd_prom,
};
