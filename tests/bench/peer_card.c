/*
 * See peer_card.h.  Registers: DP8390D data sheet, chapter 10; board: drivers/8390/ne2000.c.
 */
#include "tests/bench/peer_card.h"

#include "drivers/8390/dp8390_regs.h"
#include "kernel/io.h"

enum {
    DATA_PORT = 0x10,
    RESET_PORT = 0x1F,
    FLOATING = 0xFF,
    TX_PAGE = 0x40,    /* one frame of 6 pages                                         */
    FIRST_PAGE = 0x46, /* of the receive ring                                          */
    END_PAGE = 0xC0,   /* QEMU's buffer ends there (NE2000_PMEM_END), the board's at 80h */
};

static const struct ioport card = {0x320}; /* where bench.py puts it */
static uint8_t next_page;                  /* where the next frame will begin */
static uint32_t sent;

static void command(unsigned page, unsigned what)
{
    io_out8(card, CR, (uint8_t)(page | what | CR_START));
}

static void set_dma(unsigned direction, unsigned address, unsigned n)
{
    io_out8(card, RBCR0, (uint8_t)n);
    io_out8(card, RBCR1, (uint8_t)(n >> 8));
    io_out8(card, RSAR0, (uint8_t)address);
    io_out8(card, RSAR1, (uint8_t)(address >> 8));
    command(CR_PAGE0, direction);
}

bool peer_card_open(const uint8_t mac[6])
{
    io_out8(card, RESET_PORT, io_in8(card, RESET_PORT));
    if (io_in8(card, ISR) == FLOATING) {
        return false;
    }
    io_out8(card, CR, CR_PAGE0 | CR_DMA_ABORT | CR_STOP);
    io_out8(card, DCR, DCR_FIFO_8 | DCR_LOOPBACK_OFF | DCR_WTS);
    io_out8(card, RCR, RCR_BROADCAST);
    io_out8(card, TCR, TCR_NORMAL);
    io_out8(card, PSTART, FIRST_PAGE);
    io_out8(card, PSTOP, END_PAGE);
    io_out8(card, BNRY, END_PAGE - 1);
    io_out8(card, IMR, 0);
    io_out8(card, ISR, 0xFF);
    io_out8(card, CR, CR_PAGE1 | CR_DMA_ABORT | CR_STOP);
    for (unsigned i = 0; i < 6; i++) {
        io_out8(card, PAR0 + i, mac[i]);
    }
    io_out8(card, CURR, FIRST_PAGE);
    /* QEMU compares with the PROM's copy of the address, which bench.py set to the same. */
    command(CR_PAGE0, CR_DMA_ABORT);
    next_page = FIRST_PAGE;
    sent = 0;
    return true;
}

static uint8_t write_page(void)
{
    uint8_t page;

    command(CR_PAGE1, CR_DMA_ABORT);
    page = io_in8(card, CURR);
    command(CR_PAGE0, CR_DMA_ABORT);
    return page;
}

/* Pages from where the next frame begins up to `page`, round the ring. */
static unsigned pages_to(unsigned page)
{
    return page >= next_page ? page - next_page : page + (END_PAGE - FIRST_PAGE) - next_page;
}

static void release_up_to(uint8_t page)
{
    next_page = page;
    io_out8(card, BNRY, page == FIRST_PAGE ? END_PAGE - 1 : (uint8_t)(page - 1));
}

bool peer_card_receive(uint8_t head[PEER_HEAD])
{
    uint8_t header[DP8390_HEADER];
    uint8_t end = write_page();

    if (next_page == end) {
        return false;
    }
    /* A frame begins on a page and is 60 bytes at least: the head never wraps. */
    set_dma(CR_DMA_READ, next_page * DP8390_PAGE, DP8390_HEADER + PEER_HEAD);
    io_in16_rep(card, DATA_PORT, header, DP8390_HEADER / 2);
    io_in16_rep(card, DATA_PORT, head, PEER_HEAD / 2);
    /* QEMU takes a ring filled to the last page for an empty one and writes over it.  That happens
     * to datagrams, which nobody here counts; what is in the ring then goes. */
    if (header[HEADER_NEXT] < FIRST_PAGE || header[HEADER_NEXT] >= END_PAGE ||
        header[HEADER_NEXT] == next_page || pages_to(header[HEADER_NEXT]) > pages_to(end)) {
        release_up_to(end);
        return false;
    }
    release_up_to(header[HEADER_NEXT]);
    return true;
}

void peer_card_store(const void *from, unsigned n)
{
    set_dma(CR_DMA_WRITE, TX_PAGE * DP8390_PAGE, n);
    io_out16_rep(card, DATA_PORT, from, n / 2);
}

void peer_card_send(unsigned length)
{
    io_out8(card, TPSR, TX_PAGE);
    io_out8(card, TBCR0, (uint8_t)length);
    io_out8(card, TBCR1, (uint8_t)(length >> 8));
    command(CR_PAGE0, CR_DMA_ABORT | CR_TXP);
    sent++;
}

uint32_t peer_card_sent(void)
{
    return sent;
}
