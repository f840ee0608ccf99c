/*
 * Gate array of the 3Com EtherLink II (3C503).
 *
 * Source: 3Com, EtherLink II Adapter Technical Reference (4185-01, January 1989), as far as it is
 * quoted by others: names and bits in Crynwr's 3c503.asm, Linux' 3c503.h, FreeBSD's if_edreg.h;
 * what they do also in VirtualBox' DevDP8390.cpp, which was written from the manual.
 */
#ifndef DRIVERS_8390_3C503_REGS_H
#define DRIVERS_8390_3C503_REGS_H

/* Counted from the chip's registers. */
enum ga_reg {
    GA_PSTR = 0x400,  /* rw  must be the chip's PSTART */
    GA_PSPR = 0x401,  /* rw  must be the chip's PSTOP */
    GA_DQTR = 0x402,  /* rw  bytes at a time through the FIFO */
    GA_BCFR = 0x403,  /* r   jumper of the ports: one bit */
    GA_PCFR = 0x404,  /* r   jumper of the memory: one bit, or none */
    GA_GACFR = 0x405, /* rw  window, interrupt masks */
    GA_GACR = 0x406,  /* rw  reset, connector, PROM, FIFO */
    GA_STREG = 0x407, /* r   status */
    GA_IDCFR = 0x408, /* rw  interrupt line: one bit, 4-7 */
    GA_DAMSB = 0x409, /* rw  address for the FIFO */
    GA_DALSB = 0x40A,
    GA_VPTR2 = 0x40B, /* rw  A19-A12, A11-A4, A3-A0: a read there takes the RAM out of the */
    GA_VPTR1 = 0x40C, /*     window and puts the boot ROM in */
    GA_VPTR0 = 0x40D,
    GA_RF = 0x40E, /* rw  the FIFO: words */
};

enum ga_gacfr {
    GACFR_RSEL = 0x08, /* memory in the window; its bank in bits 0-2 */
    GACFR_TCM = 0x40,  /* masks the gate array's own interrupt */
    GACFR_NIM = 0x80,  /* masks the chip's */
};

enum ga_gacr {
    GACR_RST = 0x01,
    GACR_THIN = 0x02, /* connector: the transceiver for thin cable, else AUI */
    GACR_EALO = 0x04, /* address PROM instead of the chip */
    GACR_OUT = 0x40,  /* FIFO towards the card */
    GACR_FIFO = 0x80, /* FIFO runs */
};

enum ga_others {
    STREG_READY = 0x80,  /* eight bytes there, or room for them */
    IDCFR_LINE_2 = 0x10, /* 20 is 3, 40 is 4, 80 is 5 */
    PCFR_UPPER = 0xC0,   /* memory at D8000 or DC000, else C8000 or CC000 */
    PCFR_ODD = 0xA0,     /* memory at CC000 or DC000 */
    PCFR_NONE = 0x0F,    /* never set */
};

#endif
