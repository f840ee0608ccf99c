/*
 * The RTL8139 by hand.
 */
#include "tests/host/rtl_steps.h"

#include <check.h>
#include <string.h>

#include "kernel/time.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/dma.h"

struct sim_rtl rtl_card;
struct dma rtl_ring, rtl_buffer[L_DESCRIPTORS];

void rtl_plug(void)
{
    static const struct sim_rtl_config cfg = {.name = "rtl8139", .version = 0x74000000};
    sim_reset();
    sim_dma_reset();
    sim_pci_plug(SIM_PCI_1);
    sim_rtl_plug(&rtl_card, &cfg, 9, BASE, LINE);
    rtl_ring = dma_alloc(RING + TAIL, 256);
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        rtl_buffer[i] = dma_alloc(BUFFER, 4);
    }
}

void rtl_reset(void)
{
    rtl_plug();
    rtl_w8(R_CR, L_RST);
    delay_us(20);
    ck_assert(!(io_in8(rtl_port, R_CR) & L_RST));
}

void rtl_online(void)
{
    rtl_reset();
    rtl_w32(R_RBSTART, rtl_ring.bus);
    rtl_w8(R_CR, L_TE | L_RE);
    rtl_w32(R_TCR, TCR);
    rtl_w32(R_RCR, RCR);
    for (unsigned i = 0; i < L_DESCRIPTORS; i++) {
        rtl_w32(R_TSAD0 + 4 * i, rtl_buffer[i].bus);
    }
}

void rtl_arrive(unsigned length)
{
    uint8_t frame[L_FRAME_MOST] = {0};
    memcpy(frame, sim_rtl_mac, 6);
    sim_rtl_receive(&rtl_card, frame, length, 0);
}

void rtl_go(unsigned n)
{
    rtl_w32(R_TSD0 + 4 * n, GO | 60);
}

void rtl_overflow(void)
{
    rtl_online();
    sim_rtl_fill_ring(&rtl_card, 1000);
}

void rtl_make_room(void)
{
    rtl_w16(R_CAPR, 1008 - 16);
}
