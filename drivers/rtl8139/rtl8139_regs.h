/*
 * RTL8139 register map: RTL8139C(L) data sheet (Realtek, rev. 1.4, 2002), chapter 6; what older or
 * newer chips lack is said at the register.  Width in bits, "rw" from the host's side.
 */
#ifndef DRIVERS_RTL8139_RTL8139_REGS_H
#define DRIVERS_RTL8139_RTL8139_REGS_H

enum rtl8139_reg {
    IDR0 = 0x00,    /* 8   rw  station address, 6 bytes, loaded from the EEPROM      */
    MAR0 = 0x08,    /* 32  rw  multicast hash, two words                             */
    TSD0 = 0x10,    /* 32  rw  transmit status of descriptor 0; three more follow    */
    TSAD0 = 0x20,   /* 32  rw  transmit start address of descriptor 0; three more    */
    RBSTART = 0x30, /* 32  rw  receive buffer, bus address                           */
    CR = 0x37,      /* 8   rw  command                                               */
    CAPR = 0x38,    /* 16  rw  where the host has read to, less 16                   */
    CBR = 0x3A,     /* 16  r   where the chip has written to                         */
    IMR = 0x3C,     /* 16  rw  interrupt mask                                        */
    ISR = 0x3E,     /* 16  rw  interrupt status, write 1 to clear                    */
    TCR = 0x40,     /* 32  rw  transmit configuration; only with TE set              */
    RCR = 0x44,     /* 32  rw  receive configuration; only with RE set               */
    TCTR = 0x48,    /* 32  rw  timer, PCI clocks; any write clears it                */
    MPC = 0x4C,     /* 32  rw  missed packets, 24 bits; any write clears it          */
    CR9346 = 0x50,  /* 8   rw  EEPROM and write protection of CONFIGn                */
    CONFIG1 = 0x52, /* 8   rw                                                        */
    TIMER_INT = 0x54, /* 32 rw timer interrupt when TCTR gets here; 0: never              */
    MSR = 0x58,     /* 8   rw  media status                                          */
    HLTCLK = 0x5B,  /* 8   w   clock run/halt (8139, 8139A)                          */
    MULINT = 0x5C,  /* 16  rw  early receive interrupts                              */
    TSAD = 0x60,    /* 16  r   transmit status of all four descriptors               */
    BMCR = 0x62,    /* 16  rw  basic mode control (PHY)                              */
    BMSR = 0x64,    /* 16  r   basic mode status (PHY)                               */
};

enum rtl8139_cr {
    CR_BUFE = 0x01, /* receive buffer empty */
    CR_TE = 0x04,
    CR_RE = 0x08,
    CR_RST = 0x10,  /* software reset; clears itself */
};

enum rtl8139_isr { /* IMR has the same bits */
    ISR_ROK = 0x0001,
    ISR_RER = 0x0002,   /* received with CRC or symbol error                         */
    ISR_TOK = 0x0004,
    ISR_TER = 0x0008,   /* transmit aborted or underrun                              */
    ISR_RXOVW = 0x0010, /* receive buffer overflow                                   */
    ISR_PUN = 0x0020,   /* link changed, or packet underrun: CAPR written too far    */
    ISR_FOVW = 0x0040,  /* receive FIFO overflow                                     */
    ISR_TIMEOUT = 0x4000,
    ISR_SERR = 0x8000,  /* PCI system error                                          */
    ISR_GONE = 0xFFFF,  /* no card answers                                           */
};

enum rtl8139_tsd {
    TSD_SIZE = 0x1FFF,
    TSD_OWN = 0x2000,   /* the chip has fetched it all                               */
    TSD_TUN = 0x4000,   /* FIFO ran empty; the frame was sent again and is done      */
    TSD_TOK = 0x8000,
    TSD_THRESHOLD_SHIFT = 16, /* bytes in the FIFO before sending starts, units of 32 */
    TSD_THRESHOLD_MAX = 0x3F,
    TSD_COLLISIONS_SHIFT = 24,
    TSD_COLLISIONS = 0xF,
    TSD_CDH = 0x10000000, /* no heartbeat (10 Mbit/s)                                */
    TSD_OWC = 0x20000000, /* late collision                                          */
    TSD_TABT = 0x40000000,
};
#define TSD_CRS 0x80000000u /* carrier lost; always set at 100 Mbit/s */

enum rtl8139_tsad { /* bit n for descriptor n */
    TSAD_TOK_SHIFT = 12, TSAD_TUN_SHIFT = 8, TSAD_TABT_SHIFT = 4,
};

enum rtl8139_rcr {
    RCR_AAP = 0x01, /* accept: all (promiscuous)                                      */
    RCR_APM = 0x02, /* matching                                                       */
    RCR_AM = 0x04,  /* multicast, by hash                                             */
    RCR_AB = 0x08,  /* broadcast                                                      */
    RCR_WRAP = 0x80, /* 1: the last frame runs on past the end (not with 64 KB)       */
    RCR_MXDMA_1024 = 6 << 8, /* PCI bursts; unlimited is unreliable on some boards    */
    RCR_RBLEN_SHIFT = 11,    /* ring of 8 KB << n, and 16 bytes                       */
    RCR_RXFTH_NONE = 7 << 13, /* no early transfer: a frame is moved when it is whole */
};

enum rtl8139_tcr {
    TCR_CLRABT = 0x01,       /* send the aborted frame again; only when aborted       */
    TCR_MXDMA_1024 = 6 << 8,
    TCR_LOOPBACK = 3 << 17,
    TCR_IFG_NORMAL = 3 << 24,
    TCR_HWVERID = 0x7CC00000,
};

enum rtl8139_cr9346 {
    CR9346_PROTECT = 0x00,
    CR9346_UNLOCK = 0xC0,
    CR9346_PROGRAM = 0x80, /* the EEPROM's pins are ours: */
    CR9346_CS = 0x08,
    CR9346_SK = 0x04,
    CR9346_DI = 0x02,      /* into the EEPROM             */
    CR9346_DO = 0x01,      /* out of it                   */
};

enum { RTL8139_EEPROM_ID = 0x8129 }; /* its first word */

enum rtl8139_config1 {
    CONFIG1_PMEN = 0x01, /* 8139B and later; before: SLEEP */
    CONFIG1_PWRDN = 0x02, /* 8139, 8139A; later VPD        */
};

enum rtl8139_hltclk { HLTCLK_RUN = 'R' };

enum rtl8139_msr {
    MSR_LINKB = 0x04,    /* 1: no link */
    MSR_SPEED_10 = 0x08,
};

enum rtl8139_bmcr { BMCR_DUPLEX = 0x0100 };

/* The four bytes in front of every received frame; both little-endian words. */
enum rtl8139_header {
    HEADER_BYTES = 4,
    STATUS_ROK = 0x0001,
    LENGTH_UNFINISHED = 0xFFF0, /* the chip is still writing this frame */
};

enum { RTL8139_DESCRIPTORS = 4, RTL8139_CAPR_BEHIND = 16, RTL8139_PORTS = 0x100 };

#endif
