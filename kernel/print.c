/*
 * The formatter behind kprintf(): the subset of C11 7.21.6.1 that a kernel without floating point
 * needs, plus %I and %M for addresses.
 *
 * A conversion it does not know is copied as it stands and takes no argument, so that a typing
 * mistake shows on the screen instead of shifting every later argument.
 */
#include "kernel/print.h"

#include <stdbool.h>

#include "kernel/error.h"
#include "kernel/math64.h"
#include "kernel/string.h"

/* Where characters go; counts also those that did not fit. */
struct sink {
    char *to;
    size_t size;
    size_t length;
};

enum length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE };

struct spec {
    bool left;
    bool zero;
    unsigned width;
    int precision; /* negative: none given */
    enum length length;
};

/* va_list may be an array type; in a struct it can be passed by reference. */
struct arguments {
    va_list list;
};

enum { DIGITS_MAX = 20, FIELD_MAX = 4096 };

static void put(struct sink *out, char c)
{
    if (out->length + 1 < out->size) {
        out->to[out->length] = c;
    }
    out->length++;
}

static void put_many(struct sink *out, char c, size_t n)
{
    while (n-- > 0) {
        put(out, c);
    }
}

/* A field: `text` with blanks on the side the spec asks for. */
static void put_field(struct sink *out, const struct spec *spec, const char *text, size_t n)
{
    size_t blanks = spec->width > n ? spec->width - n : 0;

    if (!spec->left) {
        put_many(out, ' ', blanks);
    }
    for (size_t i = 0; i < n; i++) {
        put(out, text[i]);
    }
    if (spec->left) {
        put_many(out, ' ', blanks);
    }
}

/* Digits of `value` at the end of `buffer`; returns where they begin.  No digit at all for 0. */
static char *digits(char buffer[DIGITS_MAX], uint64_t value, unsigned base, bool capitals)
{
    const char *symbols = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
    char *at = buffer + DIGITS_MAX;
    uint32_t low, rest;

    for (; value >> 32 != 0; *--at = symbols[rest]) {
        value = div64(value, base, &rest);
    }
    for (low = (uint32_t)value; low != 0; low /= base) {
        *--at = symbols[low % base];
    }
    return at;
}

/* sign or prefix, then zeros up to width or precision, then digits */
static void put_number(struct sink *out, const struct spec *spec, const char *prefix,
                       uint64_t value, unsigned base, bool capitals)
{
    char buffer[DIGITS_MAX];
    const char *text = digits(buffer, value, base, capitals);
    size_t n = (size_t)(buffer + DIGITS_MAX - text);
    size_t prefix_n = strlen(prefix);
    size_t wanted = spec->precision < 0 ? 1 : (size_t)spec->precision;
    size_t zeros, total;

    if (spec->zero && !spec->left && spec->precision < 0 && spec->width > prefix_n + wanted) {
        wanted = spec->width - prefix_n;
    }
    zeros = wanted > n ? wanted - n : 0;
    total = prefix_n + zeros + n;
    if (!spec->left && spec->width > total) {
        put_many(out, ' ', spec->width - total);
    }
    for (; *prefix != '\0'; prefix++) {
        put(out, *prefix);
    }
    put_many(out, '0', zeros);
    for (size_t i = 0; i < n; i++) {
        put(out, text[i]);
    }
    if (spec->left && spec->width > total) {
        put_many(out, ' ', spec->width - total);
    }
}

static void put_signed(struct sink *out, const struct spec *spec, int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    put_number(out, spec, value < 0 ? "-" : "", magnitude, 10, false);
}

static void put_string(struct sink *out, const struct spec *spec, const char *text)
{
    size_t n = 0;

    if (text == NULL) {
        text = "(null)";
    }
    while ((spec->precision < 0 || n < (size_t)spec->precision) && text[n] != '\0') {
        n++;
    }
    put_field(out, spec, text, n);
}

static void put_ipv4(struct sink *out, const struct spec *spec, uint32_t address)
{
    uint8_t byte[4];
    char text[16];

    memcpy(byte, &address, sizeof(byte));
    format(text, sizeof(text), "%u.%u.%u.%u", byte[0], byte[1], byte[2], byte[3]);
    put_field(out, spec, text, strlen(text));
}

static void put_mac(struct sink *out, const struct spec *spec, const uint8_t *mac)
{
    char text[18];

    format(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
           mac[4], mac[5]);
    put_field(out, spec, text, strlen(text));
}

static int64_t next_signed(struct arguments *args, enum length length)
{
    switch (length) {
    case LENGTH_LONG: return va_arg(args->list, long);
    case LENGTH_LONG_LONG: return va_arg(args->list, long long);
    case LENGTH_SIZE: return va_arg(args->list, ptrdiff_t);
    default: return va_arg(args->list, int);
    }
}

static uint64_t next_unsigned(struct arguments *args, enum length length)
{
    switch (length) {
    case LENGTH_LONG: return va_arg(args->list, unsigned long);
    case LENGTH_LONG_LONG: return va_arg(args->list, unsigned long long);
    case LENGTH_SIZE: return va_arg(args->list, size_t);
    default: return va_arg(args->list, unsigned);
    }
}

/* A number in the format, or `*` for one among the arguments.  Bounded: a wild one is a bug. */
static int parse_number(const char **fmt, struct arguments *args)
{
    int value = 0;

    if (**fmt == '*') {
        ++*fmt;
        value = va_arg(args->list, int);
        return value > FIELD_MAX ? FIELD_MAX : value;
    }
    for (; **fmt >= '0' && **fmt <= '9'; ++*fmt) {
        if (value < FIELD_MAX) {
            value = value * 10 + (**fmt - '0');
        }
    }
    return value;
}

/* What stands between '%' and the conversion letter; returns the place of the letter. */
static const char *parse_spec(const char *fmt, struct spec *spec, struct arguments *args)
{
    int width;

    for (;; fmt++) {
        if (*fmt == '-') {
            spec->left = true;
        } else if (*fmt == '0') {
            spec->zero = true;
        } else {
            break;
        }
    }
    width = parse_number(&fmt, args);
    if (width < 0) { /* C11 7.21.6.1p5: a negative `*` is the '-' flag and a width */
        spec->left = true;
        width = width < -FIELD_MAX ? FIELD_MAX : -width;
    }
    spec->width = (unsigned)width;
    if (*fmt == '.') {
        fmt++;
        spec->precision = parse_number(&fmt, args);
    }
    if (*fmt == 'z') {
        spec->length = LENGTH_SIZE;
        fmt++;
    } else if (fmt[0] == 'l' && fmt[1] == 'l') {
        spec->length = LENGTH_LONG_LONG;
        fmt += 2;
    } else if (*fmt == 'l') {
        spec->length = LENGTH_LONG;
        fmt++;
    }
    return fmt;
}

/* One conversion; false if the letter is none of ours. */
static bool convert(struct sink *out, const struct spec *spec, char letter, struct arguments *args)
{
    char c;

    switch (letter) {
    case 'd':
    case 'i': put_signed(out, spec, next_signed(args, spec->length)); return true;
    case 'u': put_number(out, spec, "", next_unsigned(args, spec->length), 10, false); return true;
    case 'x':
    case 'X':
        put_number(out, spec, "", next_unsigned(args, spec->length), 16, letter == 'X');
        return true;
    case 'p':
        put_number(out, spec, "0x", (uintptr_t)va_arg(args->list, void *), 16, false);
        return true;
    case 'c':
        c = (char)va_arg(args->list, int);
        put_field(out, spec, &c, 1);
        return true;
    case 's': put_string(out, spec, va_arg(args->list, const char *)); return true;
    case 'I': put_ipv4(out, spec, va_arg(args->list, uint32_t)); return true;
    case 'M': put_mac(out, spec, va_arg(args->list, const uint8_t *)); return true;
    case '%': put(out, '%'); return true;
    default: return false;
    }
}

int vformat(char *to, size_t size, const char *fmt, va_list args)
{
    struct sink out = {.to = to, .size = size};
    struct arguments rest;

    va_copy(rest.list, args);
    while (*fmt != '\0') {
        const char *begin = fmt++;
        struct spec spec = {.precision = -1};

        if (*begin != '%') {
            put(&out, *begin);
            continue;
        }
        fmt = parse_spec(fmt, &spec, &rest);
        if (*fmt != '\0' && convert(&out, &spec, *fmt, &rest)) {
            fmt++;
        } else {
            while (begin < fmt) {
                put(&out, *begin++);
            }
        }
    }
    va_end(rest.list);
    if (size > 0) {
        to[out.length < size ? out.length : size - 1] = '\0';
    }
    return (int)out.length;
}

int format(char *to, size_t size, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vformat(to, size, fmt, args);
    va_end(args);
    return n;
}

char *format_fixed(char to[24], uint64_t value, unsigned decimals)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000};
    uint32_t fraction;
    uint64_t whole;

    if (decimals > 5) {
        decimals = 5;
    }
    whole = div64(value, power[decimals], &fraction);
    if (decimals == 0) {
        format(to, 24, "%llu", (unsigned long long)whole);
    } else {
        format(to, 24, "%llu.%.*u", (unsigned long long)whole, (int)decimals, fraction);
    }
    return to;
}

const char *error_name(int code)
{
    switch (code) {
    case OK: return "ok";
    case E_NOT_FOUND: return "not found";
    case E_TIMEOUT: return "timed out";
    case E_INVALID: return "invalid";
    case E_RANGE: return "out of range";
    case E_BUSY: return "busy";
    case E_NO_MEMORY: return "out of memory";
    case E_HARDWARE: return "hardware fault";
    case E_UNSUPPORTED: return "not supported";
    default: return "unknown error";
    }
}
