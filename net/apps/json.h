/*
 * A bounded reader of JSON (RFC 8259), for the two documents an iperf3 client sends.
 *
 * Why our own: what is needed is "for each member of this object: is it this key, which number is
 * it", on 200 bytes at a time.  jsmn (in Debian, freestanding) would give positions of tokens and
 * leave the rest to be written all the same: the walk, the numbers (20 digits, fractions and
 * exponents occur) and most of the grammar, which it takes on trust.  It would also want an array
 * of some 300 tokens and a second download beside lwIP's.  This is half of jsmn's size.
 *
 * Nothing is copied or allocated: a value is a piece of the text, which must outlive it.  Nesting
 * beyond JSON_DEPTH is refused, so the stack is bounded, too.  json_open() has checked the whole
 * text before anything of it is believed.
 */
#ifndef NET_APPS_JSON_H
#define NET_APPS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH = 8 };

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* A value: its text from the first to behind the last character (a string's with its quotes). */
struct json {
    enum json_type type;
    const char *at, *end;
};

/* The one value that is all of `text` but blanks.  False unless every byte of it is JSON. */
bool json_open(const char *text, size_t n, struct json *root);

/* A walk through an object or array; of any other value it finds nothing. */
struct json_walk {
    const char *at, *end;
    enum json_type type;
};

struct json_walk json_walk(const struct json *container);

/* The next member or element, false behind the last.  `key` is left alone in an array. */
bool json_next(struct json_walk *walk, struct json *key, struct json *value);

/* Is it a string of exactly these characters?  Escapes are not decoded: they never match. */
bool json_is(const struct json *value, const char *text);

/* true, or a number other than 0: both are said of a flag. */
bool json_flag(const struct json *value);

/*
 * A number times 10^decimals, cut towards zero; beyond the 64 bits it is the nearest one that
 * fits.  False if it is no number.
 */
bool json_number(const struct json *value, unsigned decimals, int64_t *result);

#endif
