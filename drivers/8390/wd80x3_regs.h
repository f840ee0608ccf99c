/*
 * Board registers of the WD8003, WD8013, SMC Elite and SMC Ultra.
 *
 * Sources: Western Digital WD83C584 bus interface controller data sheet (Oct 1990) as far as it is
 * quoted in the headers of others (Perihelion/VLSI, FreeBSD if_edreg.h); SMC 83C795 data book, ch.
 * 5.1 (names of the registers); the rest as seen in Linux' wd.c and smc-ultra.c.
 */
#ifndef DRIVERS_8390_WD80X3_REGS_H
#define DRIVERS_8390_WD80X3_REGS_H

enum wd_reg {
    WD_MSR = 0x0,  /* rw  memory select; write only on boards without interface chip */
    WD_ICR = 0x1,  /* rw  83C583/584: interface configuration; WD8013EBT: r, bit 0 alone */
    WD_IRR = 0x4,  /* rw  83C583/584: interrupt request */
    WD_LAAR = 0x5, /* rw  83C584, WD8013EBT: upper address bits, 16-bit switches */
    WD_LAN = 0x8,  /* r   station address, board id, checksum: 8 bytes */
    WD_NIC = 0x10, /* the 8390 */

    U_CR = 0x0,   /* rw  83C790: as MSR, without the address */
    U_IOPD = 0x2, /* rw  83C790: I/O pipe, 16 bits */
    U_HWR = 0x4,  /* rw  83C790: hardware support */
    U_BPR = 0x5,  /* rw  83C790: BIOS page, 16-bit switch */
    U_ICR = 0x6,  /* rw  83C790: interrupt control */
    U_REV = 0x7,  /* r   83C790: revision */
    U_IOPA = 0x7, /* w   83C790: I/O pipe address, low byte, then high */
    U_GCR2 = 0x8, /* rw  83C790, with U_HWR_SWH: not 0 if set up for the I/O pipe */
    U_RAR = 0xB,  /* rw  83C790, with U_HWR_SWH: address and size of the memory */
    U_GCR = 0xD,  /* rw  83C790, with U_HWR_SWH: interrupt line */
};

enum wd_msr {
    MSR_ADDRESS = 0x3F, /* A18-A13 */
    MSR_MENB = 0x40,    /* memory on the bus */
    MSR_RST = 0x80,     /* the 8390's reset line: 1, then 0 */
    MSR_SHIFT = 13,
};

enum wd_icr {
    ICR_BIT16 = 0x01, /* 16-bit slot: reads 1 whatever is written */
    ICR_IR2 = 0x04,   /* upper bit of the line */
    ICR_MSZ = 0x08,   /* memory chips: 0 = 8 KB, 1 = 32 KB */
    ICR_SAFE = 0x0F,  /* the others recall from, or store into, the EEPROM */
};

enum wd_irr {
    IRR_LINE = 0x60, /* lower bits of the line */
    IRR_SHIFT = 5,
    IRR_IEN = 0x80, /* the line is driven */
};

enum wd_laar {
    LAAR_ADDRESS = 0x1F, /* A23-A19 */
    LAAR_L16EN = 0x40,   /* 16 bits between the 8390 and the memory */
    LAAR_M16EN = 0x80,   /* 16 bits between host and memory: for the whole 128 KB around */
    LAAR_SHIFT = 19,
};

enum wd_ultra {
    U_HWR_SWH = 0x80, /* 8-F: configuration instead of the station address */
    U_BPR_M16EN = 0x80,
    U_ICR_EIL = 0x01,   /* the line is driven */
    U_ICR_IOPEN = 0x10, /* the I/O pipe works, not the memory */
    U_REV_FIELD = 0xF0,
    U_REV_790 = 0x20,
    U_REV_795 = 0x40,
    U_RAR_LOW = 0x0F,  /* A16-A13 */
    U_RAR_SIZE = 0x30, /* 8 KB << this */
    U_RAR_A17 = 0x40,
    U_RAR_HIGH = 0x80, /* near 16 MB instead of 1 MB */
    U_RAR_SIZE_SHIFT = 4,
    U_GCR_IR2 = 0x40,
    U_GCR_IR10 = 0x0C,
};

#endif
