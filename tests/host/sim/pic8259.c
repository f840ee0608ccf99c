/*
 * See pic8259.h.
 */
#include "tests/host/sim/pic8259.h"

#include <stddef.h>

#include "kernel/cpu.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"

enum { MASTER = 0x20, SLAVE = 0xA0, ELCR_PORT = 0x4D0 };

struct sim8259 sim8259[2];
uint16_t sim8259_elcr;
bool sim8259_interrupts;
static bool handling;
uint64_t sim8259_us;
void (*sim8259_every_us)(void);

/* ---- the sim8259 ---- */

static struct sim8259 *chip_at(unsigned port)
{
    return (port & ~1u) == MASTER ? &sim8259[0] : &sim8259[1];
}

static void end_of_interrupt(struct sim8259 *c, unsigned input)
{
    REQUIRE((c->in_service & 1 << input) != 0, "EOI for a line not in service");
    c->in_service &= (uint8_t) ~(1 << input);
}

static void command(struct sim8259 *c, uint8_t byte)
{
    if ((byte & 0x10) != 0) {
        ck_assert_uint_eq(byte, 0x11); /* edge, cascaded, ICW4 follows */
        *c = (struct sim8259){.icw = 2, .high = c->high, .level = c->level};
    } else if ((byte & 0x08) != 0) {
        REQUIRE((byte & 3) == 3, "OCW3 other than read ISR");
        c->read_isr = true;
    } else {
        REQUIRE((byte & 0xE0) == 0x60, "OCW2 other than specific EOI");
        end_of_interrupt(c, byte & 7);
    }
}

static void data(struct sim8259 *c, uint8_t byte)
{
    REQUIRE(c->icw != 1, "data before ICW1");
    switch (c->icw) {
    case 2:
        c->vector = byte;
        c->icw = 3;
        break;
    case 3:
        c->icw3 = byte;
        c->icw = 4;
        break;
    case 4:
        c->icw4 = byte;
        c->icw = 0;
        break;
    default: REQUIRE(!sim8259_interrupts, "mask written"); c->mask = byte;
    }
}

/* The chip that has not recovered from the last write yet. */
static const struct sim8259 *recovering;

void sim_bus_settle(void)
{
    recovering = NULL;
}

void sim_bus_out(unsigned port, uint32_t byte, unsigned width)
{
    REQUIRE(width == 8, "8259A access");
    REQUIRE(chip_at(port)->icw < 2 || recovering != chip_at(port), "written too soon");
    REQUIRE((port & ~1u) == MASTER || (port & ~1u) == SLAVE, "foreign port");
    recovering = chip_at(port);
    if ((port & 1) == 0) {
        command(chip_at(port), (uint8_t)byte);
    } else {
        data(chip_at(port), (uint8_t)byte);
    }
}

uint32_t sim_bus_in(unsigned port, unsigned width)
{
    REQUIRE(width == 8, "8259A access");
    if ((port & ~1u) == ELCR_PORT) {
        return sim8259_elcr >> 8 * (port & 1) & 0xFF;
    }
    struct sim8259 *c = chip_at(port);
    REQUIRE(recovering != c, "read too soon");
    if ((port & 1) != 0) {
        return c->mask;
    }
    REQUIRE(c->read_isr, "read of something else than the ISR");
    return c->in_service;
}

/* Highest-priority input that asks and is not held back by one in service; -1: none. */
static int asking(const struct sim8259 *c)
{
    uint8_t requests = (c->latched | (c->high & c->level)) & (uint8_t)~c->mask;
    for (int input = 0; input < 8; input++) {
        if ((c->in_service & 1 << input) != 0) {
            return -1;
        }
        if ((requests & 1 << input) != 0) {
            return input;
        }
    }
    return -1;
}

void sim8259_cascade(void)
{
    bool up = asking(&sim8259[1]) >= 0;
    bool was = (sim8259[0].high & 1 << SIM8259_CASCADE) != 0;
    sim8259[0].latched |= up && !was ? 1 << SIM8259_CASCADE : 0;
    sim8259[0].high =
        (uint8_t)((sim8259[0].high & ~(1 << SIM8259_CASCADE)) | up << SIM8259_CASCADE);
}

/* The acknowledge cycle of one chip. */
static unsigned acknowledge(struct sim8259 *c)
{
    int input = asking(c);
    if (input < 0 || (c->high & 1 << input) == 0) {
        if (input >= 0) {
            c->latched &= (uint8_t) ~(1 << input);
        }
        return 7;
    }
    c->in_service |= (uint8_t)(1 << input);
    c->latched &= (uint8_t) ~(1 << input);
    return (unsigned)input;
}

void sim8259_deliver(void)
{
    sim8259_cascade();
    while (sim8259_interrupts && !handling && asking(&sim8259[0]) >= 0) {
        unsigned input = acknowledge(&sim8259[0]);
        unsigned line = input;
        if (input == SIM8259_CASCADE && (sim8259[0].in_service & 1 << SIM8259_CASCADE) != 0) {
            line = 8 + acknowledge(&sim8259[1]);
            sim8259_cascade(); /* falls, so that the next request of the slave is an edge again */
        }
        sim8259_interrupts = false;
        handling = true;
        irq_dispatch((int)line);
        handling = false;
        sim8259_interrupts = true;
        sim8259_cascade();
    }
}

void sim8259_drive(int line, bool high)
{
    struct sim8259 *c = &sim8259[line / 8];
    uint8_t bit = (uint8_t)(1 << line % 8);
    if (high && (c->high & bit) == 0) {
        c->latched |= bit;
    }
    c->high = high ? c->high | bit : c->high & (uint8_t)~bit;
    sim8259_deliver();
}

/* ---- the rest of the machine ---- */

bool cpu_irq_save(void)
{
    bool before = sim8259_interrupts;
    sim8259_interrupts = false;
    return before;
}

void cpu_irq_restore(bool enabled)
{
    sim8259_interrupts = sim8259_interrupts || enabled;
    sim8259_deliver();
}

void cpu_sti(void)
{
    cpu_irq_restore(true);
}

void cpu_cli(void)
{
    sim8259_interrupts = false;
}

uint64_t time_us(void)
{
    sim8259_us++;
    if (sim8259_every_us != NULL) {
        sim8259_every_us();
    }
    sim8259_deliver();
    return sim8259_us;
}

struct deadline deadline_us(uint32_t from_now)
{
    return (struct deadline){sim8259_us + from_now};
}

bool expired(const struct deadline *d)
{
    return time_us() >= d->at_us;
}

void delay_us(uint32_t us)
{
    struct deadline end = deadline_us(us);
    while (!expired(&end)) {
    }
}
