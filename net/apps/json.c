/*
 * JSON: one recursive descent that checks, and then finds the end of, any value.
 */
#include "net/apps/json.h"

#include "kernel/string.h"

struct reader {
    const char *at, *end;
    unsigned depth;
    enum json_type type; /* of the value read last */
};

enum { EXPONENT_MAX = 400 /* beyond that every number is 0 or out of range */ };

/* ---- pieces ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next character, NUL at the end: no piece of JSON begins with one. */
static char peek(const struct reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || r->at == r->end) {
        return false;
    }
    r->at++;
    return true;
}

static void skip_blanks(struct reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n' || peek(r) == '\r') {
        r->at++;
    }
}

static bool word(struct reader *r, const char *text, enum json_type type)
{
    size_t n = strlen(text);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0) {
        return false;
    }
    r->at += n;
    r->type = type;
    return true;
}

static bool digits(struct reader *r)
{
    const char *first = r->at;

    while (is_digit(peek(r))) {
        r->at++;
    }
    return r->at != first;
}

static bool number(struct reader *r)
{
    r->type = JSON_NUMBER;
    take(r, '-');
    if (!take(r, '0') && !digits(r)) {
        return false;
    }
    if (take(r, '.') && !digits(r)) {
        return false;
    }
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) {
            take(r, '-');
        }
        return digits(r);
    }
    return true;
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind a backslash. */
static bool escape(struct reader *r)
{
    if (take(r, 'u')) {
        for (unsigned i = 0; i < 4; i++, r->at++) {
            if (!is_hex(peek(r))) {
                return false;
            }
        }
        return true;
    }
    if (peek(r) == '\0' || strchr("\"\\/bfnrt", peek(r)) == NULL) {
        return false;
    }
    r->at++;
    return true;
}

static bool string(struct reader *r)
{
    r->type = JSON_STRING;
    if (!take(r, '"')) {
        return false;
    }
    while (!take(r, '"')) {
        if (take(r, '\\')) {
            if (!escape(r)) {
                return false;
            }
        } else if ((unsigned char)peek(r) < ' ') { /* also the end of the text */
            return false;
        } else {
            r->at++;
        }
    }
    return true;
}

/* ---- values ---- */

static bool value(struct reader *r);

/* Up to and with the `close`; in an object each value has a key. */
static bool members(struct reader *r, char close, bool keys)
{
    skip_blanks(r);
    if (take(r, close)) {
        return true;
    }
    do {
        skip_blanks(r);
        if (keys) {
            if (!string(r)) {
                return false;
            }
            skip_blanks(r);
            if (!take(r, ':')) {
                return false;
            }
            skip_blanks(r);
        }
        if (!value(r)) {
            return false;
        }
        skip_blanks(r);
    } while (take(r, ','));
    return take(r, close);
}

static bool container(struct reader *r, char close, enum json_type type)
{
    bool ok;

    if (r->depth == JSON_DEPTH) {
        return false;
    }
    r->depth++;
    r->at++;
    ok = members(r, close, type == JSON_OBJECT);
    r->depth--;
    r->type = type;
    return ok;
}

static bool value(struct reader *r)
{
    switch (peek(r)) {
    case '{': return container(r, '}', JSON_OBJECT);
    case '[': return container(r, ']', JSON_ARRAY);
    case '"': return string(r);
    case 'n': return word(r, "null", JSON_NULL);
    case 'f': return word(r, "false", JSON_FALSE);
    case 't': return word(r, "true", JSON_TRUE);
    default: return number(r);
    }
}

static bool read_value(struct reader *r, struct json *v)
{
    skip_blanks(r);
    v->at = r->at;
    if (!value(r)) {
        return false;
    }
    v->end = r->at;
    v->type = r->type;
    return true;
}

bool json_open(const char *text, size_t n, struct json *root)
{
    struct reader r = {.at = text, .end = text + n};

    if (!read_value(&r, root)) {
        return false;
    }
    skip_blanks(&r);
    return r.at == r.end;
}

/* ---- walking: what json_open() has checked needs no more checks ---- */

struct json_walk json_walk(const struct json *container)
{
    return (struct json_walk){.at = container->at, .end = container->end, .type = container->type};
}

bool json_next(struct json_walk *walk, struct json *key, struct json *v)
{
    struct reader r = {.at = walk->at, .end = walk->end};

    if (walk->type != JSON_OBJECT && walk->type != JSON_ARRAY) {
        return false;
    }
    r.at++; /* the bracket, or the comma behind the one before */
    skip_blanks(&r);
    if (take(&r, '}') || take(&r, ']') || r.at == r.end) {
        return false;
    }
    if (walk->type == JSON_OBJECT) {
        if (!read_value(&r, key)) {
            return false;
        }
        skip_blanks(&r);
        r.at++; /* the colon */
    }
    if (!read_value(&r, v)) {
        return false;
    }
    skip_blanks(&r);
    walk->at = r.at;
    return true;
}

bool json_is(const struct json *v, const char *text)
{
    size_t n = strlen(text);

    return v->type == JSON_STRING && (size_t)(v->end - v->at) == n + 2 &&
           memcmp(v->at + 1, text, n) == 0;
}

bool json_flag(const struct json *v)
{
    int64_t n;

    return v->type == JSON_TRUE || (json_number(v, 3, &n) && n != 0);
}

/* ---- numbers ---- */

/* value * 10 + digit, at most INT64_MAX. */
static uint64_t append(uint64_t n, unsigned digit)
{
    const uint64_t most = INT64_MAX / 10;

    return n > most || (n == most && digit > INT64_MAX % 10) ? INT64_MAX : n * 10 + digit;
}

static int exponent_of(const char *at, const char *end)
{
    bool negative = at != end && *at == '-';
    int n = 0;

    for (; at != end; at++) {
        if (is_digit(*at) && n < EXPONENT_MAX) {
            n = n * 10 + (*at - '0');
        }
    }
    return negative ? -n : n;
}

static const char *find_exponent(const struct json *v)
{
    const char *at = v->at;

    while (at != v->end && *at != 'e' && *at != 'E') {
        at++;
    }
    return at;
}

/*
 * The digits in turn, as if the point stood `shift` places further to the right: those before it
 * count, those behind it do not, and where there is no digit left there is a zero.
 */
static uint64_t shifted(const char *at, const char *end, int shift)
{
    uint64_t n = 0;
    int places = shift; /* how many digits behind the point still count */
    bool behind = false;

    /* A point moved to the left leaves out the last digits of the whole part. */
    for (const char *s = at; s != end && *s != '.' && shift < 0; s++) {
        places += is_digit(*s);
    }
    for (; at != end; at++) {
        if (*at == '.') {
            behind = true;
        } else if (is_digit(*at)) {
            if ((behind || shift < 0) && places-- <= 0) {
                break;
            }
            n = append(n, (unsigned)(*at - '0'));
        }
    }
    for (; places > 0 && shift >= 0 && n != 0 && n != INT64_MAX; places--) {
        n = append(n, 0);
    }
    return n;
}

bool json_number(const struct json *v, unsigned decimals, int64_t *result)
{
    const char *mantissa_end;
    int64_t n;

    if (v->type != JSON_NUMBER) {
        return false;
    }
    mantissa_end = find_exponent(v);
    n = (int64_t)shifted(v->at, mantissa_end,
                         (int)decimals +
                             (mantissa_end == v->end ? 0 : exponent_of(mantissa_end + 1, v->end)));
    *result = *v->at == '-' ? -n : n;
    return true;
}
