/*
 * Wrong steps: remote DMA and the data port.
 */
#include "tests/host/misuse.h"

#include "kernel/cpu.h"

WRONG(beyond_count, "read beyond the byte count")
{
    online();
    get_words(TX_PAGE << 8, 4);
    io_in16(port, DATA);
}

WRONG(byte_in_word_mode, "8-bit data port access in word mode")
{
    online();
    dma(READ, 0x4000, 4);
    io_in8(port, DATA);
}

WRONG(dword_on_isa, "32-bit data port access in word mode")
{
    online();
    dma(READ, 0x4000, 4);
    io_in32(port, DATA);
}

WRONG(dword_of_16bit_bridge, "32-bit data port access in word mode")
{
    online();
    chip->cfg.dwords = DWORDS_HALF;
    dma(READ, 0x4000, 4);
    io_in32(port, DATA);
}

WRONG(word_of_32bit_bridge, "16-bit data port access in word mode")
{
    online();
    chip->cfg.dwords = DWORDS_ONLY;
    w(R_ISR, N_RDC);
    dma(WRITE, 0x4000, 4);
    io_out16(port, DATA, 0);
}

WRONG(dword_beyond_count, "32-bit data port access with 2 bytes to go")
{
    online();
    chip->cfg.dwords = DWORDS_TOO;
    dma(READ, 0x4000, 2);
    io_in32(port, DATA);
}

WRONG(no_dma, "with no such remote DMA active")
{
    online();
    io_out16(port, DATA, 0);
}

WRONG(write_while_reading, "data port written with no such")
{
    online();
    dma(READ, 0x4000, 4);
    io_out16(port, DATA, 0);
}

WRONG(odd_address, "odd address or count in word mode")
{
    online();
    dma(READ, 0x4001, 4);
}

WRONG(odd_count, "odd address or count in word mode")
{
    online();
    dma(READ, 0x4000, 3);
}

WRONG(dma_twice, "started while one is active")
{
    online();
    dma(READ, 0x4000, 4);
    w(R_CR, READ);
}

WRONG(dma_cut, "aborted with 4 bytes to go")
{
    online();
    dma(READ, 0x4000, 4);
    w(R_CR, START0);
}

WRONG(dma_set_up_again, "written during a remote DMA")
{
    online();
    dma(READ, 0x4000, 4);
    w(R_RSAR0, 0);
}

WRONG(dma_on_stopped, "together with STOP")
{
    plug();
    reset();
    w(R_DCR, 0x49);
    w(R_CR, 0x09);
}

WRONG(dma_before_dcr, "before DCR was written")
{
    plug();
    reset();
    w(R_TCR, LOOP);
    w(R_RBCR0, 2);
    w(R_CR, READ);
}

WRONG(dma_outside, "outside card memory")
{
    online();
    dma(READ, 0x8000, 4);
}

WRONG(dma_below, "outside card memory")
{
    online();
    w(R_ISR, N_RDC);
    dma(WRITE, 0x2000, 4);
}

WRONG(dma_into_ring, "into the receive ring")
{
    online();
    w(R_ISR, N_RDC);
    dma(WRITE, RING << 8, 4);
}

WRONG(dma_from_empty_ring, "holds no received frame")
{
    online();
    dma(READ, (RING + 1) << 8, 4);
}

WRONG(dma_past_stop, "outside card memory")
{
    online();
    dma(READ, (RING_END << 8) - 4, 8);
}

WRONG(dma_unmasked, "remote DMA with interrupts unmasked")
{
    online();
    w(R_IMR, 1);
    dma(READ, 0x4000, 4);
}

WRONG(unmask_in_dma, "unmasked in the middle of a remote DMA")
{
    online();
    dma(READ, 0x4000, 4);
    w(R_IMR, 1);
}

WRONG(stale_rdc, "with RDC still set")
{
    online();
    dma(READ, 0x4000, 2);
    io_in16(port, DATA);
    dma(WRITE, 0x4000, 2);
}

WRONG(write_cut, "aborted before RDC")
{
    online();
    w(R_ISR, N_RDC);
    dma(WRITE, 0x4000, 2);
    io_out16(port, DATA, 0);
    w(R_CR, START0);
}

WRONG(tx_before_rdc, "aborted before RDC")
{
    online();
    w(R_ISR, N_RDC);
    w(R_TBCR0, 60);
    w(R_TBCR1, 0);
    w(R_TPSR, TX_PAGE);
    dma(WRITE, 0x4600, 2);
    io_out16(port, DATA, 0);
    w(R_CR, TXP);
}

WRONG(data_in_reset, "while the reset line is active")
{
    plug();
    r(RESET);
    io_in16(port, DATA);
}

WRONG(read_past_ring, "runs past PSTOP 70")
{
    plug();
    reset();
    initialise();
    w(R_CR, STOP0);
    w(R_PSTOP, 0x70);
    w(R_CR, START0);
    w(R_TCR, 0);
    get_words(0x6F00, 512);
}

WRONG(data_unmasked, "data port access with interrupts unmasked")
{
    online();
    chip->used_unmasked = true; /* allowed while the CPU takes none */
    cpu_cli();
    w(R_IMR, N_PRX);
    dma(READ, 0x4000, 4);
    io_in16(port, DATA);
    cpu_sti();
    io_in16(port, DATA);
}

/* An RTL8019AS in an 8-bit slot, which splits a word: both its bytes would be lost. */
static void byte_card(void)
{
    sim_reset();
    sim_card_plug(&misuse_card, &sim_cards[3], BASE, IRQ);
    reset();
    w(R_CR, STOP0);
    w(R_DCR, 0x48);
}

WRONG(word_read_in_byte_mode, "word access to the data port in byte mode")
{
    byte_card();
    io_in16(port, DATA);
}

WRONG(word_written_in_byte_mode, "word access to the data port in byte mode")
{
    byte_card();
    io_out16(port, DATA, 0);
}

WRONG(alias_written, "port 18 is an alias nobody needs")
{
    online();
    w(0x18, 0);
}
