/*
 * DP8390D / NS32490D register map (National Semiconductor, July 1995, chapter 10).
 * "p0 r" = page 0, read side; "p0 w" = page 0, write side; "all" = every page.
 */
#ifndef DRIVERS_8390_DP8390_REGS_H
#define DRIVERS_8390_DP8390_REGS_H

enum dp8390_reg {
    CR = 0x0,     /* all  rw  command: run state, remote DMA, register page      */
    PSTART = 0x1, /* p0   w   first page of the receive ring                     */
    PSTOP = 0x2,  /* p0   w   page after the last of the receive ring            */
    BNRY = 0x3,   /* p0   rw  boundary: last page the host has released          */
    TSR = 0x4,    /* p0   r   transmit status                                    */
    TPSR = 0x4,   /* p0   w   transmit page start                                */
    NCR = 0x5,    /* p0   r   number of collisions                               */
    FIFO = 0x6,   /* p0   r   what came in; in loopback only                     */
    TBCR0 = 0x5,  /* p0   w   transmit byte count, low                           */
    TBCR1 = 0x6,  /* p0   w   transmit byte count, high                          */
    ISR = 0x7,    /* p0   rw  interrupt status, write 1 to clear                 */
    RSAR0 = 0x8,  /* p0   w   remote start address, low                          */
    CRDA0 = 0x8,  /* p0   r   current remote DMA address, low                    */
    RSAR1 = 0x9,  /* p0   w   remote start address, high                         */
    CRDA1 = 0x9,  /* p0   r   current remote DMA address, high                   */
    RBCR0 = 0xA,  /* p0   w   remote byte count, low (reads differ on clones)    */
    RBCR1 = 0xB,  /* p0   w   remote byte count, high                            */
    RSR = 0xC,    /* p0   r   receive status                                     */
    RCR = 0xC,    /* p0   w   receive configuration                              */
    CNTR0 = 0xD,  /* p0   r   frame alignment errors; reading clears             */
    TCR = 0xD,    /* p0   w   transmit configuration                             */
    CNTR1 = 0xE,  /* p0   r   CRC errors; reading clears                         */
    DCR = 0xE,    /* p0   w   data configuration                                 */
    CNTR2 = 0xF,  /* p0   r   missed packets; reading clears                     */
    IMR = 0xF,    /* p0   w   interrupt mask                                     */
    PAR0 = 0x1,   /* p1   rw  physical address, 6 registers                      */
    CURR = 0x7,   /* p1   rw  page the chip will write next                      */
    MAR0 = 0x8,   /* p1   rw  multicast hash, 8 registers                        */
};

enum dp8390_cr {
    CR_STOP = 0x01, /* software reset; finishes what is on its way          */
    CR_START = 0x02,
    CR_TXP = 0x04, /* transmit; stays set until done or given up           */
    CR_DMA_READ = 0x08,
    CR_DMA_WRITE = 0x10,
    CR_DMA_ABORT = 0x20, /* none, or end the one under way                       */
    CR_DMA_FIELD = 0x38,
    CR_PAGE0 = 0x00,
    CR_PAGE1 = 0x40,
    CR_PAGE2 = 0x80,
    CR_PAGE3 = 0xC0, /* Realtek: configuration                               */
    CR_PAGE_FIELD = 0xC0,
};

enum dp8390_isr {                 /* IMR has the same bits, without ISR_RST */
                  ISR_PRX = 0x01, /* received                                                  */
                  ISR_PTX = 0x02, /* transmitted                                               */
                  ISR_RXE = 0x04, /* received with error                                       */
                  ISR_TXE = 0x08, /* transmission given up: 16 collisions or underrun          */
                  ISR_OVW = 0x10, /* receive ring overrun: the chip has stopped receiving      */
                  ISR_CNT = 0x20, /* a tally has its top bit set                               */
                  ISR_RDC = 0x40, /* remote DMA complete                                       */
                  ISR_RST = 0x80, /* stopped; status, not an interrupt                         */
                  ISR_ALL = 0x7F,
};

enum dp8390_dcr {
    DCR_WTS = 0x01, /* word-wide remote DMA                                 */
    DCR_BOS = 0x02, /* big-endian                                           */
    DCR_LAS = 0x04,
    DCR_LOOPBACK_OFF = 0x08, /* LS: 1 = normal operation                         */
    DCR_AUTO_INIT = 0x10,    /* "send command" remote DMA; not used (erratum)    */
    DCR_FIFO_8 = 0x40,       /* FT: threshold 8 bytes (4 words)                  */
};

enum dp8390_tcr {
    TCR_NORMAL = 0x00,
    TCR_LOOPBACK_INTERNAL = 0x02, /* LB mode 1 */
};

enum dp8390_tsr {
    TSR_PTX = 0x01,
    TSR_COL = 0x04,
    TSR_ABT = 0x08,
    TSR_CRS = 0x10,
    TSR_FU = 0x20,
    TSR_CDH = 0x40,
    TSR_OWC = 0x80,
};

enum dp8390_rcr {
    RCR_SEP = 0x01, /* keep frames with errors                             */
    RCR_RUNT = 0x02,
    RCR_BROADCAST = 0x04,
    RCR_MULTICAST = 0x08, /* by hash                                             */
    RCR_PROMISCUOUS = 0x10,
    RCR_MONITOR = 0x20, /* check addresses, store nothing                      */
};

enum dp8390_rsr {
    RSR_PRX = 0x01,
    RSR_CRC = 0x02,
    RSR_FAE = 0x04,
    RSR_FO = 0x08,
    RSR_MPA = 0x10,
    RSR_PHY = 0x20,
    RSR_DIS = 0x40,
    RSR_DFR = 0x80,
    RSR_JUDGE = RSR_PRX | RSR_CRC | RSR_FAE | RSR_FO, /* RSR_PRX alone: intact    */
};

enum { DP8390_PAGE = 256, DP8390_HEADER = 4, DP8390_FCS = 4 };

/* The four bytes in front of every received frame in the ring. */
enum dp8390_header { HEADER_STATUS, HEADER_NEXT, HEADER_COUNT0, HEADER_COUNT1 };

#endif
