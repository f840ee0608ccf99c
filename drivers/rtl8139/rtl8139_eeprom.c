/*
 * RTL8139: its serial EEPROM (93C46, or 93C56 with longer addresses), read bit by bit through
 * CR9346.  Sources: RTL8139C(L) data sheet ch. 5 (contents), 6.9 (CR9346); Microchip 93C46B.
 */
#include "drivers/rtl8139/rtl8139.h"

enum {
    HALF_CLOCK_US = 1,
    READ = 6, /* start bit and opcode 10: three bits */
    READ_BITS = 3,
    SHORT_ADDRESS = 6,
    LONG_ADDRESS = 8,
    WORD_BITS = 16,
};

static void clock_bit(const struct rtl8139 *d, unsigned bit)
{
    const unsigned value = CR9346_PROGRAM | CR9346_CS | (bit != 0 ? (unsigned)CR9346_DI : 0);

    put8(d, CR9346, value);
    delay_us(HALF_CLOCK_US);
    put8(d, CR9346, value | CR9346_SK);
    delay_us(HALF_CLOCK_US);
}

static unsigned read_bit(const struct rtl8139 *d)
{
    clock_bit(d, 0);
    return get8(d, CR9346) & CR9346_DO;
}

static uint16_t read_word(const struct rtl8139 *d, unsigned address, unsigned address_bits)
{
    const unsigned command = READ << address_bits | address;
    unsigned word = 0;

    put8(d, CR9346, CR9346_PROGRAM);
    put8(d, CR9346, CR9346_PROGRAM | CR9346_CS);
    delay_us(HALF_CLOCK_US);
    for (unsigned i = READ_BITS + address_bits; i-- > 0;) {
        clock_bit(d, command >> i & 1);
    }
    for (unsigned i = 0; i < WORD_BITS; i++) {
        word = word << 1 | (read_bit(d) != 0);
    }
    put8(d, CR9346, CR9346_PROGRAM);
    delay_us(HALF_CLOCK_US);
    put8(d, CR9346, CR9346_PROTECT);
    return (uint16_t)word;
}

void rtl8139_read_eeprom(const struct rtl8139 *d, uint16_t *to, unsigned n)
{
    const bool longer = read_word(d, 0, LONG_ADDRESS) == RTL8139_EEPROM_ID;

    for (unsigned i = 0; i < n; i++) {
        to[i] = read_word(d, i, longer ? LONG_ADDRESS : SHORT_ADDRESS);
    }
}
