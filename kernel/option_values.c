/*
 * Parsers of option values.  Strict: what is not in DESIGN section 3 is refused with a reason, for
 * a guess that is wrong costs more than a line that says so.
 */
#include "kernel/option_values.h"

#include <stddef.h>

#include "kernel/irq.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum {
    BAUD_BASE = 115200, /* the UART's clock, 1.8432 MHz, over 16 */
    BAUD_MIN = 50,
    IO_MIN = 0x100, /* below are the board's own ports       */
    IO_MAX = 0xFFE0,
    PREFIX_MIN = 1,
    PREFIX_MAX = 30, /* 31 and 32 leave no room for a broadcast */
};

static const char *const driver_names[] = {"ne2000", "wd80x3", "3c503", "rtl8139", "e1000"};

/* `at` moves behind `c` if that is the next character. */
static bool take_char(const char **at, char c)
{
    if (**at != c) {
        return false;
    }
    ++*at;
    return true;
}

/* `at` moves behind `word` if it begins so. */
static bool take_word(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0) {
        return false;
    }
    *at += n;
    return true;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 'a' ^ 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At least one digit of `base`, at most `max` in value; `at` moves behind them. */
static bool take_digits(const char **at, uint32_t base, uint32_t max, uint32_t *to)
{
    const char *begin = *at;
    uint32_t value = 0;

    for (;; ++*at) {
        int digit = digit_value(**at);

        if (digit < 0 || (uint32_t)digit >= base) {
            break;
        }
        if ((uint32_t)digit > max || value > (max - (uint32_t)digit) / base) {
            return false;
        }
        value = value * base + (uint32_t)digit;
    }
    *to = value;
    return *at != begin;
}

static bool take_hex(const char **at, uint32_t max, uint32_t *to)
{
    return take_word(at, "0x") && take_digits(at, 16, max, to);
}

const char *value_number(const char *text, uint32_t min, uint32_t max, uint32_t *to)
{
    uint32_t value;

    if (!take_digits(&text, 10, max, &value) || *text != '\0' || value < min) {
        return "not a number in its range";
    }
    *to = value;
    return NULL;
}

const char *value_choice(const char *text, const char *no, const char *yes, bool *to)
{
    static char why[32];

    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0) {
        format(why, sizeof(why), "neither %s nor %s", no, yes);
        return why;
    }
    *to = strcmp(text, yes) == 0;
    return NULL;
}

/* A.B.C.D as a number with A on top. */
static bool take_address(const char **at, uint32_t *to)
{
    uint32_t address = 0, byte;

    for (unsigned i = 0; i < 4; i++) {
        if ((i > 0 && !take_char(at, '.')) || !take_digits(at, 10, 255, &byte)) {
            return false;
        }
        address = address << 8 | byte;
    }
    *to = address;
    return true;
}

static uint32_t network_order(uint32_t value)
{
    uint8_t byte[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                       (uint8_t)value};
    uint32_t result;

    memcpy(&result, byte, sizeof(result));
    return result;
}

/* May a host of this network have the address?  (RFC 1122 section 3.2.1.3) */
static bool usable(uint32_t address, uint32_t mask)
{
    uint32_t top = address >> 24;
    uint32_t host = address & ~mask;

    return top != 0 && top != 127 && top < 224 && host != 0 && host != ~mask;
}

const char *value_ip(const char *text, struct option_ip *to)
{
    uint32_t address, prefix, mask, gateway = 0;

    if (strcmp(text, "dhcp") == 0) {
        *to = (struct option_ip){.dhcp = true};
        return NULL;
    }
    if (!take_address(&text, &address)) {
        return "neither dhcp nor A.B.C.D/nn[,GATEWAY]";
    }
    if (!take_char(&text, '/') || !take_digits(&text, 10, PREFIX_MAX, &prefix) ||
        prefix < PREFIX_MIN) {
        return "needs a prefix length /1 to /30";
    }
    mask = ~0u << (32 - prefix);
    if (!usable(address, mask)) {
        return "not an address a host can have";
    }
    if (take_char(&text, ',')) {
        if (!take_address(&text, &gateway) || !usable(gateway, mask) || gateway == address ||
            (gateway & mask) != (address & mask)) {
            return "gateway is no other host of this network";
        }
    }
    if (*text != '\0') {
        return "neither dhcp nor A.B.C.D/nn[,GATEWAY]";
    }
    *to = (struct option_ip){.address = network_order(address),
                             .netmask = network_order(mask),
                             .gateway = network_order(gateway)};
    return NULL;
}

static const char *pci_place(const char *text, struct option_nic *to)
{
    struct option_nic nic = {.driver = "pci", .irq = IRQ_NONE};
    uint32_t bus, device, function;

    if (!take_digits(&text, 16, 0xFF, &bus) || !take_char(&text, '.') ||
        !take_digits(&text, 16, 0x1F, &device) || !take_char(&text, '.') ||
        !take_digits(&text, 16, 7, &function) || *text != '\0') {
        return "PCI address is not BB.D.F in hexadecimal";
    }
    nic.pci = (uint16_t)(bus << 8 | device << 3 | function);
    *to = nic;
    return NULL;
}

/* Lines 0, 1, 8 and 13 belong to the board; 2 does too, but is how old cards call 9. */
static bool take_irq(const char **at, int *irq)
{
    uint32_t line;

    if (!take_digits(at, 10, IRQ_LINES - 1, &line) || line < 2 || line == 8 || line == 13) {
        return false;
    }
    *irq = (int)line;
    return true;
}

static const char *isa_place(const char *text, struct option_nic *nic)
{
    uint32_t io, mem;

    if (!take_hex(&text, IO_MAX, &io) || io < IO_MIN) {
        return "port is not 0x100 to 0xffe0 in hexadecimal";
    }
    nic->io = (uint16_t)io;
    if (take_char(&text, ',')) {
        if (!take_irq(&text, &nic->irq)) {
            return "interrupt is not 2 to 7, 9 to 12, 14 or 15 in decimal";
        }
        if (take_char(&text, ',')) {
            if (!take_hex(&text, UINT32_MAX, &mem) || mem == 0) {
                return "memory address is not hexadecimal with 0x";
            }
            nic->mem = mem;
        }
    }
    return *text == '\0' ? NULL : "not DRIVER[:0xIO[,IRQ[,0xMEM]]], as in ne2000:0x300,10";
}

const char *value_nic(const char *text, struct option_nic *to)
{
    struct option_nic nic = {.irq = IRQ_NONE};
    const char *why = NULL;

    if (take_word(&text, "pci:")) {
        return pci_place(text, to);
    }
    for (unsigned i = 0; i < sizeof(driver_names) / sizeof(driver_names[0]); i++) {
        const char *name = driver_names[i];
        const char *rest = text;

        if (!take_word(&rest, name) || (*rest != ':' && *rest != '\0')) {
            continue;
        }
        memcpy(nic.driver, name, strlen(name) + 1);
        if (take_char(&rest, ':')) {
            why = isa_place(rest, &nic);
        }
        if (why == NULL) {
            *to = nic;
        }
        return why;
    }
    return "no such driver; it is auto, ne2000, wd80x3, 3c503, rtl8139, e1000 or pci:BB.D.F";
}

const char *value_range(const char *text, uint16_t *first, uint16_t *last)
{
    uint32_t a, b;

    if (!take_hex(&text, UINT16_MAX, &a) || !take_char(&text, '-') ||
        !take_hex(&text, UINT16_MAX, &b) || *text != '\0' || a > b) {
        return "not a range 0xA-0xB";
    }
    *first = (uint16_t)a;
    *last = (uint16_t)b;
    return NULL;
}

const char *value_console(const char *text, bool *vga, bool *com1, uint32_t *baud)
{
    bool use_vga = false, use_com1 = false;
    uint32_t rate = *baud;

    do {
        if (take_word(&text, "vga")) {
            use_vga = true;
        } else if (take_word(&text, "com1")) {
            use_com1 = true;
            if (take_char(&text, ':') && (!take_digits(&text, 10, BAUD_BASE, &rate) ||
                                          rate < BAUD_MIN || BAUD_BASE % rate != 0)) {
                return "no rate a UART can make";
            }
        } else {
            return "not a list of vga and com1[:BAUD]";
        }
    } while (take_char(&text, ','));
    if (*text != '\0') {
        return "not a list of vga and com1[:BAUD]";
    }
    *vga = use_vga;
    *com1 = use_com1;
    *baud = rate;
    return NULL;
}

/* An empty list switches all off: `set trace=`. */
const char *value_trace(const char *text, bool *io, bool *ring, bool *irq)
{
    bool use_io = false, use_ring = false, use_irq = false;

    if (*text != '\0') {
        do {
            if (take_word(&text, "io")) {
                use_io = true;
            } else if (take_word(&text, "ring")) {
                use_ring = true;
            } else if (take_word(&text, "irq")) {
                use_irq = true;
            } else {
                return "not a list of io, ring and irq";
            }
        } while (take_char(&text, ','));
    }
    if (*text != '\0') {
        return "not a list of io, ring and irq";
    }
    *io = use_io;
    *ring = use_ring;
    *irq = use_irq;
    return NULL;
}

static bool letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* RFC 952 as RFC 1123 section 2.1 has it: letters, digits, inner hyphens.  No dots: it is one
 * label, and at most 15 bytes, what NetBIOS can carry. */
const char *value_host_name(const char *text, char *to, unsigned size)
{
    size_t n = strlen(text);

    if (n == 0 || n >= size) {
        return "a host name has 1 to 15 characters";
    }
    for (size_t i = 0; i < n; i++) {
        bool inner = i > 0 && i + 1 < n;

        if (!letter_or_digit(text[i]) && !(inner && text[i] == '-')) {
            return "a host name has letters, digits and inner hyphens";
        }
    }
    memcpy(to, text, n + 1);
    return NULL;
}
