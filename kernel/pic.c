/*
 * The two 8259A.  Source: Intel 8259A data sheet (1988), "Programming the 8259A"; IBM AT
 * Technical Reference (1985): slave on line 2 of the master.
 */
#include "kernel/pic.h"

#include "kernel/io.h"

/* A chip has two ports.  What a write to the first one means is told by bits 3 and 4. */
enum pic_reg {
    PIC_COMMAND = 0, /* w  ICW1, OCW2, OCW3;  r  IRR or ISR as the last OCW3 said */
    PIC_DATA = 1,    /* w  ICW2-ICW4 after an ICW1, else OCW1 = IMR;  r  IMR      */
};

/* ICW1: starts initialisation.  Bit 4 = 1 tells it from the OCWs. */
enum icw1 { ICW1 = 1 << 4, ICW1_WITH_ICW4 = 1 << 0, ICW1_EDGE_CASCADED = 0 };

/* ICW3: master: bit mask of lines with a slave; slave: the number of its line. */
enum { CASCADE_LINE = 2, ICW3_MASTER = 1 << CASCADE_LINE, ICW3_SLAVE = CASCADE_LINE };

/* ICW4: 8086 vectors.  No automatic EOI: it fails on a slave, and would hide the ISR from us. */
enum icw4 { ICW4_8086 = 1 << 0 };

/* OCW2: end of interrupt for the line in bits 0-2 ("specific"), so that a spurious one cannot
 * end another's. */
enum ocw2 { OCW2_SPECIFIC_EOI = 3 << 5 };

/* OCW3: reads of the command port give the in-service register.  Bit 3 = 1 marks an OCW3. */
enum ocw3 { OCW3_READ_ISR = 1 << 3 | 3 << 0 };

enum { LINES_PER_CHIP = 8, ALL_MASKED = 0xFF };

static const struct ioport chips[2] = {{0x20}, {0xA0}};

/* Edge/level control register of EISA and PCI machines (Intel 82371 data sheet, ELCR1, ELCR2):
 * bit set = level.  Lines 0, 1, 2, 8 and 13 are always edge. */
static const struct ioport elcr = {0x4D0};
enum { ELCR_ALWAYS_EDGE = 0x2107, ELCR_ABSENT = 0xFF };

/* Vectors of lines 0 and 8 in real mode (IBM AT Technical Reference). */
enum { BIOS_VECTOR_MASTER = 0x08, BIOS_VECTOR_SLAVE = 0x70 };

static uint8_t masks[2]; /* what is in each IMR     */
static uint8_t found[2]; /* what the BIOS had there */

static unsigned chip_of(int line)
{
    return (unsigned)line / LINES_PER_CHIP;
}

static uint8_t bit_of(int line)
{
    return (uint8_t)(1 << (line % LINES_PER_CHIP));
}

static void slow_out(struct ioport chip, unsigned reg, unsigned value)
{
    io_out8(chip, reg, (uint8_t)value);
    io_settle();
}

/* ICW1 to ICW4 must follow each other without a break. */
static void chip_init(struct ioport chip, uint8_t first_vector, uint8_t icw3, uint8_t mask)
{
    slow_out(chip, PIC_COMMAND, ICW1 | ICW1_WITH_ICW4 | ICW1_EDGE_CASCADED);
    slow_out(chip, PIC_DATA, first_vector); /* ICW2: bits 3-7 of the vector */
    slow_out(chip, PIC_DATA, icw3);
    slow_out(chip, PIC_DATA, ICW4_8086);
    slow_out(chip, PIC_DATA, mask); /* OCW1 */
}

void pic_init(void)
{
    found[0] = io_in8(chips[0], PIC_DATA);
    found[1] = io_in8(chips[1], PIC_DATA);
    chip_init(chips[0], PIC_VECTOR_BASE, ICW3_MASTER, ALL_MASKED);
    chip_init(chips[1], PIC_VECTOR_BASE + LINES_PER_CHIP, ICW3_SLAVE, ALL_MASKED);
    masks[0] = ALL_MASKED;
    masks[1] = ALL_MASKED;
    pic_unmask(CASCADE_LINE); /* the slave's own mask decides for its lines */
}

void pic_leave(void)
{
    chip_init(chips[0], BIOS_VECTOR_MASTER, ICW3_MASTER, found[0]);
    chip_init(chips[1], BIOS_VECTOR_SLAVE, ICW3_SLAVE, found[1]);
}

void pic_mask(int line)
{
    unsigned chip = chip_of(line);
    masks[chip] |= bit_of(line);
    io_out8(chips[chip], PIC_DATA, masks[chip]);
}

void pic_unmask(int line)
{
    unsigned chip = chip_of(line);
    masks[chip] &= (uint8_t)~bit_of(line);
    io_out8(chips[chip], PIC_DATA, masks[chip]);
}

/*
 * When a request vanishes before it is acknowledged, the chip answers with its input 7 but sets
 * no bit in service (data sheet, "edge and level triggered modes").
 */
bool pic_in_service(int line)
{
    struct ioport chip = chips[chip_of(line)];
    slow_out(chip, PIC_COMMAND, OCW3_READ_ISR);
    return (io_in8(chip, PIC_COMMAND) & bit_of(line)) != 0;
}

/* The slave first: the master then sees its request fall before its own line is free again. */
void pic_eoi(int line)
{
    uint8_t input = (uint8_t)(line % LINES_PER_CHIP);
    if (chip_of(line) != 0) {
        io_out8(chips[1], PIC_COMMAND, OCW2_SPECIFIC_EOI | input);
        pic_eoi_cascade();
    } else {
        io_out8(chips[0], PIC_COMMAND, OCW2_SPECIFIC_EOI | input);
    }
}

void pic_eoi_cascade(void)
{
    io_out8(chips[0], PIC_COMMAND, OCW2_SPECIFIC_EOI | CASCADE_LINE);
}

/* The register, or all edge where there is none. */
static unsigned read_elcr(bool *present)
{
    uint8_t low = io_in8(elcr, 0), high = io_in8(elcr, 1);
    unsigned levels = (unsigned)high << 8 | low;
    *present = low != ELCR_ABSENT && high != ELCR_ABSENT && (levels & ELCR_ALWAYS_EDGE) == 0;
    return *present ? levels : 0;
}

bool pic_is_level(int line)
{
    bool present;
    return (read_elcr(&present) >> line & 1) != 0;
}

bool pic_set_level(int line, bool level)
{
    bool present;
    unsigned levels = read_elcr(&present);
    if (!present || (ELCR_ALWAYS_EDGE >> line & 1) != 0) {
        return false;
    }
    levels = level ? levels | 1u << line : levels & ~(1u << line);
    io_out8(elcr, 0, (uint8_t)levels);
    io_out8(elcr, 1, (uint8_t)(levels >> 8));
    return pic_is_level(line) == level;
}
